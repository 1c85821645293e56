"""What the classifier sees of a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.text_features import grams, says_something, without_identifiers


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("订单 GHI-20240512-003 的杯子碎了", "订单 # 的杯子碎了"),
        ("订单GHI-20240512-003的杯子碎了", "订单 # 的杯子碎了"),
        ("运单SF1234567890到哪", "运单 # 到哪"),
        ("order 99812?", "order # ?"),
        ("工单 AS-20240518-0003 进度", "工单 # 进度"),
        ("mail li.x@example.com 或 13800138000", "mail # 或 #"),
        ("ＡＢＣ－20240520－001 呢", "# 呢"),
        ("两个杯子，买3个", "两个杯子,买3个"),
    ],
)
def test_an_identifier_gives_way_to_its_placeholder(text: str, plain: str) -> None:
    assert without_identifiers(text) == plain


@given(st.text(max_size=80))
def test_a_text_without_identifiers_has_none_left(text: str) -> None:
    plain = without_identifiers(text)
    assert without_identifiers(plain) == plain


def test_a_number_alone_says_nothing() -> None:
    assert not says_something(without_identifiers("ABC-20240520-001"))
    assert says_something(without_identifiers("查 ABC-20240520-001"))


def test_misspelt_words_share_pieces_with_the_right_ones() -> None:
    assert len(grams("delivery") & grams("deliverry")) >= 3
    assert {"z:退", "z:退款"} <= grams("我要退款")
