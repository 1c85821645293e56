"""What the clinic's tools share: how numbers are compared and rows become results."""

from __future__ import annotations

import re
import unicodedata
from typing import Any
from zoneinfo import ZoneInfo

from tools.errors import BusinessError
from tools.spec import ToolContext

LATE_FEE = "20.00 EUR"


def number(text: str) -> str:
    """Letters and digits alone, upper case.

    >>> number("ap-10482")
    'AP10482'
    """
    return re.sub(r"[^0-9A-Z]", "", unicodedata.normalize("NFKC", text).upper())


def shown(row: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    """A row with its moment in the patient's zone and its doctor in their language."""
    language = "zh" if context.locale.startswith("zh") else "en"
    starts = row["starts_at"].astimezone(ZoneInfo(context.timezone)).isoformat(timespec="minutes")
    kept = {name: value for name, value in row.items() if name not in ("doctor_zh", "doctor_en", "starts_at")}
    return {**kept, "doctor": row[f"doctor_{language}"], "starts_at": starts}


def no_such_appointment(appointment_no: str) -> BusinessError:
    """The same error whether it does not exist or is another patient's."""
    return BusinessError(
        f"This patient has no appointment {appointment_no}.",
        kind="not_found",
        try_next="Check the number with the patient, or list their appointments without a number.",
    )
