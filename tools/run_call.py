"""One attempt of one call, from claim to outcome: ledger, cache, breaker, time limit, presentation."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from langgraph.errors import GraphBubbleUp

from memory.clean import clean_json
from memory.database import Database
from tools import events, metrics
from tools.breaker import Breaker
from tools.cache import ResultCache
from tools.calls import CallScope, Envelope, Outcome, PreparedCall
from tools.envelope import stored
from tools.execute import Returned, attempt
from tools.failures import Failure, classify
from tools.keys import idempotency_key
from tools.knowledge import Knowledge
from tools.ledger import Ledger, Recorded, RecordedCall, Row
from tools.outcomes import (
    envelope_of,
    in_doubt,
    is_worth_another_try,
    not_done,
    pause,
    taken_out,
    told,
    unclaimed,
)
from tools.present import Presenter, new_ref, take
from tools.settings import ToolSettings
from tools.side_effects import LEDGER_ERRORS, InDoubt, NoEffect, SideEffects, TookEffect
from tools.spec import JSON, Arguments, ToolContext, ToolReply, ToolSpec

if TYPE_CHECKING:
    from memory.business_state import BusinessState


@dataclass(frozen=True)
class Finished:
    """A call with its outcome, and the row that keeps it: written already where it was claimed."""

    outcome: Outcome
    row: Row | None = None
    in_ledger: bool = False


@dataclass(frozen=True)
class _Try:
    """One attempt of a call. `key` is set where it has been claimed, so that its outcome completes the claim."""

    call: PreparedCall
    scope: CallScope
    key: str | None = None
    seconds: float = 0.0

    @property
    def attempts(self) -> int:
        return self.scope.attempts.get(self.call.id, 0) + 1

    def outcome(self, envelope: Envelope, **more: Any) -> Outcome:
        call = self.call
        return Outcome(
            call.id, call.spec.name, call.args, envelope, attempts=self.attempts, seconds=self.seconds, **more
        )


class CallRunner:
    """Runs prepared calls, one attempt each. Shared by all turns of an event loop."""

    def __init__(
        self,
        database: Database,
        ledger: Ledger,
        settings: ToolSettings,
        state: BusinessState,
        presenter: Presenter,
        knowledge: Knowledge | None = None,
    ) -> None:
        self._database = database
        self._settings = settings
        self._state = state
        self._presenter = presenter
        self._knowledge = knowledge
        self._effects = SideEffects(ledger, settings.steward_tool_timeout)
        self._cache = ResultCache()
        self._breaker = Breaker(settings.steward_breaker_failures, settings.steward_breaker_seconds)
        metrics.watch(self._breaker)

    def context(self, call_id: str, tool: str, args: Arguments, scope: CallScope) -> ToolContext:
        """What a tool is given beside its arguments."""
        return ToolContext(
            user_id=scope.user_id,
            locale=scope.locale,
            timezone=scope.timezone,
            now=scope.now,
            thread_id=scope.thread_id,
            turn_id=scope.turn_id,
            call_id=call_id,
            idempotency_key=idempotency_key(scope, tool, args),
            database=self._database,
            state=self._state,
            knowledge=self._knowledge,
        )

    async def run(self, call: PreparedCall, scope: CallScope) -> Finished:
        """Passes on the graph's own signals and cancellation from outside; nothing else of the tool escapes."""
        context = self.context(call.id, call.spec.name, call.args, scope)
        if call.key:
            context = replace(context, idempotency_key=call.key)
        with events.span(call.spec.name, call.id, call.args, scope) as close:
            this = _Try(call, scope)
            if call.spec.effect == "write":
                finished = await self._write(replace(this, key=context.idempotency_key), context)
            else:
                finished = await self._read(this, context)
            close(finished.outcome)
        return finished

    async def _read(self, this: _Try, context: ToolContext) -> Finished:
        ticket = self._cache.ticket(this.call.spec, this.scope.user_id, this.call.args)
        if ticket and (text := self._cache.get(ticket)) is not None:
            return await self._succeeded(this, json.loads(text))
        finished = await self._guarded(this, context)
        if ticket and finished.outcome.ok and not finished.outcome.signals and finished.row:
            self._cache.put(ticket, cast(JSON, finished.row.result))
        return finished

    async def _write(self, this: _Try, context: ToolContext) -> Finished:
        spec, scope = this.call.spec, this.scope
        try:
            before = await self._effects.claim(spec, this.call.args, scope, context, this.attempts)
        except LEDGER_ERRORS as error:
            failure = unclaimed(spec.name)
            events.raised(error, failure.error_id, spec.name, scope)
            return await self._failed(replace(this, key=None), failure)
        if isinstance(before, Recorded):
            return await self._again(this, before)
        if isinstance(before, TookEffect):
            return await self._succeeded(this, before.value)
        try:
            return await self._guarded(this, context)
        except GraphBubbleUp:
            # The tool paused the graph before it was done; it will be run again from its top.
            await self._effects.complete(context.idempotency_key, Row("error", may_be_made_again=True))
            raise
        finally:
            self._cache.wrote(scope.user_id)

    async def _again(self, this: _Try, before: Recorded) -> Finished:
        """A side effect that was made, or begun, before: it is told, not repeated.

        Where it was another call (a fork, the model repeating itself), this one gets a row of its own.
        """
        spec = this.call.spec
        if before.status == "ok":
            envelope = await self.restore(spec, before, this.scope)
            row = Row("ok", None, before.result, before.ref, before.signals)
        else:
            envelope = envelope_of(in_doubt(spec.name), spec)
            row = Row("error", "in_doubt", envelope)
        same = before.call_id == this.call.id
        return Finished(this.outcome(envelope, signals=before.signals), row, in_ledger=same)

    async def restore(self, spec: ToolSpec, before: Recorded, scope: CallScope) -> Envelope:
        """The envelope of a recorded call, as the model would have seen it."""
        if before.status == "error":
            return stored(before.result)
        return await self._presenter.show(spec, take(spec, before.result), scope, before.ref or new_ref())

    async def settle(self, spec: ToolSpec, call_id: str, left: RecordedCall, scope: CallScope) -> Envelope:
        """The envelope of a claim that was left open: what the tool's own check finds, else doubt."""
        key = left.row.key or ""
        context = replace(self.context(call_id, spec.name, left.arguments, scope), idempotency_key=key)
        verdict = await self._effects.settle(spec, left.arguments, context)
        if isinstance(verdict, InDoubt):
            await self._effects.leave_in_doubt(left.row)
            return envelope_of(in_doubt(spec.name), spec)
        if isinstance(verdict, NoEffect):
            envelope = envelope_of(not_done(spec.name), spec)
            await self._effects.complete(key, Row("error", "cancelled", envelope, may_be_made_again=True))
            return envelope
        taken = take(spec, verdict.value)
        row = Row("ok", None, taken.whole, new_ref(), None, taken.identifiers, taken.details)
        await self._effects.complete(key, row)
        return await self._presenter.show(spec, taken, scope, row.ref or "")

    async def _guarded(self, this: _Try, context: ToolContext) -> Finished:
        """The attempt itself, behind the tool's breaker."""
        spec, scope = this.call.spec, this.scope
        if (wait := self._breaker.admit(spec.name)) > 0:
            return await self._failed(this, taken_out(spec.name, wait), signals={"breaker": "open"})
        seconds = spec.timeout or self._settings.steward_tool_timeout
        began = time.perf_counter()
        try:
            result = await attempt(lambda: spec.run(this.call.args, context), spec.name, seconds)
        except BaseException:
            self._breaker.abandoned(spec.name)
            raise
        this = replace(this, seconds=time.perf_counter() - began)
        if isinstance(result, Returned):
            self._breaker.succeeded(spec.name)
            return await self._succeeded(this, result.value)
        failure = classify(result.error, spec.name)
        if failure.is_business:
            self._breaker.succeeded(spec.name)
        else:
            self._breaker.failed(spec.name)
            events.raised(result.error, failure.error_id, spec.name, scope)
        return await self._failed(this, told(failure, spec))

    async def _succeeded(self, this: _Try, value: object) -> Finished:
        """The outcome is in the ledger before the model's view of it is made, which may take a model call."""
        spec = this.call.spec
        reply = value if isinstance(value, ToolReply) else ToolReply(value, {})
        taken = take(spec, reply.data)
        signals = _signals(reply.signals)
        row = Row("ok", None, taken.whole, new_ref(), signals, taken.identifiers, taken.details)
        if this.key:
            await self._effects.complete(this.key, row)
        envelope = await self._presenter.show(spec, taken, this.scope, row.ref or "")
        outcome = this.outcome(envelope, signals=signals, identifiers=row.identifiers, details=row.details)
        return Finished(outcome, row, in_ledger=this.key is not None)

    async def _failed(
        self, this: _Try, failure: Failure, signals: Mapping[str, Any] | None = None
    ) -> Finished:
        spec = this.call.spec
        envelope = envelope_of(failure, spec)
        again = failure.without_effect or spec.can_repeat
        row = Row("error", failure.kind, envelope, may_be_made_again=again)
        if this.key:
            await self._effects.complete(this.key, row)
        transient = is_worth_another_try(failure, spec, this.attempts, self._settings.steward_tool_attempts)
        outcome = this.outcome(
            envelope,
            transient=transient,
            retry_after=max(pause(this.attempts), failure.retry_after) if transient else 0.0,
            signals=signals or {},
        )
        return Finished(outcome, row, in_ledger=this.key is not None)


def _signals(signals: Mapping[str, Any]) -> dict[str, Any]:
    cleaned = clean_json(dict(signals)).value if signals else {}
    return cleaned if isinstance(cleaned, dict) else {}
