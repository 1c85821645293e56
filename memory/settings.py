"""Settings of the storage layer: database, embeddings, what is remembered and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

Switch = Literal["on", "off"]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Days = Annotated[int, Field(ge=1, le=36_500)]
HalfLife = Annotated[float, Field(gt=0, le=36_500)]
SHORTEST_KEY = 16
"""Characters of STEWARD_ENCRYPTION_KEY."""
MAKE_A_KEY = "make one with: python -c 'import secrets; print(secrets.token_urlsafe(32))'"


class MemorySettings(BaseSettings):
    """Read from the environment or `.env`; field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        populate_by_name=True,
        frozen=True,
        hide_input_in_errors=True,  # it may be a key
    )

    database_url: SecretStr | None = Field(
        default=None, description="Postgres with pgvector; none: an embedded one."
    )
    steward_home: Path = Field(default=Path(".steward"), description="Local data.")
    steward_embeddings: str = Field(default="local", pattern=r"^(local|openai:.+)$")
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    steward_long_term_memory: Switch = "on"
    steward_memory_confidence: float = Field(default=0.8, ge=0, le=1)
    steward_idle_seconds: float = Field(default=300, ge=0, le=2_592_000)
    steward_worker: Literal["inline", "external"] = "inline"
    steward_encryption_key: SecretStr | None = None
    steward_timezone: str = "Asia/Shanghai"
    steward_pool_size: int = Field(default=10, ge=1, le=200, description="Most connections of one process.")
    steward_pgbouncer: Switch = Field(default="off", description="DATABASE_URL leads through PgBouncer.")
    steward_statement_seconds: Seconds = Field(
        default=30, description="A statement that takes longer is ended."
    )
    steward_half_life_fact_days: HalfLife = 180
    steward_half_life_preference_days: HalfLife = 120
    steward_half_life_decision_days: HalfLife = 60
    steward_retention_memory_days: Days = 730
    steward_retention_snapshot_days: Days = 180
    steward_retention_ledger_days: Days = 180
    steward_retention_checkpoint_days: Days = 90

    @field_validator("*", mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Half of a character, or a control character, is a slip that would only show much later."""
        if isinstance(value, str) and not value.replace("\n", "").isprintable() and not _is_pem(value):
            raise ValueError("it holds characters that are no text; retype it")
        return value

    @field_validator("steward_timezone")
    @classmethod
    def _is_timezone(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (KeyError, ValueError, OSError):
            raise ValueError("it is no time zone; name one such as Asia/Shanghai") from None
        return value

    @field_validator("openai_base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is not None and not _is_http(value):
            raise ValueError("it is no address; it has the form https://host/v1")
        return value

    @field_validator("steward_encryption_key")
    @classmethod
    def _is_long_enough(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and len(value.get_secret_value()) < SHORTEST_KEY:
            raise ValueError(f"it is shorter than {SHORTEST_KEY} characters; {MAKE_A_KEY}")
        return value


def _is_pem(value: str) -> bool:
    return value.lstrip().startswith("-----BEGIN")


def _is_http(value: str) -> bool:
    try:
        parts = urlsplit(value)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port is not False
    except ValueError:
        return False
