"""What our routes read from a request: who calls, whose data the path names, what the body holds."""

from __future__ import annotations

import json
from typing import Any, TypeVar
from urllib.parse import unquote

from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request

from graph.agent import holder
from graph.server.identity import Identity, identify
from memory.errors import InvalidInput

MOST_BYTES = 100_000
Body = TypeVar("Body", bound=BaseModel)


def caller(request: Request) -> Identity:
    """Who calls. Raises Refused."""
    peer = request.client.host if request.client else None
    return identify(holder.settings, request.headers, peer)


def check_reachable(request: Request) -> None:
    """Refuse who could not be served whatever they know: with authentication off, everybody but this machine."""
    if holder.settings.steward_auth == "off":
        caller(request)


def staff(request: Request) -> Identity:
    """Who calls, where they are staff. Raises Refused, HTTPException 403."""
    identity = caller(request)
    if identity.role != "staff":
        raise HTTPException(403, "Only for staff.")
    return identity


def user_in_path(request: Request) -> str:
    """The user that the path names, where the caller may see them. Raises Refused, HTTPException 403."""
    identity = caller(request)
    user = segments(request)[1]
    if not identity.may_see(user):
        raise HTTPException(403, "These are another user's data.")
    return user


def segments(request: Request) -> list[str]:
    """The decoded parts of the path; a user id may hold any character, an encoded slash too."""
    raw: bytes = request.scope.get("raw_path") or request.url.path.encode()
    return [unquote(part) for part in raw.decode("latin-1").strip("/").split("/")]


async def read_body(request: Request, model: type[Body]) -> Body:
    """The JSON body as the model. Raises InvalidInput."""
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MOST_BYTES:
            raise InvalidInput(f"The body is larger than {MOST_BYTES} bytes.")
    try:
        given: Any = json.loads(raw or b"{}")
        return model.model_validate(given)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"])) or "body"
        raise InvalidInput(f"{place}: {fault['msg']}.") from None
    except ValueError:
        raise InvalidInput("The body is not JSON.") from None
