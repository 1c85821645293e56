"""What people do with conversations: see approvals that wait, hand a thread back to the agent, rate an answer."""

from __future__ import annotations

from typing import Literal

from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.agent import graph, holder
from graph.server.routes.answers import not_found
from graph.server.routes.requests import caller, read_body, segments
from graph.threads import waiting_threads
from memory.checkpoints import make_checkpointer
from memory.clean import clean_text
from memory.masking import mask

TURN = "SELECT thread_id, user_id FROM token_usage WHERE turn_id = %s LIMIT 1"
RATE = """
INSERT INTO turn_feedback (turn_id, thread_id, user_id, rating, reason, by_role)
VALUES (%(turn)s, %(thread)s, %(user)s, %(rating)s, %(reason)s, %(role)s)
ON CONFLICT (turn_id) DO UPDATE
   SET rating = excluded.rating, reason = excluded.reason, by_role = excluded.by_role, updated_at = now()
"""


class Feedback(BaseModel):
    """What somebody thought of an answer."""

    model_config = ConfigDict(extra="forbid")

    rating: Literal["good", "bad"]
    reason: str = Field("", max_length=2000)


async def approvals(request: Request) -> Response:
    """Approvals that wait, the longest first; a customer sees their own alone. They are settled by resuming the
    thread through the server's own API."""
    identity = caller(request)
    waiting = await waiting_threads(
        await holder.services(), user=None if identity.role == "staff" else identity.user
    )
    return JSONResponse({"approvals": waiting})


async def hand_back(request: Request) -> Response:
    """The agent answers again on a thread that was handed over to a person."""
    if caller(request).role != "staff":
        raise HTTPException(403, "Only staff hand a thread back.")
    thread_id = segments(request)[1]
    services = await holder.services()
    saver = make_checkpointer(services.database, services.settings)
    served = graph.copy(update={"checkpointer": saver})
    snapshot = await served.aget_state({"configurable": {"thread_id": thread_id}})
    if not snapshot.values:
        raise not_found("Thread")
    if not snapshot.values.get("handoff"):
        raise HTTPException(409, "The thread is not with a person.")
    config: RunnableConfig = {"configurable": {"thread_id": thread_id}}
    await served.aupdate_state(config, {"handoff": None}, as_node="write_memory")
    if snapshot.values.get("approvals"):
        await served.ainvoke(
            None, config
        )  # as far as the approval that waits, which the change has passed over
    return JSONResponse({"thread_id": thread_id, "handoff": None})


async def rate(request: Request) -> Response:
    """Store what the customer, or staff, thought of a turn; a later word replaces the earlier one."""
    identity = caller(request)
    turn_id = segments(request)[1]
    given = await read_body(request, Feedback)
    database = (await holder.services()).database
    turn = await database.fetch_one(TURN, (turn_id,))
    if turn is None or not identity.may_see(turn["user_id"]):
        raise not_found("Turn")
    values = {
        "turn": turn_id,
        "thread": turn["thread_id"],
        "user": turn["user_id"],
        "rating": given.rating,
        "reason": mask(clean_text(given.reason)),
        "role": "customer" if identity.user == turn["user_id"] else identity.role,
    }
    await database.execute(RATE, values)
    return JSONResponse({"turn_id": turn_id, "rating": given.rating}, 201)


ROUTES = [
    Route("/approvals", approvals, methods=["GET"]),
    Route("/threads/{thread:path}/handback", hand_back, methods=["POST"]),
    Route("/turns/{turn:path}/feedback", rate, methods=["POST"]),
]
