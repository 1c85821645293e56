"""What a turn looks like in a terminal: the answer on standard output, everything beside it on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langgraph.types import StateSnapshot

    from graph.settings import Settings


class Printer:
    """Prints an answer while it is written; progress goes to standard error."""

    def __init__(self) -> None:
        self._message = ""

    def text(self, piece: str) -> None:
        """A piece of the answer."""
        self._message += piece
        print(piece, end="", flush=True)

    def void(self) -> None:
        """What stands there is no part of the answer; the answer begins on a new line."""
        if self._message:
            print(flush=True)
            note("(not part of the answer)")
        self._message = ""

    def event(self, event: Mapping[str, Any]) -> None:
        """A tool that starts, finishes, fails."""
        if text := event.get("text"):
            if self._message:
                print(flush=True)
                self._message = ""
            note(f"· {text}")

    def finish(self, answer: str) -> None:
        """End the line, and print the answer where it was not streamed (reviewed answers are not)."""
        if not self._message and not answer:
            return
        if self._message.strip() != answer.strip():
            print(f"\n{answer}" if self._message else answer, end="")
        print(flush=True)


def note(text: str) -> None:
    """A line beside the answer."""
    print(_dim(text), file=sys.stderr, flush=True)


def show_outcome(
    thread_id: str, snapshot: StateSnapshot, printer: Printer | None, *, as_json: bool, asks: bool = False
) -> None:
    """The answer of a turn and what it waits for, or the one object that scripts read.

    `asks`: the customer is asked for their approvals next, so only those of staff are told.
    """
    from graph.outcome import turn_outcome

    outcome = turn_outcome(thread_id, snapshot)
    if printer:
        printer.finish(outcome["answer"])
    elif not as_json and outcome["answer"]:
        print(outcome["answer"], flush=True)
    if as_json:
        print(json.dumps(outcome, ensure_ascii=False), flush=True)
    else:
        _show_requests(thread_id, snapshot, asks=asks)


def _show_requests(thread_id: str, snapshot: StateSnapshot, *, asks: bool) -> None:
    from nodes.texts import say

    if not snapshot.interrupts:
        return
    requests = snapshot.values.get("approvals", [])
    if not snapshot.values.get("answer") and any(request["by"] == "staff" for request in requests):
        print(say("waiting_for_staff", snapshot.values["turn"]["locale"]), flush=True)
    for request in requests:
        if asks and request["by"] == "customer":
            continue
        arguments = json.dumps(request["args"], ensure_ascii=False)
        note(f"waits for approval by {request['by']}: {request['name']} {arguments} — {request['reason']}")
        staff = " --as-staff" if request["by"] == "staff" else ""
        note(f"  steward resume --thread {thread_id} --call {request['call_id']} --decision approve{staff}")


def say_who_answers(settings: Settings) -> None:
    """Be honest about the demo model."""
    if settings.offline:
        note("The offline demo model answers; set OPENAI_API_KEY or OPENAI_BASE_URL for a real one.")


def _dim(text: str) -> str:
    return f"\x1b[2m{text}\x1b[0m" if sys.stderr.isatty() else text
