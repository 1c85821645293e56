"""`/console/api/…`: what the page reads. For staff alone; it changes nothing, that goes through the other routes."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.agent import GRAPH_ID, graph, holder
from graph.pictures.shapes import shapes
from graph.server.console.conversation import read_conversation
from graph.server.console.listing import handed_over, latest_conversations
from graph.server.console.turn import read_turn
from graph.server.routes.answers import not_found
from graph.server.routes.requests import segments, staff
from memory.clean import clean_json, clean_text
from nodes.settings import ROLES

LONGEST_WORDS = 200
"""Characters of a search."""
USERS = """
SELECT user_id, count(*) AS memories, max(last_confirmed_at) AS at
FROM user_memory
WHERE superseded_by IS NULL AND (valid_to IS NULL OR valid_to > now())
  AND (%(words)s = '' OR strpos(lower(user_id), lower(%(words)s)) > 0)
GROUP BY user_id ORDER BY at DESC LIMIT 50
"""
FEEDBACK = """
SELECT turn_id, thread_id, user_id, rating, reason, by_role, updated_at AS at
FROM turn_feedback
WHERE %(rating)s::text IS NULL OR rating = %(rating)s
ORDER BY updated_at DESC LIMIT 100
"""


async def about(request: Request) -> Response:
    """What this server serves: business, intents, models."""
    staff(request)
    services = await holder.services()
    business = services.business
    return JSONResponse(
        {
            "business": {"name": business.name, "version": business.version},
            "graph": GRAPH_ID,
            "intents": {intent.name: dict(intent.label) for intent in business.intents},
            "models": {role: services.models.names(role)[0] for role in ROLES},
            "offline": services.settings.offline,
            "authentication": holder.settings.steward_auth,
        }
    )


async def drawing(request: Request) -> Response:
    """The graph as it runs, as shapes to be drawn."""
    staff(request)
    return JSONResponse(await asyncio.to_thread(_shapes))


@cache
def _shapes() -> dict[str, Any]:
    return asdict(shapes(graph.get_graph()))


async def conversations(request: Request) -> Response:
    """A page of the list. Query: words to search, and the checkpoint id of the last line before."""
    staff(request)
    words = clean_text(request.query_params.get("search", "")).strip()[:LONGEST_WORDS]
    before = clean_text(request.query_params.get("before", "")) or None
    found = await latest_conversations(await holder.services(), words, before)
    return JSONResponse({"conversations": clean_json(found).value})


async def handovers(request: Request) -> Response:
    """Conversations that are with a person."""
    staff(request)
    found = await handed_over(await holder.services())
    return JSONResponse({"handovers": clean_json(found).value})


async def conversation(request: Request) -> Response:
    """What was said."""
    staff(request)
    found = await read_conversation(await holder.services(), graph, segments(request)[3])
    if found is None:
        raise not_found("Thread")
    return JSONResponse(found)


async def turn(request: Request) -> Response:
    """What happened in one turn."""
    staff(request)
    parts = segments(request)
    found = await read_turn(await holder.services(), graph, parts[3], parts[5])
    if found is None:
        raise not_found("Turn")
    return JSONResponse(found)


async def users(request: Request) -> Response:
    """Users of whom something is remembered. Query: a part of their id."""
    staff(request)
    words = clean_text(request.query_params.get("search", "")).strip()[:LONGEST_WORDS]
    rows = await (await holder.services()).database.fetch(USERS, {"words": words})
    return JSONResponse({"users": clean_json(rows).value})


async def feedback(request: Request) -> Response:
    """What was thought of answers, the latest first. Query: the rating, good or bad."""
    staff(request)
    rating = request.query_params.get("rating") or None
    rows = await (await holder.services()).database.fetch(FEEDBACK, {"rating": rating})
    return JSONResponse({"feedback": clean_json(rows).value})


API = "/console/api"
ROUTES = [
    Route(f"{API}/about", about, methods=["GET"]),
    Route(f"{API}/graph", drawing, methods=["GET"]),
    Route(f"{API}/conversations", conversations, methods=["GET"]),
    Route(f"{API}/conversations/{{thread:path}}/turns/{{turn:path}}", turn, methods=["GET"]),
    Route(f"{API}/conversations/{{thread:path}}", conversation, methods=["GET"]),
    Route(f"{API}/handovers", handovers, methods=["GET"]),
    Route(f"{API}/users", users, methods=["GET"]),
    Route(f"{API}/feedback", feedback, methods=["GET"]),
]
