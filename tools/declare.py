"""Declaring a tool: a typed function with the `tool` decorator, or a JSON Schema brought along.

    @tool(effect="write", approval=Approval("customer", "It cannot be undone."),
          progress={"zh": "正在取消订单 {order_id}", "en": "cancelling order {order_id}"})
    async def order_cancel(
        context: ToolContext,
        order_id: Annotated[str, IDENTIFIER, Field(description="Order number.", examples=["ABC-1"])],
        reason: Annotated[Literal["mistake", "late"], Field(description="Why.")] = "mistake",
    ) -> dict[str, str]:
        \"\"\"Cancel an order that has not been shipped. Use it only when the user asks to cancel.\"\"\"

The name `order_cancel` is then a ToolSpec. The docstring is the description, the signature the schema.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from string import Formatter
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypedDict,
    Union,
    Unpack,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic.errors import PydanticUserError

from tools.dialects import check_schema
from tools.errors import DeclarationError
from tools.problems import FieldProblem, written
from tools.schema import Json, closed, for_model, inlined, normalised
from tools.spec import Approval, ApprovalRule, Arguments, Effect, Runner, Settle, ToolContext, ToolSpec

Ground = Literal["identifier", "detail"]


@dataclass(frozen=True)
class Grounded:
    """Marks an argument, in `Annotated`, that must stem from somewhere (see `ToolSpec.grounded`)."""

    kind: Ground


IDENTIFIER = Grounded("identifier")
DETAIL = Grounded("detail")


class ToolOptions(TypedDict, total=False):
    """What a declaration may say beside name, description and schema; see the fields of `ToolSpec`."""

    effect: Effect
    engine: bool
    repeatable: bool | None
    timeout: float | None
    alone: bool
    approval: Approval | ApprovalRule | None
    grounded: Mapping[str, Ground]
    identifiers: tuple[str, ...]
    details: tuple[str, ...]
    keep: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None
    cache_seconds: float
    cache_scope: Literal["user", "everyone"]
    settle: Settle | None
    intents: tuple[str, ...]
    progress: Mapping[str, str]


Function = Callable[..., Any]


@overload
def tool(function: Function, /) -> ToolSpec: ...
@overload
def tool(
    *, name: str | None = None, description: str | None = None, **options: Unpack[ToolOptions]
) -> Callable[[Function], ToolSpec]: ...
def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ToolOptions],
) -> ToolSpec | Callable[[Function], ToolSpec]:
    """Declare the decorated function as a tool. A plain function runs in a thread.

    Its first parameter may be `context: ToolContext`, which the model never sees. Raises DeclarationError.
    """
    if function is not None:
        return _from_function(function, name, description, options)
    return lambda decorated: _from_function(decorated, name, description, options)


def from_json_schema(
    name: str,
    description: str,
    schema: Mapping[str, Any] | None,
    run: Runner,
    *,
    fill_defaults: bool = False,
    **options: Unpack[ToolOptions],
) -> ToolSpec:
    """A tool whose schema is brought along (MCP, another agent's). Raises DeclarationError for a broken one.

    Loose type names are set right, references inlined, unknown arguments refused unless the schema says what
    becomes of them (inside an argument it stays as the schema has it). Defaults are left to the tool, which
    knows its own, unless `fill_defaults` is set.
    """
    brought = dict(schema or {})
    parameters = closed(inlined(normalised(brought), name), deep=False)
    check_schema(parameters, name)
    spec = ToolSpec(
        name=name,
        description=inspect.cleandoc(description or ""),
        parameters=parameters,
        run=run,
        fill_defaults=fill_defaults,
        **options,
    )
    _check_names(spec)
    return spec


def _from_function(
    function: Function, name: str | None, description: str | None, options: ToolOptions
) -> ToolSpec:
    name = name or function.__name__
    hints = _hints(function, name)
    context = next((each for each, hint in hints.items() if hint is ToolContext), None)
    model, fields = _argument_model(function, name, {k: v for k, v in hints.items() if k != context})
    parameters = for_model(closed(inlined(_schema(model, name), name)))
    check_schema(parameters, name)
    merged: ToolOptions = {**options, "grounded": {**dict(_marks(model, "")), **options.get("grounded", {})}}
    spec = ToolSpec(
        name=name,
        description=inspect.cleandoc(description or function.__doc__ or ""),
        parameters=parameters,
        run=_runner(function, model, fields, context),
        check=lambda args: _pydantic_problems(model, args),
        **merged,
    )
    _check_names(spec)
    return spec


def _hints(function: Function, name: str) -> dict[str, Any]:
    """Type hints of the parameters, in order."""
    try:
        hints = get_type_hints(function, include_extras=True)
    except NameError as fault:
        raise DeclarationError(
            f"Tool {name!r}: {fault}. Import its parameters' types at module level, outside TYPE_CHECKING."
        ) from fault
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise DeclarationError(
                f"Tool {name!r}: parameter {parameter.name!r} has no fixed name. Name each argument."
            )
        if parameter.name not in hints:
            raise DeclarationError(f"Tool {name!r}: argument {parameter.name!r} has no type. Annotate it.")
    return {each: hints[each] for each in inspect.signature(function).parameters}


def _argument_model(
    function: Function, name: str, hints: Mapping[str, Any]
) -> tuple[type[BaseModel], dict[str, str]]:
    """A model of the arguments, and its field for each: numbered, since `schema` is a fair argument name."""
    fields = {each: f"argument_{index}" for index, each in enumerate(hints)}
    names = {field: each for each, field in fields.items()}
    parameters = inspect.signature(function).parameters
    definitions: dict[str, Any] = {}
    for each, hint in hints.items():
        default = parameters[each].default
        definitions[fields[each]] = (hint, ... if default is inspect.Parameter.empty else default)
    config = ConfigDict(extra="forbid", alias_generator=lambda field: names[field], title=name)
    try:
        return create_model("Arguments", __config__=config, **definitions), fields
    except PydanticUserError as fault:
        raise DeclarationError(f"Tool {name!r}: {fault.message}. Use types that JSON can carry.") from fault


def _schema(model: type[BaseModel], name: str) -> Json:
    try:
        return model.model_json_schema()
    except PydanticUserError as fault:
        raise DeclarationError(f"Tool {name!r}: {fault.message}. Use types that JSON can carry.") from fault


def _runner(
    function: Function, model: type[BaseModel], fields: Mapping[str, str], context_name: str | None
) -> Runner:
    is_async = inspect.iscoroutinefunction(function)

    async def run(args: Arguments, context: ToolContext) -> Any:
        values = model.model_validate(args)
        call = {name: getattr(values, field) for name, field in fields.items()}
        if context_name is not None:
            call[context_name] = context
        return await function(**call) if is_async else await asyncio.to_thread(function, **call)

    return run


def _pydantic_problems(model: type[BaseModel], args: Arguments) -> list[FieldProblem]:
    """What the function's own types refuse though the schema allows it (custom validators)."""
    try:
        model.model_validate(args)
    except ValidationError as refused:
        return [
            FieldProblem(written(fault["loc"]), fault["msg"].removeprefix("Value error, "))
            for fault in refused.errors()
        ]
    return []


def _marks(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, Ground]]:
    """Grounded markers, also inside nested models, as argument paths (`items[].sku`)."""
    for name, field in model.model_fields.items():
        path = prefix + (field.alias or name)
        for mark in field.metadata:
            if isinstance(mark, Grounded):
                yield path, mark.kind
        for nested, listed in _nested(field.annotation, ""):
            if nested is not model:
                yield from _marks(nested, f"{path}{listed}.")


def _nested(annotation: Any, listed: str) -> Iterator[tuple[type[BaseModel], str]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation, listed
        return
    origin = get_origin(annotation)
    if origin in (Union, UnionType, Annotated, list, tuple):
        for inner in get_args(annotation):
            yield from _nested(inner, listed + ("[]" if origin in (list, tuple) else ""))


def _check_names(spec: ToolSpec) -> None:
    """Guards and progress sentences speak of arguments that exist."""
    arguments = set(spec.parameters.get("properties", {}))
    for path in spec.grounded:
        _check_name(spec, path.split(".")[0].removesuffix("[]"), arguments, "grounded")
    for sentence in spec.progress.values():
        for _, field, _, _ in Formatter().parse(sentence):
            if field is not None:
                _check_name(spec, field.split(".")[0].split("[")[0], arguments, "progress")


def _check_name(spec: ToolSpec, name: str, arguments: set[str], where: str) -> None:
    if name not in arguments:
        raise DeclarationError(
            f"Tool {spec.name!r}: {where} names {name!r}, which is no argument of it"
            f" ({', '.join(sorted(arguments)) or 'it has none'})."
        )
