"""Who is calling: read from a verified token (STEWARD_AUTH=jwt), or anybody on this machine (off). Pure."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from memory.errors import ConfigurationError, StewardError

if TYPE_CHECKING:
    from graph.settings import Settings

LEEWAY_SECONDS = 10
STUDIO = "smith.langchain.com"
STAFF, CUSTOMER, LOCAL = "staff", "customer", "local"
"""Permissions as the server carries them; `local`: authentication is off."""


class Refused(StewardError):
    """The caller is not let in. `status` is the HTTP status to answer with."""

    def __init__(self, status: Literal[401, 403], message: str) -> None:
        super().__init__(message)
        self.status: Literal[401, 403] = status


@dataclass(frozen=True)
class Identity:
    """A caller. Without authentication `user` is None: whoever is on this machine may name any user."""

    user: str | None
    role: Literal["customer", "staff"]

    @property
    def permissions(self) -> list[str]:
        return [LOCAL] if self.user is None else [self.role]

    def may_see(self, user: str) -> bool:
        """Whether data of this user is the caller's to see and to change."""
        return self.role == "staff" or self.user == user


ANYBODY = Identity(None, "staff")


def identify(settings: Settings, headers: Mapping[str, str], peer: str | None) -> Identity:
    """The caller of a request. `headers` by lower-case name, `peer` the address it came from. Raises Refused."""
    if settings.steward_auth == "off":
        _check_local(headers, peer)
        return ANYBODY
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Refused(401, "Send the user's token as `Authorization: Bearer …`.")
    return _from_token(settings, token.strip())


def _check_local(headers: Mapping[str, str], peer: str | None) -> None:
    """Without authentication nobody from elsewhere is served, not even through a proxy, a rebound host name or a page
    that happens to be open in a browser of this machine."""
    host = _host_of(f"//{headers.get('host', '')}")
    if peer is None or not _is_loopback(peer) or not _is_loopback(host) or "x-forwarded-for" in headers:
        raise Refused(
            403,
            "Only this machine is served while STEWARD_AUTH is off; set STEWARD_AUTH=jwt to serve others.",
        )
    origin = headers.get("origin", "")
    if origin and not _is_own_page(origin):
        raise Refused(
            403,
            f"Pages of {origin} are not served while STEWARD_AUTH is off; open a page of this machine, or set "
            "STEWARD_AUTH=jwt.",
        )


def _is_own_page(origin: str) -> bool:
    """A page that this machine serves, or LangGraph Studio."""
    host = _host_of(origin)
    return _is_loopback(host) or (origin.startswith("https://") and f".{host}".endswith(f".{STUDIO}"))


def _host_of(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _from_token(settings: Settings, token: str) -> Identity:
    jwt = _jwt()
    key = settings.steward_jwt_key
    if key is None:
        raise ConfigurationError("STEWARD_AUTH=jwt needs STEWARD_JWT_KEY.")
    secret = key.get_secret_value()
    algorithm = "RS256" if secret.lstrip().startswith("-----BEGIN") else "HS256"
    try:
        claims = jwt.decode(
            token,
            secret,
            algorithms=[algorithm],
            leeway=LEEWAY_SECONDS,
            options={"require": ["sub"], "verify_aud": False},
        )
    except jwt.InvalidTokenError as error:
        raise Refused(401, f"The token is not accepted: {error}.") from None
    if not claims["sub"]:
        raise Refused(401, "The token names no user: claim `sub` is empty.")
    return Identity(claims["sub"], "staff" if claims.get("role") == STAFF else "customer")


def _jwt() -> Any:
    try:
        import jwt
    except ImportError:
        raise ConfigurationError(
            "STEWARD_AUTH=jwt needs PyJWT: install the server extra, `pip install 'steward[server]'`."
        ) from None
    return jwt
