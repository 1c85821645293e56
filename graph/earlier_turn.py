"""A message that was sent before: its turn is told again from the state that stands, and nothing runs twice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage
from langgraph.types import StateSnapshot

from nodes.state import fresh_turn
from nodes.turn_input import earlier_answer


@dataclass(frozen=True)
class EarlierTurn:
    """A turn that has come to its end, or waits for a person."""

    values: Mapping[str, Any]
    """The state with the answer that the message had."""
    answer: AIMessage | None
    """None where the thread is with a colleague, who has not answered yet."""
    waits: bool
    """An approval waits on the thread, of this turn or of another one."""

    def events(self, options: Mapping[str, Any], default_mode: str) -> Iterator[Any]:
        """The turn as a stream of LangGraph's, in the modes of the options that `astream` was called with."""
        modes = options.get("stream_mode") or default_mode
        wanted = [modes] if isinstance(modes, str) else list(modes)
        for mode, payload in self._payloads(options.get("output_keys")):
            if mode in wanted:
                yield _framed(mode, payload, options, alone=isinstance(modes, str))

    def _payloads(self, output_keys: Any) -> Iterator[tuple[str, Any]]:
        if self.answer is not None:
            yield "messages", (self.answer, {"langgraph_node": "write_memory"})
        if isinstance(output_keys, str):
            yield "values", self.values.get(output_keys)
        else:
            keys = self.values if output_keys is None else output_keys
            yield "values", {key: self.values[key] for key in keys if key in self.values}


def find_earlier_turn(message_id: str, snapshot: StateSnapshot) -> EarlierTurn | None:
    """The turn of a message that the thread holds; None where it was cut off and is to be gone on with."""
    values = snapshot.values
    answer = earlier_answer(message_id, values["messages"])
    waits, cut_off = bool(snapshot.interrupts), bool(snapshot.tasks) and not snapshot.interrupts
    turn = values.get("turn")
    if turn and turn["message_id"] == message_id:
        return None if cut_off else EarlierTurn(values, answer, waits)
    if cut_off and answer is None:
        return None
    told = {**values, **fresh_turn(), "answer": answer.text if answer else ""}
    return EarlierTurn(told, answer, waits)


def _framed(mode: str, payload: Any, options: Mapping[str, Any], *, alone: bool) -> Any:
    if options.get("version") == "v2":
        framed = {"type": mode, "ns": (), "data": payload}
        return {**framed, "interrupts": ()} if mode == "values" else framed
    named = payload if alone else (mode, payload)
    if not options.get("subgraphs"):
        return named
    return ((), payload) if alone else ((), mode, payload)
