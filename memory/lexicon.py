"""Word lists of `concepts.toml`, and the words of a text looked up in them, in both languages."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

from memory.keywords import stem

_ENGLISH = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")
_CHINESE = re.compile(r"[\u3400-\u9fff]")


@lru_cache(maxsize=1)
def _file() -> dict[str, Any]:
    text = resources.files("memory").joinpath("concepts.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def words_of(name: str) -> frozenset[str]:
    """One list, its English words stemmed."""
    return frozenset(stem(word) for word in lowered(_file()[name]).split())


def names_of(name: str) -> frozenset[str]:
    """One list of names of groups."""
    return frozenset(_file()[name].split())


class Lexicon:
    """Groups of words that mean the same, by the name of the group; `shoe+size` names two at once."""

    def __init__(self, groups: Mapping[str, str]) -> None:
        self._english: dict[str, str] = {}
        self._phrases: dict[str, str] = {}
        self._chinese: dict[str, str] = {}
        for name, words in groups.items():
            for word in lowered(words).split():
                if _CHINESE.search(word):
                    self._chinese.setdefault(word, name)
                elif "-" in word:
                    self._phrases.setdefault(word.replace("-", " "), name)
                else:
                    self._english.setdefault(stem(word), name)
        self._chinese_pattern = _any_of(self._chinese)
        phrases = _any_of(self._phrases).pattern.replace(r"\ ", "[ -]")
        self._phrase_pattern = re.compile(rf"\b(?:{phrases})\b")

    @classmethod
    def named(cls, section: str, only: Collection[str] | None = None) -> Lexicon:
        """The groups of one section of the file, or some of them."""
        groups = _file()[section]
        return cls({name: words for name, words in groups.items() if only is None or name in only})

    def take(self, text: str) -> tuple[frozenset[str], str]:
        """The groups that a text names, and the text without the words that named them."""
        found: set[str] = set()

        def note(table: Mapping[str, str], word: str) -> str:
            found.update(table[word].split("+"))
            return " "

        rest = lowered(text)
        rest = self._phrase_pattern.sub(lambda match: note(self._phrases, match[0].replace("-", " ")), rest)
        rest = self._chinese_pattern.sub(lambda match: note(self._chinese, match[0]), rest)
        rest = _ENGLISH.sub(
            lambda match: (
                note(self._english, stem(match[0])) if stem(match[0]) in self._english else match[0]
            ),
            rest,
        )
        return frozenset(found), rest

    def at_start(self, text: str) -> frozenset[str]:
        """The group whose word a text begins with, up to a second word in English (`elder son`)."""
        low = lowered(text)
        if chinese := self._chinese_pattern.match(low):
            return frozenset({self._chinese[chinese[0]]})
        opening = re.match(r"[a-z-]+(?:\s[a-z-]+)?", low)
        return self.find(opening[0]) if opening else frozenset()

    def find(self, text: str) -> frozenset[str]:
        """The groups that a text names."""
        return self.take(text)[0]


def lowered(text: str) -> str:
    """A text without width and case."""
    return unicodedata.normalize("NFKC", text).casefold()


def _any_of(words: Any) -> re.Pattern[str]:
    return re.compile("|".join(sorted(map(re.escape, words), key=len, reverse=True)) or "(?!)")


CONCEPTS = Lexicon.named("concepts")
KINDS = Lexicon.named("kinds")
PEOPLE = Lexicon.named("people")
