"""Which memories are about the same thing, and which of them holds. Pure: no database, no model.

The newest statement about a thing wins, whatever order they are processed in. Two statements are about the same
thing when their keys and words say so; an embedding is a hint at most. "Third grade" and "fourth grade" of two
children are nearer to each other than many true duplicates, so what tells things apart is looked at in words: whom
it concerns, numbers, negation, passing against lasting, and what each key says that the other statement does not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Literal
from uuid import UUID

from memory.evidence import plain
from memory.vocabulary import (
    SEVERAL,
    adds,
    is_bag,
    is_negated,
    is_passing,
    is_restored,
    key_occasion,
    key_words,
    numbers,
    pronouns,
    same_subjects,
    subjects,
    topic_words,
    value_kinds,
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
NEARER = 0.7
MOST_VALUES = 2
"""Words in which the same sentence may differ when it gives another value."""
VERY_NEAR = 0.85
_COUNT = re.compile(r"\.\d+$")


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
    def base_key(self) -> str:
        """The key without the number that tells namesakes apart (`child_grade.2`)."""
        return _COUNT.sub("", self.normal_key)

    @cached_property
    def key_words(self) -> frozenset[str]:
        return key_words(self.base_key)

    @cached_property
    def words(self) -> frozenset[str]:
        return topic_words(self.content)

    @cached_property
    def says(self) -> frozenset[str]:
        """Everything it names: its words, and the kinds of value that it gives."""
        return self.words | value_kinds(self.content)

    @cached_property
    def subjects(self) -> frozenset[str]:
        return subjects(self.base_key, self.content)

    @cached_property
    def is_passing(self) -> bool:
        return is_passing(f"{self.base_key.replace('_', ' ')} {self.content}")


@dataclass(frozen=True)
class Decision:
    """What becomes of a new statement; `targets` are the ids it confirms, replaces, or is older than."""

    action: Action
    targets: tuple[UUID, ...] = ()


def decide(new: Statement, known: Sequence[Statement], *, key_decides: bool = False) -> Decision:
    """Place a new statement among the valid memories of its user.

    `insert`: nothing is known of the thing. `confirm`: it says again what is known. `replace`: it is newer than
    what it contradicts or refines. `stale`: something newer is known already. With `key_decides`, whatever has the
    same key is the same thing.
    """
    same = [
        other
        for other in known
        if (key_decides and new.normal_key == other.normal_key) or same_thing(new, other)
    ]
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
    if _told_apart(new, other):
        return False
    if new.base_key == other.base_key and new.key_words:
        return True
    ours, theirs = key_occasion(new.base_key), key_occasion(other.base_key)
    if ours and theirs and ours != theirs and is_negated(new.content) == is_negated(other.content):
        return False
    if new.key_words and other.key_words and _keys_agree(new, other):
        return True
    return _contents_agree(new, other)


def same_statement(new: Statement, other: Statement) -> bool:
    """The two say the same: a repetition, not a change or a refinement."""
    if plain(new.content) == plain(other.content):
        return True
    return (
        same_subjects(new.subjects, other.subjects)
        and new.is_passing == other.is_passing
        and numbers(new.content) == numbers(other.content)
        and is_negated(new.content) == is_negated(other.content)
        and bool(new.words)
        and new.words == other.words
        and pronouns(new.content) == pronouns(other.content)
    )


def normalise_key(key: str) -> str:
    """The one spelling of a key: `Delivery Day`, `delivery-day` and `deliveryDay` are `delivery_day`.

    A number behind a point stays: it tells namesakes apart (`child_grade.2`).
    """
    text = unicodedata.normalize("NFKC", key)
    count = found[0] if (found := _COUNT.search(text)) else ""
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.removesuffix(count))
    return (re.sub(r"[\W_]+", "_", text).strip("_").lower() or "note") + count


def free_key(key: str, taken: Collection[str]) -> str:
    """The key, with a number behind it where another thing has it already."""
    number, free = 1, key
    while free in taken:
        number += 1
        free = f"{_COUNT.sub('', key)}.{number}"
    return free


def _told_apart(new: Statement, other: Statement) -> bool:
    """Different people, one for now and one for good, or two of a kind of which there are several."""
    if not same_subjects(new.subjects, other.subjects):
        return True
    passing = new.is_passing != other.is_passing and not {"decision"} >= {new.type, other.type}
    if passing and not is_restored(new.content) and not is_restored(other.content):
        return True
    return _are_two_of_several(new, other) or _are_two_of_a_bag(new, other)


def _are_two_of_several(new: Statement, other: Statement) -> bool:
    """Two allergies, two pets: each names something that the other does not."""
    if adds(new.content) or adds(other.content):
        return _containment(new.words - new.key_words, other.words - other.key_words) < SAME_WORDS
    kinds = SEVERAL & (new.key_words | new.words) & (other.key_words | other.words)
    ours, theirs = new.words - SEVERAL - new.subjects, other.words - SEVERAL - other.subjects
    return bool(kinds and ours and theirs) and not ours & theirs


def _are_two_of_a_bag(new: Statement, other: Statement) -> bool:
    """Under a key such as `delivery_preference`: one gives a day, the other a place."""
    if new.base_key != other.base_key or not is_bag(new.base_key):
        return False
    ours, theirs = value_kinds(new.content), value_kinds(other.content)
    return (
        bool(ours and theirs) and not ours & theirs and is_negated(new.content) == is_negated(other.content)
    )


def _keys_agree(new: Statement, other: Statement) -> bool:
    """The keys are made of the same concepts, or what one of them has more is no other thing."""
    if new.key_words == other.key_words:
        return True
    common = new.key_words & other.key_words
    if not common:
        return False
    ours_unsaid = new.key_words - common - other.says
    theirs_unsaid = other.key_words - common - new.says
    if not ours_unsaid and not theirs_unsaid:
        return True
    if ours_unsaid & new.says or theirs_unsaid & other.says:
        return False  # a gift budget: that it is for a gift stands in key and words, and the other knows nothing of it
    # `mattress_firmness` and `mattress`: the key only says what kind of answer it is
    return not ours_unsaid or not theirs_unsaid


def _contents_agree(new: Statement, other: Statement) -> bool:
    """Under keys that say nothing, or something else: the words alone decide, and an embedding may object."""
    shared, common = _containment(new.words, other.words), new.words & other.words
    near = max(new.similarity, other.similarity)
    if is_negated(new.content) != is_negated(other.content):
        named = bool(common & (new.key_words | other.key_words)) or bool(new.key_words & other.key_words)
        sure = len(common) >= 2 or (shared >= SAME_WORDS and (near >= NEAR or named))
        return shared >= CONTRADICTED_WORDS and sure
    ours, theirs = numbers(new.content), numbers(other.content)
    if not ours <= theirs and not theirs <= ours:
        # "keeps the room at 19 degrees": one figure in place of another, all else as it was
        return new.words == other.words and len(common) >= 2 and near >= NEAR
    return _says_the_same(new, other, shared, near) or _is_one_sentence(new, other, near)


def _says_the_same(new: Statement, other: Statement, shared: float, near: float) -> bool:
    """Under unrelated keys: one holds all the words of the other, and an embedding does not object.

    Where each has a word of its own ("the red door", "the blue door"), they stay two, unless both are long and
    hardly differ.
    """
    common = new.words & other.words
    if new.words == other.words and common and near >= NEARER:
        return True
    if shared >= SAME_WORDS:
        return near >= NEAR and (len(common) >= 2 or _one_word_names_it(new, other, common))
    # invoice_title and invoice_email are two fields of one thing
    siblings = bool(new.key_words & other.key_words) and bool(new.key_words & new.says - other.key_words)
    return shared >= MOST_WORDS and len(common) >= 4 and near >= VERY_NEAR and not siblings


def _one_word_names_it(new: Statement, other: Statement, common: frozenset[str]) -> bool:
    """The one word that both have is what one of the keys is about. Allergies want more than one word."""
    if SEVERAL & (new.words | other.words) or new.key_words & other.key_words:
        return False
    return bool(common & (new.key_words | other.key_words))


def _is_one_sentence(new: Statement, other: Statement, near: float) -> bool:
    """The same sentence with one value in place of another.

    A word that stands in the statement's own key is no value: a dishwasher is not a new washing machine.
    """
    common, keys = new.words & other.words, new.key_words | other.key_words
    ours, theirs = new.words - common, other.words - common
    if not common or SEVERAL & (new.words | other.words) or (ours | theirs) & keys:
        return False
    kinds, others = value_kinds(new.content), value_kinds(other.content)
    if max(len(ours), len(theirs)) > MOST_VALUES or (bool(kinds and others) and not kinds & others):
        return False
    return near >= (NEARER if common & keys or len(common) > len(ours | theirs) else VERY_NEAR)


def _containment(some: frozenset[str], others: frozenset[str]) -> float:
    smaller = min(len(some), len(others))
    return len(some & others) / smaller if smaller else 0.0
