"""Time to the first streamed token of an answer, beside the model's own."""

from __future__ import annotations

import time
from statistics import median
from uuid import uuid4

from langchain_core.messages import AIMessageChunk, HumanMessage
from langchain_openai import ChatOpenAI

from bench.peer.contestants import PROMPT, Steward
from bench.peer.endpoint import Endpoint
from graph import AgentContext

QUESTIONS = (
    "Where is my parcel right now?",
    "我的快递到哪里了",
    "When will the parcel be delivered?",
    "包裹什么时候能送到",
)


async def first_tokens(steward: Steward, endpoint: Endpoint, turns: int) -> float:
    """Paired median, in seconds, of what Steward takes beyond the model's own time to its first token."""
    model = ChatOpenAI(
        model="chat",
        base_url=endpoint.url,
        api_key="bench",
        max_retries=0,
        stream_usage=True,  # type: ignore[arg-type]
    )
    thread_id = uuid4().hex
    beyond = []
    for turn in range(turns + 3):
        text = QUESTIONS[turn % len(QUESTIONS)]
        own = await _own(model, text)
        beyond.append(await _of_turn(steward, thread_id, text) - own)
    return median(beyond[3:])


async def _own(model: ChatOpenAI, text: str) -> float:
    began = time.perf_counter()
    first = 0.0
    async for chunk in model.astream([("system", PROMPT), ("user", text)]):
        if chunk.content and not first:
            first = time.perf_counter() - began
    return first


async def _of_turn(steward: Steward, thread_id: str, text: str) -> float:
    began = time.perf_counter()
    first = 0.0
    events = steward.agent.graph.astream(
        {"messages": [HumanMessage(text)]},
        {"configurable": {"thread_id": thread_id}},
        context=AgentContext(user_id=f"user of {thread_id}"),
        stream_mode="messages",
        durability="async",
    )
    async for message, _ in events:
        if not first and isinstance(message, AIMessageChunk) and message.content:
            first = time.perf_counter() - began
    assert first, "nothing was streamed"
    return first
