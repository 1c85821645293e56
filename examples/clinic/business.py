"""The declaration: everything that the engine knows of the clinic."""

from __future__ import annotations

from pathlib import Path

from examples.clinic.evaluation import evaluation
from examples.clinic.tools.appointments import appointment_cancel, appointment_query
from examples.clinic.tools.booking import appointment_book, slot_search
from graph import Business, Intent, Texts
from nodes.business import StateWords
from tools.handoff import handoff_to_human
from tools.knowledge_search import knowledge_search

FOLDER = Path(__file__).parent
TEXTS = Texts(FOLDER / "texts")


def _intent(
    name: str,
    *,
    priority: int,
    en: str,
    zh: str,
    tools: tuple[str, ...] = (),
    domains: tuple[str, ...] = ("health",),
    checklist: tuple[str, ...] = (),
) -> Intent:
    return Intent(
        name,
        TEXTS.text(f"{name}/description.txt"),
        priority=priority,
        label={"en": en, "zh": zh},
        instructions=TEXTS.text(f"{name}/instructions.md"),
        tools=tools,
        review=bool(checklist),
        checklist=checklist,
        memory_domains=domains,
        examples=TEXTS.lines(f"{name}/examples.txt"),
    )


CLINIC = Business(
    name="clinic",
    instructions=TEXTS.text("instructions.md"),
    intents=[
        _intent(
            "urgent",
            priority=90,
            en="something that cannot wait",
            zh="紧急情况",
            tools=("knowledge_search",),
            checklist=TEXTS.lines("urgent/checklist.txt"),
        ),
        _intent(
            "booking",
            priority=50,
            en="a new appointment",
            zh="预约挂号",
            tools=("slot_search", "appointment_book", "knowledge_search"),
            domains=("health", "appointment"),
            checklist=TEXTS.lines("booking/checklist.txt"),
        ),
        _intent(
            "appointment",
            priority=40,
            en="an appointment you have",
            zh="已有的预约",
            tools=("appointment_query", "appointment_cancel", "slot_search"),
            domains=("appointment",),
        ),
        _intent(
            "information",
            priority=20,
            en="opening hours, costs or what to bring",
            zh="时间、费用和须知",
            tools=("knowledge_search",),
            domains=("general",),
        ),
        _intent(
            "other",
            priority=10,
            en="something else",
            zh="其他问题",
            tools=("appointment_query", "knowledge_search"),
            domains=("general",),
        ),
    ],
    tools=[
        slot_search,
        appointment_book,
        appointment_query,
        appointment_cancel,
        knowledge_search("opening hours, how to get there, costs and insurance, what to bring, emergencies"),
        handoff_to_human,
    ],
    fallback="other",
    migrations=FOLDER / "migrations",
    documents=FOLDER / "documents",
    states={
        "booked": StateWords(("已预约", "预约成功", "booked", "confirmed")),
        "cancelled": StateWords(("已取消", "cancelled", "canceled")),
        "attended": StateWords(("已就诊", "attended")),
    },
    evaluation=evaluation(FOLDER / "eval"),
)
