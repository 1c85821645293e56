"""Tokens are counted as the model's own tokenizer does, and a cut text is whole characters within its budget."""

from __future__ import annotations

import json
import time
import warnings
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

with warnings.catch_warnings():  # the package reads its data in a way that Python has deprecated
    warnings.simplefilter("ignore", DeprecationWarning)
    from bpe_openai import get_encoding

from memory.tokens import Calibration, count, count_messages, cut

CHINESE = "您好，我的订单 ABC-20240520-001 已经三天没有更新物流信息了，请问现在到哪里了？能不能帮我催一下？"
ENGLISH = "Hello, my order ABC-20240520-001 has not moved for three days. Where is it now, and could you hurry it up?"
FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5-mini", "o200k_base"),
        ("gpt-4o-2024-08-06", "o200k_base"),
        ("openai/gpt-4.1", "o200k_base"),
        ("ft:gpt-4o-mini:shop", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("qwen-max", "o200k_base"),
        ("", "o200k_base"),
    ],
)
@pytest.mark.parametrize("text", [CHINESE, ENGLISH, "", "<|endoftext|>", "a\u0301🏳️‍🌈\n\n  x"])
def test_a_count_is_that_of_the_models_family(model: str, encoding: str, text: str) -> None:
    assert count(text, model) == len(get_encoding(encoding).encode_ordinary(text))


def test_a_chinese_text_is_not_underestimated() -> None:
    assert count("请帮我查一下订单" * 50) > 150


def test_a_lone_surrogate_counts_and_does_not_raise() -> None:
    assert count("a\ud83d b") >= 2


def test_a_megabyte_is_counted_in_well_under_a_second() -> None:
    started = time.perf_counter()
    assert count(CHINESE * 20_000) > 400_000
    assert time.perf_counter() - started < 1


def test_messages_count_their_calls_results_and_blocks() -> None:
    call = {"name": "order_query", "args": {"order_id": "ABC-20240520-001"}, "id": "1"}
    plain = [SystemMessage("You help."), HumanMessage(CHINESE)]
    whole = [
        *plain,
        AIMessage("", tool_calls=[call]),
        ToolMessage(json.dumps({"status": "ok"}), tool_call_id="1"),
    ]
    assert count_messages(plain) >= count("You help.") + count(CHINESE)
    added = count_messages(whole) - count_messages(plain)
    assert added >= count("order_query") + count(json.dumps(call["args"])) + count('{"status": "ok"}')
    image = HumanMessage(
        [{"type": "text", "text": ENGLISH}, {"type": "image_url", "image_url": {"url": "x"}}]
    )
    assert count_messages([image]) > count(ENGLISH) + 500


def test_an_estimate_for_another_family_comes_within_five_percent_of_what_is_reported() -> None:
    calibration = Calibration()
    for estimated in (900, 1400, 2100, 800, 1600):
        estimate = round(estimated * calibration.factor("qwen-max"))
        calibration.observe("qwen-max", estimated=estimate, reported=round(estimated * 1.3))
    assert 1000 * calibration.factor("qwen-max") == pytest.approx(1300, rel=0.05)


def test_a_known_vocabulary_is_never_corrected() -> None:
    calibration = Calibration()
    calibration.observe("gpt-4o", estimated=1000, reported=2000)
    assert calibration.factor("gpt-4o") == 1.0


def test_noise_of_one_percent_leaves_the_factor_alone() -> None:
    calibration = Calibration()
    for reported in (1210, 1195, 1205, 1190, 1208):
        calibration.observe(
            "deepseek-chat", estimated=round(1000 * calibration.factor("deepseek-chat")), reported=reported
        )
    assert calibration.factor("deepseek-chat") == 1.21


def test_a_cut_text_says_how_much_is_missing_and_keeps_both_ends() -> None:
    text = f"BEGIN {CHINESE * 100} END"
    kept = cut(text, 200)
    assert kept.startswith("BEGIN")
    assert kept.endswith("END")
    assert "tokens left out" in kept
    assert count(kept) <= 200


def test_a_text_within_its_budget_stays_as_it_is() -> None:
    assert cut(CHINESE, 1000) == CHINESE
    assert cut(CHINESE, count(CHINESE)) == CHINESE


def test_a_megabyte_is_cut_in_well_under_a_second() -> None:
    started = time.perf_counter()
    assert count(cut(CHINESE * 20_000, 500)) <= 500
    assert time.perf_counter() - started < 1.5


TEXTS = st.lists(
    st.sampled_from([CHINESE, ENGLISH, FAMILY, "e\u0301", "🇨🇳", "👍🏽", "\ud83d", "龘", " ", "\n"])
    | st.text(max_size=20),
    max_size=60,
).map("".join)


@given(text=TEXTS, tokens=st.integers(min_value=0, max_value=300))
@example(text=FAMILY * 100, tokens=10)
@example(text="\ud83d" * 500, tokens=60)
def test_a_cut_text_fits_its_budget_and_parts_no_character(text: str, tokens: int) -> None:
    kept = cut(text, tokens)
    assert count(kept) <= tokens or kept == text
    head = kept.split("\n[… ")[0] if "tokens left out" in kept else kept
    assert text.startswith(head)
    ends = {match.end() for match in regex.finditer(r"\X", text)} | {0}
    assert len(head) in ends


def test_a_smaller_budget_never_keeps_more() -> None:
    lengths = [len(cut(ENGLISH * 50, tokens)) for tokens in range(60, 400, 20)]
    assert all(shorter <= longer for shorter, longer in pairwise(lengths))
