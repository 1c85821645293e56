"""All calls of one model message: what is independent runs side by side, what must be alone runs alone (T7)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from langgraph.errors import GraphBubbleUp

from tools import events
from tools.calls import CallScope, Decision, Outcome, PreparedCall
from tools.events import Emit
from tools.failures import internal
from tools.keys import canonical
from tools.ledger import Row
from tools.outcomes import envelope_of
from tools.prepare import Preparer
from tools.run_call import CallRunner, Finished

Call = PreparedCall | Outcome


@dataclass
class Batch:
    """One run over the calls of a message."""

    runner: CallRunner
    preparer: Preparer
    scope: CallScope
    decisions: Mapping[str, Decision]
    emit: Emit
    signal: GraphBubbleUp | None = None
    """A tool paused the graph; to be raised once the other calls have ended and are recorded."""

    async def run(self, calls: Sequence[Call], *, parallel: int) -> list[Finished]:
        """Every call in its order; only where a tool paused the graph, that call and what came after are missing."""
        settled = [await self._settle(call) for call in calls]
        slots = asyncio.Semaphore(parallel)
        done: list[Finished] = []
        for wave in _waves(settled):
            done.extend(await self._wave(wave, slots))
            if self.signal:
                break
        return done

    async def _settle(self, call: Call) -> Call:
        if isinstance(call, Outcome):
            return call
        try:
            return await self.preparer.settle(call, self.decisions.get(call.id), self.scope)
        except Exception as error:
            return self._fault(call, error).outcome

    async def _wave(self, calls: Sequence[Call], slots: asyncio.Semaphore) -> list[Finished]:
        """Side by side; calls that are the same call run once, and each gets the outcome."""
        if len(calls) == 1:
            finished = await self._one(calls[0], slots)
            return [finished] if finished else []
        leaders: dict[object, asyncio.Task[Finished | None]] = {}
        tasks: list[asyncio.Task[Finished | None]] = []
        async with asyncio.TaskGroup() as group:
            for call in calls:
                key = _identity(call)
                if key not in leaders:
                    leaders[key] = group.create_task(self._one(call, slots))
                tasks.append(leaders[key])
        pairs = zip(calls, (task.result() for task in tasks), strict=True)
        return [self._as(call, finished) for call, finished in pairs if finished is not None]

    async def _one(self, call: Call, slots: asyncio.Semaphore) -> Finished | None:
        """None where the tool paused the graph."""
        if isinstance(call, Outcome):
            events.settled(call, self.scope, self.emit)
            return Finished(call, _row(call))
        async with slots:
            events.started(call, self.scope, self.emit)
            try:
                finished = await self.runner.run(call, self.scope)
            except GraphBubbleUp as signal:
                self.signal = self.signal or signal
                return None
            except Exception as error:
                finished = self._fault(call, error)
            events.ended(finished.outcome, self.scope, self.emit)
            return finished

    def _as(self, call: Call, finished: Finished) -> Finished:
        """The outcome under the call's own id."""
        if finished.outcome.id == call.id:
            return finished
        outcome = replace(finished.outcome, id=call.id)
        events.ended(outcome, self.scope, self.emit)
        return Finished(outcome, finished.row)

    def _fault(self, call: PreparedCall, error: Exception) -> Finished:
        """A fault of the engine's own costs this call, not the turn."""
        failure = internal(call.spec.name)
        events.raised(error, failure.error_id, call.spec.name, self.scope)
        envelope = envelope_of(failure, call.spec)
        attempts = self.scope.attempts.get(call.id, 0) + 1
        outcome = Outcome(call.id, call.spec.name, call.args, envelope, attempts=attempts)
        return Finished(outcome, _row(outcome))


def _waves(calls: Sequence[Call]) -> list[list[Call]]:
    """Runs of calls that may go side by side, in order; a tool that must be alone is a run of its own."""
    waves: list[list[Call]] = []
    together = False
    for call in calls:
        alone = isinstance(call, PreparedCall) and call.spec.alone
        if together and not alone:
            waves[-1].append(call)
        else:
            waves.append([call])
        together = not alone
    return waves


def _identity(call: Call) -> object:
    """Equal for calls that are the same call; a refusal is only like itself."""
    return call.id if isinstance(call, Outcome) else (call.spec.name, canonical(call.args))


def _row(outcome: Outcome) -> Row:
    envelope = outcome.envelope
    result = envelope["data"] if outcome.ok else envelope
    return Row(envelope["status"], envelope.get("error_kind"), result)
