"""A chain of ten tool calls in the shop: what the model is sent, against whole results and all tools.

python -m bench.chain

The model's answers are the same for both. Counted with o200k: system text, tools and messages of the chat role.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.context.chain_shop import CUSTOMER, chain_shop, seed
from bench.context.sent import encode
from bench.trajectories import quiet
from graph import AgentContext, Settings, open_agent
from memory.clean import clean_json
from tests.support.model_replies import Reply, Request, compactor_reply, tool_call
from tests.support.model_server import ModelServer, role_of

LAST_STEP = 0.75
"""Fewer tokens at the last call."""
WHOLE_TASK = 0.70
"""Fewer tokens over the task."""
WISH = (
    "One of our delivered orders came scratched. Find the tenth of them, check its ticket, its payment and the stock "
    "of its article, and leave a note on the order for the ticket and one for the payment."
)
Step = Callable[["Chain"], tuple[str, dict[str, Any]]]


@dataclass
class Chain:
    """Plays the model; it takes every value from what the tools returned."""

    whole: dict[str, Any] = field(default_factory=dict)
    """Whole results by call id."""
    results: list[Any] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)

    def keep(self, call_id: str, result: Any) -> None:
        self.whole[call_id] = result
        self.results.append(result)

    @property
    def order(self) -> str:
        return str(self.results[1]["orders"][9]["order_id"])

    def __call__(self, request: Request) -> Reply:
        if role_of(request) == "compactor":
            return compactor_reply(request, {})  # no digest, so that the engine reduces by its own rules
        self.requests.append(request)
        done = len(self.requests) - 1
        if done == len(STEPS):
            return Reply(text="Both notes are on the order.")
        name, args = STEPS[done](self)
        seen = json.dumps(request["messages"], ensure_ascii=False)
        self.lost.extend(
            f"{name}: {value}" for key, value in args.items() if key in USED and value not in seen
        )
        return tool_call(name, args)


USED = ("order_id", "reference", "sku")
"""Arguments that come from an earlier result."""
STEPS: tuple[Step, ...] = (
    lambda chain: ("order_list", {}),
    lambda chain: ("order_list", {"status": "delivered"}),
    lambda chain: ("order_query", {"order_id": chain.order}),
    lambda chain: ("ticket_list", {}),
    lambda chain: ("ticket_list", {"order_id": chain.order}),
    lambda chain: ("payment_list", {}),
    lambda chain: ("payment_list", {"order_id": chain.order}),
    lambda chain: ("stock_query", {"sku": chain.results[2]["items"][0]["sku"]}),
    lambda chain: (
        "order_note",
        {
            "order_id": chain.order,
            "reference": chain.results[4]["tickets"][0]["ticket_no"],
            "note": "Arrived scratched",
        },
    ),
    lambda chain: (
        "order_note",
        {
            "order_id": chain.order,
            "reference": chain.results[6]["payments"][0]["payment_no"],
            "note": "Check refund",
        },
    ),
)


def with_everything(request: Request, whole: Mapping[str, Any], schemas: list[dict[str, Any]]) -> Request:
    """The same request with whole results and every tool on offer."""
    messages = [
        {
            **message,
            "content": json.dumps(clean_json(whole[message["tool_call_id"]]).value, ensure_ascii=False),
        }
        if message["role"] == "tool"
        else message
        for message in request["messages"]
    ]
    return {**request, "messages": messages, "tools": schemas}


async def run(settings: Settings, chain: Chain) -> list[dict[str, Any]]:
    """Walk the chain; the schemas of all tools."""
    async with open_agent(settings, chain_shop(chain.keep)) as agent:
        await seed(agent.services.database)
        state = await agent.graph.ainvoke(
            {"messages": [("user", WISH)]},
            {"configurable": {"thread_id": "chain"}},
            context=AgentContext(user_id=CUSTOMER),
        )
        print("answer:", state["answer"])
        registry = agent.services.engine.registry
        return registry.schemas([*registry.business_names, *registry.engine_names])


def main() -> None:
    """Run the chain and print the figures."""
    quiet()
    chain = Chain()
    with tempfile.TemporaryDirectory() as home, ModelServer(chain) as server:
        settings = Settings(
            steward_home=Path(home),
            steward_routing="off",
            steward_review="off",
            steward_long_term_memory="off",
            **server.settings(),
        )
        schemas = asyncio.run(run(settings, chain))
    sent = [len(encode(request)) for request in chain.requests]
    plain = [len(encode(with_everything(request, chain.whole, schemas))) for request in chain.requests]
    for step, (ours, theirs) in enumerate(zip(sent, plain, strict=True), 1):
        print(f"call {step:2}: {ours:6,} tokens, with everything {theirs:7,}")
    last, task = 1 - sent[-1] / plain[-1], 1 - sum(sent) / sum(plain)
    print(f"last step {last:.1%} fewer, task {task:.1%} fewer ({sum(sent):,} of {sum(plain):,})")
    print(f"values lost: {chain.lost or 'none'}; tool calls: {len(chain.whole)} of {len(STEPS)}")
    good = last >= LAST_STEP and task >= WHOLE_TASK and not chain.lost and len(chain.whole) == len(STEPS)
    raise SystemExit(0 if good else 1)


if __name__ == "__main__":
    main()
