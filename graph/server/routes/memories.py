"""`/users/{user}`: what is remembered of a user, corrected, exported, erased (M10)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph import personal_data
from graph.agent import holder
from graph.server.routes.answers import not_found
from graph.server.routes.requests import read_body, segments, user_in_path
from memory.extraction import MemoryType
from memory.statement import normalise_key
from memory.store import Memory, forget_key, forget_memories, list_memories, set_memory


class Correction(BaseModel):
    """A memory as it is to be."""

    model_config = ConfigDict(extra="forbid")

    content: str
    type: MemoryType = "fact"
    domains: list[str] = Field(default_factory=lambda: ["general"], max_length=20)
    importance: float = Field(0.7, ge=0, le=1)


async def list_all(request: Request) -> Response:
    """The valid memories of a user."""
    user = user_in_path(request)
    services = await holder.services()
    memories = await list_memories(services.database, user)
    return JSONResponse({"memories": [memory.to_json() for memory in memories]})


async def read_one(request: Request) -> Response:
    """The memory of that key."""
    user = user_in_path(request)
    return JSONResponse((await _find(user, segments(request)[3])).to_json())


async def correct(request: Request) -> Response:
    """Set the memory of that key; it overrules what was known."""
    user = user_in_path(request)
    key = segments(request)[3]
    given = await read_body(request, Correction)
    services = await holder.services()
    memory = await set_memory(
        services.database,
        services.embedder,
        user,
        key,
        given.content,
        type=given.type,
        domains=given.domains,
        importance=given.importance,
    )
    return JSONResponse(memory.to_json())


async def forget_one(request: Request) -> Response:
    """Erase the memory of that key with its history."""
    user = user_in_path(request)
    services = await holder.services()
    if not await forget_key(services.database, user, segments(request)[3]):
        raise not_found("Memory")
    return Response(status_code=204)


async def forget_all(request: Request) -> Response:
    """Erase all memories of a user; conversations stay."""
    user = user_in_path(request)
    services = await holder.services()
    await forget_memories(services.database, user)
    return Response(status_code=204)


async def export(request: Request) -> Response:
    """Everything that is stored of a user."""
    user = user_in_path(request)
    services = await holder.services()
    return JSONResponse(await personal_data.export(services.database, user))


async def erase(request: Request) -> Response:
    """Erase a user everywhere: memories, sessions, conversations, queued jobs."""
    user = user_in_path(request)
    services = await holder.services()
    return JSONResponse({"erased": await personal_data.erase(services.database, user)})


async def _find(user: str, key: str) -> Memory:
    services = await holder.services()
    wanted = normalise_key(key)
    for memory in await list_memories(services.database, user):
        if memory.key in (key, wanted):
            return memory
    raise not_found("Memory")


ROUTES = [
    Route("/users/{user:path}/memories", list_all, methods=["GET"]),
    Route("/users/{user:path}/memories", forget_all, methods=["DELETE"]),
    Route("/users/{user:path}/memories/{key:path}", read_one, methods=["GET"]),
    Route("/users/{user:path}/memories/{key:path}", correct, methods=["PUT"]),
    Route("/users/{user:path}/memories/{key:path}", forget_one, methods=["DELETE"]),
    Route("/users/{user:path}/export", export, methods=["GET"]),
    Route("/users/{user:path}", erase, methods=["DELETE"]),
]
