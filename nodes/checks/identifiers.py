"""Order, tracking, ticket and telephone numbers in a text, however they are spaced."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nodes.checks.text import FLAGS, Mention, compact

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9*@])(?:[A-Za-z]{1,5} ?)?\d{2,}(?: \d{2,}){1,5}(?![A-Za-z0-9*])"
    r"|(?<![A-Za-z0-9*@])[A-Za-z]{1,5} \d{6,}(?![A-Za-z0-9*])"
    r"|(?<![A-Za-z0-9*@])[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*(?![A-Za-z0-9*@])",
    FLAGS,
)
_LABELLED = re.compile(
    r"(?:单号|编号|订单号码?|号码|工单|(?:order|ticket|tracking|case|return|reference|parcel|rma)\s*(?:number|no\.?|id|#))"
    r"\s*(?:is|为|是)?\s*[:#]?\s*(?P<token>[A-Za-z]{0,4}\d[A-Za-z0-9\-]*)",
    FLAGS,
)
_TAIL = re.compile(
    r"(?:尾号|后[三四五六34-6]位|ending (?:in|with))\s*(?:为|是)?\s*:?\s*(?P<token>\d{2,12})", FLAGS
)
_MEASURE = re.compile(r"\d+[A-Za-z]{1,4}|\d+[xX*]\d+\w*|\d+(?:st|nd|rd|th)", FLAGS)
_EXAMPLE = re.compile(r"(?:例如|比如|形如|格式|如|e\.g\.|for example|such as)[^。.]{0,8}$", FLAGS)
_CHINESE_MOBILE = re.compile(r"(?:00)?86(1\d{10})")
_DIGITS = 7
"""Of a number without letters, from which it names something rather than counts."""


@dataclass(frozen=True)
class Identifier:
    """The spellings under which the number may be known, compact; `tail`: only its end is named."""

    forms: tuple[str, ...]
    tail: bool = False


def find_identifiers(text: str) -> list[Mention[Identifier]]:
    """Identifiers in folded text; masked numbers and made-up examples of a format are left out."""
    found = [
        Mention(match["token"], match.start("token"), Identifier((compact(match["token"]),), tail=True))
        for match in _TAIL.finditer(text)
    ]
    for pattern, group in ((_LABELLED, "token"), (_TOKEN, 0)):
        for match in pattern.finditer(text):
            token, start = match[group], match.start(group)
            if pattern is _TOKEN and not _is_identifier(token):
                continue
            if _EXAMPLE.search(text[:start]) or _overlaps(start, token, found):
                continue
            found.append(Mention(token, start, Identifier(_forms(token))))
    return sorted(found, key=lambda mention: mention.start)


def _is_identifier(token: str) -> bool:
    digits = sum(character.isdigit() for character in token)
    if not any(character.isalpha() for character in token):
        return digits >= _DIGITS
    if _MEASURE.fullmatch(token):
        return False
    if " " in token:
        return digits >= 6
    return digits >= 4 or (digits >= 3 and "-" in token)


def _overlaps(start: int, token: str, found: list[Mention[Identifier]]) -> bool:
    return any(start < other.end and other.start < start + len(token) for other in found)


def _forms(token: str) -> tuple[str, ...]:
    whole = compact(token)
    if " " in token and token[0].isalpha():
        return whole, compact(token.partition(" ")[2])
    if mobile := _CHINESE_MOBILE.fullmatch(whole):
        return whole, mobile[1]
    return (whole,)
