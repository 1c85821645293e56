"""Which memories are about the same thing, and which of them holds. Pure: no database, no model.

The newest statement about a thing wins, whatever order they are processed in. Two statements are about the same
thing when their keys and words say so; an embedding is a hint at most. "Third grade" and "fourth grade" of two
children are nearer to each other than many true duplicates, so what tells things apart is looked at in words: whom
it concerns, numbers, negation, passing against lasting, and what each key says that the other statement does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from memory.apart import containment, later, told_apart
from memory.evidence import plain
from memory.key_names import is_bag, is_of_one, is_of_several, key_occasion
from memory.phrasing import changes, is_negated, pronouns, switches
from memory.statement import Statement
from memory.vocabulary import (
    EXCLUSIVE,
    MANIFOLD,
    OBJECTS,
    SEVERAL,
    SLOTS,
    SOLE,
    areas,
    numbers,
    topic_words,
    value_kinds,
)
from memory.whom import same_subjects

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
HELD = 0.4
"""The same, where one statement holds all the words of the other, and more than one."""
NEARER = 0.7
MOST_VALUES = 2
"""Words in which the same sentence may differ when it gives another value."""
VERY_NEAR = 0.85
TIED = 0.2
"""Under it an embedding sees no tie at all between two statements."""
ALIKE = 0.3
"""The same, of statements one of which says that it changes what has one value at a time, such as a job."""


@dataclass(frozen=True)
class Decision:
    """What becomes of a new statement; `targets` are the ids it confirms, replaces, or is older than."""

    action: Action
    targets: tuple[UUID, ...] = ()


def decide(
    new: Statement, known: Sequence[Statement], *, key_decides: bool = False, replaces: str | None = None
) -> Decision:
    """Place a new statement among the valid memories of its user.

    `insert`: nothing is known of the thing. `confirm`: it says again what is known. `replace`: it is newer than
    what it contradicts or refines. `stale`: something newer is known already. With `key_decides`, whatever has the
    same key is the same thing. `replaces`: key of what the extractor takes it to stand in place of.
    """
    same = [
        other
        for other in known
        if (key_decides and new.normal_key == other.normal_key)
        or (other.normal_key == replaces and _may_replace(new, other))
        or same_thing(new, other)
    ] or _changed(new, known)
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
    return _agree(new, other) and not told_apart(new, other)


def _agree(new: Statement, other: Statement) -> bool:
    """Keys and words say that it is one thing; what tells the two apart is not looked at."""
    if new.base_key == other.base_key and new.key_words and _fit_one_key(new, other):
        return True
    if _occasions_differ(new, other):
        return False
    if _give_one_answer(new, other):
        return True
    if new.base_key != other.base_key and new.key_words and other.key_words and _keys_agree(new, other):
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
        and not _negation_differs(new, other)
        and bool(new.words)
        and new.words == other.words
        and value_kinds(new.content) == value_kinds(other.content)
        and pronouns(new.content) == pronouns(other.content)
    )


def _may_replace(new: Statement, other: Statement) -> bool:
    """What an extractor says of two statements is believed where they have anything to do with each other."""
    if told_apart(new, other):
        return False
    names = new.says | new.key_words | new.slots
    return bool(names & (other.says | other.key_words | other.slots)) or _near(new, other) >= TIED


def _changed(new: Statement, known: Sequence[Statement]) -> list[Statement]:
    """Of a statement that says of itself that something has changed, the one thing that it changes."""
    before = [other for other in known if _changes(new, other)]
    before.sort(key=lambda other: (len(new.slots & other.slots), _near(new, other)), reverse=True)
    return before[:1]


def _changes(new: Statement, other: Statement) -> bool:
    """The later one says "from now on" or "instead", and both give a value of the same thing."""
    if not changes(later(new, other).said) or not _same_slot(new, other):
        return False
    return not _occasions_differ(new, other) and not told_apart(new, other)


def _same_slot(new: Statement, other: Statement) -> bool:
    """Both give a value of the same thing, or say something of the same product."""
    kinds, others = value_kinds(new.content), value_kinds(other.content)
    if kinds and others and not kinds & others:
        return False
    if _areas_differ(new, other) or (new.objects and other.objects and not new.objects & other.objects):
        return False
    common, near = new.slots & other.slots, _near(new, other)
    named = bool(new.objects & other.objects)
    switched = switches(later(new, other).said) and bool(new.words & other.words)
    if named or switched:
        return near >= (ALIKE if common or len(new.words & other.words) >= 2 else NEAR)
    if common <= MANIFOLD:  # a day may be that of a delivery or of a visit
        return bool(common) and near >= NEAR
    return near >= (TIED / 2 if kinds & others & common - MANIFOLD else ALIKE)


def _areas_differ(new: Statement, other: Statement) -> bool:
    ours, theirs = areas(new.content), areas(other.content)
    return bool(ours and theirs) and not ours & theirs


def _near(new: Statement, other: Statement) -> float:
    return max(new.similarity, other.similarity)


def _negation_differs(new: Statement, other: Statement) -> bool:
    return is_negated(new.content) != is_negated(other.content)


def _occasions_differ(new: Statement, other: Statement) -> bool:
    """The keys name different days, times, sides or places, and neither statement takes the other back."""
    ours, theirs = key_occasion(new.base_key), key_occasion(other.base_key)
    return bool(ours and theirs) and ours != theirs and not _negation_differs(new, other)


def _give_one_answer(new: Statement, other: Statement) -> bool:
    """Under whatever keys: each says where the customer lives, or which courier is to come, and little else."""
    kinds, others = value_kinds(new.content), value_kinds(other.content)
    if _negation_differs(new, other):
        return False
    if kinds & others & EXCLUSIVE:
        return True
    if _names_more(new, other) or _names_more(other, new):
        return False
    common = new.words & other.words
    answers = (common | kinds & others) & SOLE
    if "residence" in common and "city" in kinds | others:
        answers |= {"residence"}  # "lives in Cork", not "lives alone"
    if not answers or (kinds and others and not kinds & others):
        return False
    return (
        max(len(new.words - common), len(other.words - common)) <= MOST_VALUES and _near(new, other) >= TIED
    )


def _names_more(some: Statement, other: Statement) -> bool:
    """A gift budget: that it is for a gift stands in key and words, and the other knows nothing of it."""
    return bool((some.key_words - other.key_words) & some.words - other.says - SLOTS)


def _fit_one_key(new: Statement, other: Statement) -> bool:
    """Whether one key means one thing: it names what there is one of, or the statements have something in common.

    Under `disliked_food` there are many things to dislike; under `employer` there is one.
    """
    if is_of_one(new.base_key) or changes(later(new, other).said):
        return True
    if not is_of_several(new.base_key) and not is_bag(new.base_key):
        return True
    said = new.says | topic_words(new.evidence), other.says | topic_words(other.evidence)
    return bool(new.says & said[1] or other.says & said[0]) or _near(new, other) >= NEARER


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
    shared, common = containment(new.words, other.words), new.words & other.words
    near = _near(new, other)
    if _negation_differs(new, other):
        named = bool(common & (new.key_words | other.key_words)) or bool(new.key_words & other.key_words)
        sure = len(common) >= 2 or (shared >= SAME_WORDS and (near >= NEAR or named))
        return shared >= CONTRADICTED_WORDS and sure
    ours, theirs = _figures(new), _figures(other)
    if not ours <= theirs and not theirs <= ours:
        # "keeps the room at 19 degrees": one figure in place of another, all else as it was
        return new.words == other.words and len(common) >= 2 and near >= NEAR
    return _says_the_same(new, other, shared, near) or _is_one_sentence(new, other, near)


def _figures(statement: Statement) -> frozenset[str]:
    return frozenset(number for number in numbers(statement.content) if not number.startswith("day"))


def _says_the_same(new: Statement, other: Statement, shared: float, near: float) -> bool:
    """Under unrelated keys: one holds all the words of the other, and an embedding does not object.

    Where each has a word of its own ("the red door", "the blue door"), they stay two, unless both are long and
    hardly differ.
    """
    common = new.words & other.words
    if new.words == other.words and common and near >= NEARER:
        return True
    if shared >= SAME_WORDS:
        if len(common) >= 2:
            return near >= HELD
        return near >= NEAR and _one_word_names_it(new, other, common)
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

    A word that stands in the statement's own key is no value, unless both keys name the same thing besides: a
    dishwasher is not a new washing machine, but a firm pillow may be one in place of a soft pillow.
    """
    common, keys = new.words & other.words, new.key_words | other.key_words
    ours, theirs = new.words - common, other.words - common
    one_object = common & new.key_words & other.key_words & OBJECTS
    if not common or SEVERAL & (new.words | other.words) or ((ours | theirs) & keys and not one_object):
        return False
    kinds, others = value_kinds(new.content), value_kinds(other.content)
    if max(len(ours), len(theirs)) > MOST_VALUES or (bool(kinds and others) and not kinds & others):
        return False
    return near >= (NEARER if common & keys or len(common) > len(ours | theirs) else VERY_NEAR)
