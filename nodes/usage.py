"""The token ledger: every answered model request with its tokens and its price (C3).

Rows are gathered and written in one statement: when a turn ends, and at the latest after half a second, so that a
crash loses no more than that. A ledger that cannot be written never breaks a turn; its rows wait.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import structlog
from psycopg import Error as PostgresError
from psycopg.types.json import Jsonb

from memory.database import Database
from memory.errors import DatabaseError
from memory.user_lock import user_hash
from nodes.booking import CLASSES, Booking
from nodes.endpoint import ModelCall
from nodes.prices import Prices
from nodes.settings import NodeSettings
from nodes.state import Turn
from nodes.versions import Served

log = structlog.get_logger(__name__)

FLUSH_SECONDS = 0.5
RETRY_SECONDS = 5.0
MOST_ROWS = 20_000
"""Kept while the database is away; the oldest are lost beyond."""

_INSERT = """
INSERT INTO token_usage (
    id, thread_id, turn_id, user_id, node, role, model, instructions, memory, tools, history, output,
    prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, estimated, cost, created_at,
    business, prompts
)
SELECT id, CASE WHEN gone THEN '' ELSE thread_id END, CASE WHEN gone THEN '' ELSE turn_id END,
       CASE WHEN gone THEN '' ELSE user_id END, node, role, model, instructions, memory, tools, history, output,
       prompt_tokens, completion_tokens, cached_tokens, reasoning_tokens, estimated, cost, created_at,
       business, prompts
FROM jsonb_populate_recordset(NULL::token_usage, %(rows)s)
CROSS JOIN LATERAL (
    SELECT EXISTS (
        SELECT FROM erased_user
        WHERE user_hash = %(users)s::jsonb ->> user_id AND erased_at > (%(began)s::jsonb ->> id::text)::timestamptz
    ) AS gone
) AS erased
ON CONFLICT (id) DO NOTHING
"""
"""A call that began before its user was erased is booked with nobody's name on it, like those before it."""


@dataclass(frozen=True)
class _Owner:
    user_id: str
    thread_id: str
    turn_id: str


@dataclass(frozen=True)
class _Row:
    values: dict[str, Any]
    """Of the table's columns."""
    began: datetime
    """When the call began."""


class UsageLedger:
    """Books model calls in Postgres. Belongs to one event loop; close it with `aclose`.

    Each row says by which versions of business and prompts the call was made.
    """

    def __init__(self, database: Database, settings: NodeSettings, served: Served | None = None) -> None:
        self._database = database
        self._served = served or Served()
        self._prices = Prices(settings.steward_prices)
        self._rows: deque[_Row] = deque(maxlen=MOST_ROWS)
        self._timer: asyncio.TimerHandle | None = None
        self._flushing: asyncio.Task[None] | None = None

    def add(self, turn: Turn, thread_id: str, booking: Booking) -> None:
        """Book a call of a turn. Does not wait."""
        self._add(_Owner(turn["user_id"], thread_id, turn["id"]), booking)

    async def book_now(self, user_id: str, thread_id: str, turn_id: str, booking: Booking) -> None:
        """Book a call outside a turn, and write it."""
        self._add(_Owner(user_id, thread_id, turn_id), booking)
        await self.flush()

    async def flush(self) -> None:
        """Write what is booked, of all turns: one round trip. Where it cannot be written, it is tried again later."""
        self._stop_timer()
        rows = list(self._rows)
        if not rows:
            return
        self._rows.clear()
        values = {
            "rows": Jsonb([row.values for row in rows]),
            "began": Jsonb({row.values["id"]: row.began.isoformat() for row in rows}),
            "users": Jsonb(
                {user_id: user_hash(user_id) for user_id in {row.values["user_id"] for row in rows}}
            ),
        }
        try:
            await self._database.execute(_INSERT, values)
        except (DatabaseError, PostgresError) as error:
            log.warning("token ledger could not be written; its rows wait", rows=len(rows), error=str(error))
            self._put_back(rows)
        except BaseException:
            self._put_back(rows)
            raise

    async def aclose(self) -> None:
        """Write the rest."""
        if self._flushing:
            await self._flushing
        await self.flush()
        self._stop_timer()

    def _add(self, owner: _Owner, booking: Booking) -> None:
        self._rows.extend(self._row(owner, booking, call) for call in booking.reply.calls)
        self._flush_in(FLUSH_SECONDS)

    def _row(self, owner: _Owner, booking: Booking, call: ModelCall) -> _Row:
        now = datetime.now(UTC)
        classes = replace(booking, reply=replace(booking.reply, calls=(call,))).by_class()
        cost = self._prices.cost(call.model, call.usage)
        values = {
            "id": str(uuid4()),
            "thread_id": owner.thread_id,
            "turn_id": owner.turn_id,
            "user_id": owner.user_id,
            "node": booking.node,
            "role": booking.role,
            "model": call.model.replace("\0", ""),
            **{name: classes.get(name, 0) for name in CLASSES},
            "prompt_tokens": call.usage.prompt_tokens,
            "completion_tokens": call.usage.completion_tokens,
            "cached_tokens": call.usage.cached_tokens,
            "reasoning_tokens": call.usage.reasoning_tokens,
            "estimated": call.usage.estimated,
            "cost": None if cost is None else _plain(cost),
            "created_at": now.isoformat(),
            "business": self._served.business,
            "prompts": self._served.prompts,
        }
        return _Row(values, now - timedelta(seconds=call.seconds))

    def _put_back(self, rows: list[_Row]) -> None:
        self._rows.extendleft(reversed(rows[-(MOST_ROWS - len(self._rows)) :]))
        self._flush_in(RETRY_SECONDS)

    def _flush_in(self, seconds: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(seconds, self._start_flush)

    def _start_flush(self) -> None:
        self._timer = None
        self._flushing = asyncio.get_running_loop().create_task(self.flush())

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _plain(amount: Decimal) -> str:
    return f"{amount:f}"
