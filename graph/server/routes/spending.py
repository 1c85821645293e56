"""`GET /costs`: what was spent, by thread, user or day (C3)."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.agent import holder
from graph.costs import as_object
from graph.server.routes.requests import caller
from memory.errors import InvalidInput
from nodes.usage_report import report

MOST_DAYS = 3660


async def costs(request: Request) -> Response:
    """The ledger's sums; a customer sees their own alone."""
    identity = caller(request)
    asked = request.query_params
    user = asked.get("user") if identity.role == "staff" else identity.user
    services = await holder.services()
    rows = await report(
        services.database,
        thread=asked.get("thread"),
        user=user,
        days=_days(asked.get("days")),
        timezone=services.settings.steward_timezone,
    )
    return JSONResponse(as_object(rows))


def _days(text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:6]) <= MOST_DAYS:
        raise InvalidInput(f"days: a whole number from 1 to {MOST_DAYS}.")
    return int(text[:6])


ROUTES = [Route("/costs", costs, methods=["GET"])]
