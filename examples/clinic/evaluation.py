"""How the clinic's conversations are tried."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory.database import Database
from nodes.evaluation import Evaluation

APPOINTMENT = """
SELECT appointment_no, slot_no, status, contact FROM clinic.appointment
 WHERE user_id = %(user_id)s AND (appointment_no = %(no)s OR slot_no = %(slot)s)
"""


async def appointment(database: Database, user_id: str, of: Mapping[str, Any]) -> dict[str, Any] | None:
    """An appointment of the patient, by `appointment_no` or `slot_no`."""
    values = {"user_id": user_id, "no": of.get("appointment_no"), "slot": of.get("slot_no")}
    return await database.fetch_one(APPOINTMENT, values)


def evaluation(cases: Path) -> Evaluation:
    """The cases of a folder, with the view above."""
    lacks = {"rules": "it looks things up and has no rules for this business"}
    return Evaluation(cases, views={"appointment": appointment}, demo_lacks=lacks)
