"""What keeps two statements two things, however alike they are: whom or what they concern, and for how long."""

from __future__ import annotations

from memory.phrasing import adds, is_negated, is_restored, switches
from memory.statement import Statement
from memory.vocabulary import (
    SEVERAL,
    areas,
    body_sides,
    is_bag,
    orders,
    same_subjects,
    value_kinds,
    which_address,
)


def told_apart(new: Statement, other: Statement) -> bool:
    """Different people or products, one for now and one for good, or two of a kind of which there are several."""
    if _concern_others(new, other) or _sides_differ(new, other):
        return True
    passing = new.is_passing != other.is_passing and not {"decision"} >= {new.type, other.type}
    if passing and not is_restored(new.content) and not is_restored(other.content):
        return True
    if switches(later(new, other).said):
        return False  # "a tablet instead": the later one names another value of the same thing
    return _name_other_objects(new, other) or _are_two_of_several(new, other) or _are_two_of_a_bag(new, other)


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
    """The left eye and the right one, one order and another, the address at home and that at work."""
    for name in (body_sides, orders, which_address):
        ours, theirs = name(new.content), name(other.content)
        if ours and theirs and not ours & theirs:
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
    if adds(new.content) or adds(other.content):
        return containment(new.words - new.key_words, other.words - other.key_words) < 1
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
