"""Facts are read from a text in every spelling that people use, and nothing else is taken for one."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal

import pytest

from nodes.checks.durations import Duration
from nodes.checks.reading import Reading, read
from nodes.checks.text import compact, fold, sentences

TODAY = date(2024, 5, 22)  # a Wednesday


def reading(text: str) -> Reading:
    return read(fold(text), TODAY)


def days(text: str) -> list[frozenset[date]]:
    return [mention.value.dates for mention in reading(text).dates]


@pytest.mark.parametrize(
    "text",
    [
        "2024-05-24",
        "2024/5/24",
        "2024.05.24",
        "２０２４年５月２４日",
        "5月24日",
        "5月24号（周五）",
        "May 24",
        "May 24th, 2024",
        "24 May 2024",
        "Friday, May 24",
        "the 24th of May",
        "on 05/24",
        "后天",
        "the day after tomorrow",
        "本周五",
        "24号",
        "next Friday",
    ],
)
def test_a_date_is_found_in_every_spelling(text: str) -> None:
    (found,) = days(f"预计 {text} 送达")
    assert date(2024, 5, 24) in found


@pytest.mark.parametrize("text", ["5月32日", "May 31 (Friday) and 30 February", "5月24日（周四）"])
def test_an_impossible_date_means_no_day(text: str) -> None:
    assert frozenset() in [frozenset(d for d in found if d.year == 2024) for found in days(text)]


@pytest.mark.parametrize(
    "text",
    [
        "约两周左右",
        "in a day or two",
        "满3-5件包邮",
        "Have a nice day",
        "美好的一天",
        "24/7 support",
        "GHI-20240512-003",
        "这两天",
        "版本 1.2.3",
    ],
)
def test_what_only_looks_like_a_date_or_a_span_is_left_alone(text: str) -> None:
    assert not reading(text).dates
    assert not reading(text).durations


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3-5个工作日", (3, "working day"), (5, "working day")),
        ("三到五个工作日", (3, "working day"), (5, "working day")),
        ("within 3 to 5 business days", (3, "working day"), (5, "working day")),
        ("七天无理由", (7, "day"), (7, "day")),
        ("7日内", (7, "day"), (7, "day")),
        ("within a week", (7, "day"), (7, "day")),
        ("48小时内", (2, "day"), (2, "day")),
        ("within 12 hours", (12, "hour"), (12, "hour")),
        ("a two-year warranty", (24, "month"), (24, "month")),
        ("保修12个月", (12, "month"), (12, "month")),
    ],
)
def test_spans_of_time_are_brought_to_common_units(text: str, low: object, high: object) -> None:
    (found,) = reading(text).durations
    assert found.value == Duration(low, high)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value", "exact"),
    [
        ("¥1,286.40", "1286.40", True),
        ("￥１２８６．４０", "1286.40", True),
        ("1286.4元", "1286.4", False),
        ("共398元", "398", False),
        ("退款398.00元", "398.00", True),
        ("CNY 60.00", "60.00", True),
        ("512.00 CNY", "512.00", True),
        ("paid 45.99.", "45.99", True),
        ("两百元", "200", False),
        ("1.2万元", "12000", True),
        ("refund of 89", "89", False),
        ("金额 2,680.00 元", "2680.00", True),
        ("满 500 减", "500", False),
        ("$14.00", "14.00", True),
    ],
)
def test_an_amount_is_found_in_every_spelling(text: str, value: str, exact: bool) -> None:
    (found,) = reading(text).amounts
    assert found.value.value == Decimal(value)
    assert found.value.exact is exact


@pytest.mark.parametrize("text", ["3件商品", "满 5 个", "2.50 kg", "95.00%", "版本 12.10.3", "8.50折"])
def test_a_count_or_a_measure_is_no_amount(text: str) -> None:
    assert not reading(text).amounts


@pytest.mark.parametrize(
    "text",
    [
        "ABC-20240520-001",
        "abc20240520001",
        "ＡＢＣ－２０２４０５２０－００１",
        "ABC 20240520 001",
        "订单号：ABC–20240520–001。",
    ],
)
def test_an_identifier_is_the_same_in_every_spelling(text: str) -> None:
    (found,) = reading(text).identifiers
    assert "abc20240520001" in found.value.forms


@pytest.mark.parametrize(
    "text",
    [
        "iPhone 15",
        "500ml",
        "128GB",
        "4月20日",
        "5折",
        "请提供订单号，例如 ABC-20240520-001",
        "138****8123",
        "https://shop.example/orders/12345678",
        "a1234567@example.com",
    ],
)
def test_what_names_no_object_is_no_identifier(text: str) -> None:
    assert not reading(text).identifiers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("08:15", time(8, 15)),
        ("上午8点15分", time(8, 15)),
        ("下午6点半", time(18, 30)),
        ("6 pm", time(18, 0)),
        ("2:20 p.m.", time(14, 20)),
        ("18点", time(18, 0)),
    ],
)
def test_a_time_of_the_day_is_found(text: str, expected: time) -> None:
    assert [mention.value for mention in reading(text).clocks] == [expected]


def test_a_sentence_ends_at_its_mark_and_not_within_a_number() -> None:
    assert len(sentences(fold("Total 12.50. Paid by card! 已发货。运单 SF1;预计5.24到"))) == 5


def test_a_full_width_comma_never_joins_two_numbers() -> None:
    assert [m.value.value for m in reading("共2，398.00元").amounts] == [Decimal("398.00")]


def test_compact_forgets_case_spaces_and_dashes() -> None:
    assert compact("Abc－2024 05-20") == "abc20240520"
