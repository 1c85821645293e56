"""Numbers and contacts in a customer's words, in any spelling that a person would accept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

_DASH = r"[\s\-‐-―]?"
_START, _END = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_ORDER = re.compile(rf"{_START}([A-Za-z]{{3}}){_DASH}(\d{{8}}){_DASH}(\d{{3}}){_END}")
_TICKET = re.compile(rf"{_START}AS{_DASH}(\d{{8}}){_DASH}(\d{{4,6}}){_END}", re.IGNORECASE)
_TRACKING = re.compile(rf"{_START}(SF|YT|ZT){_DASH}(\d{{10}}){_END}", re.IGNORECASE)
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_PHONE = re.compile(
    r"(?<![\dA-Za-z-])(?:\+?\d{1,3}[ -])?(?:1[3-9]\d[ -]?\d{4}[ -]?\d{4}|\d{3,4}-\d{7,8})(?![\dA-Za-z])"
)


def plain(text: str) -> str:
    """Full-width letters, digits and dashes as ASCII."""
    return unicodedata.normalize("NFKC", text)


def orders(text: str) -> list[str]:
    """Order numbers in the shop's spelling, in order of appearance.

    >>> orders("ａｂｃ 20240520 001 和 DEF-20240525-002")
    ['ABC-20240520-001', 'DEF-20240525-002']
    """
    return _found(_ORDER, text, lambda m: f"{m[1].upper()}-{m[2]}-{m[3]}")


def tickets(text: str) -> list[str]:
    """Ticket numbers."""
    return _found(_TICKET, text, lambda m: f"AS-{m[1]}-{m[2]}")


def parcels(text: str) -> list[str]:
    """Tracking numbers."""
    return _found(_TRACKING, text, lambda m: m[1].upper() + m[2])


def contact(text: str) -> str | None:
    """The last telephone number or e-mail address, as it was written."""
    text = plain(text)
    without_numbers = _TRACKING.sub(" ", _TICKET.sub(" ", _ORDER.sub(" ", text)))
    found = [(m.start(), m[0]) for pattern in (_EMAIL, _PHONE) for m in pattern.finditer(without_numbers)]
    return max(found)[1].strip() if found else None


def without_numbers(text: str) -> str:
    """The words alone: numbers and contacts taken out."""
    text = plain(text)
    for pattern in (_ORDER, _TICKET, _TRACKING, _EMAIL, _PHONE):
        text = pattern.sub(" ", text)
    return re.sub(r"\s+", " ", text).strip()


def _found(pattern: re.Pattern[str], text: str, spell: Callable[[re.Match[str]], str]) -> list[str]:
    return list(dict.fromkeys(spell(match) for match in pattern.finditer(plain(text))))
