"""Whether words really stand in a text, in any spelling that a person would accept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

BY_HAND = "set by hand"
"""Evidence of a memory that a person wrote as it is."""

_ELLIPSIS = re.compile(r"\.{3,}|…+|。{2,}|\s*[|/]\s*|\n+")
_IDENTIFIER = re.compile(r"(?<![^\W_])(?=[a-z0-9-]*\d)[a-z0-9]+(?:-[a-z0-9]+)*(?![^\W_])")
_DIGITS = re.compile(r"\d+")
_CLOSE_ENOUGH = 0.8
"""Share of character pairs that must be found where a quotation is not literal."""
_LONG_IDENTIFIER = 6
"""Characters from which a code with digits is taken for an identifier, not for a date or an amount."""


def plain(text: str) -> str:
    """A text without case, width, blanks and punctuation: what two spellings of the same have in common."""
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())


class Sources:
    """Texts that may count as evidence."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._plain = [plain(text) for text in texts]
        self._pairs = [_pairs(text) for text in self._plain]

    def contain(self, quotation: str) -> bool:
        """Every part of the quotation stands in one of the texts; a slip of spelling is forgiven, a number not."""
        parts = [plain(part) for part in _ELLIPSIS.split(quotation)]
        parts = [part for part in parts if part]
        return bool(parts) and all(self._holds(part) for part in parts)

    def missing_identifiers(self, text: str) -> list[str]:
        """Codes with digits (order numbers and the like) in `text` that none of the sources has."""
        lowered = unicodedata.normalize("NFKC", text).casefold()
        return [
            code
            for code in dict.fromkeys(_IDENTIFIER.findall(lowered))
            if len(code) >= _LONG_IDENTIFIER and not _is_date(code) and not self._has(plain(code))
        ]

    def _holds(self, part: str) -> bool:
        if len(part) < 2:
            return False
        if self._has(part):
            return True
        wanted = _pairs(part)
        if len(wanted) < 4:
            return False
        return any(
            len(wanted & found) >= _CLOSE_ENOUGH * len(wanted)
            and all(number in text for number in _DIGITS.findall(part))
            for text, found in zip(self._plain, self._pairs, strict=True)
        )

    def _has(self, part: str) -> bool:
        return any(part in text for text in self._plain)


def _pairs(text: str) -> set[str]:
    return {text[i : i + 2] for i in range(len(text) - 1)}


def _is_date(code: str) -> bool:
    """2024-05-21 is what a relative date was resolved to; it need not stand in the words."""
    return re.fullmatch(r"(19|20)\d\d-?[01]\d-?[0-3]\d(t.*)?", code) is not None
