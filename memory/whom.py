"""Whom a statement concerns: the customer's children, animals, relatives and friends, and what they are called."""

from __future__ import annotations

import re
from functools import lru_cache

from memory.lexicon import CONCEPTS, PEOPLE

_CHILDREN = frozenset({"child", "twin", "son", "daughter", "first-child", "second-child", "third-child"})
_ANIMALS = frozenset({"cat", "dog"})
_OF_CHILDREN = frozenset({"grade", "education"})
_NAMED = _CHILDREN | _ANIMALS
"""Of whom there may be several, told apart by their names."""

_WHOSE = re.compile(
    r"(?:(?:gift )?for )?(?:the|my|his|her|their|our|a)?\s*"
    r"(?:(?:customer|user|client)(?:['’]s)?)?\s*(?:the|two|both)?\s*",
    re.IGNORECASE,
)
_WHOSE_ZH = re.compile(r"(?:给|为|送|帮)?(?:用户|客户|顾客|我|他|她|本人)?(?:的|家的|家里的|家里|家)?")
_NAME = re.compile(
    r"(小(?![孩朋区时米号])[\u4e00-\u9fff])"
    r"|(?:(?:Son|Daughter|Twin|Child|Cat|Dog|Elder|Younger) )*"
    r"(?!Customer|User|Client|She|He|They|It|The|This)([A-Z][a-z]+)"
    r"(?:['’]s| (?:is|has|goes|wears|likes|loves|attends|needs|was|turns|will|eats|prefers|uses|takes|started|moved)\b)"
)
_CALLED_SO = re.compile(r"(?:名叫|取名|叫做|叫)([\u4e00-\u9fff]{2,3})$|\b(?:called|named) ([A-Z][a-z]+)")


@lru_cache(maxsize=4096)
def people(text: str) -> frozenset[str]:
    """Everybody that a text names, the customer aside."""
    return PEOPLE.find(text)


@lru_cache(maxsize=4096)
def own_names(text: str) -> frozenset[str]:
    """What a child or an animal is called in a text."""
    if not PEOPLE.find(text) & _NAMED:
        return frozenset()
    return frozenset(name.casefold() for found in _CALLED_SO.findall(text) for name in found if name)


@lru_cache(maxsize=4096)
def subjects(key: str, content: str) -> frozenset[str]:
    """Whom a statement is about, where that is not the customer: by its key, or by how it begins."""
    spoken_key = key.replace("_", " ")
    in_key = PEOPLE.find(spoken_key)
    if "allergy" in CONCEPTS.find(spoken_key):
        in_key -= _ANIMALS  # what the allergy is to
    found = in_key | _first_person(content)
    if not found and CONCEPTS.find(spoken_key) & _OF_CHILDREN and _NAME.match(content):
        found = frozenset({"child"})
    if len(found & _CHILDREN) > 1:
        found -= {"child"}
    if found and found <= _NAMED and (name := _NAME.match(content)):
        return found | {(name[1] or name[2]).casefold()}
    return found


def _first_person(content: str) -> frozenset[str]:
    for whose in (_WHOSE, _WHOSE_ZH):
        start = whose.match(content)
        if people := PEOPLE.at_start(content[start.end() :] if start else content):
            return people
    return frozenset()


def same_subjects(some: frozenset[str], others: frozenset[str]) -> bool:
    """Whether two statements can be about the same person; `child` may be any of the children."""
    if some == others:
        return True
    return some | others <= _CHILDREN and {"child"} in (some, others) and bool(some and others)
