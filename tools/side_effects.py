"""A side effect happens once: claimed before it runs, completed after, settled or in doubt when left open (T8)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import psycopg
import structlog

from memory.errors import DatabaseError
from tools.calls import CallScope
from tools.execute import Raised, attempt
from tools.ledger import Ledger, Recorded, Row
from tools.spec import Arguments, ToolContext, ToolSpec

LEDGER_ERRORS: Final = (DatabaseError, psycopg.Error)
_PAUSES: Final = (0.0, 0.2, 1.0)
"""Seconds before each try to record an outcome that is known."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class TookEffect:
    """The tool's own check found that the effect is there; this is its result."""

    value: Any


@dataclass(frozen=True)
class InDoubt:
    """Nobody can tell whether the effect is there."""


@dataclass(frozen=True)
class NoEffect:
    """The tool's own check found that nothing was done."""


class SideEffects:
    """Claims and outcomes of calls with side effects."""

    def __init__(self, ledger: Ledger, settle_seconds: float) -> None:
        self._ledger = ledger
        self._settle_seconds = settle_seconds

    async def claim(
        self, spec: ToolSpec, args: Arguments, scope: CallScope, context: ToolContext, attempt_number: int
    ) -> Recorded | TookEffect | None:
        """None: the call is ours to run. Otherwise what became of it before: the recorded outcome where it is `ok`,
        else a row that is in doubt; or what the tool's check found. Raises what the database raises; then nothing
        is claimed."""
        seen = await self._claim(spec, args, scope, context, attempt_number)
        if seen is None or seen.status == "ok":
            return seen
        verdict = await self.settle(spec, args, context)
        if isinstance(verdict, TookEffect):
            return verdict
        if isinstance(verdict, NoEffect):
            await self._ledger.give_back(seen)
            # Whoever else found it free may be quicker.
            seen = await self._claim(spec, args, scope, context, attempt_number)
            if seen is None or seen.status == "ok":
                return seen
        await self._ledger.leave_in_doubt(seen)
        return seen

    async def _claim(
        self, spec: ToolSpec, args: Arguments, scope: CallScope, context: ToolContext, attempt_number: int
    ) -> Recorded | None:
        return await self._ledger.claim(
            scope,
            spec.name,
            context.call_id,
            args,
            context.idempotency_key,
            attempt=attempt_number,
            may_repeat=spec.can_repeat,
        )

    async def settle(
        self, spec: ToolSpec, args: Arguments, context: ToolContext
    ) -> TookEffect | NoEffect | InDoubt:
        """Ask the tool's own check, where it has one, whether an earlier attempt took effect."""
        check = spec.settle
        if check is None:
            return InDoubt()
        result = await attempt(
            lambda: check(context.idempotency_key, args, context),
            f"check of {spec.name}",
            self._settle_seconds,
        )
        if isinstance(result, Raised):
            log.warning("check of a side effect failed", tool=spec.name, error=type(result.error).__name__)
            return InDoubt()
        return NoEffect() if result.value is None else TookEffect(result.value)

    async def leave_in_doubt(self, seen: Recorded) -> None:
        """Say of a claim that was left open that it is in doubt."""
        await self._ledger.leave_in_doubt(seen)

    async def complete(self, key: str, row: Row) -> None:
        """Record the outcome of a claimed call, also while the turn is being cancelled; never raises.

        Where the database cannot be reached the claim stays open, and is in doubt to whoever finds it.
        """
        recording = asyncio.create_task(self._record(key, row))
        try:
            await asyncio.shield(recording)
        except asyncio.CancelledError:
            await asyncio.wait({recording})
            raise

    async def _record(self, key: str, row: Row) -> None:
        for pause in _PAUSES:
            await asyncio.sleep(pause)
            try:
                return await self._ledger.complete(key, row)
            except LEDGER_ERRORS as error:
                log.warning("outcome not recorded yet", idempotency_key=key, error=type(error).__name__)
        log.error("outcome of a side effect could not be recorded", idempotency_key=key, status=row.status)
        return None
