"""Search terms of Chinese and English texts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memory.keywords import LONGEST_TERM, terms, tsquery


def test_an_order_number_stays_whole_in_every_spelling() -> None:
    for text in ("ABC-20240520-001", "abc-20240520-001", "ＡＢＣ-20240520-001", "订单ABC-20240520-001到了吗"):
        assert "abc20240520001" in terms(text)


def test_chinese_is_found_by_pairs_of_characters_and_by_longer_words() -> None:
    found = terms("浦东新区")
    assert {"浦东", "东新", "新区", "浦东新区"} <= set(found)


def test_english_forms_of_a_word_share_a_term() -> None:
    assert terms("delivery") == terms("deliveries")
    assert terms("Saturday") == terms("Saturdays")
    assert terms("stopped") == terms("stopping")


def test_a_date_is_found_in_both_ways_of_writing_it() -> None:
    assert {"4", "27"} <= set(terms("2023-04-27")) & set(terms("4月27日"))


def test_what_carries_no_meaning_leaves_no_term() -> None:
    for text in ("你好", "谢谢", "Hello, thank you!", "😀", "", "，。！"):
        assert terms(text) == []


@given(st.text(max_size=200))
def test_any_text_gives_distinct_bounded_terms_that_postgres_takes(text: str) -> None:
    found = terms(text)
    assert len(set(found)) == len(found)
    for term in found:
        assert 0 < len(term) <= LONGEST_TERM
        assert "\x00" not in term
        assert tsquery(term).startswith("'")
