"""One memory as the conflict policy sees it: what its key and its words name. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from uuid import UUID

from memory.key_names import key_words
from memory.phrasing import is_passing, is_said_to_pass
from memory.vocabulary import objects, slots, topic_words, value_kinds
from memory.whom import people, subjects

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
    evidence: str = ""
    """The customer's own words; they often say that something has changed where the content only says what is so."""

    @property
    def said(self) -> str:
        """The statement, and the words that it was made of."""
        return f"{self.content}\n{self.evidence}"

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
        named = f"{self.base_key.replace('_', ' ')} {self.content}"
        return is_passing(named) or is_said_to_pass(self.evidence)

    @cached_property
    def people(self) -> frozenset[str]:
        """Everybody it names, the customer aside."""
        return people(f"{self.base_key.replace('_', ' ')} {self.content}")

    @cached_property
    def objects(self) -> frozenset[str]:
        """The products that its words name, or else its key."""
        return objects(self.content) or objects(self.base_key.replace("_", " "))

    @cached_property
    def slots(self) -> frozenset[str]:
        """Of what has one value at a time, what it names or gives a value of: a courier, a size, a budget."""
        return slots(f"{self.base_key.replace('_', ' ')} {self.content}")


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
