"""The address of a Postgres: what people write as DATABASE_URL, as each library wants it, and as a log may show it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from memory.errors import ConfigurationError

SCHEMES = ("postgresql", "postgres", "postgresql+psycopg", "postgresql+asyncpg", "postgresql+psycopg2")
FORM = (
    "it has the form postgresql://USER@HOST:5432/DATABASE, a password after the user and a colon, with special "
    "characters percent-encoded"
)
HOSTS = re.compile(r"(?:\[[^\]]*\]|[^:,\[\]]*)(?::\d*)?(?:,(?:\[[^\]]*\]|[^:,\[\]]*)(?::\d*)?)*")
NO_PARAMETER = re.compile(r'invalid URI query parameter: "([a-z_]{1,40})"')
MISSING = re.compile(r'database "(.*?)" does not exist')
# What the server or the client says (lower case), and what to make of it. Only an unreachable server may yet come up.
REFUSALS = (
    (("authentication failed", "no password supplied"),
     "refuses the password; correct user and password in DATABASE_URL"),
    (("pg_hba.conf", "permission denied", "is not permitted to log in"),
     "does not let this user in; see its pg_hba.conf and the user's rights"),
    (("ssl was required", "certificate", "ssl error", "tls"),
     "does not agree on encryption; correct sslmode and certificates in DATABASE_URL"),
    (("invalid response to ssl negotiation", "expected authentication request"),
     "does not speak as a Postgres does; correct host and port in DATABASE_URL"),
)  # fmt: skip
PASSING = (
    (("too many connections", "too many clients", "connection slots"),
     "has no connection free; raise its max_connections, or lower STEWARD_POOL_SIZE"),
    (("failed to resolve", "could not translate host name"),
     "cannot be reached, its name leads nowhere; correct the host in DATABASE_URL"),
    (("timeout expired", "timed out"),
     "cannot be reached, it does not answer in time; look at its firewall, or correct DATABASE_URL"),
    (("the database system is",), "is just starting or stopping; try again in a moment"),
    (("connection refused", "no such file"), "cannot be reached; start it, or correct DATABASE_URL"),
)  # fmt: skip


@dataclass(frozen=True)
class DatabaseUrl:
    """`pgbouncer=true` in the query says that connections go through PgBouncer in transaction mode."""

    libpq: str
    pgbouncer: bool = False

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises ConfigurationError."""
        parts = _split(url.strip())
        query = parse_qsl(parts.query, keep_blank_values=True)
        kept = [(name, value) for name, value in query if name != "pgbouncer"]
        pgbouncer = ("pgbouncer", "true") in query
        libpq = urlunsplit(
            ("postgresql", parts.netloc, parts.path, urlencode(kept, quote_via=quote, safe=""), "")
        )
        if not parts.netloc:
            # `urlunsplit` drops the empty host of a unix-socket address.
            libpq = libpq.replace("postgresql:/", "postgresql:///", 1)
        _check(libpq)
        return cls(libpq, pgbouncer)

    def at(self, database: str) -> Self:
        """Another database of the same server."""
        address, mark, query = self.libpq.partition("?")
        base = address.rpartition("/")[0]
        return replace(self, libpq=f"{base}/{quote(database, safe='')}{mark}{query}")

    def within(self, schema: str) -> Self:
        """The same database, where names without a schema are looked up in this one, then in `public`."""
        parts = urlsplit(self.libpq)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        query["options"] = f"{query.get('options', '')} -c search_path={schema},public".strip()
        base = self.libpq.partition("?")[0]
        return replace(self, libpq=f"{base}?{urlencode(query, quote_via=quote, safe='')}")

    @property
    def sqlalchemy(self) -> str:
        return self.libpq.replace("postgresql://", "postgresql+psycopg://", 1)

    @property
    def database(self) -> str:
        return urlsplit(self.libpq).path.lstrip("/")

    def __str__(self) -> str:
        """Host and database, never the user's password."""
        parts = urlsplit(self.libpq)
        host = parts.netloc.rpartition("@")[2] or dict(parse_qsl(parts.query)).get("host", "localhost")
        return f"{host}/{self.database}"

    def explain(self, error: str) -> str:
        """One sentence for a failed connection: what is wrong and what to do, without the password."""
        if missing := MISSING.search(error):
            return f'Postgres has no database "{missing[1]}"; create it, or correct DATABASE_URL ({self}).'
        if "role" in error and "does not exist" in error:
            return (
                f"Postgres at {self} does not know the user in DATABASE_URL; create it, or correct the URL."
            )
        for signs, meaning in (*REFUSALS, *PASSING):
            if any(sign in error.lower() for sign in signs):
                return f"Postgres at {self} {meaning}."
        reason = " ".join(error.split())
        return f"Postgres at {self} cannot be reached; start it, or correct DATABASE_URL ({reason})."


def is_lasting(error: str) -> bool:
    """Whether trying to connect again helps nobody."""
    signs = [sign for each, _ in REFUSALS for sign in each]
    return "does not exist" in error or any(sign in error.lower() for sign in signs)


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = None
    if parts is None or parts.scheme not in SCHEMES:
        raise ConfigurationError(f"DATABASE_URL is not understood: {FORM}.")
    user, mark, hosts = parts.netloc.rpartition("@")
    # Where a password holds one of these unencoded, a piece of it would be taken for a host or port, and be shown.
    if parts.fragment or "@" in parts.path or not HOSTS.fullmatch(hosts):
        raise ConfigurationError(f"DATABASE_URL is not understood: {FORM}.")
    return parts._replace(netloc=f"{user.replace('@', '%40')}{mark}{hosts}")


def _check(libpq: str) -> None:
    try:
        conninfo_to_dict(libpq)
    except psycopg.ProgrammingError as error:
        named = NO_PARAMETER.search(str(error))
        why = f"Postgres knows no parameter {named[1]}" if named else FORM
        raise ConfigurationError(f"DATABASE_URL is not understood: {why}.") from None
