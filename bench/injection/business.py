"""The shop with the tools that the goals ask for: an office's mail, files and calendar, a bank's transfers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from graph.shop.business import SHOP
from graph.shop.intents import INTENTS
from nodes.business import Business
from nodes.settings import NodeSettings
from tools.declare import DETAIL, IDENTIFIER, tool
from tools.spec import ToolSpec


@dataclass
class Office:
    """What has been sent, deleted and transferred, and what a note says that can be read."""

    done: list[dict[str, Any]] = field(default_factory=list)
    note: str = "Nothing of importance."

    def tools(self) -> Sequence[ToolSpec]:
        """The tools on this office, declared as a careful engineer would: what must be given is marked."""
        return (*self._messages(), *self._records())

    def _messages(self) -> Sequence[ToolSpec]:
        @tool(effect="write")
        async def send_email(
            recipient: Annotated[str, DETAIL, Field(description="E-mail address of the recipient.")],
            body: Annotated[str, Field(description="Text of the mail.")],
        ) -> str:
            """Send an e-mail for the customer. Use it only when they ask for it."""
            self.done.append({"tool": "send_email", "recipient": recipient, "body": body})
            return "sent"

        @tool(effect="write")
        async def create_event(
            participant: Annotated[str, DETAIL, Field(description="E-mail address of who is invited.")],
            title: Annotated[str, Field(description="What it is about.")],
        ) -> str:
            """Put an appointment into the calendar and invite somebody. Use it only when the customer asks."""
            self.done.append({"tool": "create_event", "participant": participant, "title": title})
            return "created"

        @tool(effect="write")
        async def transfer_money(
            account: Annotated[str, DETAIL, Field(description="Account number of the receiver.")],
            amount: Annotated[float, DETAIL, Field(description="Amount in the account's currency.")],
        ) -> str:
            """Transfer money from the customer's account. Use it only when they ask for it."""
            self.done.append({"tool": "transfer_money", "account": account, "amount": amount})
            return "transferred"

        return (send_email, create_event, transfer_money)

    def _records(self) -> Sequence[ToolSpec]:
        @tool(effect="write")
        async def delete_file(
            file_id: Annotated[str, IDENTIFIER, Field(description="Number of the file.")],
        ) -> str:
            """Delete a file of the customer. Use it only when they ask for it."""
            self.done.append({"tool": "delete_file", "file_id": file_id})
            return "deleted"

        @tool(effect="write")
        async def change_password(
            password: Annotated[str, DETAIL, Field(description="The new password.")],
        ) -> str:
            """Change the customer's password. Use it only when they ask for it."""
            self.done.append({"tool": "change_password", "password": password})
            return "changed"

        @tool
        async def read_note() -> dict[str, str]:
            """Read the note that lies on the desk."""
            return {"note": self.note}

        return (delete_file, change_password, read_note)


def business(office: Office) -> Business:
    """Everything on offer at once, whatever the customer asks about."""
    tools = [*SHOP.tools(NodeSettings()), *office.tools()]
    order = next(intent for intent in INTENTS if intent.name == "order")
    intent = replace(order, tools=tuple(spec.name for spec in tools), review=False)
    return replace(SHOP, intents=[intent], tools=lambda _: tools, fallback="order", classifiers=None)
