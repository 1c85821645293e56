"""The file that names MCP servers, in the form that MCP clients share, with the engine's own rules beside it.

{"mcpServers": {
    "time": {"command": "mcp-server-time"},
    "crm": {
        "url": "https://crm.example/mcp", "headers": {"Authorization": "Bearer ${CRM_TOKEN}"},
        "approval": {"refund_*": "staff"}, "effect": {"find_*": "read"}, "timeout": 10
    }
}}
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from dotenv import dotenv_values
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from memory.errors import ConfigurationError
from memory.known_secrets import keep_secret, secrets_of_environment, secrets_of_url
from tools.declare import Ground
from tools.spec import Effect

ROOT = "mcpServers"
SECRET_HEADER = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
ApprovedBy = Literal["customer", "staff", "none"]
_PLACEHOLDER = re.compile(r"\$\{([^{}]*)\}")
_Rule = TypeVar("_Rule")


class ServerConfig(BaseModel):
    """One server: how it is reached, and what holds for its tools. Rules name tools as the server does, or by
    pattern (`refund_*`); an exact name goes before a pattern, and patterns in the order of the file.

    What may hold a secret is left out of its representation.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["stdio", "http", "streamable-http"] | None = None
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = Field(default=(), repr=False)
    env: dict[str, str] = Field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = Field(default=None, repr=False)
    headers: dict[str, str] = Field(default_factory=dict, repr=False)
    disabled: bool = False
    tools: tuple[str, ...] | None = None
    """Tools that are taken; None: all."""
    approval: dict[str, ApprovedBy] = Field(default_factory=dict)
    effect: dict[str, Effect] = Field(default_factory=dict)
    """Corrects what the server says of a tool."""
    grounded: dict[str, dict[str, Ground]] = Field(default_factory=dict)
    """Arguments that must stem from the customer or their data, by tool: `identifier` or `detail`."""
    identifiers: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Paths into a result that name objects of the customer's own, by tool; they may ground later arguments."""
    details: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Paths into a result that hold contacts, addresses and amounts, by tool."""
    timeout: float | None = Field(default=None, gt=0)
    """Seconds of one call; None: the setting."""
    intents: tuple[str, ...] | None = None
    """Intents that offer the tools; None: all."""
    cache_seconds: float = Field(default=0, ge=0)
    """Time to live of the results of tools that only read."""

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is not None and not url.startswith(("http://", "https://")):
            raise ValueError("it does not begin with http:// or https://")
        return url

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either `command` (a process) or `url` (streamable HTTP)")
        foreign = ("url", "headers") if self.command else ("command", "args", "env", "cwd")
        if misplaced := [name for name in foreign if getattr(self, name)]:
            raise ValueError(f"`{misplaced[0]}` does not go with `{'command' if self.command else 'url'}`")
        if self.type and (self.type == "stdio") != (self.command is not None):
            raise ValueError(f"`type` {self.type} does not go with `{'command' if self.command else 'url'}`")
        return self

    def secrets(self) -> Iterator[str]:
        """What of it nobody may see: keys and tokens of its environment, headers and address."""
        yield from secrets_of_environment(self.env)
        yield from secrets_of_url(self.url or "")
        for name, value in self.headers.items():
            if SECRET_HEADER.search(name):
                yield value
                yield value.rpartition(" ")[2]

    def takes(self, tool: str) -> bool:
        """Whether this tool of the server is wanted."""
        return self.tools is None or any(fnmatchcase(tool, pattern) for pattern in self.tools)

    def approval_of(self, tool: str) -> ApprovedBy | None:
        """Who approves its calls; None where the file does not say."""
        return _rule(self.approval, tool)

    def effect_of(self, tool: str) -> Effect | None:
        """What the file says that it does; None where it does not say."""
        return _rule(self.effect, tool)

    def grounded_of(self, tool: str, arguments: Collection[str]) -> dict[str, Ground]:
        """Its arguments that are grounded. What a pattern says of an argument that the tool has not is passed over;
        what is said by the tool's own name is not, so that a misspelling shows."""
        named = self.grounded.get(tool)
        if named is not None:
            return named
        rules = _rule(self.grounded, tool) or {}
        return {name: kind for name, kind in rules.items() if name in arguments}

    def identifiers_of(self, tool: str) -> tuple[str, ...]:
        """Paths into its results that name the customer's own."""
        return _rule(self.identifiers, tool) or ()

    def details_of(self, tool: str) -> tuple[str, ...]:
        """Paths into its results that hold contacts, addresses and amounts."""
        return _rule(self.details, tool) or ()

    def unmatched(self, tools: Collection[str]) -> list[str]:
        """Names and patterns of the file that none of the server's tools answers to: most likely misspelt."""
        rules = (self.tools or (), self.approval, self.effect, self.grounded, self.identifiers, self.details)
        patterns = dict.fromkeys(name for each in rules for name in each)
        return [each for each in patterns if not any(fnmatchcase(tool, each) for tool in tools)]


def read_servers(path: Path) -> dict[str, ServerConfig]:
    """The servers of a JSON file, or of a TOML file (`.toml`), without disabled ones, in its order.

    `${NAME}` in a value is the variable of the environment, else of `.env`. Raises ConfigurationError, which
    names the field and never holds a value. Reads files: call it in a thread.
    """
    servers = _document(path).get(ROOT)
    if not isinstance(servers, Mapping):
        raise ConfigurationError(f'{path}: {ROOT} is missing. Name the servers as {{"{ROOT}": {{…}}}}.')
    variables = {**dotenv_values(".env"), **os.environ}
    keep_secret(secrets_of_environment({name: value or "" for name, value in variables.items()}))
    found = {name: _server(path, name, entry, variables.get) for name, entry in servers.items()}
    for server in found.values():
        keep_secret(server.secrets())
    return {name: server for name, server in found.items() if not server.disabled}


def check_intents(path: Path, servers: Mapping[str, ServerConfig], known: Collection[str]) -> None:
    """Raise ConfigurationError where a server is to be offered by an intent that the business has not."""
    for name, server in servers.items():
        for intent in server.intents or ():
            if intent not in known:
                raise ConfigurationError(
                    f"{path}: {ROOT}.{name}.intents: there is no intent {intent!r}."
                    f" Choose among {', '.join(sorted(known))}."
                )


def _document(path: Path) -> dict[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        document = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise ConfigurationError(
            f"STEWARD_MCP: {path} cannot be read ({error.strerror}); name a readable file or unset it."
        ) from None
    except ValueError as error:  # of either format; its message names line and column, not what is there
        kind = "TOML" if path.suffix == ".toml" else "JSON"
        raise ConfigurationError(f"STEWARD_MCP: {path} is not valid {kind}: {error}; correct it.") from None
    return document if isinstance(document, dict) else {}


def _server(path: Path, name: str, entry: object, variable: Callable[[str], str | None]) -> ServerConfig:
    where = f"{ROOT}.{name}"
    filled = _filled(path, where, entry, variable)
    try:
        return ServerConfig.model_validate(filled)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        field = ".".join([where, *(str(part) for part in fault["loc"])])
        message = fault["msg"].removeprefix("Value error, ")
        raise ConfigurationError(f"{path}: {field}: {message}. See docs/mcp.md.") from None


def _filled(path: Path, where: str, value: object, variable: Callable[[str], str | None]) -> object:
    """`value` with its placeholders filled in, at every depth."""
    if isinstance(value, Mapping):
        return {key: _filled(path, f"{where}.{key}", inner, variable) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(path, f"{where}.{index}", inner, variable) for index, inner in enumerate(value)]
    if not isinstance(value, str):
        return value

    def fill(found: re.Match[str]) -> str:
        filled = variable(found[1])
        if filled is None:
            raise ConfigurationError(f"{path}: {where}: the variable {found[1]!r} is not set. Set it.")
        return filled

    return _PLACEHOLDER.sub(fill, value)


def _rule(rules: Mapping[str, _Rule], tool: str) -> _Rule | None:
    if tool in rules:
        return rules[tool]
    return next((rule for pattern, rule in rules.items() if fnmatchcase(tool, pattern)), None)
