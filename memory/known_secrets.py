"""The secrets that this process was given, whatever they look like: what holds one is masked by its very letters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit

SHORTEST = 8
SHORTEST_WORD = 16
"""Of letters alone: a shorter one is as likely a word that people use."""
SECRET_NAME = re.compile(
    r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PGPASSWORD|CREDENTIALS?|HEADERS)", re.IGNORECASE
)
HEADER = re.compile(r"[^=,\s]+=(?:Bearer(?:%20|\s+)|Basic(?:%20|\s+))?([^,]+)", re.IGNORECASE)

_known: set[str] = set()


def keep_secret(values: Iterable[str]) -> None:
    """From now on these are masked wherever `memory.masking` looks. Values that may be plain words are left out."""
    for value in values:
        for each in {value, value.strip(), unquote(value)}:
            if len(each) >= (SHORTEST_WORD if each.isalpha() else SHORTEST):
                _known.add(each)


def known_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every one in the text, longest first."""
    for secret in sorted((known for known in _known if known in text), key=len, reverse=True):
        start = text.find(secret)
        while start >= 0:
            yield start, start + len(secret)
            start = text.find(secret, start + len(secret))


def secrets_of_url(url: str) -> Iterator[str]:
    """The password of an address, and the values of its query that are no plain words."""
    try:
        parts = urlsplit(url)
        yield from (parts.password or "",)
    except ValueError:
        return
    yield from (value for _, value in parse_qsl(parts.query) if not value.isalpha() and "/" not in value)


def secrets_of_environment(environment: Mapping[str, str]) -> Iterator[str]:
    """Values of variables that are called keys, tokens, passwords or headers, and the passwords of addresses."""
    for name, value in environment.items():
        if name.upper().endswith("HEADERS"):
            yield from HEADER.findall(value)
        elif SECRET_NAME.fullmatch(name):
            yield value
        elif "://" in value:
            yield from secrets_of_url(value)


def shown_address(url: str) -> str:
    """An address as it may be shown: without user, password and query.

    >>> shown_address("https://bob:secret@host:8443/v1?key=secret")
    'https://host:8443/v1'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "that address"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
