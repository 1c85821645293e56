"""Which of two statements holds, whatever names the extractor gave them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from memory.merge import decide, same_thing
from memory.statement import Statement, free_key, normalise_key

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


def test_what_the_extractor_says_is_replaced_is_replaced_under_any_key() -> None:
    old = said("lens_power", "Needs -2.5", near=0.3)
    new = said("eyesight", "Needs -3.0 since spring", after=1, near=0.3)
    assert decide(new, [old]).action == "insert"
    assert decide(new, [old], replaces="lens_power").targets == (old.id,)


def test_the_extractor_is_not_believed_about_another_person_another_thing_or_a_single_time() -> None:
    known = [
        said("allergy", "Allergic to peanuts"),
        said("shoe_size", "Shoe size is 42"),
        said("delivery_address", "Deliver to the office"),
        said("hobby", "Likes sailing", near=0.0),
    ]
    for key, content in (
        ("allergy", "Daughter is allergic to milk"),
        ("shoe_size", "Gloves in size 9"),
        ("delivery_address", "This week deliver to the hotel"),
        ("hobby", "Pays by card"),
    ):
        new = said("other", content, after=1, near=0.0)
        assert decide(new, known, replaces=key).targets == (), content


def test_the_customers_own_words_tell_that_something_has_changed() -> None:
    old = said("手机", "用的是苹果手机", near=0.5)
    new = said("device_model", "使用华为手机", after=1, near=0.5)
    changed = replace(new, evidence="我换了华为手机")
    assert decide(new, [old]).action == "insert"
    assert decide(changed, [old]).targets == (old.id,)
    late = replace(old, said_at=MAY, evidence="")
    assert decide(late, [changed]).action == "stale"


def test_under_one_key_two_products_two_orders_and_two_eyes_stay_two() -> None:
    for key, one, other in (
        ("color", "手机壳要黑色", "背包要灰色"),
        ("order_issue", "订单ABC-20240520-001要退货", "订单DEF-20240525-002要换货"),
        ("eye", "左眼近视300度", "右眼近视450度"),
        ("disliked_food", "不吃香菜", "不吃肥肉"),
    ):
        assert decide(said(key, other, after=1, near=0.6), [said(key, one, near=0.6)]).action == "insert"


def test_what_is_wanted_instead_may_be_another_product() -> None:
    old = said("purchase", "Wants to buy a tablet", "decision", near=0.6)
    new = said("purchase", "Wants a laptop instead", "decision", after=1, near=0.6)
    assert decide(new, [old]).action == "replace"


def test_under_one_key_what_is_said_shows_whether_it_is_one_thing_or_two() -> None:
    for key, one, other, is_one in (
        ("maintenance_window", "Maintenance on Sunday nights", "Maintenance on Tuesday nights", True),
        ("deliveries", "Milk on Mondays", "Bread on Fridays", False),
        ("portion", "工作日午餐点一人份", "周末晚餐点四人份", False),
        ("account", "Has a savings account", "Has a business account", False),
        ("os", "Work laptop runs Linux", "Private laptop runs macOS", False),
        ("cabin", "Flies economy", "Flies business class", True),
        ("pet", "猫叫小白", "猫叫小黑", False),
        ("budget", "Budget for a dining table is 600 pounds", "Budget for a desk lamp is 40 pounds", False),
        ("恐高", "客户恐高", "客户怕高", True),
    ):
        new, old = said(key, other, after=1, near=0.55), said(key, one, near=0.55)
        assert (decide(new, [old]).action == "insert") != is_one, (one, other)


def test_the_customers_own_words_tell_that_something_comes_on_top_or_is_meant_for_once() -> None:
    old = said("loyalty_programme", "Holds Senator status with Lufthansa", near=0.5)
    new = said("loyalty_programme", "Holds Silver status with Air France", after=1, near=0.5)
    assert decide(new, [old]).targets == (old.id,)
    assert decide(replace(new, evidence="And on Air France I have Silver"), [old]).action == "insert"
    usual = said("appointment_format", "Prefers appointments in person", near=0.5)
    video = said("appointment_format", "Appointment by video", after=1, near=0.5)
    assert decide(video, [usual]).targets == (usual.id,)
    assert decide(replace(video, evidence="just this once by video"), [usual]).action == "insert"


def test_two_negations_are_none() -> None:
    cancels = said("order", "Wants to cancel the blender order", "decision", near=0.8)
    keeps = said("order", "Does not want to cancel the blender order any more", "decision", after=1, near=0.8)
    assert decide(keeps, [cancels]).action == "replace"


def test_another_value_of_the_same_kind_is_no_repetition() -> None:
    window = said("travel_seat", "Prefers a window seat", "preference", near=0.8)
    aisle = said("seat_preference", "Prefers an aisle seat", "preference", after=1, near=0.8)
    assert decide(aisle, [window]).action == "replace"
