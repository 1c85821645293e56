"""All calls of one model message: what is independent runs side by side, what must be alone runs alone (T7)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from langgraph.errors import GraphBubbleUp

from tools import events
from tools.calls import CallScope, Decision, Outcome, PreparedCall
from tools.events import Emit
from tools.failures import internal
from tools.keys import canonical
from tools.ledger import Row
from tools.outcomes import envelope_of, refusal
from tools.prepare import Preparer
from tools.run_call import CallRunner, Finished

Call = PreparedCall | Outcome


@dataclass
class Batch:
    """One run over the calls of a message. Every call ends as one Finished, in the order given."""

    runner: CallRunner
    preparer: Preparer
    scope: CallScope
    decisions: Mapping[str, Decision]
    emit: Emit
    signal: GraphBubbleUp | None = None
    """A tool paused the graph; to be raised once the others have ended and are recorded."""

    async def run(self, calls: Sequence[Call], *, parallel: int) -> list[Finished]:
        """At most `parallel` at a time. Calls that paused the graph, or never began for it, are left out."""
        settled = [await self._settle(call) for call in calls]
        done: dict[int, Finished] = {}
        slots = asyncio.Semaphore(parallel)
        for wave in _waves(settled):
            leaders = _leaders(settled, wave)
            async with asyncio.TaskGroup() as group:
                running = {
                    index: group.create_task(self._one(settled[index], slots))
                    for index in set(leaders.values())
                }
            for index in wave:
                finished = running[leaders[index]].result()
                if finished is not None:
                    done[index] = self._shared(settled[index], finished)
            if self.signal:
                break
        return [done[index] for index in sorted(done)]
