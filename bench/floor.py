"""The relevance floor measured: what it keeps of what is right, and what it lets through where nothing fits.

    python -m bench.floor DATA_DIR [--floor 0.3 --floor 0.4 …] [--draw N]

Fifty memories a user, through the product's own `memory.recall.recall`: LoCoMo's facts and its turns (English),
MemoryBank's turns (Chinese). Kept: of the right memories among the first five without a floor, the share that stays.
Let through: questions that fit nothing (other users' questions, small talk and out-of-scope rows of
`intent_routing`, small talk in Chinese) that recall anything all the same. Each figure is given for all users and for
the two halves of them. `--draw` takes other memories and other questions; constants were chosen on draws 1 and 2.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import memory
from bench.recall import NOW, Dataset, Question, locomo, locomo_facts, memory_zh, read, store
from memory.database import Database, open_database
from memory.embeddings import Embedder, make_embedder
from memory.migrate import migrate
from memory.recall import DEFAULT_FLOOR, RecallRequest, recall
from memory.settings import MemorySettings

MEMORIES = 50
STRANGERS = 40
"""Questions of each kind that each user is asked and that fit nothing."""
SMALL_TALK = (
    "你好", "谢谢你", "今天天气怎么样", "给我讲个笑话", "你是谁", "你会做什么", "明天会下雨吗", "帮我写一首诗",
    "一加一等于几", "再见", "我好无聊", "唱首歌吧", "北京到上海多远", "现在几点了", "你是机器人吗", "你几岁了",
    "今天是几号", "把这句话翻译成英文", "世界上最高的山是哪座", "帮我算一下百分之十五是多少", "早上好", "晚安",
    "你能听懂我说话吗", "换个话题吧", "转人工", "今天有什么新闻", "美元汇率是多少", "怎么连不上无线网",
    "哈哈哈", "好的没问题", "嗯嗯", "太棒了", "你真聪明", "抛个硬币", "提醒我十分钟后关火", "设一个七点的闹钟",
    "附近有加油站吗", "现在路上堵不堵", "怎么换轮胎", "一年有多少个星期",
)  # fmt: skip


@dataclass
class Fits:
    """The best fit of each question of one user; floors are applied afterwards."""

    right: list[float] = field(default_factory=list)
    """Of each right memory among the first five."""
    strangers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Of the best memory for each question that fits nothing, by kind."""


@dataclass(frozen=True)
class Asker:
    """Asks one user's memories."""

    database: Database
    embedder: Embedder
    user: str

    async def __call__(self, text: str, k: int) -> list[tuple[str, float]]:
        request = RecallRequest(self.user, text, NOW, k=k, floor=None)
        return [(m.key, m.fit) for m in await recall(self.database, self.embedder, request)]


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
    small_talk: Mapping[str, Sequence[str]],
    floors: Sequence[float],
    draw: int,
) -> None:
    chance = random.Random(draw)
    dataset = sample(dataset, chance)
    run = f"bench:{uuid4().hex}:"
    await store(database, embedder, run, dataset.documents)
    users = sorted({document.user for document in dataset.documents})
    try:
        fits = []
        for user in users:
            others = [question.text for question in dataset.questions if question.user != user]
            nothing = {"questions of others": others, **small_talk}
            asked = {
                kind: chance.sample(texts, min(STRANGERS, len(texts))) for kind, texts in nothing.items()
            }
            own = [question for question in dataset.questions if question.user == user]
            fits.append(await _fits(Asker(database, embedder, f"{run}{user}"), dataset, own, asked))
    finally:
        await database.execute("DELETE FROM user_memory WHERE starts_with(user_id, %s)", (run,))
    print(
        f"\n{dataset.name}: {len(users)} users, {sum(len(of_user.right) for of_user in fits)} right memories found"
    )
    for floor in floors:
        for name, half in (("all", fits), ("users 1, 3, …", fits[::2]), ("users 2, 4, …", fits[1::2])):
            print(f"  floor {floor:.2f}  {name:14} {_line(half, floor)}")


async def _fits(
    ask: Asker, dataset: Dataset, own: Sequence[Question], strangers: Mapping[str, Sequence[str]]
) -> Fits:
    fits = Fits()
    for question in own:
        for key, fit in await ask(question.text, 5):
            if dataset.evidence_of.get((question.user, key), frozenset({key})) & question.evidence:
                fits.right.append(fit)
    for kind, texts in strangers.items():
        for text in texts:
            fits.strangers[kind].append(max((fit for _, fit in await ask(text, MEMORIES)), default=0.0))
    return fits


def _line(fits: Sequence[Fits], floor: float) -> str:
    kept = _share([fit for of_user in fits for fit in of_user.right], floor)
    through = [
        f"{kind} {_share([fit for of_user in fits for fit in of_user.strangers[kind]], floor)}"
        for kind in fits[0].strangers
    ]
    return f"kept {kept}, let through: {', '.join(through)}"


def _share(fits: Sequence[float], floor: float) -> str:
    return f"{100 * sum(fit >= floor for fit in fits) / max(len(fits), 1):5.1f} %"


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--floor", type=float, action="append")
    parser.add_argument("--draw", type=int, default=1)
    arguments = parser.parse_args()
    floors = arguments.floor or [DEFAULT_FLOOR]
    english = [
        row["text"]
        for path in sorted((arguments.data / "intent_routing").glob("en_*.jsonl"))
        for row in read(path)
        if row["label"] == "chat"
    ]
    small_talk = {"English small talk": english, "Chinese small talk": SMALL_TALK}
    settings = MemorySettings()
    async with open_database(settings) as database:
        await migrate(database, [("memory", Path(str(memory.__file__)).parent / "migrations")])
        embedder = make_embedder(settings)
        for dataset in (locomo_facts, locomo, memory_zh):
            await measure(database, embedder, dataset(arguments.data), small_talk, floors, arguments.draw)


if __name__ == "__main__":
    asyncio.run(main())
