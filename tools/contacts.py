"""Where a text would have something sent: e-mail addresses, telephone numbers, accounts, links."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from memory.masking import find

_LINK: Final = re.compile(r"(?:https?://|www\.)[^\s<>\"'，。；、）)\]]{4,}", re.IGNORECASE)
_ACCOUNT: Final = re.compile(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])"
)
"""An international bank account number, whatever its check digits say."""
SHORTEST_ACCOUNT: Final = 15
"""Characters; shorter ones are the numbers of parcels."""
_PERSONAL: Final = frozenset({"email", "phone", "bank card"})


def contacts_in(text: str) -> list[str]:
    """Every contact in a text, as it is written there."""
    return list(dict.fromkeys(_contacts(unicodedata.normalize("NFKC", text))))


def _contacts(text: str) -> Iterator[str]:
    yield from (match[0].rstrip(".,;:!?") for match in _LINK.finditer(text))
    for match in _ACCOUNT.finditer(text):
        if len(match[0].replace(" ", "")) >= SHORTEST_ACCOUNT:
            yield match[0]
    yield from (text[found.start : found.end] for found in find(text) if found.kind in _PERSONAL)
