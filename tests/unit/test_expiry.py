"""What holds for a time only ends by the customer's calendar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memory.expiry import ends_at

MONDAY = datetime(2024, 5, 20, 9, 0, tzinfo=UTC)
SHANGHAI = "Asia/Shanghai"


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("这周包裹先寄到公司", "2024-05-26T16:00:00+00:00"),
        ("This week deliver to the office", "2024-05-26T16:00:00+00:00"),
        ("今天不方便接电话", "2024-05-20T16:00:00+00:00"),
        ("Call the landline tomorrow", "2024-05-21T16:00:00+00:00"),
        ("下周出差，寄到酒店", "2024-06-02T16:00:00+00:00"),
        ("这个月暂时吃肉", "2024-05-31T16:00:00+00:00"),
        ("Hold deliveries until next Friday", "2024-05-24T16:00:00+00:00"),
        ("Temporarily ship to the hotel, 2024-05-28 to 2024-06-03", "2024-06-03T16:00:00+00:00"),
    ],
)
def test_a_passing_statement_ends_with_its_last_day_in_the_customers_zone(text: str, end: str) -> None:
    found = ends_at(text, MONDAY, SHANGHAI)
    assert found is not None
    assert found.isoformat() == end


@pytest.mark.parametrize(
    "text", ["周六送货", "Deliver on Saturdays", "暂时寄到公司", "Just once in English", ""]
)
def test_what_names_no_end_does_not_end_by_itself(text: str) -> None:
    assert ends_at(text, MONDAY, SHANGHAI) is None


def test_the_day_is_the_customers_not_the_servers() -> None:
    late = datetime(2024, 5, 20, 23, 30, tzinfo=UTC)
    shanghai, new_york = (
        ends_at("today only", late, SHANGHAI),
        ends_at("today only", late, "America/New_York"),
    )
    assert shanghai == datetime(2024, 5, 21, 16, tzinfo=UTC)
    assert new_york == datetime(2024, 5, 21, 4, tzinfo=UTC)
