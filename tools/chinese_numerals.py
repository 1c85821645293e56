"""Numbers written in Chinese characters, as digits: 三百二十 is 320, 一三八零零 is 13800, 两千五 is 2500."""

from __future__ import annotations

import re

_DIGITS = {
    **dict(zip("零一二三四五六七八九", range(10), strict=True)),
    **{"〇": 0, "幺": 1, "两": 2, "壹": 1, "贰": 2, "叁": 3, "肆": 4},
    **{"伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9},
}
_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_RUN = re.compile(rf"(?<!\d)[{''.join([*_DIGITS, *_UNITS, *_LARGE])}]+(?:点[{''.join(_DIGITS)}]+)?")


def with_digits(text: str) -> str:
    """`text` with every Chinese number as digits."""
    return _RUN.sub(lambda found: _read(found.group()), text)


def _read(run: str) -> str:
    whole, point, fraction = run.partition("点")
    if all(character in _DIGITS for character in whole):
        digits = "".join(str(_DIGITS[character]) for character in whole)
    else:
        digits = str(_value(whole))
    return digits + (f".{''.join(str(_DIGITS[each]) for each in fraction)}" if point else "")


def _value(run: str) -> int:
    total = section = digit = 0
    last_unit = 1
    for character in run:
        if character in _DIGITS:
            digit = _DIGITS[character]
            if digit == 0:
                last_unit = 1
        elif character in _UNITS:
            last_unit = _UNITS[character]
            section += (digit or 1) * last_unit
            digit = 0
        else:
            last_unit = _LARGE[character]
            section += digit
            # 亿 counts all that stands before it, 万 only what stands since.
            total, section = (
                ((total + section or 1) * last_unit, 0)
                if character == "亿"
                else (total + (section or 1) * last_unit, 0)
            )
            digit = 0
    # 两千五 is 2500: a bare last digit counts in tenths of the unit before it.
    shortened = digit * last_unit // 10 if last_unit > 10 else digit
    return total + section + shortened
