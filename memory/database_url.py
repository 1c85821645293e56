"""The address of a Postgres: what people write as DATABASE_URL, as each library wants it, and as a log may show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from memory.errors import ConfigurationError

SCHEMES = ("postgresql", "postgres", "postgresql+psycopg", "postgresql+asyncpg", "postgresql+psycopg2")


@dataclass(frozen=True)
class DatabaseUrl:
    """`pgbouncer=true` in the query says that connections go through PgBouncer in transaction mode."""

    libpq: str
    pgbouncer: bool = False

    @classmethod
    def parse(cls, url: str) -> Self:
        """Raises ConfigurationError."""
        try:
            parts = urlsplit(url.strip())
        except ValueError:
            parts = None
        if parts is None or parts.scheme not in SCHEMES:
            raise ConfigurationError(
                "DATABASE_URL is not understood: it has the form postgresql://user:password@host:5432/database, "
                "with special characters in the password percent-encoded."
            )
        query = parse_qsl(parts.query, keep_blank_values=True)
        kept = [(name, value) for name, value in query if name != "pgbouncer"]
        pgbouncer = ("pgbouncer", "true") in query
        libpq = urlunsplit(
            ("postgresql", parts.netloc, parts.path, urlencode(kept, quote_via=quote, safe=""), "")
        )
        # `urlunsplit` drops the empty host of a unix-socket address.
        return cls(
            libpq.replace("postgresql:/", "postgresql:///", 1) if not parts.netloc else libpq, pgbouncer
        )

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
        if "authentication failed" in error or "no password supplied" in error:
            return f"Postgres at {self} refuses the password; correct user and password in DATABASE_URL."
        if "database" in error and "does not exist" in error:
            return f'Postgres has no database "{self.database}"; create it, or correct DATABASE_URL ({self}).'
        if "role" in error and "does not exist" in error:
            return (
                f"Postgres at {self} does not know the user in DATABASE_URL; create it, or correct the URL."
            )
        if "pg_hba.conf" in error or "permission denied" in error:
            return f"Postgres at {self} does not let this user in; see its pg_hba.conf and the user's rights."
        reason = " ".join(error.split())
        return f"Postgres at {self} cannot be reached; start it, or correct DATABASE_URL ({reason})."
