"""What grounding would have refused of the calls in recorded runs of real models."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from memory.clean import clean_json
from tools.calls import Grounds
from tools.grounding import missing_grounds, strange_contacts
from tools.spec import ToolSpec

WRITES = ("book_", "cancel_", "exchange_", "modify_", "return_", "send_", "update_")
DETAILS = ("address1", "address2", "zip", "email")


def measure(folder: Path, *, show: bool) -> None:
    """Print, for each file of runs, how many calls with side effects name a contact or an address from nowhere."""
    for file in sorted(folder.glob("*.jsonl")):
        counted: Counter[str] = Counter()
        for line in file.read_text("utf-8").splitlines():
            for kind, shown in _run(json.loads(line)["messages"]):
                counted[kind] += 1
                if show and kind != "calls":
                    print(f"  {file.stem}: {kind}: {shown}")
        print(
            f"{file.stem}: of {counted['calls']} recorded calls with side effects, {counted['contact']} name a "
            f"contact in free text and {counted['detail']} an address that neither customer nor results gave"
        )


def _run(messages: list[dict[str, Any]]) -> list[tuple[str, str]]:
    said: list[str] = []
    known: dict[str, None] = {}
    found = []
    for message in messages:
        content = message.get("content") or ""
        if message["role"] == "user":
            said.append(content)
        elif message["role"] == "tool":
            known.update(dict.fromkeys(_scalars(_read(content))))
        for call in message.get("tool_calls") or ():
            args = _read(call["arguments"])
            if call["name"].startswith(WRITES) and isinstance(args, dict):
                found += _judged(call["name"], args, Grounds(said), list(known))
    return found


def _judged(name: str, args: dict[str, Any], grounds: Grounds, known: list[str]) -> list[tuple[str, str]]:
    grounded = {detail: "detail" for detail in DETAILS if detail in args}
    spec = ToolSpec(name, "", {"type": "object"}, _never, effect="write", grounded=grounded)  # type: ignore[arg-type]
    found = [("calls", "")]
    found += [
        ("detail", f"{name} {args[path]!r}") for path in missing_grounds(args, spec, grounds, known, known)
    ]
    found += [("contact", f"{name} {pair}") for pair in strange_contacts(args, spec, grounds, known, known)]
    return found


async def _never(*_: Any) -> None:
    raise AssertionError("nothing is run here")


def _read(text: str) -> Any:
    try:
        return clean_json(json.loads(text)).value
    except ValueError:
        return text


def _scalars(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*map(str, value), *(leaf for each in value.values() for leaf in _scalars(each))]
    if isinstance(value, list):
        return [leaf for each in value for leaf in _scalars(each)]
    return [str(value)] if value not in (None, "") else []
