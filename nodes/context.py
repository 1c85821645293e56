"""The runtime context of a run: plain values without secrets, since the server stores them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from pydantic import Field, field_validator

from memory.clean import is_storable
from nodes.overrides import Overrides

ANONYMOUS = "anonymous"
"""The customer where the caller names none."""


class AgentContext(Overrides):
    """Who is writing, how they want to be answered, and what this run is to do otherwise."""

    user_id: str = Field(
        default=ANONYMOUS, min_length=1, max_length=512, description="The customer. Any characters."
    )
    locale: str | None = Field(
        default=None, description="Language of answers, `zh` or `en`; none: the message's own."
    )
    timezone: str | None = Field(default=None, description="IANA name; none: the setting.")
    now: datetime | None = Field(default=None, description="The clock, for tests. None: the real one.")
    role: Literal["customer", "staff"] = Field(default="customer", description="Who settles an approval.")

    @field_validator("user_id")
    @classmethod
    def _can_be_stored(cls, user_id: str) -> str:
        if not is_storable(user_id):
            raise ValueError("it has a NUL or half of a character in it, which no database takes")
        return user_id

    @field_validator("timezone")
    @classmethod
    def _is_a_time_zone(cls, name: str | None) -> str | None:
        try:
            return name and ZoneInfo(name).key
        except (KeyError, ValueError, OSError):
            raise ValueError("it is no IANA time zone, such as Asia/Shanghai") from None
