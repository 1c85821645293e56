"""Settings of the stages: which model plays which role, and how far a turn may go."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from memory.settings import Seconds, Switch
from tools.settings import ToolSettings

Role = Literal["chat", "router", "reviewer", "extractor", "summariser", "compactor"]
ROLES: tuple[Role, ...] = ("chat", "router", "reviewer", "extractor", "summariser", "compactor")


class NodeSettings(ToolSettings):
    """Read from the environment or `.env`; field names are the variables' names in lower case."""

    steward_chat_model: str = "gpt-5-mini"
    steward_small_model: str | None = Field(
        default=None, description="Default of the next five; none: the chat model."
    )
    steward_router_model: str | None = None
    steward_reviewer_model: str | None = None
    steward_extractor_model: str | None = None
    steward_summariser_model: str | None = None
    steward_compactor_model: str | None = None
    steward_chat_temperature: float = Field(default=0.4, ge=0, le=2)
    steward_router_temperature: float = Field(default=0, ge=0, le=2)
    steward_reviewer_temperature: float = Field(default=0.2, ge=0, le=0.2)
    steward_extractor_temperature: float = Field(default=0, ge=0, le=2)
    steward_summariser_temperature: float = Field(default=0.2, ge=0, le=2)
    steward_compactor_temperature: float = Field(default=0, ge=0, le=2)
    steward_chat_timeout: Seconds = 60
    steward_router_timeout: Seconds = 10
    steward_reviewer_timeout: Seconds = 20
    steward_extractor_timeout: Seconds = 60
    steward_summariser_timeout: Seconds = 60
    steward_compactor_timeout: Seconds = 15
    steward_fallback_models: str = Field(
        default="", description="Comma list, tried in order when a model fails."
    )
    steward_structured_output: Literal["json_schema", "function_calling", "json_mode"] = "function_calling"
    steward_strict_tools: Switch = "off"
    steward_routing: Switch = "on"
    steward_clarify: Switch = "on"
    steward_review: Switch = "on"
    steward_local_router: Switch = "on"
    steward_clarify_below: float = Field(default=0.6, ge=0, le=1)
    steward_max_model_calls: int = Field(default=30, ge=1, le=10_000)
    steward_max_tool_calls: int = Field(default=50, ge=1, le=10_000)
    steward_max_tools: int = Field(default=6, ge=1, description="Tools of the business offered at once.")
    steward_turn_seconds: Seconds = 120
    steward_turn_tokens: int = Field(
        default=400_000, ge=1000, le=1_000_000_000, description="Token budget of one turn."
    )
    steward_day_tokens: int | None = Field(
        default=None, ge=1, description="Tokens of one user and day; none: no limit."
    )
    steward_day_turns: int | None = Field(
        default=None, ge=1, description="Turns of one user and day; none: no limit."
    )
    steward_context_tokens: int = Field(default=16_000, ge=1000, le=10_000_000)
    steward_answer_tokens: int = Field(default=1500, ge=100, description="Room kept for the answer.")
    steward_review_rounds: int = Field(default=2, ge=1, le=3)
    steward_review_seconds: Seconds = 20
    steward_prices: Path | None = Field(
        default=None, description="File of token prices; none: the shipped one."
    )
    steward_busy: Literal["queue", "refuse"] = "queue"

    @property
    def offline(self) -> bool:
        """No key and no endpoint: the demo model takes every role."""
        return self.openai_api_key is None and self.openai_base_url is None

    def model_name(self, role: Role) -> str:
        """The model that plays a role: its own setting, else the small model, else the chat model."""
        if role == "chat":
            return self.steward_chat_model
        own: str | None = getattr(self, f"steward_{role}_model")
        return own or self.steward_small_model or self.steward_chat_model

    def temperature(self, role: Role) -> float:
        value: float = getattr(self, f"steward_{role}_temperature")
        return value

    def timeout(self, role: Role) -> float:
        """Seconds that one call of the role may take."""
        value: float = getattr(self, f"steward_{role}_timeout")
        return value

    @property
    def fallback_models(self) -> tuple[str, ...]:
        return tuple(name.strip() for name in self.steward_fallback_models.split(",") if name.strip())
