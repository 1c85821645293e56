"""Authentication of the server, named by `auth` in langgraph.json: who calls, and what of the API is theirs (M11)."""

from __future__ import annotations

from typing import Any

from langgraph_sdk import Auth

from graph.agent import holder
from graph.server.customer_requests import run_fault
from graph.server.identity import LOCAL, STAFF, Refused, identify
from graph.threads import thread_owner

auth = Auth()

Filter = dict[str, Any]
FORBIDDEN = "Not for customers."


@auth.authenticate
async def authenticate(scope: dict[str, Any]) -> Auth.types.MinimalUserDict:
    """The caller of a request; refused without a valid token, or from elsewhere where authentication is off."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
    client = scope.get("client")
    try:
        identity = identify(holder.settings, headers, client[0] if client else None)
    except Refused as error:
        raise Auth.exceptions.HTTPException(status_code=error.status, detail=str(error)) from None
    return {
        "identity": identity.user or LOCAL,
        "permissions": identity.permissions,
        "is_authenticated": True,
        "display_name": identity.user or LOCAL,
    }


@auth.on
async def others(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Whatever has no rule of its own (stores, crons, changing assistants) is not for customers."""
    return _trusted(ctx)


@auth.on(resources="assistants", actions=["read", "search"])
async def see_assistants(ctx: Auth.types.AuthContext, value: Any) -> bool:
    """Everybody may see which graphs there are."""
    return True


@auth.on.threads.create
async def create_thread(ctx: Auth.types.AuthContext, value: Auth.types.ThreadsCreate) -> Filter | bool:
    """A thread belongs to whoever creates it; a thread that was begun elsewhere stays its customer's."""
    if _trusted(ctx):
        return True
    await _check_begun(ctx, value.get("thread_id"))
    metadata: dict[str, Any] = value.setdefault("metadata", {})
    metadata["owner"] = ctx.user.identity
    return _own(ctx)


@auth.on(resources="threads", actions=["read", "search", "delete"])
async def own_threads(ctx: Auth.types.AuthContext, value: Any) -> Filter | bool:
    """Threads of others do not exist."""
    return True if _trusted(ctx) else _own(ctx)


@auth.on.threads.update
async def change_thread(ctx: Auth.types.AuthContext, value: Auth.types.ThreadsUpdate) -> Filter | bool:
    """A customer may stop a run of theirs, not write state or metadata."""
    if _trusted(ctx):
        return True
    return _own(ctx) if value.get("action") else False


@auth.on.threads.create_run
async def create_run(ctx: Auth.types.AuthContext, value: Auth.types.RunsCreate) -> Filter | bool:
    """A customer sends a message or answers an approval, on a thread of theirs."""
    if _trusted(ctx):
        return True
    if fault := run_fault(value.get("kwargs", {})):
        raise Auth.exceptions.HTTPException(status_code=403, detail=fault)
    await _check_begun(ctx, value.get("thread_id"))
    metadata: dict[str, Any] = value.setdefault("metadata", {})
    metadata["owner"] = ctx.user.identity
    return _own(ctx)


def _trusted(ctx: Auth.types.AuthContext) -> bool:
    return bool({LOCAL, STAFF} & set(ctx.permissions))


def _own(ctx: Auth.types.AuthContext) -> Filter:
    return {"owner": ctx.user.identity}


async def _check_begun(ctx: Auth.types.AuthContext, thread_id: Any) -> None:
    """The server knows threads only since its start; whose a thread is stands in its checkpoints."""
    owner = await thread_owner(await holder.services(), str(thread_id)) if thread_id else None
    if owner is not None and owner != ctx.user.identity:
        raise Auth.exceptions.HTTPException(status_code=404, detail="Thread not found.")
