"""Amounts of money in a text: ¥1,286.40, 398元, CNY 60.00, a bare 88.00, 两百元."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from nodes.checks.numerals import CHINESE_NUMERAL, number
from nodes.checks.text import FLAGS, Mention

_NUMBER = r"(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,11})(?:\.\d{1,6})?(?!\d)"
_BEFORE = r"(?:¥|RMB|CNY|HK\$|US\$|\$|USD|€|EUR|£|GBP|人民币)"
_AFTER = (
    r"(?:元|块(?!石)|圆|人民币|美元|欧元|港币|英镑|€"
    r"|(?:RMB|CNY|yuan|USD|dollars?|EUR|euros?|GBP|pounds?)\b)"
)
_NAMED = (
    r"(?:满减?|立?减|返|金额|总额|价格|售价|现价|原价|差价|合计|总计|共计|实付|实退|应退|退款|运费|total|amount|price|refund|fee|costs?)"
    r"\s*(?:of|is|为|是|共)?\s*:?\s*"
)
_AMOUNT = re.compile(
    rf"{_BEFORE}\s*(?P<prefixed>{_NUMBER})(?P<scale>\s*万)?"
    rf"|(?<![\w.\-/])(?P<suffixed>{_NUMBER})(?P<scale_before>\s*万)?\s*{_AFTER}"
    rf"|(?P<words>{CHINESE_NUMERAL})(?:元|块钱)"
    rf"|{_NAMED}(?P<named>{_NUMBER})(?=\s*(?:$|[,.。;!?)(]|[减返免包送]))(?![.,]\d)"
    r"|(?<![\w.\-/,:])(?P<bare>(?:\d{1,3}(?:,\d{3}){1,3}|\d{1,11})\.\d{2})(?!\d|%|[.\-/]\d|\s*(?:kg|km|cm|mm|ml|公斤|千克|厘米|毫米|折|倍|分\b))",
    FLAGS,
)
_RATE = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d+)?)\s*(?:%|percent\b|per cent\b)", FLAGS)


@dataclass(frozen=True)
class Amount:
    value: Decimal
    exact: bool
    """Written with two decimals."""


def find_amounts(text: str) -> list[Mention[Amount]]:
    """Amounts in folded text, whatever the currency."""
    return [Mention(match.group().strip(), match.start(), _amount(match)) for match in _AMOUNT.finditer(text)]


def _amount(match: re.Match[str]) -> Amount:
    if match["words"]:
        return Amount(Decimal(number(match["words"])), exact=False)
    digits = match["prefixed"] or match["suffixed"] or match["named"] or match["bare"]
    value = Decimal(digits.replace(",", ""))
    if match["scale"] or match["scale_before"]:
        return Amount(value * 10_000, exact=True)
    return Amount(value, exact=-value.as_tuple().exponent == 2)  # type: ignore[operator]


def find_rates(text: str) -> list[Decimal]:
    """Percentages in folded text, as fractions."""
    return [Decimal(match[1]) / 100 for match in _RATE.finditer(text)]
