"""What works, what does not, and how to mend it; for `steward doctor` and `GET /ready` (O5)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import httpx

from graph.holder import Holder, migration_folders
from graph.settings import Settings
from memory.database import Database, open_database
from memory.embeddings import make_embedder
from memory.errors import StewardError
from memory.migrate import pending
from memory.queue import failed_jobs
from nodes.business import Business
from nodes.settings import ROLES

if TYPE_CHECKING:
    from nodes.run import Services

READY_SECONDS = 5.0
ENDPOINT_SECONDS = 5.0
OPENAI = "https://api.openai.com/v1"
SHORTEST_SECRET = 32
"""Bytes of an HS256 key; shorter ones can be guessed from one token."""

Level = Literal["ok", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `cure` says what to do where it is not well."""

    name: str
    level: Level
    text: str
    cure: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


async def examine(settings: Settings, business: Business) -> list[Finding]:
    """Everything that a turn needs, each looked at on its own."""
    return [
        *check_settings(settings, os.environ),
        *await _check_database(settings, business),
        await _check_embedder(settings),
        await _check_endpoint(settings),
    ]


async def check_readiness(holder: Holder) -> list[Finding]:
    """Whether a turn could be served now: services open, database answering. Quick, for a probe."""
    try:
        async with asyncio.timeout(READY_SECONDS):
            services: Services = await holder.services()
            await services.database.fetch_one("SELECT 1")
    except StewardError as error:
        return [Finding("database", "error", _sentence(error), "see `steward doctor`")]
    except TimeoutError:
        text = f"Postgres did not answer within {READY_SECONDS:.0f} s."
        return [Finding("database", "error", text, "see `steward doctor`")]
    return [Finding("database", "ok", "Postgres answers.")]


def check_settings(settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """What can be told from the settings alone."""
    known = {name.upper() for name in Settings.model_fields}
    unknown = sorted(name for name in environment if name.startswith("STEWARD_") and name not in known)
    unknown = [name for name in unknown if not name.startswith("STEWARD_TEST_")]
    found = [_unknown_settings(unknown)]
    if settings.steward_auth == "jwt" and settings.steward_jwt_key is not None:
        secret = settings.steward_jwt_key.get_secret_value()
        if not secret.lstrip().startswith("-----BEGIN") and len(secret.encode()) < SHORTEST_SECRET:
            cure = f"use a random key of at least {SHORTEST_SECRET} bytes, or a public key"
            found.append(Finding("tokens", "warning", "STEWARD_JWT_KEY is short enough to be guessed.", cure))
    for name, file in (("STEWARD_MCP", settings.steward_mcp), ("STEWARD_PRICES", settings.steward_prices)):
        if file is not None and not file.is_file():
            found.append(Finding(name, "error", f"{file} is no file.", f"correct {name}, or unset it"))
    return found


def _unknown_settings(names: list[str]) -> Finding:
    if not names:
        return Finding("settings", "ok", "All settings are understood.")
    text = f"No setting is called {', '.join(names)}."
    return Finding("settings", "warning", text, "see .env.example for the names")


async def _check_database(settings: Settings, business: Business) -> list[Finding]:
    try:
        async with open_database(settings) as database:
            return [
                await _check_server(database, embedded=settings.database_url is None),
                await _check_schema(database, business),
                await _check_jobs(database),
            ]
    except StewardError as error:
        return [Finding("database", "error", _sentence(error), "correct DATABASE_URL, or start that server")]


async def _check_server(database: Database, *, embedded: bool) -> Finding:
    row = await database.fetch_one("SELECT current_setting('server_version') AS version")
    version = row["version"] if row else "of an unknown version"
    kind = "embedded Postgres" if embedded else f"Postgres at {database.address},"
    return Finding("database", "ok", f"{kind} {version}")


async def _check_schema(database: Database, business: Business) -> Finding:
    try:
        missing = await pending(database, migration_folders(business))
    except StewardError as error:
        return Finding("schema", "error", _sentence(error), "install the version that the schema belongs to")
    if missing:
        text = f"{len(missing)} migrations have not been applied yet."
        return Finding("schema", "warning", text, "they are applied when the agent starts next")
    return Finding("schema", "ok", "The schema is up to date.")


async def _check_jobs(database: Database) -> Finding:
    found = await database.fetch_one("SELECT to_regclass('procrastinate_jobs') IS NOT NULL AS there")
    failed = await failed_jobs(database) if found and found["there"] else []
    if not failed:
        return Finding("memory jobs", "ok", "No job was given up.")
    tasks = ", ".join(sorted({job.task for job in failed}))
    text = f"{len(failed)} memory jobs were given up ({tasks})."
    return Finding(
        "memory jobs", "error", text, "mend what the log says of them, then `steward doctor --retry`"
    )


async def _check_embedder(settings: Settings) -> Finding:
    try:
        vectors = await make_embedder(settings).embed(["hello"])
    except Exception as error:
        cure = "correct STEWARD_EMBEDDINGS, or set it to local"
        return Finding("embeddings", "error", f"{settings.steward_embeddings}: {_sentence(error)}", cure)
    return Finding("embeddings", "ok", f"{settings.steward_embeddings}, {vectors.shape[1]} dimensions")


async def _check_endpoint(settings: Settings) -> Finding:
    """Ask for the list of models: it costs nothing, and shows address, key and names."""
    if settings.offline:
        cure = "set OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible endpoint"
        return Finding("models", "warning", "The offline demo model plays every role.", cure)
    base = (settings.openai_base_url or OPENAI).rstrip("/")
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    try:
        async with httpx.AsyncClient(timeout=ENDPOINT_SECONDS) as client:
            answer = await client.get(f"{base}/models", headers={"authorization": f"Bearer {key}"})
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        text = f"{base} cannot be reached ({type(error).__name__})."
        return Finding("models", "error", text, "correct OPENAI_BASE_URL, or start that server")
    return _read_models(settings, base, answer)


def _read_models(settings: Settings, base: str, answer: httpx.Response) -> Finding:
    if answer.status_code in (401, 403):
        return Finding("models", "error", f"{base} refuses the key.", "correct OPENAI_API_KEY")
    wanted = {settings.model_name(role) for role in ROLES} | set(settings.fallback_models)
    try:
        listed = {model["id"] for model in answer.json()["data"]} if answer.is_success else set()
    except (ValueError, KeyError, TypeError):
        listed = set()
    missing = sorted(wanted - listed) if listed else []
    if missing:
        cure = "correct STEWARD_CHAT_MODEL and its like"
        return Finding("models", "error", f"{base} does not know {', '.join(missing)}.", cure)
    names = ", ".join(sorted(wanted))
    return Finding("models", "ok", f"{base} answers; used are {names}.")


def _sentence(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
