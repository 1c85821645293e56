"""`handoff_to_human`, ready to be declared by any business: the conversation goes to a colleague (O7)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tools.declare import tool
from tools.spec import ToolContext, ToolReply


@tool(
    engine=True,
    effect="write",
    repeatable=True,  # it only asks the graph; asking twice is the same as asking once
    progress={"zh": "正在转接人工客服", "en": "handing over to a colleague"},
)
async def handoff_to_human(
    context: ToolContext,
    reason: Annotated[
        str,
        Field(description="Why a person is needed, in one sentence.", min_length=1, max_length=300),
    ],
    summary: Annotated[
        str,
        Field(
            description="What the colleague needs to know: what the customer wants, what has been done, the numbers it "
            "concerns.",
            min_length=1,
            max_length=1000,
        ),
    ],
) -> ToolReply:
    """Hand the conversation over to a human colleague. Use it when the customer asks for a person, is very upset, or
    needs what no other tool can do. Tell the customer that a colleague takes over; nothing else can be done after."""
    return ToolReply({"handed_over": True}, {"handoff": {"reason": reason, "summary": summary}})
