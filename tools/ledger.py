"""The record of every tool call in Postgres, and the claim that keeps a side effect from happening twice (T8).

A call with side effects is claimed before it runs and completed after, both committed. A call without has its
row written when it has ended, all those of a step in one statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from psycopg.types.json import Jsonb

from memory.database import Database
from memory.erase import Erasure
from tools.calls import CallScope, Envelope, Outcome
from tools.spec import JSON, Arguments

ERASURE: Final = Erasure(
    threads=("SELECT DISTINCT thread_id FROM tool_call WHERE user_id = %(user_id)s",),
    statements=("DELETE FROM tool_call WHERE user_id = %(user_id)s",),
)
"""What the ledger knows of a user, for `memory.erase`."""
RETENTION: Final = "DELETE FROM tool_call WHERE started_at < %(ledger)s"
"""Removes what is older than its retention; `ledger` is the time from which on rows are kept."""
# Without the claims, which the original keeps; whether one that is still open takes effect the copy cannot know.
COPY: Final = """
INSERT INTO tool_call (thread_id, turn_id, call_id, user_id, tool, arguments, attempt, status, error_kind, result, ref,
                       signals, identifiers, details, started_at, finished_at)
SELECT DISTINCT ON (turn_id, call_id)
       %(target)s, turn_id, call_id, user_id, tool, arguments, attempt,
       CASE status WHEN 'running' THEN 'error' ELSE status END,
       CASE status WHEN 'running' THEN 'in_doubt' ELSE error_kind END,
       CASE status WHEN 'running' THEN jsonb_build_object(
           'status', 'error', 'error_kind', 'in_doubt', 'retryable', false,
           'error_desc', 'It is not known whether ' || tool || ' took effect: the conversation was copied meanwhile.',
           'try_next', 'Do not repeat it. Look up whether it took effect, or hand over to a person.'
       ) ELSE result END,
       ref, signals, identifiers, details, started_at, finished_at
  FROM tool_call WHERE thread_id = %(source)s
 ORDER BY turn_id, call_id, id DESC
ON CONFLICT DO NOTHING
"""
"""Hands what is known of the calls of a thread on to a copy of it, for `memory.checkpoints`."""

# What an earlier attempt of the same call left behind makes way. `may_repeat`: the tool is safe to run again, so a
# claim without a good outcome holds nobody back.
_CLAIM: Final = """
WITH earlier AS (
    DELETE FROM tool_call
    WHERE thread_id = %(thread_id)s AND turn_id = %(turn_id)s AND call_id = %(call_id)s AND idempotency_key IS NULL
)
INSERT INTO tool_call (thread_id, turn_id, call_id, user_id, tool, arguments, idempotency_key, attempt, status)
VALUES (%(thread_id)s, %(turn_id)s, %(call_id)s, %(user_id)s, %(tool)s, %(arguments)s, %(key)s, %(attempt)s, 'running')
ON CONFLICT (idempotency_key) WHERE idempotency_key IS NOT NULL DO UPDATE
SET status = 'running', call_id = excluded.call_id, attempt = excluded.attempt,
    started_at = clock_timestamp(), finished_at = NULL, error_kind = NULL, result = NULL
WHERE tool_call.status <> 'ok' AND %(may_repeat)s
RETURNING id
"""
_HELD_BY: Final = """
SELECT call_id, status, error_kind, result, ref, signals, idempotency_key, started_at
FROM tool_call WHERE idempotency_key = %(key)s
"""
_COMPLETE: Final = """
UPDATE tool_call
SET status = %(status)s, error_kind = %(error_kind)s, result = %(result)s, ref = %(ref)s, signals = %(signals)s,
    identifiers = %(identifiers)s, details = %(details)s, finished_at = now(),
    idempotency_key = CASE WHEN %(may_be_made_again)s THEN NULL ELSE idempotency_key END
WHERE idempotency_key = %(key)s
"""
# Both only the attempt that was looked at: another that began meanwhile started later.
_GIVE_BACK: Final = """
UPDATE tool_call SET status = 'error', error_kind = 'cancelled', idempotency_key = NULL, finished_at = now()
WHERE idempotency_key = %(key)s AND status <> 'ok' AND started_at = %(started_at)s
"""
_LEAVE_IN_DOUBT: Final = """
UPDATE tool_call SET status = 'error', error_kind = 'in_doubt', finished_at = now()
WHERE idempotency_key = %(key)s AND status = 'running' AND started_at = %(started_at)s
"""
_RECORD: Final = """
INSERT INTO tool_call (thread_id, turn_id, call_id, user_id, tool, arguments, attempt, status, error_kind, result,
                       ref, identifiers, details, started_at, finished_at)
SELECT %(thread_id)s, %(turn_id)s, call_id, %(user_id)s, tool, arguments, attempt, status, error_kind, result,
       ref, identifiers, details, now() - make_interval(secs => seconds), now()
FROM jsonb_to_recordset(%(rows)s) AS row (
    call_id text, tool text, arguments jsonb, attempt integer, status text, error_kind text, result jsonb,
    ref text, identifiers jsonb, details jsonb, seconds double precision)
ON CONFLICT (thread_id, turn_id, call_id) WHERE idempotency_key IS NULL DO UPDATE
SET tool = excluded.tool, arguments = excluded.arguments, attempt = excluded.attempt, status = excluded.status,
    error_kind = excluded.error_kind, result = excluded.result, ref = excluded.ref,
    identifiers = excluded.identifiers, details = excluded.details, finished_at = excluded.finished_at
"""
_KNOWN: Final = """
SELECT identifiers, details FROM tool_call
WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s AND status = 'ok'
  AND (identifiers <> '[]' OR details <> '[]')
ORDER BY id DESC LIMIT 500
"""
_OF_CALLS: Final = """
SELECT DISTINCT ON (call_id)
    call_id, tool, arguments, turn_id, status, error_kind, result, ref, signals, idempotency_key, started_at
FROM tool_call
WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s AND call_id = ANY(%(call_ids)s)
ORDER BY call_id, id DESC
"""
_SAME_IN_TURN: Final = """
SELECT call_id, status, error_kind, result, ref, signals, idempotency_key, started_at FROM tool_call
WHERE thread_id = %(thread_id)s AND turn_id = %(turn_id)s AND user_id = %(user_id)s
  AND tool = %(tool)s AND arguments = %(arguments)s AND status <> 'running'
ORDER BY id DESC LIMIT 1
"""
_RESULT: Final = """
SELECT tool, result FROM tool_call
WHERE thread_id = %(thread_id)s AND user_id = %(user_id)s AND ref = %(ref)s AND status = 'ok'
ORDER BY id DESC LIMIT 1
"""


@dataclass(frozen=True)
class Row:
    """What became of a call, as it is kept."""

    status: Literal["ok", "error"]
    error_kind: str | None = None
    result: JSON | Envelope = None
    """The whole result, or the error envelope."""
    ref: str | None = None
    signals: Mapping[str, Any] | None = None
    identifiers: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    may_be_made_again: bool = False
    """Nothing was done, or nothing can be done twice: the claim is given back."""


@dataclass(frozen=True)
class Recorded:
    """A row that was read. `key` and `started_at` name the attempt that it speaks of."""

    call_id: str
    status: Literal["running", "ok", "error"]
    error_kind: str | None
    result: JSON
    ref: str | None
    signals: Mapping[str, Any]
    key: str | None
    started_at: datetime


@dataclass(frozen=True)
class RecordedCall:
    """A row with the call that it belongs to."""

    tool: str
    arguments: Arguments
    turn_id: str
    row: Recorded


class Ledger:
    """Statements on the table `tool_call`. Everything is bound to the user and thread of the scope."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(
        self,
        scope: CallScope,
        tool: str,
        call_id: str,
        args: Arguments,
        key: str,
        *,
        attempt: int,
        may_repeat: bool,
    ) -> Recorded | None:
        """None: the call is ours to run. Otherwise the row of whoever claimed it before."""
        params = {
            **_bound(scope),
            "turn_id": scope.turn_id,
            "call_id": call_id,
            "tool": tool,
            "arguments": Jsonb(args),
            "key": key,
            "attempt": attempt,
            "may_repeat": may_repeat,
        }
        if await self._database.fetch_one(_CLAIM, params):
            return None
        row = await self._database.fetch_one(_HELD_BY, {"key": key})
        return _recorded(row) if row else None

    async def give_back(self, seen: Recorded) -> None:
        """Free a claim that is known to have had no effect."""
        await self._database.execute(_GIVE_BACK, {"key": seen.key, "started_at": seen.started_at})

    async def leave_in_doubt(self, seen: Recorded) -> None:
        """Say of a claim without an outcome that it is in doubt."""
        await self._database.execute(_LEAVE_IN_DOUBT, {"key": seen.key, "started_at": seen.started_at})

    async def complete(self, key: str, row: Row) -> None:
        """The outcome of a claimed call."""
        params = {
            "key": key,
            "status": row.status,
            "error_kind": row.error_kind,
            "result": Jsonb(row.result),
            "ref": row.ref,
            "signals": Jsonb(dict(row.signals)) if row.signals else None,
            "identifiers": Jsonb(row.identifiers),
            "details": Jsonb(row.details),
            "may_be_made_again": row.may_be_made_again,
        }
        await self._database.execute(_COMPLETE, params)

    async def record(self, scope: CallScope, calls: Sequence[tuple[Outcome, Row]]) -> None:
        """The calls of one step that were not claimed, in one statement."""
        if not calls:
            return
        rows = [_as_json(outcome, row) for outcome, row in calls]
        await self._database.execute(
            _RECORD, {**_bound(scope), "turn_id": scope.turn_id, "rows": Jsonb(rows)}
        )

    async def known(self, scope: CallScope) -> tuple[list[str], list[str]]:
        """Identifiers of the user's own objects, and details known to the business, from results of this thread."""
        rows = await self._database.fetch(_KNOWN, _bound(scope))
        return (
            [value for row in rows for value in row["identifiers"]],
            [value for row in rows for value in row["details"]],
        )

    async def of_calls(self, scope: CallScope, call_ids: Sequence[str]) -> dict[str, RecordedCall]:
        """By call id, the newest row of those that were ever claimed or ended."""
        rows = await self._database.fetch(_OF_CALLS, {**_bound(scope), "call_ids": list(call_ids)})
        return {
            row["call_id"]: RecordedCall(row["tool"], row["arguments"], row["turn_id"], _recorded(row))
            for row in rows
        }

    async def same_in_turn(self, scope: CallScope, tool: str, args: Arguments) -> Recorded | None:
        """The newest row of this turn with the same tool and arguments."""
        params = {**_bound(scope), "turn_id": scope.turn_id, "tool": tool, "arguments": Jsonb(args)}
        row = await self._database.fetch_one(_SAME_IN_TURN, params)
        return _recorded(row) if row else None


async def stored_result(
    database: Database, user_id: str, thread_id: str, ref: str
) -> tuple[str, JSON] | None:
    """Tool and whole result under a reference, if it is of this user's thread."""
    row = await database.fetch_one(_RESULT, {"user_id": user_id, "thread_id": thread_id, "ref": ref})
    return (row["tool"], row["result"]) if row else None


def _bound(scope: CallScope) -> dict[str, Any]:
    return {"thread_id": scope.thread_id, "user_id": scope.user_id}


def _recorded(row: Mapping[str, Any]) -> Recorded:
    return Recorded(
        call_id=row["call_id"],
        status=row["status"],
        error_kind=row["error_kind"],
        result=row["result"],
        ref=row["ref"],
        signals=row["signals"] or {},
        key=row["idempotency_key"],
        started_at=row["started_at"],
    )


def _as_json(outcome: Outcome, row: Row) -> dict[str, Any]:
    return {
        "call_id": outcome.id,
        "tool": outcome.name,
        "arguments": outcome.args,
        "attempt": outcome.attempts,
        "seconds": outcome.seconds,
        "status": row.status,
        "error_kind": row.error_kind,
        "result": row.result,
        "ref": row.ref,
        "identifiers": row.identifiers,
        "details": row.details,
    }
