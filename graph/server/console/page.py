"""`GET /console`: the page's own files, served from memory under a policy that lets nothing else in."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from graph.server.routes.answers import not_found
from graph.server.routes.requests import check_reachable, segments

FOLDER = Path(__file__).parent / "page"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
HEADERS = {
    # Nothing from elsewhere, nothing inline, no markup made of text: what customers write cannot become a script.
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-cache",
}


@dataclass(frozen=True)
class Asset:
    """A file of the page."""

    content: bytes
    kind: str
    tag: str
    """Of its content, quoted as in the ETag header."""


def _asset(path: Path) -> Asset:
    content = path.read_bytes()
    return Asset(content, KINDS[path.suffix], f'"{hashlib.sha256(content).hexdigest()[:20]}"')


ASSETS = {path.name: _asset(path) for path in FOLDER.iterdir() if path.suffix in KINDS}
"""By name; read at import, so that the event loop never waits for a disk."""


async def page(request: Request) -> Response:
    """The page, or one of its files. It holds no data, so that it can ask for the token."""
    check_reachable(request)
    parts = segments(request)
    asset = ASSETS.get(parts[2] if len(parts) == 3 else "index.html")
    if asset is None:
        raise not_found("File")
    headers = {**HEADERS, "etag": asset.tag}
    if request.headers.get("if-none-match") == asset.tag:
        return Response(status_code=304, headers=headers)
    return Response(asset.content, media_type=asset.kind, headers=headers)


ROUTES = [
    Route("/console", page, methods=["GET"]),
    Route("/console/page/{file}", page, methods=["GET"]),
]
