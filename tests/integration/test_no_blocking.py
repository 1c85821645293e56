"""Nothing here blocks the event loop, where the server's detector would end the run."""

from __future__ import annotations

from pathlib import Path

from blockbuster import blockbuster_ctx
from langgraph.graph import START, MessagesState, StateGraph

from memory import tokens
from memory.checkpoints import make_checkpointer
from memory.clean import clean_json
from memory.database import open_database
from memory.health import check
from memory.masking import mask
from memory.migrate import migrate
from memory.settings import MemorySettings
from tests.conftest import migration_folders


async def test_opening_migrating_checking_and_a_turn_pass_the_detector(tmp_path: Path) -> None:
    settings = MemorySettings(
        _env_file=None,
        database_url=None,
        steward_home=tmp_path,
        steward_encryption_key="a key of sixteen or more",
    )
    folders = migration_folders()
    tokens.vocabulary.cache_clear()
    with blockbuster_ctx():
        async with open_database(settings) as database:
            await migrate(database, folders)
            builder = StateGraph(MessagesState).add_node("say", lambda _: {"messages": [("ai", "hi")]})
            graph = builder.add_edge(START, "say").compile(checkpointer=make_checkpointer(database, settings))
            await graph.ainvoke({"messages": [("user", "hello")]}, {"configurable": {"thread_id": "t"}})
            assert mask("13800138000") == "[phone …00]"
            assert tokens.count("hello", "gpt-4") == 1
            assert clean_json({"path": tmp_path}).notes == ()
        assert all(finding.ok for finding in await check(settings, folders))
