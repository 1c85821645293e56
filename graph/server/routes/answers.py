"""How our routes answer when something is wrong: a status, and one sentence as `detail`, as the server's own do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from graph.server.identity import Refused
from graph.server.routes.requests import caller
from memory.errors import DatabaseError, InvalidInput, StewardError, ThreadBusy
from memory.masking import mask

log = structlog.get_logger(__name__)

STATUS: tuple[tuple[type[StewardError], int], ...] = (
    (InvalidInput, 422),
    (ThreadBusy, 409),
    (DatabaseError, 503),
)


UNAVAILABLE = "The service cannot do this at the moment; try again in a little while."


async def refused(request: Request, error: Exception) -> Response:
    """An error of ours. What is wrong inside is told to staff and to the log; others hear that something is."""
    if isinstance(error, Refused):
        return JSONResponse({"detail": str(error)}, error.status)
    status = next((status for kind, status in STATUS if isinstance(error, kind)), 500)
    if status < 500:
        return JSONResponse({"detail": str(error)}, status)
    log.error("request failed", path=request.url.path, error=str(error))
    return JSONResponse({"detail": mask(str(error)) if _is_staff(request) else UNAVAILABLE}, status)


def _is_staff(request: Request) -> bool:
    try:
        return caller(request).role == "staff"
    except StewardError:
        return False


def not_found(what: str) -> HTTPException:
    return HTTPException(404, f"{what} not found.")


EXCEPTION_HANDLERS: Mapping[Any, Any] = {StewardError: refused}
