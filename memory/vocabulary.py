"""What a statement is about, in words: topic, kinds of value, whom it concerns, numbers, negation, duration."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.keywords import is_stop_word, segmenter, stem
from memory.lexicon import Lexicon, lowered, words_of

GENERIC_KEY_WORDS = words_of("generic_key_words")
BAG_WORDS = words_of("bag_words")
SEVERAL = frozenset({"allergy", "pet", "hobby"})
"""Concepts of which a customer has several at once: a second one does not replace the first."""

_CONCEPTS = Lexicon.named("concepts")
_KINDS = Lexicon.named("kinds")
_PEOPLE = Lexicon.named("people")
_STATEMENT_WORDS = words_of("statement_words")
_CHILDREN = frozenset({"child", "son", "daughter", "first-child", "second-child", "third-child"})
_ANIMALS = frozenset({"cat", "dog"})
_NAMED = _CHILDREN | _ANIMALS
"""Of whom there may be several, told apart by their names."""

_NEGATED = re.compile(
    r"不(?!耐|错|仅|但|管|过|好意思|同|久|止|断|用客气|锈)|别(?!人|的|墅|致|名)|没|勿|无需|无法|取消|停止|拒绝|戒|禁|避免|忌|退订|关闭"
    r"|\b(?:no|not|never|none|without|stop|stops|stopped|cancel|cancels|cancelled|canceled|avoid|avoids|refuse|refuses"
    r"|quit|nor|unsubscribed?|opt(?:ed|s)? out|dislikes?|hates?|declines?|cannot"
    r"|(?:do|does|did|is|are|was|were|wo|ca|could|would|should|must|has|have|had)n['’]?t)\b(?!\s+only)",
    re.IGNORECASE,
)
_TWICE_NEGATED = re.compile(
    r"(?:no longer|not|n['’]t|never|stopped)\s+(?:avoid|refus|declin|dislik|hat)\w*|不再?(?:忌|戒|拒绝|避免|反对)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"临时|暂时|暂且|这次|本次|这一次|这单|本单|这个订单|这周|本周|这星期|这个月|本月|这几天|这两天|今天|今晚|今日|明天|明晚|后天|下周|下个月"
    r"|目前先|先送|先寄|出差期间|在出差|旅游期间|度假期间|期间"
    r"|\b(?:temp|temporar(?:y|ily)|this (?:time|once|week|weekend|month|order|delivery|parcel)|just once|one[- ]off"
    r"|today|tonight|tomorrow|next (?:week|month)|for now|for the moment"
    r"|while (?:i|they|he|she|we|the customer|on|away)\b"
    r"|until (?:next|the end|further|\w+day)|on vacation|on holiday|travell?ing)\b",
    re.IGNORECASE,
)
_RESTORED = re.compile(
    r"恢复|照旧|照常|还是按原来|回来了|结束了"
    r"|\b(?:back to|as usual|as before|again as|no longer away|is back|resume[sd]?)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![a-z])\d+(?:[.,:]\d+)*(?:\s?(?:年级|岁|号|月|日|点半?|楼|层|栋|室|天|周|班|人|件|杯|码|元|块|度|万|克|斤|寸|毫升|只|口|kg|cm|%))?"
    r"|[零一二三四五六七八九十百千万两]+(?:年级|岁|号|月|日|点半?|楼|层|栋|室|个月|天|班|人|件|杯|码|元|块|度|口|只|斤)"
)
_NOT = re.compile(r"不(?:需要|愿意|可以|用|要|想|再|能|会|必|得)")
_CALLED = re.compile(r"\b(?:called|named)\b")
_UNIT = re.compile(r"[^\d.:,零一二三四五六七八九十百千万两].*$")
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天末])")
_CLOCK = re.compile(r"\b\d{1,2}(?::\d\d)?\s?[ap]\.?m\b|\b\d{1,2}:\d\d\b|[\d一二三四五六七八九十两]点")
_MONEY = re.compile(
    r"[\d一二三四五六七八九十百千万两]\s?(?:元|块|万|千|yuan|rmb|usd|dollars?|euros?|pounds?)|[¥￥$€£]\s?\d"
)
_SIZE = re.compile(r"(?<![a-z])(?:x{0,3}[sl]|m)(?![a-z])\s*码|\bsize\s+(?:x{0,3}[sl]|m|\d+)\b|\d\s*码")
_DAY_KEY = re.compile(r"日$")
_OCCASION = re.compile(
    r"morning|afternoon|evening|night|noon|lunch|weekday|workday|weekend|holiday|summer|winter|spring|autumn"
    r"|left|right|front|rear|back|upper|lower|inner|outer|first|second|third|left|home|office|private|guest|master"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|早|上午|中午|下午|晚|夜|周[一二三四五六日末]|工作日|节假日|夏|冬|春|秋|左|右|家庭|公司|\d+"
)
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
_WHOSE = re.compile(
    r"(?:the|my|his|her|their|our|a)?\s*(?:(?:customer|user|client)(?:['’]s)?)?\s*(?:the|two|both)?\s*",
    re.IGNORECASE,
)
_WHOSE_ZH = re.compile(r"(?:用户|客户|顾客|我|他|她|本人)?(?:的|家的|家里的|家里|家)?")
_NAME = re.compile(
    r"(小[\u4e00-\u9fff])"
    r"|(?!Customer|User|Client|She|He|They|It|The|This)([A-Z][a-z]+)"
    r"(?:['’]s| (?:is|has|goes|wears|likes|loves|attends|needs|was|turns|will|eats|prefers|uses|takes|started|moved)\b)"
)


@lru_cache(maxsize=4096)
def topic_words(text: str) -> frozenset[str]:
    """What a statement is about, as concepts and remaining words: no grammar, negation or number; English stemmed."""
    concepts, rest = _CONCEPTS.take(_CALLED.sub(" ", _NEGATED.sub(" ", _NOT.sub(" ", lowered(text)))))
    return concepts | _words(_NUMBER.sub(" ", rest))


def _words(text: str) -> frozenset[str]:
    words: set[str] = set()
    for token in _WORD.findall(text):
        if "\u3400" <= token[0] <= "\u9fff":
            words.update(word for word in segmenter().cut_for_search(token) if not is_stop_word(word))
        elif not is_stop_word(token):
            words.add(stem(token.removesuffix("'s").removesuffix("’s")))
    return frozenset(words - _STATEMENT_WORDS)


@lru_cache(maxsize=4096)
def key_words(key: str) -> frozenset[str]:
    """What a key is about, as concepts and words; empty for a key that any memory may carry (`user_preference`)."""
    concepts, rest = _CONCEPTS.take(key.replace("_", " "))
    kinds, rest = _KINDS.take(_DAY_KEY.sub(" day ", rest))
    tokens = re.findall(r"[^\W\d_]+", rest)
    words = {part for token in tokens for part in segmenter().cut_for_search(token)}
    return concepts | kinds | ({stem(word) for word in words} - GENERIC_KEY_WORDS)


@lru_cache(maxsize=4096)
def key_occasion(key: str) -> frozenset[str]:
    """What tells two keys of one kind apart: the day, time, side, place or number that they name."""
    spoken = lowered(key.replace("_", " "))
    return frozenset(_OCCASION.findall(spoken))


def is_bag(key: str) -> bool:
    """Whether a key names a bag of things (`delivery_preference`) rather than one thing (`delivery_day`)."""
    return any(stem(word) in BAG_WORDS for word in key.split("_")) or any(
        word in key for word in BAG_WORDS if not word.isascii()
    )


@lru_cache(maxsize=4096)
def value_kinds(text: str) -> frozenset[str]:
    """What kinds of value a statement gives: a day, a time of the day, a place, a colour."""
    low = lowered(text)
    kinds = set(_KINDS.find(low))
    for kind, pattern in (("time", _CLOCK), ("budget", _MONEY), ("size", _SIZE)):
        if pattern.search(low):
            kinds.add(kind)
    return frozenset(kinds)


@lru_cache(maxsize=4096)
def subjects(key: str, content: str) -> frozenset[str]:
    """Whom a statement is about, where that is not the customer: by its key, or by how it begins."""
    spoken_key = key.replace("_", " ")
    in_key = _PEOPLE.find(spoken_key)
    if "allergy" in _CONCEPTS.find(spoken_key):
        in_key -= _ANIMALS  # what the allergy is to
    found = in_key | _first_person(content)
    if len(found & _CHILDREN) > 1:
        found -= {"child"}
    if found and found <= _NAMED and (name := _NAME.match(content)):
        return found | {(name[1] or name[2]).casefold()}
    return found


def _first_person(content: str) -> frozenset[str]:
    for whose in (_WHOSE, _WHOSE_ZH):
        start = whose.match(content)
        if people := _PEOPLE.at_start(content[start.end() :] if start else content):
            return people
    return frozenset()


def same_subjects(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two statements can be about the same person; `child` may be any of the children."""
    if some == others:
        return True
    return some | others <= _CHILDREN and {"child"} in (some, others) and bool(some and others)


def numbers(text: str) -> frozenset[str]:
    """Numbers, ordinals and weekdays named in a statement, as digits where that is plain."""
    low = lowered(text)
    found = {_UNIT.sub("", number).translate(_DIGITS) for number in _NUMBER.findall(low)}
    found |= {f"day {name}" for name in _WEEKDAY.findall(low)}
    found |= {_ENGLISH_NUMBERS[word] for word in re.findall(r"[a-z]+", low) if word in _ENGLISH_NUMBERS}
    return frozenset(found)


def is_negated(text: str) -> bool:
    """Whether a statement says that something is not, or no longer, so."""
    return _NEGATED.search(_TWICE_NEGATED.sub(" ", text)) is not None


def is_passing(text: str) -> bool:
    """Whether a statement holds for this time only."""
    return _PASSING.search(text) is not None


def is_restored(text: str) -> bool:
    """Whether a statement says that what was for a time is over."""
    return _RESTORED.search(text) is not None and not is_passing(text)


def pronouns(text: str) -> frozenset[str]:
    """Small words that carry no topic and yet can be all that differs."""
    return frozenset(_SMALL.findall(lowered(text)))


def adds(text: str) -> bool:
    """Whether a statement says of itself that it comes on top of what is known."""
    return _ADDS.search(text) is not None


_SMALL = re.compile(
    r"\b(?:he|him|she|her|they|them|up|down|in|out|on|off|over|under)\b|上|下|前|后|内|外|大|小|多|少"
)
_ADDS = re.compile(
    r"还(?=对|有|喜欢|养|用)|另外|此外|除此之外|\b(?:also|in addition|as well|additionally|besides)\b",
    re.IGNORECASE,
)
