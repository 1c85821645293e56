"""What passwords and keys look like in texts, logs and error messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

NAMES = (
    r"(?:[a-z0-9]{1,20}[_-]){0,4}(?:password|passwd|pwd|secret|token|api[_-]?key|apikey|access[_-]?key"
    r"|private[_-]?key|credentials?)|密码|口令|密钥"
)


class SecretPattern(NamedTuple):
    """A text without any of the hints (lower case) need not be searched. A group, where there is one, is the secret."""

    hints: tuple[str, ...]
    pattern: re.Pattern[str]


SECRETS = (
    # Keys of known make.
    SecretPattern(
        ("sk", "pk", "rk"),
        re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][A-Za-z0-9_-]{6,}"),
    ),
    SecretPattern(
        ("gh", "glpat-", "xox", "hf_", "npm_", "lsv2_"),
        re.compile(
            r"(?<![A-Za-z0-9])(?:gh[opsur]_|github_pat_|glpat-|xox[abprs]-|hf_|npm_|lsv2_)[A-Za-z0-9_-]{8,}"
        ),
    ),
    SecretPattern(
        ("akia", "asia", "ltai", "aiza"),
        re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA|LTAI|AIza)[A-Za-z0-9_-]{12,}"),
    ),
    # JSON web tokens and private keys.
    SecretPattern(
        ("eyj",),
        re.compile(r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*)?"),
    ),
    SecretPattern(
        ("private key-----",),
        re.compile(
            r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)"
        ),
    ),
    # HTTP headers.
    SecretPattern(
        ("bearer",),
        re.compile(r"(?<![A-Za-z0-9])bearer\s{1,4}([A-Za-z0-9._~+/=-]{6,})", re.IGNORECASE),
    ),
    SecretPattern(
        ("basic",),
        re.compile(r"(?<![A-Za-z0-9])basic\s{1,4}([A-Za-z0-9+/]{12,}={0,2})(?![A-Za-z0-9])", re.IGNORECASE),
    ),
    # The password of a URL; user and host stay.
    SecretPattern(
        ("://",),
        re.compile(r"(?<=://)[^\s:/@]{0,100}:([^\s/@]{1,200}(?:@[^\s/@]{1,200})*)@"),
    ),
    # A name and a value: token=…, "api_key": "…", 密码：…
    SecretPattern(
        ("pass", "pwd", "secret", "token", "key", "credential", "密码", "口令", "密钥"),
        re.compile(
            rf"(?<![A-Za-z0-9_-])(?:{NAMES})[\"']?\s{{0,3}}(?:[:=：]|=>| is |是(?!否))\s{{0,3}}[\"']?"
            r"(?!\d{1,5}(?![^\s\"',;&)}\]]))((?:(?![\"',;&)}\]])[!-~]){4,})",
            re.IGNORECASE,
        ),
    ),
)


def find_secrets(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every secret, by kind."""
    lower = text.lower()
    for hints, pattern in SECRETS:
        if any(hint in lower for hint in hints):
            for match in pattern.finditer(text):
                yield match.span(match.lastindex or 0)
