"""Tells a personal number from any other by its check digit and its ranges."""

from __future__ import annotations

import re
from datetime import date

IDENTITY_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
IDENTITY_CHECK = "10X98765432"
NOT_DIGITS = re.compile(r"\D")

# First digits and lengths: UnionPay and older Chinese cards, Visa, Mastercard, JCB, Discover, American Express.
ISSUERS = (
    (re.compile(r"62|81|601382|603367|9558"), range(16, 20)),
    (re.compile(r"4"), (16, 19)),
    (re.compile(r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),
    (re.compile(r"35(?:2[89]|[3-8])"), range(16, 20)),
    (re.compile(r"6011|64[4-9]|65"), range(16, 20)),
    (re.compile(r"3[47]"), (15,)),
)


def is_identity_card(number: str) -> bool:
    """A Chinese identity card: a birth date that has been, and the right check digit.

    The region is not looked up: regions come and go, and cards keep theirs.
    """
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    if not 1900 <= born.year <= 2100:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(number[:17], IDENTITY_WEIGHTS, strict=True))
    return IDENTITY_CHECK[total % 11] == number[17].upper()


def is_bank_card(number: str) -> bool:
    """A card of a known issuer with the right check digit (Luhn)."""
    digits = NOT_DIGITS.sub("", number)
    if not any(prefix.match(digits) and len(digits) in lengths for prefix, lengths in ISSUERS):
        return False
    doubled = [int(digit) * (1 + position % 2) for position, digit in enumerate(reversed(digits))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def is_phone(number: str, region: str | None) -> bool:
    """A valid number of its country; `region` for one that does not begin with + or 00."""
    import phonenumbers  # most texts hold nothing that could be a number

    written = "+" + number[2:] if number.startswith("00") and region is None else number
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(written, region))
    except phonenumbers.NumberParseException:
        return False
