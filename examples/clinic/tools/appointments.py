"""Appointments that a patient has: looking them up, cancelling one."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

from pydantic import Field

from examples.clinic.tools.reading import LATE_FEE, no_such_appointment, number, shown
from tools.declare import IDENTIFIER, tool
from tools.errors import BusinessError
from tools.spec import Approval, Arguments, ToolContext

APPOINTMENTS = """
SELECT appointment_no, department, status, starts_at, doctor_zh, doctor_en
  FROM clinic.appointment JOIN clinic.slot USING (slot_no) JOIN clinic.doctor USING (doctor_id)
 WHERE user_id = %(user_id)s AND (%(no)s::text IS NULL OR replace(appointment_no, '-', '') = %(no)s)
 ORDER BY starts_at DESC
 LIMIT 5
"""
CANCEL = """
UPDATE clinic.appointment SET status = 'cancelled'
 WHERE user_id = %s AND appointment_no = %s AND status = 'booked'
"""
LATE = timedelta(hours=24)

AppointmentNo = Annotated[
    str, IDENTIFIER, Field(description="Number of the appointment.", examples=["AP-10482"], max_length=20)
]


async def ask_before_cancelling(args: Arguments, context: ToolContext) -> Approval | None:
    """The patient confirms; what it costs them is said where it does."""
    row = await _find(context, str(args["appointment_no"]))
    if row is None or row["status"] != "booked":
        return None
    fee = f" Within 24 hours of it, that costs {LATE_FEE}." if _is_late(row, context) else ""
    return Approval("customer", f"The place is given to somebody else at once.{fee}")


@tool(
    identifiers=("appointments[].appointment_no",),
    progress={"zh": "正在查询预约", "en": "looking up your appointments"},
)
async def appointment_query(
    context: ToolContext,
    appointment_no: Annotated[
        str | None,
        IDENTIFIER,
        Field(
            description="Number of the appointment; omit it to list them.",
            examples=["AP-10482"],
            max_length=20,
        ),
    ] = None,
) -> dict[str, Any]:
    """Look up one appointment of the patient, or without a number their latest ones: day, doctor, department, state.
    Use it for any question about an appointment that they have."""
    rows = await _rows(context, appointment_no)
    if appointment_no and not rows:
        raise no_such_appointment(appointment_no)
    return {"appointments": [shown(row, context) for row in rows]}


@tool(
    effect="write",
    repeatable=True,  # what is cancelled stays so
    approval=ask_before_cancelling,
    identifiers=("appointment_no",),
    progress={"zh": "正在取消预约 {appointment_no}", "en": "cancelling {appointment_no}"},
)
async def appointment_cancel(context: ToolContext, appointment_no: AppointmentNo) -> dict[str, Any]:
    """Cancel an appointment that the patient has. Use it only when they ask for it; they are asked to confirm."""
    row = await _find(context, appointment_no)
    if row is None:
        raise no_such_appointment(appointment_no)
    if row["status"] == "attended":
        raise BusinessError(f"Appointment {row['appointment_no']} has taken place; it cannot be cancelled.")
    await context.database.execute(CANCEL, (context.user_id, row["appointment_no"]))
    await context.state.clear(context.user_id, f"appointment:{row['appointment_no']}", now=context.now)
    fee = LATE_FEE if _is_late(row, context) else "0.00 EUR"
    return {"appointment_no": row["appointment_no"], "status": "cancelled", "fee": fee}


async def _find(context: ToolContext, appointment_no: str) -> dict[str, Any] | None:
    rows = await _rows(context, appointment_no)
    return rows[0] if rows else None


async def _rows(context: ToolContext, appointment_no: str | None) -> list[dict[str, Any]]:
    no = number(appointment_no) if appointment_no else None
    return await context.database.fetch(APPOINTMENTS, {"user_id": context.user_id, "no": no})


def _is_late(row: dict[str, Any], context: ToolContext) -> bool:
    return bool(row["starts_at"] - context.now < LATE)
