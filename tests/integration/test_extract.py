"""The extractor over real HTTP: what it is shown, and what becomes of what it answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from graph import AgentContext, Settings, open_agent
from memory.store import list_memories
from tests.support.model_replies import Reply, extractor_reply
from tests.support.model_server import ModelServer, RoleQueues

USER = "reader_of_novels"


def fact(key: str, content: str, **more: Any) -> dict[str, Any]:
    return {
        "key": key,
        "content": content,
        "type": "preference",
        "confidence": 0.95,
        "domains": ["general"],
        "evidence": content,
        **more,
    }


async def test_the_extractor_is_shown_the_known_keys_and_names_the_one_that_no_longer_holds(
    module_database_url: str, tmp_path: Path, server: ModelServer, script: RoleQueues
) -> None:
    settings = Settings(
        _env_file=None,
        **server.settings(),
        database_url=module_database_url,
        steward_home=tmp_path,
        steward_routing="off",
        steward_review="off",
    )
    said = ("Reads crime novels in bed", "Listens to thrillers before sleeping")
    script.add("chat", Reply("Noted."), Reply("Noted."))
    script.add(
        "extractor",
        lambda request: extractor_reply(request, fact("evening_ritual", said[0])),
        lambda request: extractor_reply(request, fact("audio_books", said[1], replaces="evening_ritual")),
    )
    async with open_agent(settings) as agent:
        for number, words in enumerate(said):
            await agent.graph.ainvoke(
                {"messages": [("user", words)]},
                {"configurable": {"thread_id": f"novels {number}"}},
                context=AgentContext(user_id=USER),
            )
            assert await agent.worker.drain(timeout=20)
        memories = await list_memories(agent.services.database, USER)
    assert "- evening_ritual: Reads crime novels in bed" in str(server.requests_of("extractor")[1])
    assert [(memory.key, memory.content) for memory in memories] == [("evening_ritual", said[1])]
