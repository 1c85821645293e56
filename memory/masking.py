"""Masks personal data and secrets before a text is stored or logged.

Found are phone numbers, Chinese identity cards, bank cards, e-mail addresses and secrets, also where they stand
without a space beside Chinese text or in full-width digits. Order and tracking numbers are what customers are served
by, so they stay: a number that is part of a code (ABC-20240520-001, SF1234567890) or that the words before it call an
order or a parcel is left alone whatever its digits look like.

The live path to a tool needs the real contact and does not come through here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Literal

from memory.clean import JsonValue
from memory.known_secrets import known_secrets
from memory.personal_numbers import is_bank_card, is_identity_card, is_phone
from memory.secret_patterns import find_secrets

Kind = Literal["secret", "email", "id card", "bank card", "phone"]

# A number that is not a piece of a longer one, of a word or of a decimal.
BEFORE = r"(?<![A-Za-z0-9])(?<!\d\.)"
AFTER = r"(?![A-Za-z0-9])(?!\.\d)"
EMAIL = re.compile(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}@(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9])"
)
IDENTITY_CARD = re.compile(rf"{BEFORE}\d{{17}}[\dXx]{AFTER}")
BANK_CARD = re.compile(rf"{BEFORE}\d{{4}}(?:[ -]?\d{{4}}){{2}}[ -]?\d{{3,4}}(?:[ -]?\d{{1,3}})?{AFTER}")
AMEX = re.compile(rf"{BEFORE}3[47]\d{{2}}[ -]?\d{{6}}[ -]?\d{{5}}{AFTER}")
MOBILE = re.compile(
    rf"(?:(?<![A-Za-z0-9])(?:\+|00)?86[ -]?|{BEFORE})1[3-9]\d[ .-]?\d{{4}}[ .-]?\d{{4}}{AFTER}"
)
INTERNATIONAL = re.compile(rf"(?<![A-Za-z0-9+])(?:\+|00)[1-9](?:[ ().-]{{0,2}}\d){{6,14}}{AFTER}")
LANDLINE = re.compile(rf"{BEFORE}(?:\(0\d{{2,3}}\) ?|0\d{{2,3}}[- ])\d{{7,8}}{AFTER}")
AMERICAN = re.compile(rf"{BEFORE}(?:\(\d{{3}}\) ?|\d{{3}}[-. ])\d{{3}}[-. ]\d{{4}}{AFTER}")
SAID_TO_BE_A_PHONE = re.compile(
    r"(?:电话|手机号?|联系方式|致电|(?<![a-z])(?:tel|telephone|phone|mobile|cell|call|whatsapp))"
    r"(?:号码|号| ?number| ?no\.?)?(?: ?(?:is|at|me at|[:：=是为]))? ?(\+?\(?\d(?:[ ().-]?\d){6,14})" + AFTER,
    re.IGNORECASE,
)
# A slip of a digit makes no checksum; what is called a card is one.
SAID_TO_BE_A_CARD = re.compile(
    r"(?:银行卡|信用卡|储蓄卡|借记卡|卡号|(?<![a-z])(?:(?:bank|credit|debit) card|card (?:number|no\.?)))"
    r"(?:号码?| ?number| ?no\.?)?(?: ?(?:is|[:：=是为]))? ?(\d(?:[ -]?\d){14,18})" + AFTER,
    re.IGNORECASE,
)
SAID_TO_BE_AN_IDENTITY = re.compile(
    r"(?:身份证|(?<![a-z])(?:id|identity) (?:card|number))(?:号码?| ?number)?(?: ?(?:is|[:：=是为]))? ?(\d{17}[\dXx])"
    + AFTER,
    re.IGNORECASE,
)
SAID_TO_BE_A_CODE = re.compile(
    r"(?:单号|运单|订单|工单|流水号|编号|发票号"
    r"|(?<![a-z])(?:orders?|tracking|waybill|parcel|shipment|consignment|invoice|ticket|case|reference|ref|sku|awb))"
    r"(?:编号|号码|号)?(?: ?(?:numbers?|nos?\.?|id|code|#))?(?: ?(?:is|was|are|[:：=是为#]))? ?[(（「\"'#]?"
    # More of them in a row.
    r"(?:[A-Za-z0-9-]{6,40}(?:[、/]| ?(?:和|及|与|and|or|,) ?)){0,20}$",
    re.IGNORECASE,
)
CODE_BEFORE = re.compile(r"(?:^|(?<=[^A-Za-z0-9_-]))([A-Za-z0-9][A-Za-z0-9_-]*)[-_]$")
CODE_AFTER = re.compile(r"[-_]([A-Za-z0-9]{1,40})")
CONTACT_WORD = re.compile(r"(?:tel|telephone|phone|mobile|mob|cell|fax|whatsapp|wechat)", re.IGNORECASE)
DIGITS = re.compile(r"\d[ ().-]{0,3}\d{2}")
LOOK_BACK = 120
PASSES = 5
MARK = re.compile(r"\[(?:secret|email|id card|(?:phone|bank card) …\d{0,2})\]")

WIDE = re.compile("[\uff01-\uff5e]")
# Full-width letters, digits and the marks inside an address or a number; a comma has to stay one.
FULL_WIDTH = {ord(mark) + 0xFEE0: mark for mark in f"{ascii_letters}{digits}@.+-_"}


@dataclass(frozen=True)
class Finding:
    """Where something personal stands: `text[start:end]`."""

    kind: Kind
    start: int
    end: int


def find(text: str) -> list[Finding]:
    """Everything personal in a text, in order, none overlapping."""
    narrow = text.translate(FULL_WIDTH) if WIDE.search(text) else text
    found: list[Finding] = []
    taken = bytearray(len(text))
    for match in MARK.finditer(text):
        taken[match.start() : match.end()] = b"\x01" * len(match[0])
    for finding in _candidates(narrow):
        if not any(taken[finding.start : finding.end]):
            taken[finding.start : finding.end] = b"\x01" * (finding.end - finding.start)
            found.append(finding)
    return sorted(found, key=lambda finding: finding.start)


def mask(text: str) -> str:
    """The text with a mark in place of everything personal: `[phone …00]`, `[email]`, `[secret]`.

    Phone and card marks keep two digits, so that a reader can tell two numbers apart. Masking twice changes nothing.
    """
    # What has been masked may lay open what it had hidden, as a number joined to another one.
    for _ in range(PASSES):
        masked = _masked_once(text)
        if masked == text:
            break
        text = masked
    return text


def _masked_once(text: str) -> str:
    parts: list[str] = []
    done = 0
    for finding in find(text):
        parts += [text[done : finding.start], _mark(finding.kind, text[finding.start : finding.end])]
        done = finding.end
    return "".join([*parts, text[done:]])


def _candidates(text: str) -> Iterator[Finding]:
    """Surest kinds first: what one has taken, a later one does not get."""
    for start, end in known_secrets(text):
        yield Finding("secret", start, end)
    for start, end in find_secrets(text):
        yield Finding("secret", start, end)
    if "@" in text:
        for match in EMAIL.finditer(text):
            yield Finding("email", *match.span())
    if not DIGITS.search(text):
        return
    for kind, pattern in CALLED_BY_NAME:
        for match in pattern.finditer(text):
            yield Finding(kind, *match.span(1))
    for kind, pattern, holds in NUMBERS:
        for match in pattern.finditer(text):
            if holds(match[0]) and not _is_code(text, *match.span()):
                yield Finding(kind, *match.span())


def _always(_: str) -> bool:
    return True


NUMBERS: tuple[tuple[Kind, re.Pattern[str], Callable[[str], bool]], ...] = (
    ("id card", IDENTITY_CARD, is_identity_card),
    ("bank card", BANK_CARD, is_bank_card),
    ("bank card", AMEX, is_bank_card),
    ("phone", MOBILE, _always),
    ("phone", INTERNATIONAL, lambda number: is_phone(number, None)),
    ("phone", LANDLINE, lambda number: is_phone(number, "CN")),
    ("phone", AMERICAN, lambda number: is_phone(number, "US")),
)


CALLED_BY_NAME: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("id card", SAID_TO_BE_AN_IDENTITY),
    ("bank card", SAID_TO_BE_A_CARD),
    ("phone", SAID_TO_BE_A_PHONE),
)


def _is_code(text: str, start: int, end: int) -> bool:
    """Whether the number is part of a code, or is called an order's, a parcel's or the like."""
    before = text[max(0, start - LOOK_BACK) : start]
    if SAID_TO_BE_A_CODE.search(before):
        return True
    joined = CODE_BEFORE.search(before)
    if joined and not CONTACT_WORD.fullmatch(joined[1]) and not _is_personal(joined[1]):
        return True
    following = CODE_AFTER.match(text, end)
    return following is not None and not _is_personal(following[1])


def _is_personal(number: str) -> bool:
    return any(pattern.fullmatch(number) and holds(number) for _, pattern, holds in NUMBERS)


def _mark(kind: Kind, found: str) -> str:
    if kind in ("phone", "bank card"):
        last = [character for character in found if character.isdecimal()][-2:]
        return f"[{kind} …{''.join(last)}]"
    return f"[{kind}]"


PERSONAL_KEY = re.compile(
    r"(?:.*[_-])?(?:phone|mobile|tel|telephone|cell|fax|whatsapp|contact)(?:[_-]?(?:no|number))?|.*(?:电话|手机).*",
    re.IGNORECASE,
)
CARD_KEY = re.compile(
    r".*(?:id_?card|identity|passport|bank_?card|card_?(?:no|number)|身份证|银行卡).*", re.IGNORECASE
)
SECRET_KEY = re.compile(
    r"(?:.*[_-])?(?:password|passwd|pwd|secret|token|api_?key|access_?key|private_?key|authorization|cookie|密码)",
    re.IGNORECASE,
)
CODE_KEY = re.compile(
    r"(?:.*[_-])?(?:id|ids|no|nos|number|code|sku|ref|reference|key|order|tracking|waybill)|.*(?:单号|编号)",
    re.IGNORECASE,
)
CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
PHONE_DIGITS = range(7, 16)


def mask_data(value: JsonValue, key: str = "") -> JsonValue:
    """JSON-native data with everything personal masked; the name of a field says what its value is.

    Under `tracking_no` a bare number stays, under `phone` it goes, under `password` anything does. Numbers that
    have to be masked become text.
    """
    if isinstance(value, dict):
        return {mask(name): mask_data(held, name) for name, held in value.items()}
    if isinstance(value, list):
        return [mask_data(held, key) for held in value]
    if isinstance(value, str):
        return _mask_field(value, key)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1_000_000:
        written = str(value)
        masked = _mask_field(written, key)
        return value if masked == written else masked
    return value


def _mask_field(text: str, key: str) -> str:
    if SECRET_KEY.fullmatch(key) and text:
        return "[secret]"
    if PERSONAL_KEY.fullmatch(key) and sum(map(str.isdecimal, text)) in PHONE_DIGITS and not find(text):
        return _mark("phone", text)
    if CARD_KEY.fullmatch(key) and any(map(str.isdecimal, text)) and not find(text):
        return "[id card]"
    if CODE_KEY.fullmatch(key) and not CARD_KEY.fullmatch(key) and not PERSONAL_KEY.fullmatch(key):
        return text if CODE.fullmatch(text) and not any(map(_is_secret, find(text))) else mask(text)
    return mask(text)


def _is_secret(finding: Finding) -> bool:
    return finding.kind == "secret"
