"""A small size of `bench.conflicts`: statements through queue, worker and Postgres."""

from __future__ import annotations

from bench.conflicts.play import play, read_cases
from memory.database import Database
from memory.embeddings import LocalEmbedder


async def test_of_conflicting_statements_the_right_ones_are_valid(
    database: Database, embedder: LocalEmbedder
) -> None:
    cases = read_cases("cases.jsonl")[::14]
    outcomes = await play(database, embedder, cases)
    assert [outcome for outcome in outcomes if not outcome.is_right] == []
