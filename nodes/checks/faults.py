"""The kinds of fault that the checks find, and how each is told to a reviewer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

FaultKind = Literal["identifier", "amount", "date", "state", "decimals", "required", "wish"]

_SENTENCES: Mapping[FaultKind, str] = {
    "identifier": 'The number "{quote}" is in no source.',
    "amount": 'The amount "{quote}" is in no source, and follows from none.',
    "date": 'The date or time "{quote}" is in no source, and follows from none.',
    "state": 'The state "{quote}" is not what the results say.',
    "decimals": 'The amount "{quote}" is not written with two decimals.',
    "required": 'The value of "{quote}", which has to be stated, is missing.',
    "wish": 'The request of kind "{quote}" seems to be left unanswered.',
}
_SOFT: frozenset[FaultKind] = frozenset({"decimals", "wish"})


@dataclass(frozen=True)
class Fault:
    """One fault. `hard`: the draft should not go out with it."""

    kind: FaultKind
    quote: str
    """The words of the draft; for what is missing, the name of it."""

    @property
    def hard(self) -> bool:
        return self.kind not in _SOFT

    @property
    def text(self) -> str:
        """The fault in a sentence, for the reviewer."""
        return _SENTENCES[self.kind].format(quote=self.quote)


def hard_faults(faults: Iterable[Fault]) -> list[Fault]:
    return [fault for fault in faults if fault.hard]
