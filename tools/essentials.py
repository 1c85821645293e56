"""Which values of a record later steps hang on: identifiers, amounts, dates and states (T10)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from tools.spec import JSON

Essential = Literal["identifier", "amount", "date", "state"]

_WORDS: Final[dict[str, Essential]] = {
    **dict.fromkeys(("id", "ids", "no", "nr", "number", "code", "sku", "key", "ref", "uuid"), "identifier"),
    **dict.fromkeys(("tracking", "编号", "单号", "号码"), "identifier"),
    **dict.fromkeys(("amount", "price", "prices", "total", "fee", "cost", "sum", "balance"), "amount"),
    **dict.fromkeys(("refund", "paid", "discount", "tax", "quantity", "qty", "金额", "价格"), "amount"),
    **dict.fromkeys(("date", "time", "at", "on", "until", "since", "deadline", "日期", "时间"), "date"),
    **dict.fromkeys(("status", "state", "stage", "phase", "available", "状态"), "state"),
}
_NAME: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[\u4e00-\u9fff]+")
_DATE: Final = re.compile(r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}")
_CODE: Final = re.compile(r"(?=[^\s]*\d)[A-Za-z0-9][A-Za-z0-9_\-./:]{3,63}", re.ASCII)
_CHUNK: Final = re.compile(r"[A-Za-z0-9_\-./:]+", re.ASCII)
_LONGEST_FACT: Final = 64


def kind_of(name: str, value: JSON) -> Essential | None:
    """What a field holds, by its name and by the look of its value."""
    if isinstance(value, dict | list) or value is None:
        return None
    if isinstance(value, str) and _DATE.match(value):
        return "date"
    words = [word.lower() for word in _NAME.findall(name)]
    for word in reversed(words):
        if word in _WORDS:
            return _WORDS[word]
    if isinstance(value, str) and _CODE.fullmatch(value):
        return "identifier"
    return "amount" if isinstance(value, float) else None


def essentials(record: dict[str, JSON]) -> Iterator[tuple[Essential, JSON]]:
    """The essential values of one record, those of nested records included, of nested lists not."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from essentials(value)
        elif kind := kind_of(name, value):
            yield kind, value


def facts_in(text: str) -> list[str]:
    """Numbers, dates and codes in a text, in order, without repeats."""
    chunks = (chunk.strip("_-./:") for chunk in _CHUNK.findall(text))
    return list(dict.fromkeys(c for c in chunks if len(c) <= _LONGEST_FACT and any(map(str.isdigit, c))))
