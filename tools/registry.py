"""All tools of a business, checked at start-up: what would confuse a model is refused there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from tools.errors import DeclarationError
from tools.names import meant, nearest, protocol_names
from tools.openai_strict import strict as strict_schema
from tools.schema import closed, for_model
from tools.spec import EVERY_INTENT, ToolSpec

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class UnknownTool:
    """A written name that no offered tool answers to."""

    written: str
    nearest: tuple[str, ...]
    text: str
    """For the model."""


class ToolRegistry:
    """Tools by name, in the order of declaration.

    `specs` are the business's own: a fault raises DeclarationError. `brought` come from elsewhere (MCP): a
    faulty one is left out with a warning, as is one whose name is taken. Those of a server that is reached
    later join with `bring`.
    """

    def __init__(self, specs: Iterable[ToolSpec], brought: Iterable[ToolSpec] = ()) -> None:
        self._specs: dict[str, ToolSpec] = {}
        self._sources: dict[str, dict[str, ToolSpec]] = {}
        for spec in specs:
            if fault := self._fault(spec):
                raise DeclarationError(f"Tool {spec.name!r}: {fault}")
            self._specs[spec.name] = spec
        self._business = dict(self._specs)
        self.bring("", brought)

    def bring(self, source: str, specs: Iterable[ToolSpec]) -> None:
        """The tools that `source` (a server) has now, in place of those that it brought before.

        Their order among the sources is that of the sources' names, whichever was reached first.
        """
        self._sources.pop(source, None)
        self._gather()
        taken: dict[str, ToolSpec] = {}
        for spec in specs:
            if fault := self._fault(spec):
                log.warning("tool left out", tool=spec.name, fault=fault)
                continue
            self._specs[spec.name] = taken[spec.name] = spec
        self._sources[source] = taken
        self._gather()

    def _gather(self) -> None:
        self._specs = dict(self._business)
        for _, specs in sorted(self._sources.items()):
            self._specs.update(specs)
        self._protocol = protocol_names(self._specs)
        self._own = {protocol: own for own, protocol in self._protocol.items()}
        self._shown: dict[tuple[str, bool], dict[str, Any]] = {}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def __len__(self) -> int:
        return len(self._specs)

    def __contains__(self, name: object) -> bool:
        return name in self._specs or name in self._own

    @property
    def business_names(self) -> tuple[str, ...]:
        """Own names of the business's tools, in order."""
        return tuple(spec.name for spec in self if not spec.engine)

    @property
    def engine_names(self) -> tuple[str, ...]:
        """Own names of the engine's tools, in order; they are offered beside the business's."""
        return tuple(spec.name for spec in self if spec.engine)

    def brought_by(self, source: str) -> tuple[str, ...]:
        """Own names of the tools that this source brought."""
        return tuple(self._sources.get(source, ()))

    def offered_by(self, intent: str) -> tuple[str, ...]:
        """Own names of the tools that ask this intent to offer them, beside those that it lists."""
        return tuple(spec.name for spec in self if intent in spec.intents or EVERY_INTENT in spec.intents)

    def get(self, name: str) -> ToolSpec | None:
        """By its own name, or by the name that the model knows it by."""
        return self._specs.get(name) or self._specs.get(self._own.get(name, ""))

    def protocol_name(self, name: str) -> str:
        """What the model calls the tool of this own name. Raises KeyError."""
        return self._protocol[name]

    def schemas(self, names: Collection[str], *, strict: bool = False) -> list[dict[str, Any]]:
        """The tools as the model is shown them, in OpenAI's function format.

        The order is that of declaration and the content always the same, so that the provider's prompt cache
        hits. With `strict`, a tool whose schema does not fit OpenAI's strict rules goes without the flag.
        """
        wanted = {spec.name for name in names if (spec := self.get(name))}
        return [self._schema(spec, strict) for spec in self if spec.name in wanted]

    def resolve(self, written: str, offered: Collection[str]) -> ToolSpec | UnknownTool:
        """The tool that a written name means among those offered; decorated names where exactly one fits."""
        names = {spec.name: self._protocol[spec.name] for name in offered if (spec := self.get(name))}
        own = meant(written, names)
        return self._specs[own] if own is not None else _unknown(written, names)

    def _schema(self, spec: ToolSpec, strict: bool) -> dict[str, Any]:
        key = (spec.name, strict)
        if key not in self._shown:
            function: dict[str, Any] = {
                "name": self._protocol[spec.name],
                "description": spec.description,
                "parameters": for_model(closed(dict(spec.parameters))),
            }
            if strict and (parameters := strict_schema(function["parameters"])) is not None:
                function |= {"parameters": parameters, "strict": True}
            self._shown[key] = {"type": "function", "function": function}
        return self._shown[key]

    def _fault(self, spec: ToolSpec) -> str | None:
        if spec.name in self._specs:
            return "another tool has the same name. Rename one of them."
        if not spec.name.strip():
            return "it has no name. Give it one."
        if not spec.description.strip():
            return "it has no description. Say what it does and when to use it."
        undocumented = [
            name for name, field in spec.parameters.get("properties", {}).items() if not _documented(field)
        ]
        if undocumented:
            listed = ", ".join(map(repr, undocumented))
            return f"undocumented arguments: {listed}. Describe each: what it is, what it looks like."
        return None


def _documented(field: object) -> bool:
    return isinstance(field, Mapping) and bool(str(field.get("description") or "").strip())


def _unknown(written: str, names: Mapping[str, str]) -> UnknownTool:
    close = tuple(names[own] for own in nearest(written, names))
    text = f"There is no tool named {written[:100]!r}."
    if close:
        text += f" Did you mean {' or '.join(close)}?"
    offered = ", ".join(names.values())
    text += f" Tools you can call: {offered}." if offered else " No tool can be called now."
    return UnknownTool(written, close, text)
