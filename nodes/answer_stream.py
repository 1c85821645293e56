"""What a customer may watch being written: the answer, and nothing else (R5, F5, T14).

Model requests are kept out of LangGraph's message streams altogether; what may be shown is pushed from here.
The pieces carry the id of the message that ends up in the state, so that clients merge them and LangGraph does
not send that message a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol
from uuid import uuid4

from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager
from langchain_core.messages import AIMessageChunk
from langchain_core.runnables import RunnableConfig
from langgraph.graph.message import push_message
from langgraph.pregel._messages import StreamMessagesHandler, StreamMessagesHandlerV2

Emit = Callable[[dict[str, Any]], None]


class TextGuard(Protocol):
    """Holds text back while it may be a call that the model wrote as text."""

    def feed(self, text: str) -> str:
        """What can be shown now."""

    def flush(self) -> str:
        """What was held back, when the text has ended."""


def listening(config: RunnableConfig) -> bool:
    """Whether a message stream is attached to the run. Event streams (v3) take whole messages only."""
    return any(not isinstance(handler, StreamMessagesHandlerV2) for handler in _handlers(config))


def withhold(config: RunnableConfig, message_ids: Iterable[str]) -> None:
    """Keep messages that a node is about to write to the state out of the run's message streams.

    For what is no answer yet: a draft that will be reviewed, text beside a call.
    """
    for handler in _handlers(config):
        handler.seen.update(message_ids)


def _handlers(config: RunnableConfig) -> list[StreamMessagesHandler]:
    callbacks = config.get("callbacks")
    handlers: list[BaseCallbackHandler] = []
    if isinstance(callbacks, BaseCallbackManager):
        handlers = callbacks.handlers
    elif callbacks:
        handlers = callbacks
    return [handler for handler in handlers if isinstance(handler, StreamMessagesHandler)]


class AnswerStream:
    """Shows one answer while it is written. A `TextSink` for `nodes.endpoint.ask`.

    `emit` sends custom stream events. `make_guard` makes what holds back text that may be a call.
    """

    def __init__(
        self,
        config: RunnableConfig,
        message_id: str,
        emit: Emit,
        make_guard: Callable[[], TextGuard] | None = None,
    ) -> None:
        self.listening = listening(config)
        self._emit = emit
        self._make_guard = make_guard
        self._guard = make_guard() if make_guard else None
        self._message_id = message_id
        self._shown = False

    @property
    def message_id(self) -> str:
        """Id of the message that is being written; another one after each `restart`."""
        return self._message_id

    def feed(self, text: str) -> None:
        """A further piece of the answer."""
        self._push(self._guard.feed(text) if self._guard else text)

    def restart(self) -> None:
        """What was shown is void. It is marked provisional, and the answer goes on under a new id."""
        if self._shown:
            self._mark_provisional()
            self._message_id = f"answer-{uuid4().hex}"
            self._shown = False
        self._guard = self._make_guard() if self._make_guard else None

    def finish(self, *, has_calls: bool) -> None:
        """The message is complete. Text beside calls is provisional: it is never part of the answer."""
        if not has_calls:
            self._push(self._guard.flush() if self._guard else "")
        elif self._shown:
            self._mark_provisional()

    def _push(self, text: str) -> None:
        if text and self.listening:
            push_message(AIMessageChunk(content=text, id=self._message_id), state_key=None)
            self._shown = True

    def _mark_provisional(self) -> None:
        self._emit({"type": "provisional", "message_id": self._message_id})
