"""Settings of the tool engine: limits of a result, of a call, and of what needs approval."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from memory.settings import MemorySettings, Seconds


class ToolSettings(MemorySettings):
    """Read from the environment or `.env`; field names are the variables' names in lower case."""

    steward_result_tokens: int = Field(
        default=600, ge=50, le=1_000_000, description="A tool result larger than this is reduced."
    )
    steward_parallel_calls: int = Field(
        default=8, ge=1, le=64, description="Tool calls of one message run at once."
    )
    steward_tool_timeout: Seconds = Field(default=20, description="Seconds, for tools that name none.")
    steward_tool_attempts: int = Field(default=3, ge=1, le=10, description="Attempts of a repeatable tool.")
    steward_breaker_failures: int = Field(
        default=5, ge=1, description="Failures in a row that take a tool out."
    )
    steward_breaker_seconds: Seconds = Field(default=30, description="How long a tool stays out.")
    steward_approval_amount: float = Field(
        default=500, ge=0, le=1e12, description="Above it, staff approve a refund."
    )
    steward_mcp: Path | None = Field(default=None, description="File that names MCP servers.")
