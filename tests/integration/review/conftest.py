"""After-sales turns with a reviewed answer: real Postgres, a scripted endpoint over real HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from graph import Settings, open_agent
from tests.support.model_replies import Reply, Request, failure, router_reply, tool_call
from tests.support.model_server import ModelServer, RoleQueues, Script, role_of
from tests.support.reviewed import DRAFT, Play, Reviewed, watch


class AlsoForReviewers(RoleQueues):
    """The chat model is asked in the reviewer's place when that one is down; here it is of no more use."""

    def __call__(self, request: Request) -> Reply:
        if role_of(request) == "chat" and "reviewer_answer" in str(request.get("tool_choice")):
            return failure(400, "bad request")
        return super().__call__(request)


@pytest.fixture
def script() -> RoleQueues:
    return AlsoForReviewers()


@pytest.fixture
async def play(module_database_url: str, server: ModelServer, script: RoleQueues, tmp_path: Path) -> Play:
    """Plays one after-sales turn on a script of drafts and reviewer answers, and looks at it from outside."""

    async def turn(
        draft: str = DRAFT,
        *,
        reviewer: Sequence[Reply | Script] = (),
        corrections: Sequence[Reply] = (),
        intent: str = "aftersale",
        **settings: Any,
    ) -> Reviewed:
        look_up = tool_call("order_query", {"order_id": "GHI-20240512-003"})
        script.add("chat", look_up, Reply(draft), *corrections)
        script.add("router", lambda request: router_reply(request, (intent, 0.95)))
        script.add("reviewer", *reviewer)
        values = {
            "database_url": module_database_url,
            "steward_home": tmp_path,
            "steward_local_router": "off",
            "steward_worker": "external",
            **server.settings(),
            **settings,
        }
        async with open_agent(Settings(_env_file=None, **values)) as agent:
            return await watch(agent)

    return turn
