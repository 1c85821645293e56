"""What a statement is about, in words: its topic, goods, kinds of value, numbers."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.keywords import is_stop_word, segmenter, stem
from memory.lexicon import CONCEPTS, KINDS, PEOPLE, lowered, names_of, words_of
from memory.phrasing import without_negation

SEVERAL = names_of("several")
"""Concepts of which a customer has several at once: a second one does not replace the first."""
OWNED = names_of("owned")
"""The same, unless a statement says that something has changed: accounts, courses."""
SLOTS = names_of("slots")
"""Concepts and kinds of value of which a customer has one at a time."""
EXCLUSIVE = names_of("exclusive")
"""Kinds of value of which one rules out another, under whatever keys."""
SOLE = names_of("sole")
"""Slots that a short statement is all about: where the customer lives, which courier comes."""
MANIFOLD = names_of("manifold")
"""Slots that only mean something of a thing: the day of a delivery, the colour of a case."""
OBJECTS = names_of("objects")
AREAS = names_of("areas")

_STATEMENT_WORDS = words_of("statement_words")

_AT_HOME = frozenset({"home"})
"""Says little of anything but of what is brought there."""

_NUMBER = re.compile(
    r"(?<![a-z])\d+(?:[.,:]\d+)*(?:\s?(?:st\b|nd\b|rd\b|th\b|年级|岁|号|月|日|点半?|楼|层|栋|室|天|周|班|人|件|杯|码|元|块|度|万|克|斤|寸|米|毫升|只|口|kg|cm|gb|%))?"
    r"|[零一二三四五六七八九十百千万两]+(?:年级|岁|号|月|日|点半?|楼|层|栋|室|个月|天|班|人|件|杯|码|元|块|度|口|只|斤)"
)
_CALLED = re.compile(r"\b(?:called|named)\b")
_UNIT = re.compile(r"[^\d.:,零一二三四五六七八九十百千万两].*$")
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天末])")
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|[\d一二三四五六七八九十两]点")
_MONEY = re.compile(
    r"[\d一二三四五六七八九十百千万两]\s?(?:元|块|万|千|yuan|rmb|usd|dollars?|euros?|pounds?)|[¥￥$€£]\s?\d"
)
_SIZE = re.compile(r"(?<![a-z])(?:x{0,3}[sl]|m)(?![a-z])\s*码|\bsize\s+(?:x{0,3}[sl]|m|\d+)\b|\d\s*码")
_DATA = re.compile(r"\d+\s?(?:gb|g\b|g(?=流量))")
_SPEED = re.compile(r"\d+\s?(?:mbps|mbits?|兆|m(?=宽带))")
_SAYS_A_JOB = re.compile(
    r"\b(?:works? as|working as|is an?|am an?|became|job|occupation|profession|retired)\b"
    r"|职业|工作|[是当做]|退休|转行|从事"
)
_PATTERNS = {"time": _CLOCK, "budget": _MONEY, "size": _SIZE, "data-volume": _DATA, "speed": _SPEED}
_DIGITS = str.maketrans("零一二三四五六七八九两", "01234567892")
_ENGLISH_NUMBERS = {
    word: str(value)
    for value, names in enumerate(
        ["zero", "one first", "two second", "three third", "four fourth", "five fifth", "six sixth",
         "seven seventh", "eight eighth", "nine ninth", "ten tenth"]
    )
    for word in names.split()
}  # fmt: skip
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+(?:['’][^\W_\u3400-\u9fff]+)*")
_BODY_SIDE = re.compile(
    r"[左右](?=眼|耳|手|脚|腿|膝|肩)|\b(?:left|right)(?= (?:eye|ear|hand|foot|leg|knee|shoulder)s?\b)"
)
_SIDES = {"左": "left", "右": "right"}
_ORDER = re.compile(
    r"(?<![a-z0-9])[a-z]{2,}-?[0-9][a-z0-9-]{4,}"
    r"|(?:(?<=订单)|(?<=订单号)|(?<=包裹)|(?<=order )|(?<=order number )|(?<=parcel ))#?[a-z-]*[0-9][a-z0-9-]*"
)
_HANDSET = re.compile(
    r"(?<!打)手机(?![号联通短来壳套膜])"
    r"|\b(?:smart)?phone(?= (?:budget|warranty|screen|battery|insurance|return|repair))"
)
_WHICH = re.compile(
    r"\b(?:home|office|work|billing|shipping|private|personal|business|company|second)"
    r"(?= (?:address|phone|mobile|number|laptop|computer|pc|tablet|printer|car|e-?mail|account|internet|wi-?fi|card))"
    r"|(?:家庭|家里|家用|公司|单位|个人|私人|工作)(?=的?(?:地址|电话|手机|电脑|笔记本|邮箱|账户|账号|宽带|号码|车|卡))"
    r"|\b(?:domestic|international|outbound|inbound|summer|winter|indoor|outdoor|short-haul|long-haul)\b"
    r"|business (?:trip|travel)|work trip|leisure|holiday|vacation|国内|国际|去程|回程|返程"
    r"|夏天|冬天|夏季|冬季|室内|室外|出差|公务|私人旅行|旅游|度假|出去玩"
    r"|\b(?:short|long)[ -](?:haul\b|flights?\b)|短途|长途"
)
_ROOM = re.compile(
    r"\b(?:(?:living|dining|guest|spare) room|(?:master |guest |spare )?bedroom|kitchen|bathroom|hallway|balcony)\b"
    r"|主卧|次卧|客卧|卧室|客厅|书房|儿童房|厨房|卫生间|浴室|阳台|玄关"
)


@lru_cache(maxsize=4096)
def topic_words(text: str) -> frozenset[str]:
    """What a statement is about, as concepts and remaining words: no grammar, negation or number; English stemmed."""
    concepts, rest = CONCEPTS.take(_CALLED.sub(" ", without_negation(lowered(text))))
    people, rest = PEOPLE.take(rest)
    words = concepts | people | _words(_NUMBER.sub(" ", rest))
    return words if words & AREAS else words - _AT_HOME or words


def _words(text: str) -> frozenset[str]:
    words: set[str] = set()
    for token in _WORD.findall(text):
        if "\u3400" <= token[0] <= "\u9fff":
            words.update(word for word in segmenter().cut_for_search(token) if not is_stop_word(word))
        elif not is_stop_word(token) and token not in _ENGLISH_NUMBERS:
            words.add(stem(token.removesuffix("'s").removesuffix("’s")))
    return frozenset(words - _STATEMENT_WORDS)


@lru_cache(maxsize=4096)
def things(text: str) -> frozenset[str]:
    """What a statement gives a value of: its words, less the values and the names of what has a value."""
    concepts, rest = CONCEPTS.take(_CALLED.sub(" ", without_negation(lowered(text))))
    _, rest = KINDS.take(_NUMBER.sub(" ", rest))
    return (concepts - SLOTS - AREAS) | (concepts & OBJECTS) | _words(rest)


@lru_cache(maxsize=4096)
def value_kinds(text: str) -> frozenset[str]:
    """What kinds of value a statement gives: a day, a time of the day, a place, a colour."""
    low = _CALLED.sub(" ", lowered(text))
    kinds = set(KINDS.find(low))
    for kind, pattern in _PATTERNS.items():
        if pattern.search(low):
            kinds.add(kind)
    if "job" in kinds and not _SAYS_A_JOB.search(low):
        kinds.remove("job")
    return frozenset(kinds)


@lru_cache(maxsize=4096)
def _concepts(text: str) -> frozenset[str]:
    return CONCEPTS.find(text)


@lru_cache(maxsize=4096)
def slots(text: str) -> frozenset[str]:
    """What a statement or a key names of which a customer has one at a time, and the kinds of value it gives."""
    return (_concepts(text) | value_kinds(text)) & SLOTS


@lru_cache(maxsize=4096)
def objects(text: str) -> frozenset[str]:
    """The goods that a text names."""
    found = _concepts(_without_modifiers(lowered(text))) & OBJECTS
    return found | {"handset"} if _HANDSET.search(lowered(text)) else found


def _without_modifiers(text: str) -> str:
    """Of two goods in a row ("desk lamp") the one that is meant."""
    words = text.split(" ")
    goods = [bool(_concepts(word) & OBJECTS) for word in words]
    return " ".join(
        word
        for word, one, next_one in zip(words, goods, [*goods[1:], False], strict=True)
        if not (one and next_one)
    )


@lru_cache(maxsize=4096)
def areas(text: str) -> frozenset[str]:
    """The areas of service that a text is about, such as delivery, invoices or promotions."""
    return _concepts(text) & AREAS


@lru_cache(maxsize=4096)
def day_classes(text: str) -> frozenset[str]:
    """Whether a text is about workdays or about weekends."""
    return _concepts(text) & {"workday", "weekend"}


@lru_cache(maxsize=4096)
def body_sides(text: str) -> frozenset[str]:
    """Which of two eyes, feet, hands or ears a text is about."""
    return frozenset(_SIDES.get(side, side) for side in re.findall(_BODY_SIDE, lowered(text)))


@lru_cache(maxsize=4096)
def which_one(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Which of two of a kind a text is about (the address at home or at work, flights at home or abroad), and what it
    says besides."""
    return _apart_from_the_rest(_WHICH, text)


@lru_cache(maxsize=4096)
def rooms(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The rooms that a text is about, and what it says besides."""
    return _apart_from_the_rest(_ROOM, text)


def _apart_from_the_rest(names: re.Pattern[str], text: str) -> tuple[frozenset[str], frozenset[str]]:
    low = lowered(text)
    return frozenset(names.findall(low)), topic_words(names.sub(" ", low)) | numbers(low)


@lru_cache(maxsize=4096)
def orders(text: str) -> frozenset[str]:
    """The numbers of orders, parcels and the like that a text names."""
    return frozenset(_ORDER.findall(lowered(text)))


def numbers(text: str) -> frozenset[str]:
    """Numbers, ordinals and weekdays named in a statement, as digits where that is plain."""
    low = lowered(text)
    found = {_UNIT.sub("", number).translate(_DIGITS) for number in _NUMBER.findall(low)}
    found |= {f"day {name}" for name in _WEEKDAY.findall(low)}
    found |= {_ENGLISH_NUMBERS[word] for word in re.findall(r"[a-z]+", low) if word in _ENGLISH_NUMBERS}
    return frozenset(found)
