"""What keeps two statements two things, however alike they are: whom or what they concern, and for how long."""

from __future__ import annotations

from memory.key_names import is_bag, is_of_one
from memory.phrasing import adds, changes, is_negated, is_restored, is_said_to_add, is_said_to_pass, switches
from memory.statement import Statement
from memory.vocabulary import (
    AREAS,
    OWNED,
    SEVERAL,
    SLOTS,
    areas,
    body_sides,
    day_classes,
    numbers,
    orders,
    rooms,
    things,
    topic_words,
    value_kinds,
    which_one,
)
from memory.whom import own_names, same_subjects


def told_apart(new: Statement, other: Statement) -> bool:
    """Different people or products, one for now and one for good, or two of a kind of which there are several."""
    if _concern_others(new, other) or _sides_differ(new, other):
        return True
    if _lasts_otherwise(new, other) and not is_restored(new.content) and not is_restored(other.content):
        return True
    if switches(later(new, other).said):
        return False  # "a tablet instead": the later one names another value of the same thing
    if _name_other_objects(new, other) or _are_two_of_several(new, other):
        return True
    return new.base_key == other.base_key and _are_two_under_one_key(new, other)


def _lasts_otherwise(new: Statement, other: Statement) -> bool:
    """One is for now and one for good. What is decided, is mostly for now: of two decisions, one has to say so."""
    if {new.type, other.type} == {"decision"}:
        return is_said_to_pass(new.said) != is_said_to_pass(other.said)
    return new.is_passing != other.is_passing


def later(new: Statement, other: Statement) -> Statement:
    """Of two statements the one that was made later."""
    return new if new.said_at >= other.said_at else other


def containment(some: frozenset[str], others: frozenset[str]) -> float:
    """Share of the smaller set that is in both."""
    smaller = min(len(some), len(others))
    return len(some & others) / smaller if smaller else 0.0


def _concern_others(new: Statement, other: Statement) -> bool:
    """Each is about somebody whom the other does not so much as name."""
    if same_subjects(new.subjects, other.subjects):
        return False
    ours, theirs = new.subjects - other.people, other.subjects - new.people
    return bool(ours or theirs)


def _sides_differ(new: Statement, other: Statement) -> bool:
    """The left eye and the right one, one order and another, the address at home and that at work, two cats."""
    for name in (body_sides, orders, own_names):
        ours, theirs = name(new.content), name(other.content)
        if ours and theirs and not ours & theirs:
            return True
    return _are_of_two_places(new, other)


def _are_of_two_places(new: Statement, other: Statement) -> bool:
    """Of the phone at home and the one at work something different is said; if not, which of them is the answer."""
    for name in (which_one, rooms):
        (ours, said), (theirs, said_there) = name(new.content), name(other.content)
        if ours and theirs and not ours & theirs and said != said_there:
            return True
    return False


def _name_other_objects(new: Statement, other: Statement) -> bool:
    """A phone case and a backpack; after-sales matters and promotions."""
    for ours, theirs in (
        (new.objects, other.objects),
        (areas(new.content), areas(other.content)),
    ):
        if ours and theirs and not ours & theirs:
            return True
    return False


def _are_two_of_several(new: Statement, other: Statement) -> bool:
    """Two allergies, two pets: each names something that the other does not."""
    if adds(new.content) or adds(other.content) or _goes_on(new, other):
        return containment(new.words - new.key_words, other.words - other.key_words) < 1
    if new.base_key == other.base_key and is_of_one(new.base_key) and not new.key_words & SEVERAL:
        return False
    kinds = SEVERAL & (new.key_words | new.words) & (other.key_words | other.words)
    named = SEVERAL | new.subjects | other.subjects
    ours, theirs = new.words - named, other.words - named
    if not (kinds and ours and theirs) or ours & theirs:
        return False
    last = later(new, other)
    return not (theirs if last is new else ours) <= topic_words(last.evidence)  # "my dog Biscuit is a beagle"


def _goes_on(new: Statement, other: Statement) -> bool:
    """ "And on Air France I have Silver": under one key, and nothing is said to have changed."""
    last = later(new, other)
    return new.base_key == other.base_key and is_said_to_add(last.evidence) and not changes(last.said)


def _are_two_under_one_key(new: Statement, other: Statement) -> bool:
    """What an extractor has given one name is one thing, unless what is said shows two."""
    if _are_two_of_a_bag(new, other) or _hold_on_other_days(new, other):
        return True
    if changes(later(new, other).said):
        return False
    return _are_two_owned(new, other) or _answer_for_other_things(new, other)


def _are_two_owned(new: Statement, other: Statement) -> bool:
    """Under `account` or `loan`, two that are called differently."""
    ours, theirs = things(new.content), things(other.content)
    return bool(new.key_words) and new.key_words <= OWNED and bool(ours - theirs and theirs - ours)


def _are_two_of_a_bag(new: Statement, other: Statement) -> bool:
    """Under a key such as `delivery_preference`: one gives a day, the other a place."""
    if not is_bag(new.base_key):
        return False
    ours, theirs = value_kinds(new.content), value_kinds(other.content)
    return (
        bool(ours and theirs) and not ours & theirs and is_negated(new.content) == is_negated(other.content)
    )


def _hold_on_other_days(new: Statement, other: Statement) -> bool:
    """Evenings on workdays, and mornings at the weekend."""
    ours, theirs = day_classes(new.content), day_classes(other.content)
    if not ours or not theirs or ours & theirs:
        return False
    return all(value_kinds(text) - {"day"} or numbers(text) for text in (new.content, other.content))


def _answer_for_other_things(new: Statement, other: Statement) -> bool:
    """Water on Mondays and bread on Fridays: each gives a day, and each of something else."""
    ours, theirs = things(new.content), things(other.content)
    if (new.words - ours) & (other.words - theirs) - new.key_words - SLOTS - AREAS:
        return False  # the same value, said with more detail
    alike = value_kinds(new.content) & value_kinds(other.content)
    counted = bool(numbers(new.content) and numbers(other.content))
    ours, theirs = ours - new.key_words, theirs - new.key_words
    return (bool(alike) or counted) and bool(ours and theirs) and not ours & theirs
