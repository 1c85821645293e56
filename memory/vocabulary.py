"""Words that decide whether two statements are about the same thing: people, numbers, negation, duration."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from memory.keywords import is_stop_word, segmenter, stem
from memory.word_lists import word_groups, word_list

GENERIC_KEY_WORDS = frozenset(map(stem, word_list("generic_key_words")))
SYNONYMS = {stem(word): stem(leading) for word, leading in word_groups("synonyms").items()}

_STATEMENT_WORDS = frozenset(map(stem, word_list("statement_words")))
_PEOPLE_EN = word_list("people_en")
_PEOPLE = re.compile("|".join(sorted(word_list("people_zh"), key=len, reverse=True)))
_NEGATED = re.compile(
    r"不(?!错|仅|但|管|过|好意思|同|久|止|断|用客气)|别(?!人|的|墅|致)|没|勿|无需|无法|取消|停止|拒绝|戒|禁|避免"
    r"|\b(?:no|not|never|none|without|stop|stops|stopped|cancel|cancelled|avoid|avoids|refuse|refuses|quit|nor"
    r"|cannot|(?:do|does|did|is|are|was|were|wo|ca|could|would|should|must|has|have|had)n['’]?t)\b(?!\s+only)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"临时|暂时|这次|本次|这一次|这周|本周|这几天|这两天|今天|今晚|明天|下周|目前先|先送|出差期间"
    r"|\b(?:temporar(?:y|ily)|this (?:time|once|week|weekend|order)|just once|one[- ]off|today|tonight|tomorrow"
    r"|next week|for now|while i(?:['’]m| am))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d+(?:\.\d+)?|[零一二三四五六七八九十百两]+(?=年级|岁|号|月|日|点|楼|层|栋|室|个月|天|周|班|人|件|杯|码|元|块)"
)
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)([一二三四五六日天末])")
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


@lru_cache(maxsize=4096)
def topic_words(text: str) -> frozenset[str]:
    """The words that say what a statement is about: no grammar, no negation, English stemmed."""
    lowered = unicodedata.normalize("NFKC", text).casefold()
    words: set[str] = set()
    for token in _WORD.findall(_NEGATED.sub(" ", lowered)):
        if "\u3400" <= token[0] <= "\u9fff":
            words.update(word for word in segmenter().cut_for_search(token) if not is_stop_word(word))
        elif not is_stop_word(token):
            words.add(stem(token))
    return frozenset(words - _STATEMENT_WORDS)


def people(text: str) -> frozenset[str]:
    """The people a statement is about other than the customer."""
    english = {word.removesuffix("s") for word in re.findall(r"[a-z]+", text.casefold())}
    return frozenset(_PEOPLE.findall(text)) | (english & _PEOPLE_EN)


def numbers(text: str) -> frozenset[str]:
    """Numbers, ordinals and weekdays named in a statement, as digits where that is plain."""
    lowered = unicodedata.normalize("NFKC", text).casefold()
    found = {number.translate(_DIGITS) for number in _NUMBER.findall(lowered)}
    found |= {f"day {name}" for name in _WEEKDAY.findall(lowered)}
    found |= {_ENGLISH_NUMBERS[word] for word in re.findall(r"[a-z]+", lowered) if word in _ENGLISH_NUMBERS}
    return frozenset(found)


def is_negated(text: str) -> bool:
    """Whether a statement says that something is not, or no longer, so."""
    return _NEGATED.search(text) is not None


def is_passing(text: str) -> bool:
    """Whether a statement holds for this time only."""
    return _PASSING.search(text) is not None
