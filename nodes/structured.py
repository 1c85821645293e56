"""Ask a role for a JSON object and get a validated one, whatever the model wraps around it.

answer, reply = await ask_structured(models, "router", RouterAnswer, messages, deadline=deadline)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import BaseModel, ValidationError

from nodes.endpoint import ModelReply, ask
from nodes.endpoint_errors import ModelError
from nodes.json_schema import all_required, is_closed, plain_schema
from nodes.models import Models
from nodes.prompting import fill, load_prompt
from nodes.settings import NodeSettings, Role
from tools.json_text import Unreadable
from tools.repair import read_arguments

T = TypeVar("T", bound=BaseModel)


class StructuredFailure(ModelError):
    """A role did not answer in its form, asked twice; its call counts as failed, and no turn breaks by it."""

    def __init__(self, role: Role, fault: str, reply: ModelReply) -> None:
        super().__init__(
            f"The model {reply.model} did not answer in the form of the role {role} ({fault}); "
            "try another STEWARD_STRUCTURED_OUTPUT or another model."
        )
        self.reply = reply
        """For the ledger: the tokens were spent all the same."""


async def ask_structured(
    models: Models, role: Role, schema: type[T], messages: Sequence[BaseMessage], *, deadline: float
) -> tuple[T, ModelReply]:
    """The role's answer as an object of `schema`, and the reply that it came in (with all calls it took).

    The object is looked for in the forced call and in the content, bare, fenced or between prose, in every mode.
    One that does not validate is sent back once with the fault named. Raises StructuredFailure, and what
    `nodes.endpoint.ask` raises.
    """
    wanted = _form(models.settings, schema)
    prompt = _instructed(models.settings, schema, messages)
    first = await ask(models, role, prompt, deadline=deadline, **wanted)
    answer, fault = _read(schema, first.message)
    if answer is not None:
        return answer, first
    if first.says_nothing:
        raise StructuredFailure(role, "it said nothing", first)
    again = [*prompt, *_sent_back(first.message, fault)]
    second = await ask(models, role, again, deadline=deadline, **wanted)
    reply = replace(
        second,
        calls=(*first.calls, *second.calls),
        attempts=first.attempts + second.attempts,
        seconds=first.seconds + second.seconds,
    )
    answer, fault = _read(schema, second.message)
    if answer is None:
        raise StructuredFailure(role, fault, reply)
    return answer, reply


def _form(settings: NodeSettings, schema: type[BaseModel]) -> dict[str, Any]:
    """The request's part that asks for JSON, as STEWARD_STRUCTURED_OUTPUT wants it."""
    name = _snake(schema.__name__)
    if settings.steward_structured_output == "json_mode":
        return {"response_format": {"type": "json_object"}}
    form: dict[str, Any] = {"name": name}
    json_schema = plain_schema(schema)
    if settings.steward_strict_tools == "on" and is_closed(json_schema):
        json_schema, form["strict"] = all_required(json_schema), True
    if settings.steward_structured_output == "json_schema":
        return {"response_format": {"type": "json_schema", "json_schema": {**form, "schema": json_schema}}}
    function = {**form, "description": json_schema.get("description", name), "parameters": json_schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": name}},
    }


def _instructed(
    settings: NodeSettings, schema: type[BaseModel], messages: Sequence[BaseMessage]
) -> list[BaseMessage]:
    """In JSON mode nothing but the prompt tells the model the form."""
    if settings.steward_structured_output != "json_mode":
        return list(messages)
    form = fill(load_prompt("json_answer"), schema=json.dumps(plain_schema(schema), ensure_ascii=False))
    first, *rest = messages
    if isinstance(first, SystemMessage):
        return [SystemMessage(f"{first.text}\n\n{form}"), *rest]
    return [SystemMessage(form), *messages]


def _sent_back(message: AIMessage, fault: str) -> list[BaseMessage]:
    """The unusable answer and what is wrong with it, as plain text: a call would ask for a result."""
    said = message.text or next(_call_texts(message), "")
    return [AIMessage(said), HumanMessage(fill(load_prompt("json_fault"), fault=fault))]


def _read(schema: type[T], message: AIMessage) -> tuple[T | None, str]:
    """The first object that validates, else what is wrong with the likeliest one."""
    fault = "there was no JSON object in it"
    for candidate in _candidates(message):
        try:
            return schema.model_validate(candidate), ""
        except ValidationError as error:
            fault = _fault(error)
    return None, fault


def _candidates(message: AIMessage) -> Iterator[dict[str, Any]]:
    texts = [*_call_texts(message), message.text]
    for text in texts:
        for found in json_objects(text):
            yield found
            inner = found.get("arguments", found.get("parameters"))
            if "name" in found and isinstance(inner, dict):  # the forced call, written as text
                yield inner
    for text in texts:
        with suppress(Unreadable):
            yield read_arguments(text).args


def _call_texts(message: AIMessage) -> Iterator[str]:
    for call in message.tool_calls:
        yield json.dumps(call["args"], ensure_ascii=False)
    for broken in message.invalid_tool_calls:
        yield broken["args"] or ""


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, outermost only, whatever stands around them."""
    decoder = json.JSONDecoder(strict=False)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at = text.find("{", at + 1)
            continue
        yield value
        at = text.find("{", end)


def _fault(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_input=False)[:5]
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'the object'}: {fault['msg']}" for fault in faults
    )


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
