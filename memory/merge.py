"""Which memories are about the same thing, and which of them holds. Pure: no database, no model.

The newest statement about a thing wins, whatever order they are processed in. Two statements are about the same
thing when their keys say so, or when their words do; an embedding is a hint at most. "Third grade" and "fourth
grade" of two children are nearer to each other than many true duplicates, so what tells things apart is looked
at in words: numbers, people, negation, passing against lasting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal
from uuid import UUID

from memory.evidence import plain
from memory.vocabulary import (
    GENERIC_KEY_WORDS,
    SYNONYMS,
    is_negated,
    is_passing,
    numbers,
    people,
    topic_words,
)

Action = Literal["insert", "confirm", "replace", "stale"]

SAME_WORDS = 1.0
"""Share of the shorter statement's topic words found in the longer: the same statement, or a refined one."""
SHARED_WORDS = 0.5
"""The same, where the keys already point to one thing."""
CONTRADICTED_WORDS = 0.6
"""The same, where one of the two is negated: the later takes the earlier back."""
MOST_WORDS = 0.8
"""The same of long statements that an embedding finds very near: a paraphrase."""
NEAR = 0.5
"""Cosine under which an embedding objects: the words are the same by chance."""
VERY_NEAR = 0.85


@dataclass(frozen=True)
class Statement:
    """One memory as the policy sees it."""

    key: str
    content: str
    type: str
    said_at: datetime
    """When it was last said or confirmed."""
    id: UUID | None = None
    similarity: float = 0.0
    """Cosine to the new statement; a hint."""

    @cached_property
    def normal_key(self) -> str:
        return normalise_key(self.key)

    @cached_property
    def key_words(self) -> frozenset[str]:
        return key_words(self.key)

    @cached_property
    def words(self) -> frozenset[str]:
        return topic_words(self.content)


@dataclass(frozen=True)
class Decision:
    """What becomes of a new statement; `targets` are the ids it confirms, replaces, or is older than."""

    action: Action
    targets: tuple[UUID, ...] = ()


def decide(new: Statement, known: Sequence[Statement]) -> Decision:
    """Place a new statement among the valid memories of its user.

    `insert`: nothing is known of the thing. `confirm`: it says again what is known. `replace`: it is newer than
    what it contradicts or refines. `stale`: something newer is known already.
    """
    same = [other for other in known if same_thing(new, other)]
    targets = tuple(other.id for other in same if other.id is not None)
    if not same:
        return Decision("insert")
    if any(other.said_at > new.said_at for other in same):
        return Decision("stale", targets)
    if len(same) == 1 and same_statement(new, same[0]):
        return Decision("confirm", targets)
    return Decision("replace", targets)


def same_thing(new: Statement, other: Statement) -> bool:
    """Both are about one thing, so that only one of them can hold."""
    if new.normal_key == other.normal_key:
        return True
    if _told_apart(new, other):
        return False
    shared = _containment(new.words, other.words)
    if new.key_words == other.key_words and new.type == other.type:
        return True
    keys_agree = new.key_words <= other.key_words or other.key_words <= new.key_words
    if keys_agree and shared >= SHARED_WORDS:
        return True
    if is_negated(new.content) != is_negated(other.content):
        return shared >= CONTRADICTED_WORDS and len(new.words & other.words) >= 2
    if numbers(new.content) != numbers(other.content):
        return False
    return _says_the_same(new, other, shared)


def same_statement(new: Statement, other: Statement) -> bool:
    """The two say the same: a repetition, not a change or a refinement."""
    if plain(new.content) == plain(other.content):
        return True
    return (
        not _told_apart(new, other)
        and numbers(new.content) == numbers(other.content)
        and is_negated(new.content) == is_negated(other.content)
        and bool(new.words)
        and new.words == other.words
    )


def normalise_key(key: str) -> str:
    """The one spelling of a key: `Delivery Day`, `delivery-day` and `deliveryDay` are `delivery_day`."""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", unicodedata.normalize("NFKC", key))
    return re.sub(r"[\W_]+", "_", text).strip("_").lower() or "note"


def key_words(key: str) -> frozenset[str]:
    """What a key is about, without words that any key may carry (`user`, `preferred`)."""
    plain_words = normalise_key(key).replace("_", " ")
    words = {SYNONYMS.get(word, word) for word in topic_words(plain_words)}
    return frozenset(words - GENERIC_KEY_WORDS) or frozenset(words) or frozenset(plain_words.split())


def _told_apart(new: Statement, other: Statement) -> bool:
    """Different people, or one for now and one for good."""
    about_new, about_other = f"{new.key} {new.content}", f"{other.key} {other.content}"
    return people(about_new) != people(about_other) or is_passing(about_new) != is_passing(about_other)


def _says_the_same(new: Statement, other: Statement, shared: float) -> bool:
    """Under unrelated keys: one holds all the words of the other, and an embedding does not object.

    Where each has a word of its own ("the red door", "the blue door"), they stay two, unless both are long and
    hardly differ.
    """
    common, near = len(new.words & other.words), max(new.similarity, other.similarity)
    if shared >= SAME_WORDS:
        return common >= 2 and near >= NEAR
    # invoice_title and invoice_email are two fields of one thing
    siblings = bool(new.key_words & other.key_words)
    return shared >= MOST_WORDS and common >= 4 and near >= VERY_NEAR and not siblings


def _containment(some: frozenset[str], others: frozenset[str]) -> float:
    smaller = min(len(some), len(others))
    return len(some & others) / smaller if smaller else 0.0
