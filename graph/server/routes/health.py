"""`GET /health` and `GET /ready`: whether the process lives, and whether it can serve (O5)."""

from __future__ import annotations

from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from graph.agent import holder
from graph.doctor import check_readiness


async def health(_: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


async def ready(_: Request) -> Response:
    """Whether a turn could be served now; 503 with what is wrong and how to mend it where it could not."""
    wrong = [asdict(finding) for finding in await check_readiness(holder)]
    body = {"status": "not ready" if wrong else "ready", "findings": wrong}
    return JSONResponse(body, 503 if wrong else 200)


ROUTES = [Route("/health", health, methods=["GET"]), Route("/ready", ready, methods=["GET"])]
