"""What a node is given beside the state: the services of this event loop and the frame of this run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig

from nodes.business import Business
from nodes.context import AgentContext
from nodes.overrides import PromptName
from nodes.prompting import load_prompt
from nodes.settings import NodeSettings
from nodes.state import AgentState

if TYPE_CHECKING:
    from memory.database import Database
    from memory.embeddings import Embedder
    from memory.leases import ThreadLeases
    from memory.queue import MemoryQueue
    from nodes.classifier import LocalRouter
    from nodes.models import Models
    from nodes.usage import UsageLedger
    from nodes.versions import Served
    from tools.engine import ToolEngine


@dataclass(frozen=True)
class Services:
    """Connections and clients, made once an event loop for one business and one set of settings."""

    settings: NodeSettings
    business: Business
    database: Database
    embedder: Embedder
    models: Models
    engine: ToolEngine
    queue: MemoryQueue
    usage: UsageLedger
    leases: ThreadLeases
    classifier: LocalRouter | None
    """None where the local router is switched off."""
    served: Served
    """Versions of business and prompts."""


@dataclass(frozen=True)
class Run:
    """One node's view of the run it belongs to."""

    services: Services
    context: AgentContext
    thread_id: str
    config: RunnableConfig
    emit: Callable[[dict[str, Any]], None]
    """Sends a custom stream event."""
    after_job: int | None = None
    """The newest memory job when the run began; None where no thread was held for it."""

    @property
    def settings(self) -> NodeSettings:
        return self.services.settings

    @property
    def business(self) -> Business:
        return self.services.business

    def prompt(self, name: PromptName) -> str:
        """The role's prompt, as the run has edited it or as the file has it; its places are still to be filled."""
        edited = self.context.prompt(name)
        return load_prompt(name) if edited is None else edited

    def now(self) -> datetime:
        """The time, in UTC; the context's clock where it has one."""
        return self.context.now.astimezone(UTC) if self.context.now else datetime.now(UTC)


Node = Callable[[AgentState, Run], Awaitable[AgentState]]
