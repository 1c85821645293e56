"""Plays cases through the queue and the worker, with the extractor's answers scripted, and looks at what is valid."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory.database import Database
from memory.embeddings import Embedder
from memory.extraction import Exchange, KnownMemory, MemoryItem, Summariser, SummariseRequest, Summary
from memory.queue import MemoryQueue
from memory.settings import MemorySettings
from memory.store import list_memories
from memory.worker import Worker

APART = timedelta(minutes=1)
"""Between two statements of a case."""
CONFIDENCE = 0.9
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Told:
    """One statement, under the name that the extractor gave it."""

    key: str
    content: str
    type: str
    evidence: str = ""
    """The customer's own words; none: they are the content."""

    @property
    def words(self) -> str:
        return self.evidence or self.content


@dataclass(frozen=True)
class Case:
    """Statements in the order in which the customer made them, and which of them hold in the end."""

    kind: str
    told: tuple[Told, ...]
    holds: tuple[int, ...]
    """Numbers of the statements that hold; none: they say the same, and any one of them does."""

    def is_right(self, valid: Sequence[str]) -> bool:
        """Whether these contents are what holds."""
        if not self.holds:
            return len(valid) == 1 and valid[0] in {told.content for told in self.told}
        return sorted(valid) == sorted(self.told[number].content for number in self.holds)


@dataclass(frozen=True)
class Outcome:
    """What became of a case. `late`: its statements were processed newest first."""

    case: Case
    late: bool
    valid: tuple[str, ...]

    @property
    def is_right(self) -> bool:
        return self.case.is_right(self.valid)


def read_cases(name: str) -> list[Case]:
    """The cases of a file of this folder."""
    return list(_cases((FOLDER / name).read_text(encoding="utf-8")))


def _cases(text: str) -> Iterator[Case]:
    for line in text.splitlines():
        given = json.loads(line)
        told = tuple(Told(*statement) for statement in given["told"])
        yield Case(given["kind"], told, tuple(given["holds"]))


async def play(database: Database, embedder: Embedder, cases: Sequence[Case]) -> list[Outcome]:
    """Every case in the order said, and again with the newest statement processed first."""
    settings = MemorySettings(_env_file=None, steward_idle_seconds=86_400)
    worker = Worker(database, embedder, _Script(cases), _nothing, settings)
    queue = MemoryQueue(database)
    begin = Moment.now()
    for step in range(max(len(case.told) for case in cases)):
        for number, case in enumerate(cases):
            if step < len(case.told):
                await queue.enqueue_turn(_turn(number, step, case, begin, late=False))
                await queue.enqueue_turn(_turn(number, len(case.told) - 1 - step, case, begin, late=True))
        await worker.drain()
    outcomes = []
    for number, case in enumerate(cases):
        for late in (False, True):
            memories = await list_memories(database, _user(number, late), now=begin.after(len(case.told)))
            outcomes.append(Outcome(case, late, tuple(memory.content for memory in memories)))
    return outcomes


@dataclass(frozen=True)
class Moment:
    """When the first statement is made: now, in a zone where it is day, so that "today" goes on for a while."""

    at: datetime
    timezone: str

    @classmethod
    def now(cls) -> Moment:
        at = datetime.now(UTC)
        return cls(at, "Asia/Shanghai" if at.hour < 12 else "America/New_York")

    def after(self, steps: int) -> datetime:
        return self.at + steps * APART


class _Script:
    """The extractor: answers with the one statement that the turn was made of."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases

    async def __call__(self, turn: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        number, step = (int(part) for part in turn.turn_id.split("/")[:2])
        told = self._cases[number].told[step]
        item = {"key": told.key, "content": told.content, "type": told.type, "evidence": told.words}
        return [MemoryItem.model_validate({**item, "confidence": CONFIDENCE, "domains": ["general"]})]


async def _no_summary(request: SummariseRequest, /) -> Summary:
    return Summary("nothing")


_nothing: Summariser = _no_summary


def _turn(number: int, step: int, case: Case, begin: Moment, *, late: bool) -> Exchange:
    user = _user(number, late)
    return Exchange(
        user_id=user,
        thread_id=f"{user}, {step}",
        turn_id=f"{number}/{step}/{late}",
        customer=case.told[step].words,
        answer="ok",
        said_at=begin.after(step),
        timezone=begin.timezone,
    )


def _user(number: int, late: bool) -> str:
    return f"customer {number}{' (late)' if late else ''}"
