"""What is wrong with one argument, and how a validator's errors become that.

Every problem names a field (`address.city`, `items[0].sku`), says what was wrong, and what is allowed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from jsonschema.exceptions import ValidationError

from tools.describe import describe, quoted
from tools.dialects import unknown_names
from tools.names import nearest

Path = tuple[str | int, ...]
Kind = Literal["missing", "unknown", "invalid"]


@dataclass(frozen=True)
class FieldProblem:
    path: str
    """`address.city`, `items[0].sku`; empty for the arguments as a whole."""
    problem: str
    allowed: str | None = None
    kind: Kind = "invalid"

    def __str__(self) -> str:
        allowed = f" Allowed: {self.allowed}." if self.allowed else ""
        return f"{self.path or 'arguments'}: {self.problem}.{allowed}"


def written(path: Iterable[str | int]) -> str:
    """A path as it is told: `items[0].sku`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


def problems_of(errors: Iterable[ValidationError]) -> tuple[FieldProblem, ...]:
    """All problems, each once; what stands beside an unknown or missing name is told too."""
    found = [problem for error in errors for problem in _problems(error, ())]
    return tuple(dict.fromkeys(found))


def _problems(error: ValidationError, above: Path) -> Iterator[FieldProblem]:
    path = above + tuple(error.path)
    value: Any = error.instance
    limit: Any = error.validator_value
    if error.validator == "required":
        yield from _missing(error, path, [name for name in limit if name not in value])
    elif error.validator == "dependentRequired":
        needed = [name for key, names in limit.items() if key in value for name in names]
        yield from _missing(error, path, [name for name in needed if name not in value])
    elif error.validator in ("additionalProperties", "unevaluatedProperties"):
        yield from _unknown(error, path)
    elif error.validator in ("anyOf", "oneOf") and error.context:
        yield from _no_branch(error, path)
    elif error.validator is None:
        yield FieldProblem(written(path), "is not allowed here")
    else:
        yield FieldProblem(written(path), _said(error), describe(error.schema))


def _missing(error: ValidationError, path: Path, names: Iterable[str]) -> Iterator[FieldProblem]:
    schema: Any = error.schema
    properties = schema.get("properties", {})
    for name in names:
        field = properties.get(name, {})
        about = field.get("description", "") if isinstance(field, Mapping) else ""
        problem = "required, but missing" + (f" ({about.strip().rstrip('.')})" if about else "")
        yield FieldProblem(written((*path, name)), problem, describe(field), "missing")


def _unknown(error: ValidationError, path: Path) -> Iterator[FieldProblem]:
    schema: Any = error.schema
    value: Any = error.instance
    known = list(_known_names(schema))
    names = unknown_names(value, schema)
    for name in [each for each in names if each not in known] or names:
        close = nearest(name, known)
        problem = "there is no such argument" + (f"; did you mean {' or '.join(close)}" if close else "")
        yield FieldProblem(written((*path, name)), problem, ", ".join(known) or "no arguments", "unknown")


def _known_names(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        yield from schema.get("properties", {})
        for combinator in ("allOf", "anyOf", "oneOf"):
            for branch in schema.get(combinator, ()):
                yield from _known_names(branch)


def _no_branch(error: ValidationError, path: Path) -> Iterator[FieldProblem]:
    """The faults of the branch that was meant, where one can tell; else what all branches allow."""
    branches: dict[Any, list[ValidationError]] = defaultdict(list)
    for each in error.context:
        branches[each.schema_path[0]].append(each)
    meant = [errors for errors in branches.values() if not any(_is_another(each) for each in errors)]
    if meant:
        for each in min(meant, key=len):
            yield from _problems(each, path)
    else:
        problem = f"{quoted(error.instance)} fits none of the allowed forms"
        yield FieldProblem(written(path), problem, describe(error.schema))


def _is_another(error: ValidationError) -> bool:
    """The branch is about something else: another type, or another value of its discriminator."""
    return (error.validator == "type" and not error.path) or error.validator == "const"


def _said(error: ValidationError) -> str:
    value = quoted(error.instance)
    limit: Any = error.validator_value
    match error.validator:
        case "type":
            types = limit if isinstance(limit, str) else " or ".join(limit)
            return f"{value} is not of type {types}"
        case "enum" | "const":
            return f"{value} is none of the allowed values"
        case "format":
            return f"{value} is not a valid {limit}"
        case "pattern":
            return f"{value} does not match {limit}"
        case "minimum" | "exclusiveMinimum":
            return f"{value} is too small"
        case "maximum" | "exclusiveMaximum":
            return f"{value} is too large"
        case "minLength" | "minItems" | "minProperties":
            return f"{value} is too short"
        case "maxLength" | "maxItems" | "maxProperties":
            return f"{value} is too long"
        case _:
            return str(error.message)[:200]


def offending(problems: Sequence[FieldProblem]) -> tuple[str, ...]:
    """The paths of the fields that are at fault, each once."""
    return tuple(dict.fromkeys(problem.path for problem in problems))
