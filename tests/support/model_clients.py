"""The client side for tests of model requests: models that ask a scripted server, and somebody who watches."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from nodes.business import Business, Intent
from nodes.models import Backoff, Models
from nodes.settings import NodeSettings
from tests.support.model_server import ModelServer

QUICK = Backoff(attempts=4, first=0.01, most=0.05, patience=0.3)
BUSINESS = Business("test", "Help.", [Intent("chat", "Anything.")], tools=lambda _: [])
QUESTION: list[BaseMessage] = [SystemMessage("You help."), HumanMessage("我的订单到哪里了？")]
TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "order_query",
        "description": "Looks an order up.",
        "parameters": {"type": "object", "properties": {"order_id": {"type": "string"}}},
    },
}


@asynccontextmanager
async def models_for(
    server: ModelServer, *, backoff: Backoff = QUICK, **settings: Any
) -> AsyncIterator[Models]:
    """Models whose every role asks the server."""
    values = {**server.settings(), **settings}
    models = Models(NodeSettings(_env_file=None, **values), BUSINESS, backoff=backoff)
    await models.warm()
    try:
        yield models
    finally:
        await models.aclose()


def within(seconds: float) -> float:
    """A deadline so far from now."""
    return time.time() + seconds


class Watcher:
    """A text sink that notes what it was fed, message by message."""

    def __init__(self) -> None:
        self.messages: dict[str, str] = {"m1": ""}
        self.void: list[str] = []

    @property
    def message_id(self) -> str:
        return list(self.messages)[-1]

    @property
    def shown(self) -> str:
        """The message that stands."""
        return self.messages[self.message_id]

    def feed(self, text: str) -> None:
        self.messages[self.message_id] += text

    def restart(self) -> None:
        if self.shown:
            self.void.append(self.message_id)
            self.messages[f"m{len(self.messages) + 1}"] = ""
