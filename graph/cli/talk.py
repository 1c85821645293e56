"""A conversation in the terminal: prompt, answer, approvals, until Ctrl-D."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from graph.cli.chat import context_of, finish_jobs
from graph.cli.printing import Printer, note, say_who_answers, show_outcome
from graph.cli.running import OK, TERMINATED, prepare

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from graph.open import SyncAgent
    from graph.settings import Settings
    from nodes.context import AgentContext

YES = frozenset({"y", "yes", "a", "approve", "ok", "是", "好", "好的", "同意", "可以", "确认"})
NO = frozenset({"n", "no", "r", "reject", "否", "不", "不行", "拒绝", "取消"})


def talk(user: str, thread_id: str, *, as_json: bool) -> NoReturn:
    """Read messages and answer them until the input ends. Ctrl-C stops a turn, at the prompt the conversation."""
    from graph.open import open_agent_sync

    settings = prepare()
    context = context_of(user)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    with open_agent_sync(settings) as sync:
        say_who_answers(settings)
        note(f"thread {thread_id} · Ctrl-D ends")
        conversation = _Conversation(sync, thread_id, context, as_json=as_json)
        while (line := _ask("you › ")) is not None:
            if line.strip():
                conversation.say(line)
        conversation.finish(settings)
    raise typer.Exit(OK)


class _Conversation:
    def __init__(self, sync: SyncAgent, thread_id: str, context: AgentContext, *, as_json: bool) -> None:
        self._sync = sync
        self._thread_id = thread_id
        self._context = context
        self._as_json = as_json
        self._last: StateSnapshot | None = None

    def finish(self, settings: Settings) -> None:
        """Let the last turn be remembered; the earlier ones were, beside the conversation."""
        if self._last:
            self._sync.portal.call(finish_jobs, self._sync.agent, settings, self._last)

    def say(self, line: str) -> None:
        """One message of the customer, and the approvals that it leads to."""
        from graph.conversation import send

        snapshot = self._turn(send, line)
        while snapshot and (answer := self._approvals(snapshot)):
            snapshot = self._turn(*answer)

    def _turn(self, step: Callable[..., Awaitable[StateSnapshot]], given: Any) -> StateSnapshot | None:
        printer = Printer()
        turn = self._sync.portal.start_task_soon(
            step, self._sync.agent, given, self._thread_id, self._context, printer
        )
        try:
            snapshot = turn.result()
        except KeyboardInterrupt:
            turn.cancel()
            with suppress(CancelledError):
                turn.result()
            note("\nstopped")
            return None
        show_outcome(self._thread_id, snapshot, printer, as_json=self._as_json, asks=True)
        self._last = snapshot
        return snapshot

    def _approvals(
        self, snapshot: StateSnapshot
    ) -> tuple[Callable[..., Awaitable[StateSnapshot]], Any] | None:
        """What the customer answers to the approvals that wait for them; anything but yes or no is a new message."""
        from graph.conversation import send, settle

        own = [request for request in snapshot.values.get("approvals", []) if request["by"] == "customer"]
        if not snapshot.interrupts or not own:
            return None
        decisions = {}
        for request in own:
            arguments = json.dumps(request["args"], ensure_ascii=False)
            line = _ask(f"{request['reason']}\n{request['name']} {arguments}\napprove? yes / no › ")
            word = (line or "no").strip().lower()
            if word not in YES | NO:
                return send, line
            decisions[request["call_id"]] = {"type": "approve" if word in YES else "reject"}
        return settle, {"decisions": decisions}


def _ask(prompt: str) -> str | None:
    """One line; None at the end of the input or on Ctrl-C."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.rstrip("\n") if line else None
    with suppress(ImportError):
        import readline  # noqa: F401  # editing and history for `input`
    try:
        return input(prompt)
    except (EOFError, KeyboardInterrupt):
        print()
        return None
