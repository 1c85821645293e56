"""Nothing runs before its arguments fit the schema: coerced where that loses nothing, else refused by field.

The validator leads: only what it refuses is looked at, so that a valid value is never touched, whatever the
schema is made of (references, alternatives, conditions). Each round re-reads the refused values one by one;
when no refused value has another reading, what is left are the problems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, Literal

from jsonschema.exceptions import ValidationError
from jsonschema.protocols import Validator
from referencing.exceptions import Unresolvable

from tools import coerce
from tools.defaults import fill
from tools.dialects import Schema, validator_of
from tools.json_text import TOO_DEEP, too_deep
from tools.problems import FieldProblem, Path, offending, problems_of, written
from tools.spec import Arguments, ToolSpec

ROUNDS = 8
"""A value inside a text inside a text: each layer takes a round."""


@dataclass(frozen=True)
class Validated:
    args: Arguments
    notes: tuple[str, ...] = ()
    """Coercions that were made, for the log: fields and kinds, never values."""


@dataclass(frozen=True)
class Rejected:
    problems: tuple[FieldProblem, ...]
    text: str | None = None
    """Why the argument text could not be read, where that was the trouble."""

    @property
    def kind(self) -> Literal["missing_argument", "invalid_arguments"]:
        missing = self.problems and all(problem.kind == "missing" for problem in self.problems)
        return "missing_argument" if missing else "invalid_arguments"

    @property
    def fields(self) -> tuple[str, ...]:
        return offending(self.problems)


def validate(schema: Schema, args: Mapping[str, Any], *, fill_defaults: bool = True) -> Validated | Rejected:
    """Check `args` against the strict schema of a tool; the result is a copy, `args` stays as it is.

    The schema object is compiled once and must not change. Whole numbers written as floats become integers,
    and with `fill_defaults` the schema's defaults are filled in.

    >>> validate({"properties": {"n": {"type": "integer"}}}, {"n": "5"})
    Validated(args={'n': 5}, notes=('n: read as integer',))
    """
    if too_deep(args):
        return Rejected((FieldProblem("", TOO_DEEP),))
    if unsound := [written(path) for path in _not_finite(args, ())]:
        return Rejected(tuple(FieldProblem(path, "is no number", "a finite number") for path in unsound))
    validator = validator_of(schema)
    reading = _Reading(_copy(args))
    errors = reading.settle(validator)
    if errors:
        return Rejected(problems_of(errors))
    fill(schema, reading.value, validator, reading.notes, defaults=fill_defaults)
    return Validated(reading.value, tuple(reading.notes))


def explain(rejected: Rejected, spec: ToolSpec) -> str:
    """What the model is told, in one text: each field, what was wrong, what is allowed, what to do now."""
    lines = [f"The arguments of {spec.name} were refused; nothing was run."]
    if rejected.text:
        lines.append(f"The argument text could not be read: {rejected.text}.")
    lines += [f"- {problem}" for problem in rejected.problems]
    kinds = {problem.kind for problem in rejected.problems}
    if "missing" in kinds:
        lines.append("Ask the user for what is missing unless it is already known; never make it up.")
    if rejected.text:
        lines.append("Call the tool again with one complete JSON object as arguments.")
    elif kinds - {"missing"}:
        lines.append("Correct these fields and call the tool again.")
    return "\n".join(lines)


@dataclass
class _Reading:
    """A value on its way to fit, and how it was read."""

    value: Any
    notes: list[str] = field(default_factory=list)

    def settle(self, validator: Validator) -> list[ValidationError]:
        """Re-read refused values until all fit; what still does not fit is returned."""
        for _ in range(ROUNDS):
            errors = list(validator.iter_errors(self.value))
            done: set[Path] = set()
            for error in errors:
                path = tuple(error.path)
                stale = any(path[:length] in done for length in range(len(path) + 1))
                if not stale and self._mend(validator, error):
                    done.add(path)
            if not done:
                return errors
        return list(validator.iter_errors(self.value))

    def _mend(self, validator: Validator, error: ValidationError) -> bool:
        path = tuple(error.path)
        readings = _readings(validator, error)
        if len(readings) == 1:
            self._put(path, readings[0])
            self.notes.append(f"{written(path) or 'arguments'}: {_how(error, readings[0])}")
            return True
        about_a_value = error.validator in ("type", "enum", "const", "anyOf", "oneOf", "format", "pattern")
        if about_a_value and coerce.means_null(error.instance) and path and isinstance(path[-1], str):
            # Left out, so that a required field is reported as missing.
            self._drop(path)
            self.notes.append(f"{written(path)}: null taken as left out")
            return True
        return False

    def _put(self, path: Path, value: Any) -> None:
        if not path:
            self.value = value
            return
        self._holder(path)[path[-1]] = value

    def _drop(self, path: Path) -> None:
        del self._holder(path)[path[-1]]

    def _holder(self, path: Path) -> Any:
        holder = self.value
        for part in path[:-1]:
            holder = holder[part]
        return holder


def _readings(validator: Validator, error: ValidationError) -> list[Any]:
    """What the refused value would be if it had been written as the schema asks."""
    value = error.instance
    limit: Any = error.validator_value
    match error.validator:
        case "type":
            return coerce.as_type(value, [limit] if isinstance(limit, str) else limit)
        case "enum":
            return coerce.as_choice(value, limit)
        case "const":
            return coerce.as_choice(value, [limit])
        case "format" | "pattern":
            found = coerce.as_format(value, limit) if error.validator == "format" else coerce.as_plain(value)
            fits: Any = validator.evolve(schema=error.schema).is_valid
            return [each for each in found if fits(each)]
        case "anyOf" | "oneOf":
            return _branch_readings(validator, value, limit)
    return []


def _branch_readings(validator: Validator, value: Any, branches: Any) -> list[Any]:
    found: list[Any] = []
    for branch in branches:
        reading = _Reading(_copy(value))
        try:
            fits = not reading.settle(validator.evolve(schema=branch))
        except Unresolvable:
            continue
        if fits and not any(coerce.same(reading.value, known) for known in found):
            found.append(reading.value)
    return found


def _how(error: ValidationError, reading: object) -> str:
    """A coercion in words that do not repeat the value."""
    match error.validator:
        case "enum" | "const":
            return "matched to an allowed value"
        case "format":
            return f"written as {error.validator_value}"
        case "pattern":
            return "plain spelling taken"
    return f"read as {_type_name(reading)}"


def _type_name(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    names = {int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(each) for each in value]
    return value


def _not_finite(value: Any, path: Path) -> Iterator[Path]:
    if isinstance(value, float) and not isfinite(value):
        yield path
    elif isinstance(value, Mapping):
        for key, each in value.items():
            yield from _not_finite(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _not_finite(each, (*path, index))


def unreadable(reason: str, problems: tuple[FieldProblem, ...] = ()) -> Rejected:
    """The argument text itself was the trouble."""
    whole = (FieldProblem("", "the argument text is not one complete JSON object"),)
    return replace(Rejected(problems or whole), text=reason)
