"""What works, what does not, and how to mend it; for `steward doctor` and `GET /ready` (O5).

A finding that is well and yet has a cure is a warning.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import httpx

from graph.holder import Holder, check_intents, migration_folders
from graph.settings import Settings
from memory.database import open_database
from memory.embeddings import make_embedder
from memory.errors import StewardError
from memory.findings import Finding
from memory.health import check, check_database
from memory.known_secrets import shown_address
from memory.masking import mask
from memory.migrate import migrate
from memory.queue import failed_jobs
from nodes.business import Business
from nodes.prices import Prices
from nodes.settings import ROLES
from tools.mcp.open import examine_servers
from tools.registry import ToolRegistry

if TYPE_CHECKING:
    from tools.mcp.servers import Examined

READY_SECONDS = 5.0
ENDPOINT_SECONDS = 5.0
OPENAI = "https://api.openai.com/v1"
SHORTEST_SECRET = 32
"""Bytes of an HS256 key; shorter ones can be guessed from one token."""
ESSENTIAL = frozenset({"database", "pgvector", "schema", "encryption"})
"""Without these no turn can be served; all else is for the doctor."""


async def examine(settings: Settings, business: Business) -> list[Finding]:
    """Everything that a turn needs, each looked at on its own."""
    return [
        check_business(settings, business),
        *check_settings(settings, os.environ),
        *await _check_storage(settings, business),
        await _check_embedder(settings),
        await _check_endpoint(settings),
        await asyncio.to_thread(check_prices, settings),
        *await _check_mcp(settings, business),
    ]


async def check_readiness(holder: Holder) -> list[Finding]:
    """What keeps a turn from being served now. Quick, for a probe."""
    folders = migration_folders(holder.business)
    try:
        async with asyncio.timeout(READY_SECONDS):
            database = (await holder.services()).database
            return _wrong(await check_database(database, folders, holder.settings))
    except (StewardError, TimeoutError):
        # A pool does not tell why it has no connection to give; a connection of one's own does.
        wrong = _wrong(await check(holder.settings, folders, holder.business.name))
    detail = f"no connection came free within {READY_SECONDS:.0f} s"
    return wrong or [
        Finding("database", False, detail, "raise STEWARD_POOL_SIZE, or serve with more processes")
    ]


def _wrong(found: Sequence[Finding]) -> list[Finding]:
    return [finding for finding in found if finding.name in ESSENTIAL and not finding.ok]


def check_business(settings: Settings, business: Business) -> Finding:
    """Who is served, and whether the declaration is one that can be: its tools are made, as at the start."""
    try:
        registry = ToolRegistry(business.tools_for(settings))
        check_intents(business, registry)
    except StewardError as error:
        return Finding("business", False, f"{business.name}: {_sentence(error)}", "correct its declaration")
    detail = f"{business.name}/{business.version}: {len(business.intents)} intents, {len(registry)} tools"
    if settings.offline and business.offline is None:
        cure = "set OPENAI_API_KEY or OPENAI_BASE_URL: without, it only looks things up by number"
        return Finding("business", True, f"{detail}; the offline demo model has no rules for it", cure)
    return Finding("business", True, detail)


def check_settings(settings: Settings, environment: Mapping[str, str]) -> list[Finding]:
    """What can be told from the settings alone."""
    known = {name.upper() for name in Settings.model_fields}
    ours = (name for name in environment if name.startswith("STEWARD_"))
    unknown = sorted(name for name in ours if name not in known and not name.startswith("STEWARD_TEST_"))
    found = [_unknown_settings(unknown)]
    if settings.steward_auth == "jwt" and settings.steward_jwt_key is not None:
        secret = settings.steward_jwt_key.get_secret_value()
        if not secret.lstrip().startswith("-----BEGIN") and len(secret.encode()) < SHORTEST_SECRET:
            cure = f"use a random key of at least {SHORTEST_SECRET} bytes, or a public key"
            found.append(Finding("tokens", True, "STEWARD_JWT_KEY is short enough to be guessed", cure))
    return found


def check_prices(settings: Settings) -> Finding:
    """Whether what is spent can be told, and by whose prices."""
    try:
        prices = Prices(settings.steward_prices)
    except StewardError as error:
        return Finding("prices", False, _sentence(error), "correct STEWARD_PRICES, or unset it")
    cure = "name your provider's prices in a file, as nodes/prices.json has them, and STEWARD_PRICES"
    used = {settings.model_name(role) for role in ROLES} | set(settings.fallback_models)
    unpriced = [] if settings.offline else sorted(model for model in used if not prices.knows(model))
    if unpriced:
        detail = f"none known for {', '.join(unpriced)}; their calls are booked as unpriced"
        return Finding("prices", True, detail, cure)
    if settings.steward_prices is None and not settings.offline:
        return Finding("prices", True, "the shipped list is unverified", cure)
    return Finding("prices", True, "every model in use has one")


def _unknown_settings(names: list[str]) -> Finding:
    if not names:
        return Finding("settings", True, "all are understood")
    return Finding(
        "settings", True, f"no setting is called {', '.join(names)}", "see .env.example for the names"
    )


async def _check_storage(settings: Settings, business: Business) -> list[Finding]:
    folders = migration_folders(business)
    try:
        embedded = settings.database_url is None
        async with open_database(settings, business.name, claim=embedded) as database:
            if embedded:
                # The embedded database is ours alone; nobody else would bring it up to date.
                await migrate(database, folders)
            # Kept open, so that an embedded server is not stopped and started again in between.
            found = await check(settings, folders, business.name)
            healthy = all(finding.ok for finding in found if finding.name in ESSENTIAL)
            given_up = await failed_jobs(database) if healthy else []
    except StewardError as error:
        return [Finding("database", False, "not usable", _sentence(error))]
    if given_up:
        tasks = ", ".join(sorted({job.task for job in given_up}))
        cure = "mend what the log says of them, then run `steward doctor --retry`"
        found.append(Finding("memory jobs", False, f"{len(given_up)} were given up ({tasks})", cure))
    return found


async def _check_embedder(settings: Settings) -> Finding:
    try:
        vectors = await make_embedder(settings).embed(["hello"])
    except Exception as error:
        cure = "correct STEWARD_EMBEDDINGS, or set it to local"
        return Finding("embeddings", False, f"{settings.steward_embeddings}: {_sentence(error)}", cure)
    return Finding("embeddings", True, f"{settings.steward_embeddings}, {vectors.shape[1]} dimensions")


async def _check_endpoint(settings: Settings) -> Finding:
    """Ask for the list of models: it costs nothing, and shows address, key and names."""
    if settings.offline:
        cure = "set OPENAI_API_KEY, or OPENAI_BASE_URL for any compatible endpoint"
        return Finding("models", True, "the offline demo model plays every role", cure)
    base = settings.openai_base_url or OPENAI
    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else ""
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        async with httpx.AsyncClient(timeout=ENDPOINT_SECONDS) as client:
            url = httpx.URL(base)
            answer = await client.get(url.copy_with(path=f"{url.path.rstrip('/')}/models"), headers=headers)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        detail = f"{shown_address(base)} cannot be reached ({type(error).__name__})"
        return Finding("models", False, detail, "correct OPENAI_BASE_URL, or start that server")
    return _read_models(settings, shown_address(base), answer)


def _read_models(settings: Settings, base: str, answer: httpx.Response) -> Finding:
    if answer.status_code in (401, 403):
        return Finding("models", False, f"{base} refuses the key", "correct OPENAI_API_KEY")
    if answer.status_code >= 500:
        cure = "look at that server, or try again later"
        return Finding("models", False, f"{base} fails ({answer.status_code})", cure)
    listed = _listed(answer)
    if answer.is_redirect or (answer.is_success and listed is None):
        detail = f"{base} does not answer as a model endpoint does ({answer.status_code})"
        return Finding("models", False, detail, "correct OPENAI_BASE_URL; it often ends in /v1")
    if not answer.is_success:
        cure = "where turns fail: correct OPENAI_BASE_URL; it often ends in /v1"
        detail = f"{base} lists no models ({answer.status_code}), so their names cannot be checked"
        return Finding("models", True, detail, cure)
    wanted = {settings.model_name(role) for role in ROLES} | set(settings.fallback_models)
    missing = sorted(wanted - listed) if listed else []
    if missing:
        cure = "correct STEWARD_CHAT_MODEL and its like"
        return Finding("models", False, f"{base} does not know {', '.join(missing)}", cure)
    return Finding("models", True, f"{base} answers; used are {', '.join(sorted(wanted))}")


def _listed(answer: httpx.Response) -> set[str] | None:
    """The names of the models; None where that is no answer of such an endpoint."""
    try:
        found = answer.json()
    except ValueError:
        return None
    models = found.get("data") if isinstance(found, dict) else None
    listed = models if isinstance(models, list) else []
    return {str(model["id"]) for model in listed if isinstance(model, dict) and "id" in model}


async def _check_mcp(settings: Settings, business: Business) -> list[Finding]:
    """Ask every MCP server for its tools."""
    if settings.steward_mcp is None:
        return []
    intents = [intent.name for intent in business.intents]
    try:
        servers = await examine_servers(settings.steward_mcp, intents)
    except StewardError as error:
        return [Finding("STEWARD_MCP", False, _sentence(error), "correct the file, or unset STEWARD_MCP")]
    return [_read_mcp(server) for server in servers]


def _read_mcp(server: Examined) -> Finding:
    name = f"MCP server {server.name}"
    if server.fault:
        cure = "start it, or correct its command, address or headers in the file of STEWARD_MCP"
        return Finding(name, False, server.fault, cure)
    if server.left_out:
        detail = f"{server.tools} tools; {server.left_out} cannot be offered"
        return Finding(name, True, detail, "the log says why; mend their declarations at the server")
    return Finding(name, True, f"{server.tools} tools")


def _sentence(error: BaseException) -> str:
    return mask(" ".join(str(error).split())) or type(error).__name__
