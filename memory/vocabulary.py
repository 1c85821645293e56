"""Words that decide whether two statements are about the same thing: people, numbers, negation, duration."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import rjieba

from memory.keywords import is_stop_word, stem

GENERIC_KEY_WORDS = frozenset(
    "user customer client my the preferr prefer preference pref favorit favourit current info information "
    "detail setting option choice habit want like note 用户 客户 顾客 偏好 喜好 信息 习惯 设置 要求 当前".split()
)
SYNONYMS = {
    "ship": "delivery", "shipment": "delivery", "deliver": "delivery", "配送": "delivery", "送货": "delivery",
    "派送": "delivery", "收货": "delivery", "mobil": "phone", "telephon": "phone", "tel": "phone",
    "手机": "phone", "电话": "phone", "colour": "color", "颜色": "color", "地址": "address",
    "时间": "tim", "日期": "day", "date": "day", "weekday": "day", "过敏": "allergy", "allergic": "allergy",
    "发票": "invoic", "尺码": "siz", "语言": "languag", "款式": "styl",
}  # fmt: skip

_PEOPLE_ZH = (
    "大儿子 小儿子 二儿子 大女儿 小女儿 二女儿 儿子 女儿 老大 老二 老三 妻子 老婆 太太 丈夫 老公 先生 爸爸 父亲 妈妈 母亲 "
    "爷爷 奶奶 外公 外婆 公公 婆婆 岳父 岳母 哥哥 弟弟 姐姐 妹妹 同事 老板 朋友 室友 邻居 男友 女友 男朋友 女朋友"
).split()
_PEOPLE_EN = frozenset(
    "son sons daughter daughters wife husband partner father dad mother mum mom grandfather grandmother brother "
    "sister boss colleague friend roommate neighbour neighbor girlfriend boyfriend elder older younger eldest "
    "youngest".split()
)
_PEOPLE = re.compile("|".join(sorted(_PEOPLE_ZH, key=len, reverse=True)))
_NEGATED = re.compile(
    r"不(?!错|仅|但|管|过|好意思|同|久|止|断|用客气)|别(?!人|的|墅|致)|没|勿|无需|无法|取消|停止|拒绝|戒|禁|避免"
    r"|\b(?:no|not|never|none|without|stop|stops|stopped|cancel|cancelled|avoid|avoids|refuse|refuses|quit|nor"
    r"|cannot|\w+n['’]?t)\b(?!\s+only)",
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
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W_]+(?:['’][^\W_]+)*")
_GRAMMAR_ZH = frozenset("的了吗呢吧啊是我你您他她它在有和就都也很这那把被给呀要会想能用户客户顾客")


@lru_cache(maxsize=4096)
def topic_words(text: str) -> frozenset[str]:
    """The words that say what a statement is about: no grammar, no negation, English stemmed."""
    lowered = unicodedata.normalize("NFKC", text).casefold()
    words: set[str] = set()
    for token in _WORD.findall(_NEGATED.sub(" ", lowered)):
        if "\u3400" <= token[0] <= "\u9fff":
            words.update(w for w in rjieba.cut(token) if w not in _GRAMMAR_ZH and not is_stop_word(w))
        elif not is_stop_word(token):
            words.add(stem(token))
    return frozenset(words - GENERIC_KEY_WORDS) or frozenset(words)


def people(text: str) -> frozenset[str]:
    """The people a statement is about other than the customer."""
    english = {word for word in re.findall(r"[a-z]+", text.casefold()) if word in _PEOPLE_EN}
    return frozenset(_PEOPLE.findall(text)) | frozenset(word.rstrip("s") for word in english)


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
