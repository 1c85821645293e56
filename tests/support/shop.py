"""The shop under test: contexts for its tools, and a small loop that lets the demo model use them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from graph.shop.business import SHOP
from graph.shop.offline import offline_model
from memory.business_state import BusinessState
from memory.database import Database
from nodes.settings import NodeSettings
from tools.errors import BusinessError
from tools.registry import ToolRegistry
from tools.spec import Approval, ToolContext, ToolReply, ToolSpec

NOW = datetime(2024, 5, 27, 2, 0, tzinfo=UTC)
CUSTOMER = "user_123"
STRANGER = "user_200"
TOOLS: dict[str, ToolSpec] = {spec.name: spec for spec in SHOP.tools_for(NodeSettings())}
SCHEMAS = ToolRegistry(SHOP.tools_for(NodeSettings())).schemas(list(TOOLS))
_keys = count()


def context_for(
    database: Database, user_id: str = CUSTOMER, *, locale: str = "zh", key: str | None = None, **changes: Any
) -> ToolContext:
    """A tool's context; each has an idempotency key of its own unless one is given."""
    key = key or f"key-{next(_keys)}"
    values: dict[str, Any] = {
        "user_id": user_id,
        "locale": locale,
        "timezone": "Asia/Shanghai",
        "now": NOW,
        "thread_id": "thread",
        "turn_id": "turn",
        "call_id": key,
        "idempotency_key": key,
        "database": database,
        "state": BusinessState(database),
    }
    return ToolContext(**{**values, **changes})


async def approval_of(name: str, args: dict[str, Any], context: ToolContext) -> Approval | None:
    """Who would have to approve this call."""
    rule = TOOLS[name].approval
    return await rule(args, context) if callable(rule) else rule


@dataclass
class Conversation:
    """A customer talking to the demo model, with the shop's real tools; approvals are noted and granted."""

    database: Database
    locale: str = "zh"
    user_id: str = CUSTOMER
    memories: Sequence[str] = ()
    offered: Sequence[str] = tuple(TOOLS)
    messages: list[AnyMessage] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    approvals: list[Approval] = field(default_factory=list)

    async def say(self, words: str) -> str:
        """The answer to the customer's words; `calls` and `approvals` are those of this turn."""
        self.calls, self.approvals = [], []
        model = offline_model("chat", NodeSettings()).bind_tools(
            [s for s in SCHEMAS if s["function"]["name"] in self.offered]
        )
        start = len(self.messages)
        self.messages.append(HumanMessage(words))
        while True:
            lead = HumanMessage(f"{self._background()}\n\n<customer_message>\n{words}\n</customer_message>")
            reply = await model.ainvoke([*self.messages[:start], lead, *self.messages[start + 1 :]])
            assert isinstance(reply, AIMessage)
            self.messages.append(reply)
            if not reply.tool_calls:
                return reply.text
            assert len(self.calls) < 10, f"the model goes in circles: {self.calls}"
            for call in reply.tool_calls:
                self.calls.append((call["name"], call["args"]))
                envelope = await self._run(call["name"], call["args"])
                self.messages.append(
                    ToolMessage(json.dumps(envelope, ensure_ascii=False), tool_call_id=call["id"])
                )

    def _background(self) -> str:
        lines = ["<background>", "The current task is: looking up or changing an order."]
        if self.memories:
            lines += ["Remembered about this customer:", *(f"- {memory}" for memory in self.memories)]
        return "\n".join([*lines, "</background>"])

    async def _run(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
        context = context_for(self.database, self.user_id, locale=self.locale)
        approval = await approval_of(name, args, context)
        if approval:
            self.approvals.append(approval)
        try:
            data = await TOOLS[name].run(args, context)
        except BusinessError as error:
            return {"status": "error", "error_kind": error.kind, "error_desc": str(error)}
        return {"status": "ok", "data": data.data if isinstance(data, ToolReply) else data}
