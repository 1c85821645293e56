"""A streamed answer is put together without loss, however it is cut."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk

from nodes.model_answer import AnswerCollector, CallUsage

WRITTEN = st.one_of(
    st.text(max_size=20), st.dictionaries(st.text(max_size=4), st.integers(), max_size=3).map(json.dumps)
)


@given(st.lists(WRITTEN, max_size=4), st.lists(st.integers(0, 20), max_size=6), st.booleans())
def test_argument_texts_survive_any_cutting(texts: list[str], cuts: list[int], same_index: bool) -> None:
    collector = AnswerCollector()
    for position, text in enumerate(texts):
        index = 0 if same_index else position
        first = tool_call_chunk(name="tool", args="", id=f"call_{position}", index=index)
        collector.add(AIMessageChunk(content="", tool_call_chunks=[first]))
        bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
        for start, end in pairwise(bounds):
            piece = tool_call_chunk(name=None, args=text[start:end], id=None, index=index)
            collector.add(AIMessageChunk(content="", tool_call_chunks=[piece]))
    answer = collector.answer()
    assert [call.text for call in answer.calls] == texts
    assert [call.id for call in answer.calls] == [f"call_{position}" for position in range(len(texts))]
    message = answer.message("m")
    assert len(message.tool_calls) + len(message.invalid_tool_calls) == len(texts)


def test_an_id_and_name_that_are_repeated_in_every_piece_begin_no_new_call() -> None:
    collector = AnswerCollector()
    for piece in ('{"a"', ": 1", "}"):
        chunk = tool_call_chunk(name="tool", args=piece, id="call_1", index=0)
        collector.add(AIMessageChunk(content="", tool_call_chunks=[chunk]))
    assert [call.text for call in collector.answer().calls] == ['{"a": 1}']


def test_running_totals_are_not_added_up() -> None:
    collector = AnswerCollector()
    for tokens in (1, 2, 3):
        usage = UsageMetadata(input_tokens=10, output_tokens=tokens, total_tokens=10 + tokens)
        collector.add(AIMessageChunk(content="a", usage_metadata=usage))
    assert collector.answer().usage == CallUsage(10, 3)


def test_figures_of_zero_are_no_figures() -> None:
    collector = AnswerCollector()
    usage = UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
    collector.add(AIMessageChunk(content="a", usage_metadata=usage))
    assert collector.answer().usage is None
