"""The tool engine: every call the model makes comes out with exactly one result, whatever happens.

    prepared = await engine.prepare(raw_calls(message), scope)
    outcomes = await engine.run(prepared, scope, decisions, emit)

What runs is one attempt a call. Outcomes marked transient are tried again by the graph, which prepares and runs
those calls once more with their attempts in the scope.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import structlog
from langchain_core.messages import AIMessage

from memory.database import Database
from memory.tokens import count
from tools.batch import Batch
from tools.calls import CallScope, Decision, Envelope, Outcome, PreparedCall, RawCall
from tools.envelope import failure as error_envelope
from tools.events import Emit
from tools.knowledge import Knowledge
from tools.ledger import Ledger, RecordedCall
from tools.prepare import Preparer, repeats
from tools.present import Presenter
from tools.reading import raw_calls
from tools.reduce import Compactor
from tools.registry import ToolRegistry
from tools.results import read_result_tool
from tools.run_call import CallRunner, Finished
from tools.settings import ToolSettings
from tools.side_effects import LEDGER_ERRORS
from tools.spec import Arguments

if TYPE_CHECKING:
    from memory.business_state import BusinessState

log = structlog.get_logger(__name__)


class ToolEngine:
    """Prepares and runs tool calls. Shared by all turns of an event loop.

    `registry` holds the business's tools; the engine's own join it (`self.registry`). `compactor` makes digests of
    large results; without one, and where it fails, they are reduced by rule. `knowledge` is what tools search for
    passages of the business's documents.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        database: Database,
        settings: ToolSettings,
        state: BusinessState,
        compactor: Compactor | None = None,
        knowledge: Knowledge | None = None,
    ) -> None:
        budget = settings.steward_result_tokens
        self.registry = ToolRegistry([*registry, read_result_tool(budget, count)])
        self._parallel = settings.steward_parallel_calls
        self._ledger = Ledger(database)
        presenter = Presenter(budget, count, compactor)
        self._runner = CallRunner(database, self._ledger, settings, state, presenter, knowledge)
        self._preparer = Preparer(self.registry, self._ledger, self._runner, settings.steward_tool_timeout)

    async def prepare(self, calls: Sequence[RawCall], scope: CallScope) -> list[PreparedCall | Outcome]:
        """For each call, in order: what may run (once its approval, if any, is settled), or why it may not.

        Free of side effects: it may be done again after an interrupt.
        """
        return [await self._preparer.prepare(call, scope) for call in calls]

    async def run(
        self,
        prepared: Sequence[PreparedCall | Outcome],
        scope: CallScope,
        decisions: Mapping[str, Decision],
        emit: Emit,
    ) -> list[Outcome]:
        """Exactly one outcome a call, in the given order: one attempt of each that may run.

        Raises nothing that stems from a tool, except the graph's own signals (an interrupt inside a tool), which
        go up once the other calls have ended; and passes on cancellation from outside.
        """
        batch = Batch(self._runner, self._preparer, scope, decisions, emit)
        done = await batch.run(prepared, parallel=self._parallel)
        await self._record(done, scope)
        if batch.signal:
            raise batch.signal
        return [finished.outcome for finished in done]

    @staticmethod
    def repeats(made: Sequence[tuple[str, Arguments]], name: str, args: Arguments) -> int:
        """How many of the calls made (name, arguments) are this one."""
        return repeats(made, name, args)

    async def recorded(self, message: AIMessage, scope: CallScope) -> dict[str, Envelope]:
        """What is known of the calls of a message whose turn was interrupted, by call id.

        A call that was never begun is absent. One that was begun and never ended is in doubt, unless its tool can
        tell; nothing is run again.
        """
        found = await self._ledger.of_calls(scope, [call.id for call in raw_calls(message)])
        return {
            call_id: await self._restored(call_id, call, replace(scope, turn_id=call.turn_id))
            for call_id, call in found.items()
        }

    async def _restored(self, call_id: str, call: RecordedCall, scope: CallScope) -> Envelope:
        spec = self.registry.get(call.tool)
        if spec is None:
            return error_envelope("unknown_tool", f"There is no tool {call.tool} any more.")
        if call.row.key and (call.row.status == "running" or call.row.error_kind == "in_doubt"):
            return await self._runner.settle(spec, call_id, call, scope)
        return await self._runner.restore(spec, call.row, scope)

    async def _record(self, done: Sequence[Finished], scope: CallScope) -> None:
        """A ledger that cannot be reached costs the record, not the results."""
        calls = [
            (finished.outcome, finished.row) for finished in done if finished.row and not finished.in_ledger
        ]
        try:
            await self._ledger.record(scope, calls)
        except LEDGER_ERRORS as error:
            log.error("tool calls not recorded", thread_id=scope.thread_id, error=type(error).__name__)
