"""Recorded runs of real models, replayed: the model says what it said, the tools return what they returned."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.context.summariser import copy_of_facts
from nodes.business import Business, Intent
from tests.support.model_replies import Call, Reply, Request, compactor_reply, summariser_reply
from tests.support.model_server import role_of
from tools.declare import from_json_schema
from tools.errors import BusinessError
from tools.spec import Arguments, ToolContext

Message = dict[str, Any]
SHORTEST_VALUE = 4
"""Characters: a shorter argument value stands in any text by chance."""
SETS = {"airline": "airline_gpt4o.jsonl", "retail": "retail_toolcalling_20250623.jsonl"}


@dataclass(frozen=True)
class Recording:
    """One conversation as it was recorded."""

    id: str
    system: str
    messages: Sequence[Message]
    prompt_tokens: int

    def turns(self) -> Iterator[str]:
        """The customer's messages that were answered."""
        for message, after in zip(self.messages, [*self.messages[1:], None], strict=True):
            if message["role"] == "user" and after is not None:
                yield message["content"]


def read_recordings(folder: Path, name: str) -> list[Recording]:
    systems = json.loads((folder / "system_prompts.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / SETS[name]).read_text("utf-8").splitlines()]
    return [
        Recording(
            f"{row['source']}-{row['task_id']}-{row['trial']}",
            systems[row["messages"][0]["content_ref"]],
            row["messages"][1:],
            row["sum_prompt_tokens"],
        )
        for row in rows
    ]


@dataclass
class Replay:
    """Plays the model and the tools of one recording."""

    said: deque[Message] = field(default_factory=deque)
    returned: dict[str, str] = field(default_factory=dict)
    """Results by call id."""
    requests: list[Request] = field(default_factory=list)
    """Of the chat role, one for each recorded answer."""
    folds: int = 0

    def load(self, recording: Recording) -> None:
        """Begin a recording. Its call ids repeat, so each call gets one of its own."""
        self.said, self.returned, self.requests = deque(), {}, []
        waiting: deque[str] = deque()
        for position, message in enumerate(recording.messages):
            if message["role"] == "tool":
                self.returned[waiting.popleft()] = message["content"]
            elif message["role"] == "assistant":
                calls = [
                    {**call, "id": f"call-{position}-{n}"}
                    for n, call in enumerate(message.get("tool_calls") or [])
                ]
                waiting.extend(call["id"] for call in calls)
                self.said.append({**message, "tool_calls": calls})

    def __call__(self, request: Request) -> Reply:
        role = role_of(request)
        if role == "summariser":
            self.folds += 1
            return summariser_reply(request, copy_of_facts(request))
        if role == "compactor":
            return compactor_reply(request, {})  # no digest, so that the engine reduces by its own rules
        if not self.said:
            return Reply(text="Goodbye.")  # the recording ends before the model could answer the last results
        self.requests.append(request)
        message = self.said.popleft()
        calls = [Call(call["name"], call["arguments"], call["id"]) for call in message["tool_calls"]]
        return Reply(text=message.get("content"), calls=tuple(calls))

    async def tool(self, args: Arguments, context: ToolContext) -> Any:
        text = self.returned[context.call_id]
        if text.startswith("Error"):
            raise BusinessError(text)
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            return text


def recorded_business(folder: Path, name: str, system: str, replay: Replay) -> Business:
    """The recorded tools and policy as a business of one intent."""
    path = folder / f"{name}_tools.json"
    schemas = json.loads(
        (path if path.exists() else folder.parent / "tau_retail/tools.json").read_text("utf-8")
    )
    functions = [schema.get("function", schema) for schema in schemas]
    specs = [
        from_json_schema(f["name"], f["description"], _documented(f["parameters"]), replay.tool)
        for f in functions
    ]
    names = tuple(spec.name for spec in specs)
    return Business(
        name=name,
        instructions=system,
        intents=[Intent("chat", "Everything.", tools=names)],
        tools=lambda settings: specs,
    )


def _documented(parameters: dict[str, Any]) -> dict[str, Any]:
    """Some recorded arguments came without a description, which the registry would refuse."""
    properties = {
        name: {**schema, "description": schema.get("description") or name.replace("_", " ")}
        for name, schema in parameters["properties"].items()
    }
    return {**parameters, "properties": properties}


def lost_values(replay: Replay, recording: Recording) -> list[str]:
    """Argument values that the model once took from a tool result and that its context no longer held."""
    lost: list[str] = []
    results: list[str] = []
    asked = iter(replay.requests)
    spoken = ""
    for message in recording.messages:
        if message["role"] == "tool":
            results.append(message["content"])
        elif message["role"] == "user":
            spoken += message["content"]
        else:
            request = next(asked, None)
            if request is not None:
                lost.extend(_missing(message, request, "\n".join(results), spoken))
    return lost


def _missing(message: Message, request: Request, results: str, spoken: str) -> Iterator[str]:
    sent = json.dumps(request["messages"], ensure_ascii=False)
    for call in message.get("tool_calls") or []:
        for value in _leaves(json.loads(call["arguments"])):
            if value in results and value not in spoken and value not in sent:
                yield f"{call['name']}: {value}"


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for part in value.values():
            yield from _leaves(part)
    elif isinstance(value, list):
        for part in value:
            yield from _leaves(part)
    elif (
        isinstance(value, str | int | float)
        and not isinstance(value, bool)
        and len(str(value)) >= SHORTEST_VALUE
    ):
        yield str(value)
