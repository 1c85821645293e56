"""What a caller brings to a turn, before any of it is stored: checked, cleaned, each message under an id. Pure.

A checkpoint keeps its input, so what no reader of the thread can take must be refused here: refused later, it would
stand in the way of every message after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage, convert_to_messages

from memory.clean import clean_json, clean_text, is_storable
from memory.errors import InvalidInput
from nodes.context_groups import call_ids
from nodes.messages import new_id

MAX_CHARACTERS = 100_000
"""Of one customer message; what is longer is refused, and the customer is told."""
KEPT_CHARACTERS = 500
"""Of a refused message, for whoever reads the conversation."""
LONGEST_READ = 10 * MAX_CHARACTERS
LONGEST_ID = 200
EXPECTED = 'A turn begins with the customer\'s message; send {"messages": [("user", "…")]} as input.'
STAFF = "staff"
"""Name of an answer that a colleague has written."""
NOT_TEXT = "non-text parts were left out"


class Brought(NamedTuple):
    """What a caller has brought: messages, the customer's last."""

    messages: Sequence[AnyMessage]
    named: bool
    """The caller has named the last one, so it may have been sent before."""

    def named_for(self, run_id: str) -> Brought:
        """With a last message that has the same id each time that the run is begun, unless it was named."""
        if self.named:
            return self
        *before, last = self.messages
        return self._replace(messages=[*before, last.model_copy(update={"id": f"message-{run_id}"})])


def read_input(given: object) -> Brought:
    """The messages of an input. Raises InvalidInput.

    The customer's are reduced to their words: other parts, names and extras are no part of the conversation. Any
    before the last may be of an earlier conversation that is brought along.
    """
    if not isinstance(given, Mapping) or given.get("messages") is None:
        raise InvalidInput(EXPECTED)
    listed = given["messages"] if isinstance(given["messages"], list) else [given["messages"]]
    messages = [_read(message, number) for number, message in enumerate(listed, 1)]
    if not messages or not isinstance(messages[-1], HumanMessage):
        raise InvalidInput(EXPECTED)
    if len({message.id for message in messages}) < len(messages):
        raise InvalidInput("Two messages of the input have one id; give each an id of its own.")
    _check_results(messages)
    return Brought(messages, _has_id(listed[-1]))


def kept_text(text: str) -> tuple[str, bool]:
    """The customer's words as the thread keeps them, and whether that is all of them."""
    text = clean_text(text)
    if len(text) <= MAX_CHARACTERS:
        return text, True
    return f"{text[:KEPT_CHARACTERS]} […]", False


def is_repeat(message: AnyMessage, messages: Sequence[AnyMessage]) -> bool:
    """Whether the thread holds this very message: sent twice, or again after a time-out.

    Raises InvalidInput where another message of the thread has its id.
    """
    found = next((known for known in messages if known.id == message.id), None)
    if found is None:
        return False
    said = isinstance(found, HumanMessage) or found.name == STAFF
    if said and found.text in (message.text, kept_text(message.text)[0]):
        return True
    raise InvalidInput(
        f"The id {message.id!r:.60} is another message's of this thread; give each an id of its own."
    )


def earlier_answer(message_id: str, messages: Sequence[AnyMessage]) -> AIMessage | None:
    """What the message was answered with; None where nothing has been said since."""
    ids = [message.id for message in messages]
    for message in messages[ids.index(message_id) + 1 :]:
        if isinstance(message, AIMessage) and message.text and not message.tool_calls:
            return message
    return None


def _check_results(messages: Sequence[AnyMessage]) -> None:
    """Raises InvalidInput for a tool result whose call is not brought along with it, or that is a second one."""
    open_ids: set[str] = set()
    for message in messages:
        if isinstance(message, AIMessage):
            open_ids.update(call_ids(message))
        elif isinstance(message, ToolMessage):
            if message.tool_call_id not in open_ids:
                raise InvalidInput(
                    "The input has a tool result without its call; bring both along, or neither."
                )
            open_ids.remove(message.tool_call_id)


def _read(given: object, number: int) -> AnyMessage:
    try:
        (message,) = convert_to_messages([given])  # type: ignore[list-item]
    except Exception:  # whatever the converter stumbles over
        raise InvalidInput(f"Message {number} of the input cannot be read. {EXPECTED}") from None
    if not isinstance(message, HumanMessage | AIMessage | ToolMessage):
        raise InvalidInput(f"Message {number} of the input is of type {message.type!r:.40}. {EXPECTED}")
    id = _read_id(message.id, number)
    if isinstance(message, HumanMessage):
        # One character beyond what is served tells that there was more.
        text = clean_text(message.text[:LONGEST_READ])[: MAX_CHARACTERS + 1]
        extras = {} if isinstance(message.content, str) else {"note": NOT_TEXT}
        return HumanMessage(text, id=id, additional_kwargs=extras)
    cleaned = clean_json(message.model_dump()).value
    assert isinstance(cleaned, dict), "a message has fields"
    return type(message).model_validate({**cleaned, "id": id})


def _has_id(given: object) -> bool:
    return bool(given.get("id") if isinstance(given, Mapping) else getattr(given, "id", None))


def _read_id(given: str | None, number: int) -> str:
    if not given:
        return new_id("message")
    if len(given) > LONGEST_ID or not is_storable(given):
        raise InvalidInput(
            f"The id of message {number} is no name for it: at most {LONGEST_ID} characters, no NUL."
        )
    return given
