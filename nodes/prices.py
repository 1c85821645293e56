"""Token prices, from a JSON file: the model's name, then prices for a million tokens.

    {"gpt-5-mini": {"input": 0.25, "cached_input": 0.025, "output": 2.0}}

A name also stands for those that begin with it (`gpt-5-mini-2025-08-07`); the longest one counts. Any currency. What
begins with `_` is a note for people. The shipped list is unverified, as its note says.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, RootModel, ValidationError, model_validator

from memory.errors import ConfigurationError
from nodes.model_answer import CallUsage

SHIPPED = Path(__file__).parent / "prices.json"
_MILLION = Decimal(1_000_000)

Amount = Annotated[Decimal, Field(ge=0)]


class Price(BaseModel):
    """Prices of one model, for a million tokens."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Amount
    output: Amount
    cached_input: Amount | None = None
    """Of prompt tokens that the endpoint had in its cache; none: as any other."""

    def of(self, usage: CallUsage) -> Decimal:
        """What a call cost."""
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        cached_price = self.input if self.cached_input is None else self.cached_input
        prompt = (usage.prompt_tokens - cached) * self.input + cached * cached_price
        return (prompt + usage.completion_tokens * self.output) / _MILLION


class _PriceFile(RootModel[dict[str, Price]]):
    @model_validator(mode="before")
    @classmethod
    def _without_notes(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        return {name: price for name, price in given.items() if not str(name).startswith("_")}


class Prices:
    """The price list. Raises ConfigurationError when the file cannot be read."""

    def __init__(self, file: Path | None = None) -> None:
        self._prices = _read(file or SHIPPED)

    def cost(self, model: str, usage: CallUsage) -> Decimal | None:
        """What a call of the model cost; None where the list does not know the model."""
        price = self._price(model)
        return price.of(usage) if price else None

    def knows(self, model: str) -> bool:
        """Whether calls of the model have a price."""
        return self._price(model) is not None

    def _price(self, model: str) -> Price | None:
        # Routers put the vendor before the name: openai/gpt-5-mini.
        for name in (model, model.rpartition("/")[2]):
            known = [prefix for prefix in self._prices if _stands_for(prefix, name)]
            if known:
                return self._prices[max(known, key=len)]
        return None


def _stands_for(prefix: str, name: str) -> bool:
    """`gpt-5` stands for `gpt-5-2025-08-07`, not for `gpt-50` nor `gpt-5.5`."""
    rest = name[len(prefix) :]
    return name.startswith(prefix) and (rest == "" or not (rest[0].isalnum() or rest[0] == "."))


def _read(file: Path) -> Mapping[str, Price]:
    try:
        return _PriceFile.model_validate_json(file.read_bytes()).root
    except OSError as error:
        raise ConfigurationError(
            f"STEWARD_PRICES: {file} cannot be read ({error.strerror}); name a readable file or unset it."
        ) from None
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, fault["loc"])) or "the file"
        raise ConfigurationError(
            f"STEWARD_PRICES: {file}: {place}: {fault['msg']}; see nodes/prices.json."
        ) from None
