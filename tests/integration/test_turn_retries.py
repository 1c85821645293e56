"""Under 429 nobody multiplies anybody's retries, and a conversation's storage grows with what was said (O1, G6)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from memory.database import Database
from tests.support.model_replies import Reply, Request, rate_limited
from tests.support.model_server import ModelServer, role_of
from tests.support.turns import talking

STORED = """
SELECT (SELECT coalesce(sum(length(blob)), 0) FROM checkpoint_blobs)
     + (SELECT coalesce(sum(length(blob)), 0) FROM checkpoint_writes)
     + (SELECT coalesce(sum(length(checkpoint::text) + length(metadata::text)), 0) FROM checkpoints) AS bytes
"""


async def test_an_endpoint_that_only_says_429_is_asked_by_one_owner_a_role(
    database_url: str, tmp_path: Path
) -> None:
    asked: Counter[str] = Counter()

    def busy(request: Request) -> Reply:
        asked[role_of(request)] += 1
        return rate_limited(retry_after=0.05)

    with ModelServer(busy) as server:
        every_stage = dict.fromkeys(("steward_routing", "steward_review", "steward_clarify"), "on")
        async with talking(
            database_url, tmp_path, server, [], reviewed=True, steward_local_router="off", **every_stage
        ) as talk:
            state = await talk.say("Where is my parcel?")
            await talk.check_thread()
    assert state["stopped_because"] == "model_unavailable"
    assert state["answer"]
    assert asked == {"router": 2, "chat": 5}


async def test_the_second_half_of_a_long_conversation_is_stored_in_no_more_than_the_first(
    database_url: str, tmp_path: Path
) -> None:
    text = "The parcel with the blue cup did not arrive. " * 55

    async def stored(database: Database) -> int:
        row = await database.fetch_one(STORED)
        assert row
        return int(row["bytes"])

    with ModelServer(lambda _: Reply("I am looking into it.")) as server:
        async with talking(database_url, tmp_path, server, []) as talk:
            sizes = [0]
            for _ in range(2):
                for turn in range(20):
                    await talk.say(f"{turn}: {text}")
                sizes.append(await stored(talk.agent.services.database))
    first, second = sizes[1], sizes[2] - sizes[1]
    assert second < 1.3 * first
    assert first < 20 * 15 * len(text)
