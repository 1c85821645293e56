"""Which memories can do harm when they are overlooked."""

from __future__ import annotations

import pytest

from memory.constraints import constraint_of


@pytest.mark.parametrize(
    "content",
    [
        "对花生过敏",
        "我吃虾会过敏，不能碰",
        "女儿乳糖不耐受",
        "有糖尿病，要低糖",
        "孕期六个月",
        "在服药：降压药",
        "不吃猪肉",
        "Is allergic to peanuts, must not eat them",
        "No sugar: diabetic",
        "Uses a wheelchair",
        "Takes blood thinners",
        "Does not eat pork",
        "Is vegan",
        "Eats halal food only",
    ],
)
def test_what_is_not_good_for_the_person_is_a_constraint(content: str) -> None:
    assert constraint_of(content) == "health"


@pytest.mark.parametrize(
    "content",
    [
        "不要给我打电话",
        "上班时间别联系我",
        "送货不要敲门",
        "Never call the customer at work",
        "Do not ring the doorbell",
        "No phone calls please",
    ],
)
def test_how_the_customer_must_not_be_reached_is_a_constraint(content: str) -> None:
    assert constraint_of(content) == "contact"


@pytest.mark.parametrize(
    "content",
    [
        "对芒果不过敏",
        "检查后没有乳糖不耐受",
        "没有怀孕",
        "喜欢花生",
        "Is not allergic to cats after all",
        "Has no peanut allergy",
        "Is no longer vegan",
        "Call me after six",
        "Wears size 42",
        "周六不要送货",
        "",
    ],
)
def test_anything_else_is_none(content: str) -> None:
    assert constraint_of(content) is None
