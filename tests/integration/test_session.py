"""The session layer: rolling summary, snapshot after idle time, cached summary of a user."""

from __future__ import annotations

from datetime import timedelta

import pytest

from memory.database import Database
from memory.embeddings import LocalEmbedder
from memory.extraction import Summary
from memory.queue import FoldRequest, MemoryQueue
from memory.recall import RecallRequest, TurnMemory, recall_for_turn
from memory.settings import MemorySettings
from memory.worker import BackOff, Worker
from tests.support.memory import MAY, ScriptedExtractor, ScriptedSummariser, exchange


class World:
    """One worker with scripted roles on an empty database."""

    def __init__(self, database: Database, embedder: LocalEmbedder, idle_seconds: float = 0) -> None:
        settings = MemorySettings(_env_file=None, steward_idle_seconds=idle_seconds)
        self.database, self.embedder = database, embedder
        self.extractor, self.summariser = ScriptedExtractor(), ScriptedSummariser()
        self.queue = MemoryQueue(database)
        self.worker = Worker(database, embedder, self.extractor, self.summariser, settings)

    async def say(self, text: str, *, thread: str = "t1", user: str = "user_123") -> None:
        await self.queue.enqueue_turn(exchange(text, thread=thread, user=user, turn=f"{thread} {text}"))
        await self.worker.drain(timeout=10)

    async def fold(self, text: str, until: str, after: str | None = None) -> None:
        await self.queue.enqueue_fold(FoldRequest("user_123", "t1", (("customer", text),), until, after))
        await self.worker.drain(timeout=10)

    async def view(self, thread: str, text: str = "hello", user: str = "user_123") -> TurnMemory:
        request = RecallRequest(user, text, MAY + timedelta(days=1))
        return await recall_for_turn(self.database, self.embedder, request, thread)


@pytest.fixture
def world(database: Database, embedder: LocalEmbedder) -> World:
    return World(database, embedder)


async def test_an_idle_session_leaves_one_active_snapshot_that_the_next_session_sees(world: World) -> None:
    await world.say("杯子碎了要退货")
    await world.say("那就换一个新的")
    rows = await world.database.fetch("SELECT * FROM session_snapshot ORDER BY created_at")
    assert [row["is_active"] for row in rows] == [False, True]
    assert rows[1]["session_id"] == "t1"
    assert rows[1]["token_estimate"] > 0
    assert "杯子碎了要退货" in rows[1]["summary"], "the earlier snapshot is carried over"
    assert "那就换一个新的" in rows[1]["summary"]
    assert (await world.view("t2")).snapshots == (rows[1]["summary"],)
    assert (await world.view("t1")).snapshots == (), "a session is no earlier session of itself"
    assert (await world.view("t2", user="user_124")).snapshots == ()
    (turn,) = await world.database.fetch("SELECT count(*) FROM session_turn WHERE customer <> ''")
    assert turn["count"] == 0, "the words are not kept once a snapshot covers them"


async def test_the_best_fitting_older_session_joins_the_latest(world: World) -> None:
    await world.say("Wants the green ceramic teapot repaired", thread="teapot")
    await world.say("Asked about invoices for the office", thread="invoices")
    await world.say("Asked about the opening hours", thread="hours")
    snapshots = (await world.view("t9", "what about my ceramic teapot")).snapshots
    assert len(snapshots) == 2
    assert "opening hours" in snapshots[0]
    assert "teapot" in snapshots[1]


async def test_the_snapshot_is_put_off_while_the_user_goes_on_and_one_job_a_session_waits(
    database: Database, embedder: LocalEmbedder
) -> None:
    world = World(database, embedder, idle_seconds=300)
    await world.say("first")
    await world.say("second")
    due = "SELECT scheduled_at FROM procrastinate_jobs WHERE task_name = 'snapshot_session'"
    (job,) = await database.fetch(due)
    await database.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await world.worker.drain(timeout=10)
    (later,) = await database.fetch(due)
    assert later["scheduled_at"] >= job["scheduled_at"]
    assert world.summariser.asked == [], "the user was here a moment ago"
    await database.execute("UPDATE session_memory SET last_activity_at = now() - interval '6 minutes'")
    await database.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await world.worker.drain(timeout=10)
    (request,) = world.summariser.asked
    assert "first" in request.conversation
    assert "second" in request.conversation


@pytest.mark.parametrize("answer", [RuntimeError("timeout"), Summary("  "), Summary("")])
async def test_a_failed_or_empty_summary_changes_nothing_and_is_tried_again(
    world: World, answer: Summary | Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.fold("I want a refund", "m4")
    before = await world.view("t1")
    world.summariser.answers = [answer]
    await world.fold("for the cup", "m8", after="m4")
    assert (await world.view("t1")) == before
    monkeypatch.setattr(BackOff, "first_seconds", 0.0)
    await world.database.execute("UPDATE procrastinate_jobs SET scheduled_at = now()")
    await world.worker.drain(timeout=10)
    assert (await world.view("t1")).folded_until == "m8"


async def test_messages_are_folded_into_the_rolling_summary_with_key_facts(world: World) -> None:
    world.summariser.answers = [
        Summary("Wants a refund.", {"allergy": "peanuts"}),
        Summary("Refunded.", {"order": "A-1"}),
    ]
    await world.fold("I want a refund, and I am allergic to peanuts", "m4")
    await world.fold("thanks", "m8", after="m4")
    view = await world.view("t1")
    assert (view.summary, view.folded_until) == ("Refunded.", "m8")
    assert view.key_facts == {"allergy": "peanuts", "order": "A-1"}, (
        "a key fact is never diluted by a summary"
    )
    assert world.summariser.asked[1].earlier == "Wants a refund."


async def test_a_fold_that_was_overtaken_changes_nothing(world: World) -> None:
    await world.fold("one", "m4")
    await world.fold("one and two", "m8", after=None)
    assert (await world.view("t1")).folded_until == "m4"


async def test_a_users_summary_is_made_once_a_version_and_serves_all_sessions(world: World) -> None:
    await world.say("tea = Likes green tea")
    assert (await world.view("t7")).user_summary == "[] tea: Likes green tea"
    asked = len(world.summariser.asked)
    await world.say("nothing new", thread="t2")
    summaries = [request for request in world.summariser.asked[asked:] if request.thread_id == ""]
    assert summaries == []


async def test_a_thread_that_changes_hands_shows_nothing_of_the_user_before(world: World) -> None:
    await world.fold("I want a refund", "m4")
    await world.say("hello", user="user_124")
    assert (await world.view("t1", user="user_124")).summary == ""
    assert (await world.view("t1")).summary == ""


async def test_what_was_said_stands_in_the_next_turns_key_facts(world: World) -> None:
    await world.say("allergy = 对花生过敏")
    assert (await world.view("t1", "今天天气怎么样")).key_facts == {"allergy": "对花生过敏"}
    assert (await world.view("t2", "今天天气怎么样")).key_facts == {}
