"""What is said about a call while it goes on (T12): to the user, to the log, to the trace.

The user gets a sentence in their language. Log and trace get ids, durations and kinds; arguments and exceptions
only with secrets and personal data masked.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal

import structlog
from opentelemetry import trace

from memory.masking import mask, mask_data
from tools.calls import CallScope, Outcome, PreparedCall
from tools.envelope import dump
from tools.metrics import measured
from tools.spec import Arguments, ToolSpec

Emit = Callable[[dict[str, Any]], None]
Phase = Literal["started", "finished", "failed", "retrying", "refused"]

_SENTENCES: Final[Mapping[str, Mapping[Phase, str]]] = {
    "zh": {
        "started": "正在处理您的请求…",
        "finished": "这一步完成了。",
        "failed": "这一步没有成功。",
        "retrying": "系统暂时没有回应，正在重试…",
        "refused": "信息还不完整，正在核对…",
    },
    "en": {
        "started": "Working on your request …",
        "finished": "This step is done.",
        "failed": "This step did not succeed.",
        "retrying": "The system does not respond just now, trying again …",
        "refused": "Some details are missing, checking …",
    },
}
_ARGUMENT_CHARACTERS: Final = 60
_LOGGED_CHARACTERS: Final = 500

log = structlog.get_logger(__name__)
tracer = trace.get_tracer("steward.tools")


class Masked:
    """Arguments without secrets and personal data; worked out only where a line is really written."""

    def __init__(self, args: Arguments) -> None:
        self._args = args

    def __repr__(self) -> str:
        return dump(mask_data(self._args))[:_LOGGED_CHARACTERS]


def started(call: PreparedCall, scope: CallScope, emit: Emit) -> None:
    """A call begins to run; another attempt of it was announced when the last one failed."""
    if scope.attempts.get(call.id):
        return
    text = _progress(call.spec, call.args, scope) or _sentence("started", scope)
    _send(emit, "started", call.spec.name, call.id, text)
    log.info(
        "tool started", **_ids(call.spec.name, call.id, scope), arguments=Masked(call.args), notes=call.notes
    )


def ended(outcome: Outcome, scope: CallScope, emit: Emit) -> None:
    """A call has an outcome: done, failed for good, or to be tried again."""
    phase: Phase = "finished" if outcome.ok else "retrying" if outcome.transient else "failed"
    _send(emit, phase, outcome.name, outcome.id, _sentence(phase, scope))
    measured(outcome)
    _log(f"tool {phase}", outcome, scope)


def settled(outcome: Outcome, scope: CallScope, emit: Emit) -> None:
    """A call ended without running: its name, its arguments or a person stood against it, or a person answered it."""
    phase: Phase = "finished" if outcome.ok else "refused"
    with span(outcome.name, outcome.id, outcome.args, scope) as close:
        close(outcome)
    _send(emit, phase, outcome.name, outcome.id, _sentence(phase, scope))
    measured(outcome)
    _log(f"tool {phase}", outcome, scope)


def raised(error: BaseException, error_id: str, tool: str, scope: CallScope) -> None:
    """An exception that the model is not told about, in full for whoever mends it."""
    log.error(
        "tool raised",
        tool=tool,
        error_id=error_id,
        thread_id=scope.thread_id,
        turn_id=scope.turn_id,
        error=mask("".join(traceback.format_exception(error))),
    )


@contextmanager
def span(tool: str, call_id: str, args: Arguments, scope: CallScope) -> Iterator[Callable[[Outcome], None]]:
    """The OpenTelemetry span of one attempt; what it yields takes the outcome. Log lines within carry the ids."""
    attributes: dict[str, str] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": call_id,
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": scope.thread_id,
        "steward.turn.id": scope.turn_id,
    }
    with (
        structlog.contextvars.bound_contextvars(**_ids(tool, call_id, scope)),
        tracer.start_as_current_span(
            f"execute_tool {tool}",
            attributes=attributes,
            record_exception=False,
            set_status_on_exception=False,
        ) as current,
    ):
        if current.is_recording():
            current.set_attribute("gen_ai.tool.call.arguments", repr(Masked(args)))

        def close(outcome: Outcome) -> None:
            current.set_attribute("steward.tool.attempt", outcome.attempts)
            if kind := outcome.envelope.get("error_kind"):
                current.set_attribute("error.type", kind)
                current.set_status(trace.StatusCode.ERROR, kind)

        yield close


def _send(emit: Emit, phase: Phase, tool: str, call_id: str, text: str) -> None:
    try:
        emit({"type": "tool", "phase": phase, "tool": tool, "call_id": call_id, "text": text})
    except Exception as error:  # whoever listens must not cost the call
        log.warning("event not sent", tool=tool, error=type(error).__name__)


def _language(scope: CallScope) -> str:
    return "zh" if scope.locale.lower().startswith("zh") else "en"


def _sentence(phase: Phase, scope: CallScope) -> str:
    return _SENTENCES[_language(scope)][phase]


def _progress(spec: ToolSpec, args: Arguments, scope: CallScope) -> str | None:
    """The tool's own sentence; None where it has none, or the call lacks an argument that it speaks of."""
    template = spec.progress.get(_language(scope))
    if template is None:
        return None
    shown = {name: str(value)[:_ARGUMENT_CHARACTERS] for name, value in args.items() if value is not None}
    try:
        return template.format_map(shown)
    except (KeyError, IndexError, AttributeError, ValueError):
        return None


def _log(event: str, outcome: Outcome, scope: CallScope) -> None:
    log.info(
        event,
        **_ids(outcome.name, outcome.id, scope),
        attempt=outcome.attempts,
        seconds=round(outcome.seconds, 4),
        error_kind=outcome.envelope.get("error_kind"),
        arguments=Masked(outcome.args),
    )


def _ids(tool: str, call_id: str, scope: CallScope) -> dict[str, str]:
    return {"tool": tool, "call_id": call_id, "thread_id": scope.thread_id, "turn_id": scope.turn_id}
