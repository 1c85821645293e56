"""What has outlived its retention goes, in every layer, by the hourly job."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from langchain_core.messages import HumanMessage
from langgraph.graph import START, MessagesState, StateGraph

from graph.personal_data import OUTDATED
from memory.checkpoints import make_checkpointer
from memory.database import Database
from memory.maintenance import maintain
from memory.settings import MemorySettings

SETTINGS = MemorySettings(steward_retention_ledger_days=30, steward_retention_checkpoint_days=30)
CALL = """
INSERT INTO tool_call (thread_id, turn_id, user_id, call_id, tool, arguments, idempotency_key, status, started_at)
VALUES ('t', 'turn', 'u', %(id)s, 'look', '{}', %(id)s, 'ok', %(at)s)
"""


async def test_old_rows_of_the_ledger_go_and_new_ones_stay(database: Database) -> None:
    now = datetime.now(UTC)
    for id, age in (("old", 31), ("new", 29)):
        await database.execute(CALL, {"id": id, "at": now - timedelta(days=age)})
    await maintain(database, SETTINGS, now=now, outdated=OUTDATED)
    assert [row["call_id"] for row in await database.fetch("SELECT call_id FROM tool_call")] == ["new"]


async def test_a_conversation_that_nobody_touched_goes_as_a_whole(database: Database) -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("answer", lambda state: {"messages": [("ai", "hello")]})
    builder.add_edge(START, "answer")
    graph = builder.compile(checkpointer=make_checkpointer(database, SETTINGS))
    for thread in ("old", "new"):
        await graph.ainvoke({"messages": [HumanMessage("hi")]}, {"configurable": {"thread_id": thread}})
    aged = (
        "UPDATE checkpoints SET checkpoint = jsonb_set(checkpoint, '{ts}', %s::jsonb) WHERE thread_id = 'old'"
    )
    long_ago = datetime.now(UTC) - timedelta(days=31)
    await database.execute(aged, (f'"{long_ago.isoformat()}"',))
    await maintain(database, SETTINGS, now=datetime.now(UTC))
    left = {row["thread_id"] for row in await database.fetch("SELECT DISTINCT thread_id FROM checkpoints")}
    assert left == {"new"}
