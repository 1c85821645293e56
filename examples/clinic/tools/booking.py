"""Free places, and booking one of them."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from psycopg import errors
from pydantic import Field

from examples.clinic.tools.reading import number, shown
from tools.declare import DETAIL, IDENTIFIER, tool
from tools.errors import BusinessError
from tools.spec import Approval, Arguments, ToolContext

FREE = """
SELECT slot_no, department, starts_at, doctor_zh, doctor_en
  FROM clinic.slot JOIN clinic.doctor USING (doctor_id)
 WHERE department = %(department)s AND starts_at > %(now)s
   AND (%(day)s::date IS NULL OR (starts_at AT TIME ZONE %(timezone)s)::date >= %(day)s)
   AND NOT EXISTS (
       SELECT FROM clinic.appointment AS a WHERE a.slot_no = slot.slot_no AND a.status <> 'cancelled'
   )
 ORDER BY starts_at
 LIMIT 5
"""
SLOT = """
SELECT slot_no, department, needs_referral, starts_at, doctor_zh, doctor_en
  FROM clinic.slot JOIN clinic.doctor USING (doctor_id) JOIN clinic.department USING (department)
 WHERE replace(slot_no, '-', '') = %s
"""
BOOK = """
INSERT INTO clinic.appointment (appointment_no, user_id, slot_no, status, reason, contact, idempotency_key, booked_at)
VALUES ('AP-' || nextval('clinic.appointment_serial'), %(user_id)s, %(slot_no)s, 'booked', %(reason)s, %(contact)s,
        %(key)s, %(now)s)
ON CONFLICT (idempotency_key) DO NOTHING
"""
BOOKED = """
SELECT appointment_no, slot_no, status, department, starts_at, doctor_zh, doctor_en
  FROM clinic.appointment JOIN clinic.slot USING (slot_no) JOIN clinic.doctor USING (doctor_id)
 WHERE idempotency_key = %s AND user_id = %s
"""
STATE = {
    "zh": "已预约 {department}，预约号 {appointment_no}，时间 {starts_at}",
    "en": "has appointment {appointment_no} in {department} at {starts_at}",
}

Department = Literal["general", "dental", "skin", "heart"]


async def staff_where_a_referral_is_needed(args: Arguments, context: ToolContext) -> Approval | None:
    """A specialist's place is given out by staff, who look at the referral."""
    slot = await context.database.fetch_one(SLOT, (number(str(args["slot_no"])),))
    if slot is None or not slot["needs_referral"]:
        return None
    return Approval("staff", f"{slot['department']} needs a referral. The patient says: {args['reason']}")


async def booked(key: str, args: Arguments, context: ToolContext) -> dict[str, Any] | None:
    """The appointment that was booked under this key, if it was."""
    row = await context.database.fetch_one(BOOKED, (key, context.user_id))
    return shown(row, context) if row else None


@tool(
    identifiers=("slots[].slot_no",),
    progress={"zh": "正在查询可预约时间", "en": "looking for free appointments"},
)
async def slot_search(
    context: ToolContext,
    department: Annotated[
        Department,
        Field(description="general: family doctor; dental: teeth; skin: skin; heart: heart and circulation."),
    ],
    day: Annotated[
        date | None,
        Field(description="First day that suits the patient, such as 2024-05-29; omit it: from now."),
    ] = None,
) -> dict[str, Any]:
    """Find free appointments of a department, the earliest first. Use it before booking; each has a slot number."""
    values = {"department": department, "now": context.now, "day": day, "timezone": context.timezone}
    return {"slots": [shown(row, context) for row in await context.database.fetch(FREE, values)]}


@tool(
    effect="write",
    repeatable=True,  # the key is unique, so a second run finds the first one's appointment
    approval=staff_where_a_referral_is_needed,
    settle=booked,
    identifiers=("appointment_no",),
    progress={"zh": "正在预约 {slot_no}", "en": "booking {slot_no}"},
)
async def appointment_book(
    context: ToolContext,
    slot_no: Annotated[
        str,
        IDENTIFIER,
        Field(description="A free slot from slot_search.", examples=["S-2101"], max_length=20),
    ],
    reason: Annotated[
        str,
        Field(description="Why the patient comes, in their words.", min_length=2, max_length=300),
    ],
    contact: Annotated[
        str,
        DETAIL,
        Field(
            description="Telephone or e-mail that the patient has given for this.",
            min_length=5,
            max_length=80,
        ),
    ],
) -> dict[str, Any]:
    """Book a free appointment. Use it once the patient has chosen a slot, said why they come, and given a contact;
    ask for what is missing. Specialists need a referral: a colleague looks at it first."""
    slot = await context.database.fetch_one(SLOT, (number(slot_no),))
    if slot is None or slot["starts_at"] <= context.now:
        raise BusinessError(f"There is no free slot {slot_no}.", kind="not_found", try_next="Search again.")
    values = {
        "user_id": context.user_id,
        "slot_no": slot["slot_no"],
        "reason": reason.strip(),
        "contact": contact.strip(),
        "key": context.idempotency_key,
        "now": context.now,
    }
    try:
        await context.database.execute(BOOK, values)
    except errors.UniqueViolation:
        raise BusinessError(
            f"{slot['slot_no']} has just been taken.", try_next="Offer the others of a new search."
        ) from None
    made = await booked(context.idempotency_key, {}, context)
    assert made is not None, "the row was inserted above, or by an earlier run of the same call"
    await _note(context, made, slot)
    return made


async def _note(context: ToolContext, made: dict[str, Any], slot: dict[str, Any]) -> None:
    """Later conversations know of the appointment until it has taken place."""
    local = slot["starts_at"].astimezone(ZoneInfo(context.timezone))
    sentence = STATE["zh" if context.locale.startswith("zh") else "en"]
    await context.state.put(
        context.user_id,
        f"appointment:{made['appointment_no']}",
        sentence.format(**{**made, "starts_at": f"{local:%Y-%m-%d %H:%M}"}),
        expires_at=slot["starts_at"],
        domains=("appointment",),
        now=context.now,
    )
