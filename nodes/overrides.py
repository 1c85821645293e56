"""What one run may set otherwise than the settings, the business and the prompt files do: Studio's panel (G3).

Every field is None where nothing is set. The extras of the fields are those that Studio reads: which nodes a field
belongs to, that a text is a prompt, and which control suits it. On the server only staff, or whoever is on the machine
while authentication is off, can set them (`graph/server/acting.py`).
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from memory.settings import Switch

LONGEST_PROMPT: Final = 20_000
"""Characters."""
DIGITS: Final = 12
"""Of the digest by which a turn's versions name an edited text."""

PromptName = Literal["system", "router", "reviewer", "compactor"]


def _text(nodes: list[Any], description: str) -> Any:
    return Field(
        default=None,
        max_length=LONGEST_PROMPT,
        description=description,
        json_schema_extra={
            "langgraph_nodes": nodes,
            "langgraph_type": "prompt",
            "x_oap_ui_config": {"type": "textarea", "description": description},
        },
    )


def _value(
    nodes: list[Any],
    description: str,
    control: str,
    *,
    ge: float | None = None,
    le: float | None = None,
    step: float | None = None,
) -> Any:
    shown = {"type": control, "description": description, "min": ge, "max": le, "step": step}
    return Field(
        default=None,
        ge=ge,
        le=le,
        description=description,
        json_schema_extra={
            "langgraph_nodes": nodes,
            "x_oap_ui_config": {name: value for name, value in shown.items() if value is not None},
        },
    )


class Overrides(BaseModel):
    """Prompts, models, limits, thresholds and switches of one run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    system_prompt: str | None = _text(
        ["assemble_context", "call_model"],
        "System message of the chat model. Filled in: {business}, {instructions}.",
    )
    instructions: str | None = _text(
        ["assemble_context", "call_model", "reflect"], "The business's instructions to the chat model."
    )
    router_prompt: str | None = _text(
        ["route"], "System message of the router. Filled in: {business}, {intents}."
    )
    reviewer_prompt: str | None = _text(
        ["reflect"], "System message of the reviewer. Filled in: {business}, {checklist}."
    )
    compactor_prompt: str | None = _text(
        ["execute_tools"], "System message of the role that shortens results. Filled in: {tool}, {budget}."
    )
    chat_model: str | None = _value(["call_model"], "Model that answers and chooses tools.", "text")
    router_model: str | None = _value(["route"], "Model that routes.", "text")
    reviewer_model: str | None = _value(["reflect"], "Model that reviews.", "text")
    compactor_model: str | None = _value(["execute_tools"], "Model that shortens results.", "text")
    chat_temperature: float | None = _value(
        ["call_model"], "Temperature of the chat model.", "slider", step=0.1, ge=0, le=2
    )
    routing: Switch | None = _value(["route"], "Routing by intent.", "select")
    clarify: Switch | None = _value(["route"], "Asking back where the route is unsure.", "select")
    review: Switch | None = _value(
        ["call_model", "reflect"], "Reviewing the answers of risky intents.", "select"
    )
    clarify_below: float | None = _value(
        ["route"], "Routing confidence under which the customer is asked.", "slider", step=0.05, ge=0, le=1
    )
    max_model_calls: int | None = _value(
        ["assemble_context"], "Model calls of a turn.", "number", ge=1, le=100
    )
    max_tool_calls: int | None = _value(
        ["assemble_context", "execute_tools"], "Tool calls of a turn.", "number", ge=1, le=200
    )
    max_tools: int | None = _value(["route"], "Tools of the business offered at once.", "number", ge=1, le=30)
    turn_seconds: float | None = _value(["route"], "Seconds that a turn may take.", "number", ge=5, le=900)
    context_tokens: int | None = _value(
        ["assemble_context"],
        "Tokens of the context, room for the answer included.",
        "number",
        ge=2000,
        le=1_000_000,
    )
    review_rounds: int | None = _value(["reflect"], "Review rounds.", "slider", step=1, ge=1, le=3)
    review_seconds: float | None = _value(
        ["reflect"], "Seconds that a review may take.", "number", ge=1, le=120
    )

    def given(self) -> dict[str, Any]:
        """What is set, by field."""
        values = {name: getattr(self, name) for name in Overrides.model_fields}
        return {name: value for name, value in values.items() if value is not None}

    def settings(self) -> dict[str, Any]:
        """What is set of the settings, by their name."""
        return {f"steward_{name}": value for name, value in self.given().items() if name not in TEXTS}

    def prompt(self, name: PromptName) -> str | None:
        """The edited prompt of a role."""
        edited: str | None = getattr(self, f"{name}_prompt")
        return edited

    def versions(self) -> dict[str, str]:
        """What is set, as a turn's versions name it: texts by the first hex digits of their SHA-256."""
        return {
            name: hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()[:DIGITS]
            if name in TEXTS
            else str(value)
            for name, value in self.given().items()
        }


TEXTS: Final = frozenset(
    ("system_prompt", "instructions", "router_prompt", "reviewer_prompt", "compactor_prompt")
)
NOTHING: Final[dict[str, None]] = dict.fromkeys(Overrides.model_fields)
"""An update that sets nothing."""
