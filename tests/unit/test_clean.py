"""Whatever users and tools hand in becomes text and JSON that every store takes."""

from __future__ import annotations

import itertools
import json
from collections import OrderedDict, deque, namedtuple
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import ormsgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, SecretStr

from memory.clean import clean_json, clean_text


@pytest.mark.parametrize(
    ("dirty", "clean"),
    [
        ("a\x00b", "ab"),
        ("a\x07\x1b[31mb\x7f\x9b", "a[31mb"),
        ("a\tb\nc\r\nd\re", "a\tb\nc\nd\ne"),
        ("half \ud83d here", "half \ufffd here"),
        ("\ud83d\ude00", "😀"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\u202eevil\u202c \u2066x\u2069", "evil x"),
        ("שלום ‏ و\u200f", "שלום ‏ و\u200f"),
        ("hi\U000e0041\U000e0042\U000e007f!", "hi!"),
        (
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        ),
        ("👨‍👩‍👧 ｆｕｌｌ　width é e\u0301", "👨‍👩‍👧 ｆｕｌｌ　width é e\u0301"),
    ],
)
def test_text_is_cleaned_and_otherwise_left_alone(dirty: str, clean: str) -> None:
    assert clean_text(dirty) == clean


@given(st.text(st.characters(exclude_categories=[])))
def test_clean_text_can_be_stored_and_stays_clean(text: str) -> None:
    cleaned = clean_text(text)
    assert "\x00" not in cleaned
    cleaned.encode()
    assert clean_text(cleaned) == cleaned


@given(st.text(st.characters(categories=["L", "N", "P", "S", "Zs"])))
def test_ordinary_text_is_unchanged(text: str) -> None:
    assert clean_text(text) == text


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


class Parcel(BaseModel):
    model_config = ConfigDict(extra="allow")
    weight: Decimal


@dataclass
class Point:
    x: float
    y: object


class Order:
    def __init__(self) -> None:
        self.number = "A1"
        self._token = "hidden"


class Broken:
    def __str__(self) -> str:
        raise RuntimeError


Pair = namedtuple("Pair", "left right")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, None),
        (True, True),
        (Level.HIGH, 3),
        (Colour.RED, "red"),
        (1.5, 1.5),
        (Decimal("12.50"), "12.50"),
        (datetime(2024, 5, 20, 8, tzinfo=UTC), "2024-05-20T08:00:00+00:00"),
        (date(2024, 5, 20), "2024-05-20"),
        (timedelta(minutes=2), 120.0),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (Path("/a"), "/a"),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ((1, [2, deque([3])]), [1, [2, [3]]]),
        (b"text", "text"),
        (Pair(1, 2), {"left": 1, "right": 2}),
        (Point(1.0, {"a"}), {"x": 1.0, "y": ["a"]}),
        (Parcel(weight=Decimal("1.10"), seal="x"), {"weight": "1.10", "seal": "x"}),
        (OrderedDict(a=1), {"a": 1}),
        ({1: "a", None: "b", False: "c"}, {"1": "a", "null": "b", "false": "c"}),
        (np.float64(1.5), 1.5),
        (np.array([[1, 2]]), [[1, 2]]),
        ({"a\x00": "b\x00"}, {"a": "b"}),
        ((n for n in (1, 2)), [1, 2]),
        (10**30, str(10**30)),
    ],
)
def test_what_has_a_customary_form_takes_it_without_a_note(value: object, expected: object) -> None:
    assert clean_json(value) == (expected, ())


@pytest.mark.parametrize(
    ("value", "expected", "note"),
    [
        ({"rate": float("nan")}, {"rate": None}, "$.rate: nan is no JSON number"),
        ([float("inf")], [None], "$[0]: inf is no JSON number"),
        (b"\xff\x00", "/wA=", "2 bytes, given as base64"),
        (Order(), {"number": "A1"}, "type Order, given by its public fields"),
        (Broken(), "<Broken>", "type Broken, given as text"),
        ({1: "a", "1": "b"}, {"1": "b"}, "two fields are called '1'"),
        (SecretStr("sk-1"), "**********", "type SecretStr, given as text"),
    ],
)
def test_what_is_lost_is_noted_with_its_place(value: object, expected: object, note: str) -> None:
    cleaned = clean_json(value)
    assert cleaned.value == expected
    assert note in cleaned.notes[0]


def test_an_endless_generator_ends() -> None:
    cleaned = clean_json(itertools.count())
    assert isinstance(cleaned.value, list)
    assert len(cleaned.value) == 10_000
    assert "cut after 10000 items" in cleaned.notes[0]


def test_a_generator_that_fails_gives_what_it_had() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("secret")

    cleaned = clean_json(failing())
    assert cleaned.value == [1]
    assert cleaned.notes == ("$: stopped after 1 items by OSError",)


def test_two_megabytes_are_cut_and_the_cut_is_noted() -> None:
    cleaned = clean_json({"log": "x" * 2_000_000}, limit=1000)
    assert len(json.dumps(cleaned.value)) < 1100
    assert "of 2000000 characters" in cleaned.notes[0]


def test_what_holds_itself_is_cut_there() -> None:
    loop: dict[str, Any] = {"a": 1}
    loop["self"] = loop
    cleaned = clean_json(loop)
    assert cleaned.value == {"a": 1, "self": None}
    assert "refers to itself" in cleaned.notes[0]


def test_the_same_object_twice_side_by_side_is_no_loop() -> None:
    shared = {"a": 1}
    assert clean_json([shared, shared]) == ([{"a": 1}, {"a": 1}], ())


def test_what_is_too_deep_is_left_out() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert "too deep" in clean_json(deep).notes[0]


ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.decimals()
    | st.datetimes()
    | st.binary(max_size=20)
    | st.text(st.characters(exclude_categories=[]), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=5) | st.integers() | st.booleans(), inner, max_size=5)
        | st.tuples(inner, inner)
    ),
    max_leaves=20,
)


@given(ANYTHING)
def test_anything_becomes_json_that_checkpoints_and_postgres_take(value: object) -> None:
    cleaned = clean_json(value).value
    written = json.dumps(cleaned, allow_nan=False, ensure_ascii=False)
    written.encode()
    assert "\\u0000" not in written
    ormsgpack.packb(cleaned)
    assert json.loads(written) == cleaned
    assert clean_json(cleaned).value == cleaned


@given(ANYTHING, st.integers(min_value=0, max_value=200))
def test_the_size_is_bounded(value: object, limit: int) -> None:
    cleaned = clean_json(value, limit=limit).value
    assert len(json.dumps(cleaned, ensure_ascii=False)) < 6 * limit + 400
