"""A session of 200 turns: prompt tokens stay level, and what was said at its beginning is still there.

python -m bench.session [--context-tokens N]

Thirty facts are said in the first ten turns. A scripted summariser copies the facts of what it is given, 400 tokens
at most. Counted with o200k: tools and messages of the chat role's requests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean

from bench.context.sent import encode
from bench.trajectories import quiet
from graph import AgentContext, Settings, open_agent
from memory.tokens import count, cut
from tests.support.model_replies import Reply, Request, compactor_reply, summariser_reply
from tests.support.model_server import ModelServer, role_of

MOST_GROWTH = 1.1
EARLY, LATE = (41, 60), (181, 200)
FOLDED_BEFORE = 20
SUMMARY_TOKENS = 400
FACTS = [f"gate {n} opens with {(n * 7919) % 90000 + 10000}" for n in range(1, 31)]
LEAST_KEPT = 28
_FACT = re.compile(r"gate \d+ opens with \d+")
_WISHES = (
    "请问昨天说的那批陶瓷杯,什么时候能再补货?我们门店周末要做活动,需要提前安排人手和货架。",
    "Could you tell me which of the mugs can go into the dishwasher, and whether the lids are sold separately? "
    "A colleague asked me and I could not find it on the page.",
    "我想了解一下发票可以开成什么抬头,是不是每个月统一开一次,还是每个订单单独开?",
    "Is there a difference between the two delivery windows in the afternoon, apart from the hour? Our receiving "
    "desk closes at five and we would like to be safe.",
)
_ANSWERS = (
    "预计下周三补货,到货后我们会按您登记的门店顺序安排发出,您可以提前一天在系统里查看具体的配送时段。",
    "All glazed mugs are dishwasher safe; the bamboo lids are not, and they are sold separately in packs of four "
    "under the same page as the mug they belong to.",
)


@dataclass
class Session:
    """Plays the chat model and the summariser."""

    by_turn: list[list[Request]] = field(default_factory=list)
    folds: list[int] = field(default_factory=list)
    """Turns after which history was folded."""

    def __call__(self, request: Request) -> Reply:
        role = role_of(request)
        if role == "summariser":
            self.folds.append(len(self.by_turn))
            facts = dict.fromkeys(_FACT.findall(request["messages"][-1]["content"]))
            return summariser_reply(request, cut("; ".join(facts) or "small talk", SUMMARY_TOKENS))
        if role == "compactor":
            return compactor_reply(request, {})
        self.by_turn[-1].append(request)
        turn = len(self.by_turn)
        return Reply(text=f"({turn}) {_ANSWERS[turn % len(_ANSWERS)]}")


def words(turn: int) -> str:
    """What the customer says: three facts in each of the first ten turns, questions throughout."""
    told = FACTS[3 * (turn - 1) : 3 * turn] if turn <= len(FACTS) // 3 else []
    return f"{turn}. {_WISHES[turn % len(_WISHES)]} {'; '.join(told)}".strip()


async def run(settings: Settings, session: Session, turns: int) -> None:
    async with open_agent(settings) as agent:
        for turn in range(1, turns + 1):
            session.by_turn.append([])
            await agent.graph.ainvoke(
                {"messages": [("user", words(turn))]},
                {"configurable": {"thread_id": "session"}},
                context=AgentContext(user_id="u1"),
            )
            await agent.worker.drain(timeout=20)


def tokens(session: Session, first: int, last: int) -> float:
    """Mean prompt tokens of a turn, of the turns from first to last."""
    return mean(sum(len(encode(r)) for r in requests) for requests in session.by_turn[first - 1 : last])


def report(session: Session, sizes: Sequence[int]) -> bool:
    early, late = tokens(session, *EARLY), tokens(session, *LATE)
    seen = json.dumps(session.by_turn[-1][-1]["messages"], ensure_ascii=False)
    kept = [fact for fact in FACTS if fact in seen]
    growth = late / early
    print("prompt tokens at turns 1, 20, 40, …:", ", ".join(f"{size:,}" for size in sizes))
    print(
        f"folded {len(session.folds)} times, first after turn {session.folds[0] if session.folds else 'none'}"
    )
    print(
        f"mean of turns {EARLY[0]}-{EARLY[1]}: {early:,.0f}; of {LATE[0]}-{LATE[1]}: {late:,.0f} ({growth:.2f})"
    )
    print(f"facts sent at the last turn: {len(kept)} of {len(FACTS)}")
    begun = bool(session.folds) and session.folds[0] < FOLDED_BEFORE
    return begun and growth <= MOST_GROWTH and len(kept) >= LEAST_KEPT


def main() -> None:
    """Hold the session and print the figures."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--context-tokens", type=int, default=5000)
    arguments = parser.parse_args()
    quiet()
    assert count("; ".join(FACTS)) <= SUMMARY_TOKENS, "the facts fit into a summary"
    session = Session()
    with tempfile.TemporaryDirectory() as home, ModelServer(session) as server:
        settings = Settings(
            steward_home=Path(home),
            steward_routing="off",
            steward_review="off",
            steward_long_term_memory="off",
            steward_context_tokens=arguments.context_tokens,
            steward_answer_tokens=500,
            **server.settings(),
        )
        asyncio.run(run(settings, session, LATE[1]))
    sizes = [len(encode(session.by_turn[max(turn - 1, 0)][-1])) for turn in range(0, LATE[1] + 1, 20)]
    raise SystemExit(0 if report(session, sizes) else 1)


if __name__ == "__main__":
    main()
