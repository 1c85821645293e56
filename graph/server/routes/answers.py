"""How our routes answer when something is wrong: a status, and one sentence as `detail`, as the server's own do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from graph.server.identity import Refused
from memory.errors import DatabaseError, InvalidInput, StewardError, ThreadBusy

STATUS: tuple[tuple[type[StewardError], int], ...] = (
    (InvalidInput, 422),
    (ThreadBusy, 409),
    (DatabaseError, 503),
)


async def refused(_: Request, error: Exception) -> Response:
    """An error of ours."""
    if isinstance(error, Refused):
        return JSONResponse({"detail": str(error)}, error.status)
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    return JSONResponse({"detail": str(error)}, status)


def not_found(what: str) -> HTTPException:
    return HTTPException(404, f"{what} not found.")


EXCEPTION_HANDLERS: Mapping[Any, Any] = {StewardError: refused}
