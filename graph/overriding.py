"""A run's own prompts, models, limits and switches: how they are shown in Studio, and put in force for that run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pydantic import ConfigDict

from graph.settings import Settings
from nodes.business import Business
from nodes.context import AgentContext
from nodes.overrides import TEXTS, Overrides
from nodes.prompting import load_prompt
from nodes.run import Services
from nodes.settings import ROLES


def under_overrides(services: Services, context: AgentContext) -> Services:
    """The services as this run has them: the same connections under its own settings and instructions."""
    if not context.given():
        return services
    settings = services.settings.model_copy(update=context.settings())
    business = services.business
    if context.instructions is not None:
        business = replace(business, instructions=context.instructions)
    return replace(services, settings=settings, business=business, models=services.models.under(settings))


def context_schema(business: Business, settings: Settings) -> type[AgentContext]:
    """The context as Studio is shown it: each field with what is in force where nothing is set.

    Studio begins an edit with what is there, so that a prompt is changed and not written anew.
    """

    class Shown(AgentContext):
        model_config = ConfigDict(
            title=AgentContext.__name__,
            json_schema_extra=lambda schema: _fill_in(schema, business, settings),
        )

    Shown.__doc__ = AgentContext.__doc__
    return Shown


def _fill_in(schema: dict[str, Any], business: Business, settings: Settings) -> None:
    for name in Overrides.model_fields:
        field = schema["properties"][name]
        # A panel has one control for a field: leaving it alone, not null, is what sets nothing.
        field |= next(kind for kind in field.pop("anyOf") if kind != {"type": "null"})
        field["default"] = field["x_oap_ui_config"]["default"] = _in_force(name, business, settings)
        if "enum" in field:
            field["x_oap_ui_config"]["options"] = [
                {"label": choice, "value": choice} for choice in field["enum"]
            ]


def _in_force(name: str, business: Business, settings: Settings) -> Any:
    if name == "instructions":
        return business.instructions.strip()
    if name in TEXTS:
        return load_prompt(name.removesuffix("_prompt"))
    models = {f"{role}_model": settings.model_name(role) for role in ROLES}
    return models.get(name) or getattr(settings, f"steward_{name}")
