"""The relevance floor measured: what it keeps of what is right, and what it lets through where nothing fits.

    python -m bench.floor DATA_DIR [--floor 0.3 --floor 0.4 …]

Fifty facts a user (LoCoMo's fact layer) and the Chinese conversations, through the product's own
`memory.recall.recall`. Kept: of the right memories among the first five without a floor, the share that stays.
Let through: questions that fit nothing (other users' questions, small talk of `intent_routing`, small talk in
Chinese) that recall anything all the same.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import memory
from bench.recall import NOW, Dataset, Question, locomo_facts, memory_zh, read, store
from memory.database import Database, open_database
from memory.embeddings import Embedder, make_embedder
from memory.migrate import migrate
from memory.recall import DEFAULT_FLOOR, RecallRequest, recall
from memory.settings import MemorySettings

MEMORIES = 50
STRANGERS = 40
"""Questions of each kind that each user is asked and that fit nothing."""
SMALL_TALK = (
    "你好",
    "谢谢你",
    "今天天气怎么样",
    "给我讲个笑话",
    "你是谁",
    "你会做什么",
    "明天会下雨吗",
    "帮我写一首诗",
    "一加一等于几",
    "再见",
    "我好无聊",
    "唱首歌吧",
    "北京到上海多远",
    "现在几点了",
)


class Fits:
    """The best fit of each question, found with one recall each; floors are applied afterwards."""

    def __init__(self, database: Database, embedder: Embedder, run: str) -> None:
        self._database, self._embedder, self._run = database, embedder, run

    async def right(self, dataset: Dataset, question: Question) -> list[float]:
        """Fit of each right memory among the first five."""
        found = await self._recall(question.user, question.text)
        return [
            fit
            for key, fit in found
            if dataset.evidence_of.get((question.user, key), frozenset({key})) & question.evidence
        ]

    async def best(self, user: str, text: str) -> float:
        return max((fit for _, fit in await self._recall(user, text, k=MEMORIES)), default=0.0)

    async def _recall(self, user: str, text: str, k: int = 5) -> list[tuple[str, float]]:
        request = RecallRequest(f"{self._run}{user}", text, NOW, k=k, floor=None)
        return [(m.key, m.fit) for m in await recall(self._database, self._embedder, request)]


def sample(dataset: Dataset, chance: random.Random) -> Dataset:
    """Fifty memories a user."""
    kept = []
    for user in sorted({document.user for document in dataset.documents}):
        own = [document for document in dataset.documents if document.user == user]
        kept += chance.sample(own, min(MEMORIES, len(own)))
    return replace(dataset, documents=kept)


async def measure(
    database: Database,
    embedder: Embedder,
    dataset: Dataset,
    small_talk: Sequence[str],
    floors: Sequence[float],
) -> None:
    chance = random.Random(1)
    dataset = sample(dataset, chance)
    run = f"bench:{uuid4().hex}:"
    await store(database, embedder, run, dataset.documents)
    fits = Fits(database, embedder, run)
    users = sorted({document.user for document in dataset.documents})
    try:
        right = [fit for q in dataset.questions for fit in await fits.right(dataset, q)]
        strangers: list[float] = []
        talk: list[float] = []
        for user in users:
            others = [q.text for q in dataset.questions if q.user != user]
            asked = chance.sample(others, min(STRANGERS, len(others)))
            strangers += [await fits.best(user, text) for text in asked]
            asked = chance.sample(list(small_talk), min(STRANGERS, len(small_talk)))
            talk += [await fits.best(user, text) for text in asked]
    finally:
        await database.execute("DELETE FROM user_memory WHERE starts_with(user_id, %s)", (run,))
    print(f"\n{dataset.name}: {len(users)} users, {len(right)} right memories found")
    for floor in floors:
        print(
            f"  floor {floor:.2f}: kept {_share(right, floor)}, let through: questions of others "
            f"{_share(strangers, floor)}, small talk {_share(talk, floor)}"
        )


def _share(fits: Sequence[float], floor: float) -> str:
    return f"{100 * sum(fit >= floor for fit in fits) / max(len(fits), 1):5.1f} %"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--floor", type=float, action="append")
    arguments = parser.parse_args()
    floors = arguments.floor or [DEFAULT_FLOOR - 0.05, DEFAULT_FLOOR, DEFAULT_FLOOR + 0.05]
    english = [
        row["text"]
        for path in sorted((arguments.data / "intent_routing").glob("en_*.jsonl"))
        for row in read(path)
        if row["label"] == "chat"
    ]
    settings = MemorySettings()
    async with open_database(settings) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])
        embedder = make_embedder(settings)
        await measure(database, embedder, locomo_facts(arguments.data), english, floors)
        await measure(database, embedder, memory_zh(arguments.data), SMALL_TALK, floors)


if __name__ == "__main__":
    asyncio.run(main())
