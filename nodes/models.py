"""The chat models behind the roles: an OpenAI-compatible endpoint's, or the business's offline demo model."""

from __future__ import annotations

import asyncio
import copy
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cachetools import LRUCache
from langchain_core.language_models import BaseChatModel
from pydantic import SecretStr

from memory.errors import ConfigurationError
from nodes.business import Business
from nodes.model_quirks import ModelQuirks
from nodes.settings import ROLES, NodeSettings, Role

if TYPE_CHECKING:
    from openai import DefaultAsyncHttpxClient

OFFLINE = "offline-demo"
"""Name of the demo model in metadata and ledger."""


@dataclass(frozen=True)
class Backoff:
    """How a failing model is tried again. Times in seconds; each wait is drawn at random below its bound."""

    attempts: int = 5
    small_role_attempts: int = 2
    """For the roles whose failure costs little: nobody should wait for them."""
    first: float = 0.5
    """Bound of the first wait; it doubles up to `most`."""
    most: float = 8.0
    patience: float = 5.0
    """A longer wait than this is not made while another model is left to ask."""

    def attempts_of(self, role: Role) -> int:
        return self.attempts if role == "chat" else self.small_role_attempts


class Models:
    """One event loop's models, made when first needed, with what was learned about each."""

    def __init__(self, settings: NodeSettings, business: Business, *, backoff: Backoff | None = None) -> None:
        if settings.offline and business.offline is None:
            raise ConfigurationError(
                f"Business {business.name} has no offline demo model; set OPENAI_API_KEY or OPENAI_BASE_URL."
            )
        self.settings = settings
        self.backoff = backoff or Backoff()
        self.reasoning: LRUCache[str, str] = LRUCache(maxsize=2000)
        """Reasoning text by message id, for models that demand it back. Never leaves the process otherwise."""
        self._business = business
        self._chats: dict[str, BaseChatModel] = {}
        self._quirks: dict[str, ModelQuirks] = {}
        self._client: DefaultAsyncHttpxClient | None = None

    def under(self, settings: NodeSettings) -> Models:
        """The same connections, and what was learned about each model, under settings of one run."""
        view = copy.copy(self)
        view.settings = settings
        return view

    async def warm(self) -> None:
        """Load and build everything outside the event loop, so that the first turn does not pay for it."""
        await asyncio.to_thread(lambda: [self.chat(role, self.names(role)[0]) for role in ROLES])

    async def aclose(self) -> None:
        """Close the connections to the endpoint."""
        if self._client is not None:
            await self._client.aclose()

    def names(self, role: Role) -> tuple[str, ...]:
        """The models to ask for a role, in order. Only the chat role falls back: the others can be done without."""
        if self.settings.offline:
            return (OFFLINE,)
        fallback = self.settings.fallback_models if role == "chat" else ()
        return tuple(dict.fromkeys((self.settings.model_name(role), *fallback)))

    def quirks(self, name: str) -> ModelQuirks:
        return self._quirks.setdefault(name, ModelQuirks())

    def chat(self, role: Role, name: str) -> BaseChatModel:
        """The chat model of that name."""
        key = role if self.settings.offline else name
        if key not in self._chats:
            self._chats[key] = self._offline(role) if self.settings.offline else self._endpoint(name)
        return self._chats[key]

    def _offline(self, role: Role) -> BaseChatModel:
        assert self._business.offline is not None, "checked when this was made"
        return self._business.offline(role, self.settings)

    def _endpoint(self, name: str) -> BaseChatModel:
        from openai import DefaultAsyncHttpxClient  # these two cost a second: not for the offline model

        from nodes.openai_chat import EndpointChat

        if self._client is None:
            # A client of our own: LangChain's default one is shared by all event loops of the process.
            self._client = DefaultAsyncHttpxClient(proxy=os.environ.get("OPENAI_PROXY") or None)
        return EndpointChat(
            model=name,
            api_key=self.settings.openai_api_key or SecretStr("not-needed"),
            base_url=self.settings.openai_base_url,
            http_async_client=self._client,
            openai_proxy="",
            max_retries=0,
            stream_usage=True,
            use_responses_api=False,
        )
