"""Which of two statements holds, whatever names the extractor gave them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from memory.merge import Statement, decide, free_key, normalise_key, same_thing

MAY = datetime(2024, 5, 1, tzinfo=UTC)


def said(key: str, content: str, type: str = "fact", *, after: int = 0, near: float = 0.9) -> Statement:
    """A statement; `near` is what an embedding would say, high on purpose."""
    return Statement(key, content, type, MAY + timedelta(days=after), uuid4(), near)


def test_a_repetition_confirms() -> None:
    old = said("delivery_day", "Deliver on Monday.")
    assert decide(said("delivery_day", "deliver on monday", after=3), [old]).action == "confirm"


def test_similarity_alone_never_makes_two_statements_one() -> None:
    one, other = said("a", "Likes sailing", near=1.0), said("b", "Owns a piano", near=1.0)
    assert decide(one, [other]).action == "insert"


def test_words_that_agree_by_chance_do_not_make_two_statements_one() -> None:
    short = said("cat", "Has a grey cat", near=0.2)
    long = said("sofa", "The grey sofa was scratched by the neighbour's cat", near=0.2)
    assert decide(long, [short]).action == "insert"


def test_a_statement_replaces_every_memory_of_the_thing() -> None:
    known = [
        said("delivery_day", "Deliver on Monday"),
        said("delivery_preference", "Wants to deliver on Monday"),
    ]
    decision = decide(said("delivery_day", "Deliver on Friday", after=1), known)
    assert decision.action == "replace"
    assert set(decision.targets) >= {known[0].id}


@given(st.text(max_size=60))
def test_normalising_a_key_twice_changes_nothing(key: str) -> None:
    assert normalise_key(normalise_key(key)) == normalise_key(key) != ""


@given(st.text(min_size=1, max_size=60), st.text(min_size=1, max_size=60))
def test_a_key_given_by_hand_is_always_the_same_thing(one: str, other: str) -> None:
    known = said("child_grade", one)
    assert decide(said("child_grade", other, after=1), [known], key_decides=True).targets == (known.id,)


def test_one_key_for_two_children_is_two_things() -> None:
    elder, younger = said("child_grade", "大宝上三年级"), said("child_grade", "二宝上四年级")
    assert not same_thing(elder, younger)
    assert same_thing(said("child_grade.2", "二宝上四年级"), said("child_grade", "二宝上五年级"))


def test_a_key_that_any_memory_may_carry_names_nothing() -> None:
    oat_milk, brevity = "Likes oat milk", "Wants short replies"
    assert not same_thing(said("preference", oat_milk, near=0.3), said("preference", brevity, near=0.3))


def test_a_second_allergy_does_not_replace_the_first_and_a_change_of_address_does() -> None:
    assert not same_thing(said("allergy", "Allergic to peanuts"), said("allergy", "Allergic to shellfish"))
    assert same_thing(said("address", "收货地址在浦东"), said("address", "收货地址在徐汇"))


def test_what_holds_for_a_time_leaves_what_holds_for_good() -> None:
    for_good = said("delivery_address", "包裹寄到家里", "preference")
    for_now = said("delivery_address", "这周包裹先寄到公司", "preference", after=1)
    assert not same_thing(for_good, for_now)
    assert same_thing(for_now, said("delivery_address", "出差结束了，恢复寄到家里", "preference", after=2))


def test_a_namesake_gets_a_number_behind_its_key() -> None:
    assert free_key("child_grade", {"child_grade"}) == "child_grade.2"
    assert free_key("child_grade", {"child_grade", "child_grade.2"}) == "child_grade.3"
    assert free_key("child_grade", {"other"}) == "child_grade"
