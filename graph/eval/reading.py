"""Reading files of cases: YAML, with every fault told by file and line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from graph.eval.cases import Case, CaseFile
from memory.errors import InvalidInput
from nodes.business import Business

Place = tuple[str | int, ...]
MOST_FAULTS = 10
_STR = "tag:yaml.org,2002:str"


class BadCases(InvalidInput):
    """A file of cases cannot be used; the message has a line for each fault."""


def read_cases(path: Path, business: Business) -> list[Case]:
    """The cases of a file, or of all `.yaml` files of a folder. Raises BadCases."""
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    if not files:
        raise BadCases(f"{path} holds no .yaml file.")
    found: dict[str, Case] = {}
    for file in files:
        for case in _read_file(file, business):
            if case.id in found:
                raise BadCases(f"{file}: two cases are called {case.id!r}; rename one.")
            found[case.id] = case
    return list(found.values())


def _read_file(file: Path, business: Business) -> list[Case]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCases(f"{file} cannot be read ({error}).") from None
    source = _parse(file, text)
    try:
        cases = CaseFile.model_validate(source.value)
    except ValidationError as error:
        faults = [(fault["loc"], fault["msg"]) for fault in error.errors(include_url=False)]
        raise _bad(source, faults) from None
    if faults := list(_unknown_names(cases, business)):
        raise _bad(source, faults)
    return cases.completed()


@dataclass(frozen=True)
class _Source:
    file: Path
    value: Any
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """Of the part itself, else of what holds it."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def _parse(file: Path, text: str) -> _Source:
    try:
        node = yaml.compose(text, Loader=yaml.CSafeLoader)
        lines: dict[Place, int] = {}
        value = _value(node, (), lines) if node else None
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadCases(f"{file}:{line}: {error.problem or 'not YAML'}.") from None
    except yaml.YAMLError as error:
        raise BadCases(f"{file}: {' '.join(str(error).split())}") from None
    return _Source(file, value, lines)


def _value(node: Any, place: Place, lines: dict[Place, int]) -> Any:
    """A node as plain values; the line of each is noted. Only true, false, null and numbers are no texts."""
    lines[place] = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        found: dict[str, Any] = {}
        for key, inner in node.value:
            name = str(key.value)
            if name in found:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{name!r} stands here twice", key.start_mark
                )
            found[name] = _value(inner, (*place, name), lines)
            lines[(*place, name)] = key.start_mark.line + 1
        return found
    if isinstance(node, yaml.SequenceNode):
        return [_value(inner, (*place, number), lines) for number, inner in enumerate(node.value)]
    return _scalar(node)


def _scalar(node: Any) -> Any:
    """YAML takes `yes` for true and `2024-05-27` for a date; here they are what they look like."""
    if node.tag == _STR or node.style is not None:
        return node.value
    plain = {"true": True, "false": False, "null": None, "~": None, "": None}
    if node.value in plain:
        return plain[node.value]
    for number in (int, float):
        try:
            return number(node.value)
        except ValueError:
            continue
    return node.value


def _unknown_names(cases: CaseFile, business: Business) -> list[tuple[Place, str]]:
    """What the business does not know: intents and views."""
    intents = {intent.name for intent in business.intents}
    views = {"memories", *(business.evaluation.views if business.evaluation else ())}
    faults: list[tuple[Place, str]] = []
    for number, case in enumerate(cases.cases):
        for step, turn in enumerate(case.turns):
            route = turn.expect.route
            names = [route] if isinstance(route, str) else route or []
            place: Place = ("cases", number, "turns", step, "expect", "route")
            faults.extend(
                (place, f"no intent is called {name!r}; there are {', '.join(sorted(intents))}")
                for name in names
                if name not in intents
            )
        for look, each in enumerate(case.end):
            if each.view not in views:
                place = ("cases", number, "end", look, "view")
                faults.append(
                    (place, f"no view is called {each.view!r}; there are {', '.join(sorted(views))}")
                )
    return faults


def _bad(source: _Source, faults: Sequence[tuple[Place, str]]) -> BadCases:
    lines = [
        f"{source.file}:{source.line(place)}: {_written(place)}: {text}"
        for place, text in sorted(faults, key=lambda fault: source.line(fault[0]))
    ]
    more = [f"… and {len(lines) - MOST_FAULTS} more"] if len(lines) > MOST_FAULTS else []
    return BadCases("\n".join([*lines[:MOST_FAULTS], *more]))


def _written(place: Place) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "file"
