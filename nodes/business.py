"""What a business declares so that the same graph serves it: intents, tools, checklists, words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from langchain_core.language_models import BaseChatModel

from memory.errors import ConfigurationError
from nodes.settings import NodeSettings, Role
from tools.spec import ToolSpec


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
    examples: tuple[str, ...] = ()
    """Utterances for the local classifier, in every language served."""

    def label_in(self, locale: str) -> str:
        return self.label.get(locale[:2]) or self.label.get("en") or self.name


@dataclass(frozen=True)
class Business:
    """A business on the engine. The shop (`graph/shop/`) is one."""

    name: str
    instructions: str
    """The part of the system message that never changes with the turn."""
    intents: Sequence[Intent]
    tools: Callable[[NodeSettings], Sequence[ToolSpec]]
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
    """Makes the demo model that plays a role when there is no endpoint."""

    def __post_init__(self) -> None:
        names = [intent.name for intent in self.intents]
        if len(set(names)) != len(names):
            raise ConfigurationError(
                f"Business {self.name}: two intents share a name in {names}; rename one."
            )
        if self.fallback not in names:
            raise ConfigurationError(
                f"Business {self.name}: fallback intent {self.fallback!r} is not among {names}; declare it."
            )

    def intent(self, name: str) -> Intent:
        """The intent of that name; KeyError where there is none."""
        for intent in self.intents:
            if intent.name == name:
                return intent
        raise KeyError(name)
