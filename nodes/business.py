"""What a business declares so that the same graph serves it: intents, tools, checklists, words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from memory.errors import ConfigurationError
from nodes.evaluation import Evaluation
from nodes.settings import NodeSettings, Role
from tools.spec import ToolSpec

NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
TAKEN = frozenset(
    {"graph", "nodes", "tools", "memory", "extension", "langgraph", "checkpoint_index", "procrastinate"}
)
"""Names under which other migrations than a business's are recorded."""


@dataclass(frozen=True)
class StateWords:
    """How a state of the business's objects is put into words, and which states it implies."""

    words: tuple[str, ...]
    """In every language served. A word with 已 also stands for its other forms (已签收: 已于5月20日签收, 签收成功,
    尚未签收); `…` stands for a few words between."""
    implies: tuple[str, ...] = ()


@dataclass(frozen=True)
class Intent:
    """One kind of request: how it is recognised, served, reviewed and remembered."""

    name: str
    description: str
    """For the router model: what belongs here and what does not."""
    priority: int = 0
    """When a message carries several intents, the highest leads."""
    label: Mapping[str, str] = field(default_factory=dict)
    """What a customer would call it, by language; used when the agent has to ask."""
    instructions: str = ""
    """Joined to the turn's background; how this kind of request is served."""
    tools: tuple[str, ...] = ()
    review: bool = False
    checklist: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    """Values that a reviewed answer has to state when a tool gave them: `tool.field`."""
    answer_words: tuple[str, ...] = ()
    """Words of which any answer to such a request holds at least one; none: not checked."""
    memory_domains: tuple[str, ...] = ()
    advises: bool = False
    """Whether answers recommend something: allergies, illnesses and the like are heeded then, whatever was asked."""
    examples: tuple[str, ...] = ()
    """Utterances for the local classifier, in every language served."""

    def label_in(self, locale: str) -> str:
        return self.label.get(locale[:2]) or self.label.get("en") or self.name


@dataclass(frozen=True)
class Business:
    """A business on the engine. The shop (`graph/shop/`) is one, the clinic (`examples/clinic/`) another."""

    name: str
    """Lower-case letters, digits and underscores. Its records in the database are kept under it: never change it."""
    instructions: str
    """The part of the system message that never changes with the turn."""
    intents: Sequence[Intent]
    tools: Sequence[ToolSpec] | Callable[[NodeSettings], Sequence[ToolSpec]]
    """Or a function of the settings that makes them."""
    fallback: str = "chat"
    """Intent taken when nothing else fits."""
    version: str = "1"
    migrations: Path | None = None
    """Folder of numbered `.sql` files: the business's own tables and seed data."""
    classifiers: Path | None = None
    """Folder of classifiers trained ahead on the intents' examples; without one the first process trains its own."""
    documents: Path | None = None
    """Folder of `.md` files served by `knowledge_search`."""
    states: Mapping[str, StateWords] = field(default_factory=dict)
    """States that its tools' results carry (`in_transit`), so that a review can tell a wrong one."""
    offline: Callable[[Role, NodeSettings], BaseChatModel] | None = None
    """Makes the demo model that plays a role when there is no endpoint; without one a model that knows no rules."""
    evaluation: Evaluation | None = None
    """Conversations that `steward eval` tries."""

    def __post_init__(self) -> None:
        if not NAME.fullmatch(self.name) or self.name in TAKEN:
            raise ConfigurationError(
                f"A business cannot be called {self.name!r}: use up to 40 lower-case letters, digits and underscores, "
                f"beginning with a letter, and none of {', '.join(sorted(TAKEN))}."
            )
        names = [intent.name for intent in self.intents]
        if len(set(names)) != len(names):
            raise ConfigurationError(
                f"Business {self.name}: two intents share a name in {names}; rename one."
            )
        if self.fallback not in names:
            raise ConfigurationError(
                f"Business {self.name}: fallback intent {self.fallback!r} is not among {names}; declare it."
            )

    def tools_for(self, settings: NodeSettings) -> Sequence[ToolSpec]:
        """Its tools, as these settings make them."""
        return self.tools(settings) if callable(self.tools) else self.tools

    def intent(self, name: str) -> Intent:
        """The intent of that name; KeyError where there is none."""
        for intent in self.intents:
            if intent.name == name:
                return intent
        raise KeyError(name)
