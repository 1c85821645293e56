"""Memories that can do harm when they are overlooked: a constraint on the person, or on how they may be reached.

"有没有燕麦推荐" has nothing in common with "我对花生过敏", and yet the allergy matters to the answer. Such memories are
recognised when they are written and handed to every turn beside what fits it; which turn heeds them is decided there.
"""

from __future__ import annotations

import re
from typing import Literal

from memory.lexicon import lowered

Constraint = Literal["health", "contact"]

_CONDITION = (
    r"(?:过敏|不耐受|哮喘|糖尿病|高血压|低血糖|心脏病|肾病|癫痫|痛风|怀孕|孕妇|孕期|哺乳期|备孕|乳糜泻|残疾|轮椅|失明|失聪|视障|听障|色盲"
    r"|服药|用药|抗凝|降压药|胰岛素|\b(?:allerg\w*|intoleran\w*|anaphyla\w*|asthma\w*|diabet\w*|c(?:o)?eliac|hypertension"
    r"|blood pressure|heart (?:condition|disease)|epilep\w*|gout|pregnan\w*|breast-?feeding|wheelchair|disab\w*"
    r"|deaf|blind|hard of hearing|colou?r-?blind|medication|blood thinners?|insulin)\b)"
)
_HEALTH = re.compile(_CONDITION)
_WELL = re.compile(
    rf"(?:不|没有?|无|未)[^，。,;；！!\s]{{0,4}}{_CONDITION}"
    rf"|\b(?:not|no|no longer|never|\w+n['’]t)\s+(?:[\w-]+\s+){{0,3}}?{_CONDITION}"
)
_NOT_EATEN = re.compile(
    r"不能吃|不可以吃|不吃|不能喝|不能碰|忌口|清真|纯素|素食|吃素|戒酒"
    r"|\b(?:can(?:no|['’])t|cannot|must not|do(?:es)?(?: not|n['’]t)|never|may not)\s+(?:eats?|drinks?|have|touch)\b"
    r"|\beats? no\b|\b(?:halal|kosher|vegan|vegetarian|pescatarian)\b"
)
_NO_LONGER = re.compile(
    r"(?:不再?|已经不)(?:忌口|吃素)|\b(?:no longer|not|n['’]t)\s+(?:a\s+)?(?:halal|kosher|vegan|vegetarian)"
)
_NO_CONTACT = re.compile(
    r"(?:不要|不许|不能|不准|别|勿|禁止|拒绝|不接受)[^，。,;；\s]{0,8}(?:电话|来电|致电|联系|敲门|门铃|打扰|短信)"
    r"|\b(?:never|no|do(?:es)? not(?: want)?|do(?:es)?n['’]t(?: want)?|must not|not to be)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:call(?:s|ed)?|phone(?:d)?|ring|contact(?:ed)?|disturb(?:ed)?|knock)\b"
)


def constraint_of(content: str) -> Constraint | None:
    """What kind of constraint a statement is: on what is good for the person, or on how to reach them; most are none.

    >>> constraint_of("对花生过敏"), constraint_of("对花生不过敏"), constraint_of("喜欢花生")
    ('health', None, None)
    """
    text = lowered(content)
    if _HEALTH.search(text) and not _WELL.search(text):
        return "health"
    if _NOT_EATEN.search(text) and not _NO_LONGER.search(text):
        return "health"
    return "contact" if _NO_CONTACT.search(text) else None
