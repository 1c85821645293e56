"""What each role answers, as validated objects: tolerant where it does no harm, strict where it would.

Harmless: a number as text or percentage, null for an empty list, upper or lower case. Everything else that is
not in the agreed form counts as a failed call of the role.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator


def _number(value: object) -> object:
    """`"0.9"` and `"90%"` as numbers."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    try:
        return float(text.removesuffix("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return value


def _list(value: object) -> object:
    return [] if value is None else value


def _labels(value: object) -> object:
    """A single label for a list of one."""
    return [value] if isinstance(value, str) and value.strip() else _list(value or None)


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _name(value: object) -> object:
    """A name, or the first of several; anything else is none."""
    first = value[0] if isinstance(value, list) and value else value
    return first.strip() or None if isinstance(first, str) else None


def _upper(value: object) -> object:
    return value.strip().upper() if isinstance(value, str) else value


def _facts(value: object) -> object:
    """Facts by name; a value that is no text is written as text."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        return value
    return {name: _as_text(fact) for name, fact in value.items() if fact is not None}


def _as_text(fact: object) -> str:
    if isinstance(fact, list) and all(isinstance(part, (str, int, float)) for part in fact):
        return ", ".join(str(part) for part in fact)
    return fact if isinstance(fact, str) else json.dumps(fact, ensure_ascii=False)


Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(_number)]
Text = Annotated[str, Field(min_length=1)]


class RoleAnswer(BaseModel):
    """One role's answer. Fields beyond the agreed ones are ignored."""

    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True, frozen=True)


class StatedIntent(RoleAnswer):
    name: Text = Field(description="One of the categories")
    confidence: Share = Field(description="From 0 to 1")


class RouterAnswer(RoleAnswer):
    """The categories that the message asks for, most likely first."""

    intents: list[StatedIntent] = Field(min_length=1)


class ReviewerAnswer(RoleAnswer):
    """Whether the draft stands, or a whole corrected answer."""

    verdict: Annotated[Literal["ORIGINAL_ANSWER", "REVISED"], BeforeValidator(_upper)]
    problems: Annotated[list[str], BeforeValidator(_labels)] = Field(
        default=[], description="What is wrong with the draft, if anything"
    )
    answer: str | None = Field(
        default=None, description="The whole corrected answer where it is revised, else null"
    )

    @model_validator(mode="after")
    def _revised_needs_an_answer(self) -> ReviewerAnswer:
        if self.verdict == "REVISED" and not self.answer:
            raise ValueError("verdict REVISED needs the whole corrected answer in `answer`")
        return self


class ExtractedMemory(RoleAnswer):
    key: Text = Field(description="Short English name for the kind of fact")
    content: Text = Field(description="One sentence that can be understood alone")
    type: Annotated[Literal["fact", "preference", "decision"], BeforeValidator(_lower)]
    confidence: Share = Field(description="From 0 to 1")
    importance: Share = Field(default=0.5, description="From 0 to 1")
    domains: Annotated[list[str], BeforeValidator(_labels)] = Field(
        default=[], description="Where it matters"
    )
    evidence: str = Field(default="", description="The customer's own words that say it")
    replaces: Annotated[str | None, BeforeValidator(_name)] = Field(
        default=None, description="The known key whose memory it changes, refines or ends, else null"
    )


class ExtractorAnswer(RoleAnswer):
    """What is worth remembering; an empty list where nothing is."""

    memories: Annotated[list[ExtractedMemory], BeforeValidator(_list)]


class SummariserAnswer(RoleAnswer):
    """A summary and the single facts to keep by name."""

    summary: Text
    key_facts: Annotated[dict[str, str], BeforeValidator(_facts)] = Field(
        default={}, description="Single facts by short English names"
    )


class CompactorAnswer(RoleAnswer):
    """What later steps need of a large tool result."""

    digest: dict[str, Any] = Field(min_length=1)
