"""Settings of the storage layer: database, embeddings, what is remembered and for how long."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

Switch = Literal["on", "off"]


class MemorySettings(BaseSettings):
    """Read from the environment or `.env`; field names are the variables' names in lower case."""

    model_config = SettingsConfigDict(
        env_file=".env", env_ignore_empty=True, extra="ignore", populate_by_name=True, frozen=True
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
    steward_idle_seconds: float = Field(default=300, ge=0)
    steward_worker: Literal["inline", "external"] = "inline"
    steward_encryption_key: SecretStr | None = None
    steward_timezone: str = "Asia/Shanghai"
    steward_pool_size: int = Field(default=10, ge=1, le=200, description="Most connections of one process.")
    steward_pgbouncer: Switch = Field(default="off", description="DATABASE_URL leads through PgBouncer.")
    steward_statement_seconds: float = Field(
        default=30, gt=0, description="A statement that takes longer is ended."
    )
    steward_half_life_fact_days: float = Field(default=180, gt=0)
    steward_half_life_preference_days: float = Field(default=120, gt=0)
    steward_half_life_decision_days: float = Field(default=60, gt=0)
    steward_retention_memory_days: int = Field(default=730, ge=1)
    steward_retention_snapshot_days: int = Field(default=180, ge=1)
    steward_retention_ledger_days: int = Field(default=180, ge=1)
    steward_retention_checkpoint_days: int = Field(default=90, ge=1)
