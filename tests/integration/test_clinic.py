"""A second, quite different business on the same graph: the clinic's desk of `examples/`."""

from __future__ import annotations

import ast
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from langgraph.types import Command

from examples.clinic import CLINIC
from graph import Settings, open_agent
from memory.recall import RecallRequest, recall
from nodes.classifier import can_be_trained
from tests.support.model_replies import Reply, Request, reviewer_reply, router_reply, tool_call
from tests.support.model_server import ModelServer, role_of
from tests.support.turns import Talk, envelopes

ROOT = Path(__file__).resolve().parents[2]
NOW = datetime(2024, 5, 27, 1, 0, tzinfo=UTC)
APPROVE = {"type": "approve"}
BOOK = {"slot_no": "S-2002", "reason": "check-up", "contact": "13900007777"}


class Desk:
    """Answers for the models: the chat role plays the replies in their order."""

    def __init__(self, intent: str, *replies: Reply) -> None:
        self._intent = intent
        self._replies = list(replies)
        self.roles: list[str] = []

    def __call__(self, request: Request) -> Reply:
        role = role_of(request)
        self.roles.append(role)
        if role == "router":
            return router_reply(request, (self._intent, 0.95))
        if role == "reviewer":
            return reviewer_reply(request)
        return self._replies.pop(0)


@asynccontextmanager
async def patient(url: str, home: Path, server: ModelServer, script: Desk) -> AsyncIterator[Talk]:
    server.reset(script)
    values: dict[str, Any] = {"database_url": url, "steward_home": home, "steward_local_router": "off"}
    settings = Settings(_env_file=None, steward_worker="external", **values, **server.settings())
    async with open_agent(settings, CLINIC) as agent:
        yield Talk(agent, user_id="patient_7")


async def say(talk: Talk, text: str) -> dict[str, Any]:
    return await talk.say(text, now=NOW)


async def appointments(talk: Talk) -> list[dict[str, Any]]:
    return await talk.agent.services.database.fetch(
        "SELECT appointment_no, slot_no, status FROM clinic.appointment WHERE user_id = 'patient_7' ORDER BY 1"
    )


async def test_an_appointment_is_found_and_another_patients_is_not(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    script = Desk(
        "appointment",
        tool_call("appointment_query", {"appointment_no": "ap 10482"}),
        Reply("It is booked."),
        tool_call("appointment_query", {"appointment_no": "AP-10499"}),
        Reply("I cannot find it."),
    )
    async with patient(module_database_url, tmp_path, server, script) as talk:
        found = envelopes(await say(talk, "when is AP-10482?"))[-1]
        assert found["data"]["appointments"][0]["doctor"] == "Dr Lin"
        assert envelopes(await say(talk, "and AP-10499?"))[-1]["error_kind"] == "not_found"


async def test_a_slot_and_a_contact_that_nobody_gave_are_refused(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    script = Desk(
        "booking",
        tool_call("appointment_book", {**BOOK, "slot_no": "S-2005"}),
        Reply("Which time suits you?"),
    )
    async with patient(module_database_url, tmp_path, server, script) as talk:
        refused = envelopes(await say(talk, "I would like to see a dentist"))[-1]
        assert refused["error_kind"] == "ungrounded_argument"
        assert "S-2005" not in [row["slot_no"] for row in await appointments(talk)]


async def test_a_booking_is_made_reviewed_and_known_until_it_has_taken_place(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    script = Desk(
        "booking",
        tool_call("slot_search", {"department": "dental"}),
        Reply("There is S-2002, Monday 9:30."),
        tool_call("appointment_book", BOOK),
        Reply("Booked."),
    )
    async with patient(module_database_url, tmp_path, server, script) as talk:
        offered = envelopes(await say(talk, "I need a dentist appointment"))[-1]["data"]["slots"]
        assert offered[0]["slot_no"] == "S-2002", "the place at the very minute is gone"
        state = await say(talk, "The first one, a check-up, my number is 13900007777")
        made = envelopes(state)[-1]["data"]
        assert made["status"] == "booked"
        assert script.roles.count("reviewer") == 2
        services = talk.agent.services
        for when, known in ((NOW, 1), (datetime(2024, 5, 27, 9, 0, tzinfo=UTC), 0)):
            request = RecallRequest("patient_7", "my appointment", when, floor=None)
            found = await recall(services.database, services.embedder, request)
            assert len([m for m in found if made["appointment_no"] in m.content]) == known


async def test_a_specialists_place_waits_for_staff(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    script = Desk(
        "booking",
        tool_call("slot_search", {"department": "heart"}),
        tool_call(
            "appointment_book", {"slot_no": "S-4002", "reason": "palpitations", "contact": "a@b.example"}
        ),
        Reply("A colleague has booked it."),
    )
    async with patient(module_database_url, tmp_path, server, script) as talk:
        await say(talk, "I need a cardiologist, palpitations, write to a@b.example")
        (waiting,) = await talk.interrupts()
        assert "referral" in waiting["action_requests"][0]["description"]
        assert "S-4002" not in [row["slot_no"] for row in await appointments(talk)]
        await talk.run(Command(resume={"decisions": [APPROVE]}), role="staff", now=NOW)
        assert "S-4002" in [row["slot_no"] for row in await appointments(talk)]


async def test_cancelling_is_the_patients_own_decision(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    call = tool_call("appointment_cancel", {"appointment_no": "AP-10482"})
    script = Desk("appointment", call, Reply("It stays."), call, Reply("It is cancelled."))
    async with patient(module_database_url, tmp_path, server, script) as talk:
        for decision, status in (("reject", "booked"), ("approve", "cancelled")):
            await say(talk, "cancel AP-10482")
            await talk.decide({"type": decision})
            found = {row["appointment_no"]: row["status"] for row in await appointments(talk)}
            assert found["AP-10482"] == status


async def test_its_own_documents_answer_in_both_languages(
    module_database_url: str, tmp_path: Path, server: ModelServer
) -> None:
    script = Desk(
        "information",
        tool_call("knowledge_search", {"query": "周六上班吗"}),
        Reply("不上班。"),
        tool_call("knowledge_search", {"query": "late cancellation fee"}),
        Reply("20.00 EUR."),
    )
    async with patient(module_database_url, tmp_path, server, script) as talk:
        found = envelopes(await say(talk, "你们周六上班吗"))[-1]["data"]["passages"]
        assert found[0]["source"] == "visiting.zh.md"
        found = envelopes(await say(talk, "what does a late cancellation cost?"))[-1]["data"]["passages"]
        assert "costs.en.md" in [passage["source"] for passage in found]


def test_its_examples_train_the_local_classifier() -> None:
    assert can_be_trained(CLINIC)


def test_the_engine_knows_neither_business() -> None:
    for package in ("graph", "nodes", "tools", "memory"):
        for file in (ROOT / package).rglob("*.py"):
            if file.is_relative_to(ROOT / "graph/shop") or file.is_relative_to(ROOT / "graph/demo"):
                continue
            tree = ast.parse(file.read_text(encoding="utf-8"))
            names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
            names += [
                alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
            ]
            assert not [name for name in names if name.startswith(("graph.shop", "examples"))], file
