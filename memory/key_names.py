"""What the key of a memory says: what it is about, on which occasion, and whether of one thing or of several."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.keywords import segmenter, stem
from memory.lexicon import CONCEPTS, KINDS, PEOPLE, lowered, words_of
from memory.vocabulary import OWNED, SEVERAL, slots

GENERIC_KEY_WORDS = words_of("generic_key_words")
BAG_WORDS = words_of("bag_words")
SEVERAL_KEY_WORDS = words_of("several_key_words")
SINGLE_KEY_WORDS = words_of("single_key_words")

_DAY_KEY = re.compile(r"日$")
_OCCASION = re.compile(
    r"\b(?:morning|afternoon|evening|night|noon|lunch|weekday|workday|weekend|holiday|summer|winter|spring|autumn"
    r"|left|right|front|rear|back|upper|lower|inner|outer|first|second|third|home|office|private|guest|master"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)(?=s?\b)|早|上午|中午|下午|晚|夜|周[一二三四五六日末]|工作日|节假日|夏|冬|春|秋|左|右|家庭|公司|\d+"
)


@lru_cache(maxsize=4096)
def key_words(key: str) -> frozenset[str]:
    """What a key is about, as concepts and words; empty for a key that any memory may carry (`user_preference`)."""
    concepts, rest = CONCEPTS.take(key.replace("_", " "))
    people, rest = PEOPLE.take(rest)
    kinds, rest = KINDS.take(_DAY_KEY.sub(" day ", rest))
    tokens = re.findall(r"[^\W\d_]+", rest)
    words = {part for token in tokens for part in segmenter().cut_for_search(token)}
    return concepts | people | kinds | ({stem(word) for word in words} - GENERIC_KEY_WORDS)


@lru_cache(maxsize=4096)
def key_occasion(key: str) -> frozenset[str]:
    """What tells two keys of one kind apart: the day, time, side, place or number that they name."""
    spoken = lowered(key.replace("_", " "))
    return frozenset(_OCCASION.findall(spoken))


def is_single(key: str) -> bool:
    """Whether a key is that of one thing by its form: `contract_type`, `current_provider`, `默认门店`."""
    words = key.split("_")
    return any(stem(word) in SINGLE_KEY_WORDS for word in words) or any(
        word.startswith(mark) or word.endswith(mark)
        for word in words
        for mark in SINGLE_KEY_WORDS
        if not mark.isascii()
    )


def is_of_one(key: str) -> bool:
    """Whether a key is that of what there is one of, by what it names or by its form."""
    return bool(slots(key.replace("_", " "))) or is_single(key)


def is_of_several(key: str) -> bool:
    """Whether a key is that of several things: `disliked_food`, `pets`, `忌口`."""
    words = key.split("_")
    if key_words(key) & (SEVERAL | OWNED) or re.search(r"[^siu]s$", key):
        return True
    return any(stem(word) in SEVERAL_KEY_WORDS for word in words) or any(
        mark in key for mark in SEVERAL_KEY_WORDS if not mark.isascii()
    )


def is_bag(key: str) -> bool:
    """Whether a key names a bag of things (`delivery_preference`) rather than one thing (`delivery_day`)."""
    return any(stem(word) in BAG_WORDS for word in key.split("_")) or any(
        word in key for word in BAG_WORDS if not word.isascii()
    )
