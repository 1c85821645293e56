"""A small size of `bench.conflicts`: statements through queue, worker and Postgres."""

from __future__ import annotations

from collections.abc import Sequence

from bench.conflicts.play import play, read_cases
from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.extraction import Exchange, MemoryItem
from memory.queue import MemoryQueue
from memory.settings import MemorySettings
from memory.store import list_memories
from memory.worker import Worker
from tests.support.memory import ScriptedExtractor, ScriptedSummariser, exchange, literal


async def test_of_conflicting_statements_the_right_ones_are_valid(
    database: Database, embedder: LocalEmbedder
) -> None:
    cases = read_cases("cases.jsonl")[::14]
    outcomes = await play(database, embedder, cases)
    assert [outcome for outcome in outcomes if not outcome.is_right] == []


async def test_a_memory_that_the_extractor_names_as_replaced_is_found_among_many_that_are_nearer(
    database: Database, embedder: LocalEmbedder
) -> None:
    def script(turn: Exchange) -> Sequence[MemoryItem]:
        items = literal(turn)
        if turn.turn_id != "last":
            return items
        return [item.model_copy(update={"replaces": "Evening Ritual"}) for item in items]

    others = "\n".join(
        f"run_{number} = Runs {number} km in the park on trail {number}" for number in range(20)
    )
    worker = Worker(
        database,
        embedder,
        ScriptedExtractor(script),
        ScriptedSummariser(),
        MemorySettings(_env_file=None),
    )
    queue = MemoryQueue(database)
    await queue.enqueue_turn(exchange(f"evening_ritual = Reads novels in bed\n{others}", turn="first"))
    await worker.drain(timeout=10)
    await queue.enqueue_turn(exchange("relaxing = Runs in the park and reads nothing", turn="last"))
    await worker.drain(timeout=10)
    valid = {memory.key: memory.content for memory in await list_memories(database, "user_123")}
    assert len(valid) == 21
    assert valid["evening_ritual"] == "Runs in the park and reads nothing"


async def test_of_many_memories_the_extractor_is_shown_those_that_what_was_said_may_replace(
    database: Database, embedder: LocalEmbedder
) -> None:
    extractor = ScriptedExtractor()
    worker = Worker(database, embedder, extractor, ScriptedSummariser(), MemorySettings(_env_file=None))
    queue = MemoryQueue(database)
    await queue.enqueue_turn(exchange("shoe_size = Wears size 42 shoes", turn="first"))
    await worker.drain(timeout=10)
    others = "\n".join(
        f"note_{number} = Remark {number} on the garden of house {number}" for number in range(60)
    )
    await queue.enqueue_turn(exchange(others, turn="second"))
    await worker.drain(timeout=10)
    await queue.enqueue_turn(exchange("my shoes are size 43 now", turn="third"))
    await worker.drain(timeout=10)
    assert "shoe_size" in extractor.shown[-1]
    assert len(extractor.shown[-1]) == len(set(extractor.shown[-1])) <= 60
