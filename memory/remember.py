"""The job that remembers turns: one user's finished exchanges in, their memories and session facts out.

A job takes the user's other waiting turns along, so that a burst of messages is one transaction. Each exchange
is read by itself; one that the extractor fails on stays queued and does not hold up the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from memory.database import Database
from memory.embeddings import Embedder
from memory.extraction import Admitted, Exchange, Extractor, KnownMemory, admit
from memory.queue import REMEMBER_TURN, user_lock
from memory.recall import RecallRequest, recall
from memory.settings import MemorySettings
from memory.store import KNOWN_SHOWN, known_memories
from memory.turns import FinishedTurn, apply

log = structlog.get_logger(__name__)

BATCH = 20
"""Turns of one user that one job takes."""
NEAREST = 20
"""Memories near to what was said that the extractor is shown beside the latest."""

WAITING = """
SELECT id, args FROM procrastinate_jobs
 WHERE lock = %s AND task_name = %s AND status = 'todo' AND (scheduled_at IS NULL OR scheduled_at <= now())
 ORDER BY id
 LIMIT %s
"""
IS_PROCESSED = "SELECT FROM session_turn WHERE thread_id = %s AND turn_id = %s"


@dataclass(frozen=True)
class QueuedTurn:
    """An exchange and the job that brought it."""

    job_id: int
    exchange: Exchange


@dataclass(frozen=True)
class Remembering:
    """What the job needs."""

    database: Database
    embedder: Embedder
    extractor: Extractor
    settings: MemorySettings

    async def run(self, own: QueuedTurn) -> frozenset[str]:
        """Remember this turn and the user's other waiting ones; the threads whose session has grown.

        Raises what the extractor raises on this turn, so that its job is tried again.
        """
        user_id = own.exchange.user_id
        latest = await known_memories(self.database, user_id, now=own.exchange.said_at)
        turns = [FinishedTurn(own.exchange, await self._read(own.exchange, latest), own.job_id)]
        ended = []
        for other in await self._waiting(user_id):
            try:
                admitted = await self._read(other.exchange, latest + _said(turns))
            except Exception as error:
                log.warning("turn left for later", turn_id=other.exchange.turn_id, error=str(error))
                continue
            turns.append(FinishedTurn(other.exchange, admitted, other.job_id))
            ended.append(other.job_id)
        written = await apply(self.database, self.embedder, user_id, turns, ended_jobs=ended)
        log.info("turns remembered", turns=len(turns), new=written.new, thread_id=own.exchange.thread_id)
        return written.threads

    async def _read(self, exchange: Exchange, latest: Sequence[KnownMemory]) -> Admitted:
        off = self.settings.steward_long_term_memory == "off"
        if off or not exchange.customer.strip() or await self._is_processed(exchange):
            return Admitted()
        items = await self.extractor(exchange, await self._known(exchange, latest))
        admitted = admit(exchange, items, confidence=self.settings.steward_memory_confidence)
        for key, reason in admitted.refused.items():
            log.info("not remembered", key=key, reason=reason, turn_id=exchange.turn_id)
        return admitted

    async def _known(self, exchange: Exchange, latest: Sequence[KnownMemory]) -> Sequence[KnownMemory]:
        """The user's latest memories; where there are more, also those that are nearest to what was said."""
        if len(latest) < KNOWN_SHOWN:
            return latest
        request = RecallRequest(exchange.user_id, exchange.customer, exchange.said_at, k=NEAREST, floor=None)
        near = await recall(self.database, self.embedder, request)
        shown = {memory.key for memory in latest}
        return [
            *latest,
            *(
                KnownMemory(memory.key, memory.content, memory.type, memory.domains)
                for memory in near
                if memory.key not in shown and memory.type != "state"
            ),
        ]

    async def _is_processed(self, exchange: Exchange) -> bool:
        """Spares a model call; `apply` looks again, under the user's lock."""
        row = await self.database.fetch_one(IS_PROCESSED, (exchange.thread_id, exchange.turn_id))
        return row is not None

    async def _waiting(self, user_id: str) -> list[QueuedTurn]:
        rows = await self.database.fetch(WAITING, (user_lock(user_id), REMEMBER_TURN, BATCH - 1))
        return [queued_turn(row["id"], row["args"]) for row in rows]


def queued_turn(job_id: int, arguments: Mapping[str, Any]) -> QueuedTurn:
    """The turn that a job's arguments hold."""
    return QueuedTurn(job_id, Exchange.from_json(arguments["exchange"]))


def _said(turns: Sequence[FinishedTurn]) -> list[KnownMemory]:
    """What this batch has found so far, for the extractor to name alike."""
    return [
        KnownMemory(item.key, item.content, item.type, tuple(item.domains))
        for turn in turns
        for item in turn.admitted.long_term
    ]
