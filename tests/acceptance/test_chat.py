"""`steward chat` as a process, against a scripted model endpoint over real HTTP."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.model_replies import (
    Reply,
    Request,
    extractor_reply,
    reviewer_reply,
    router_reply,
    tool_call,
)
from tests.support.model_server import ModelServer, RoleQueues, role_of
from tests.support.processes import Steward, last_object, wait_until

KEYS = [
    "thread_id",
    "answer",
    "clarification",
    "intents",
    "tool_calls",
    "memories",
    "stopped_because",
    "interrupt",
    "usage",
]
ANSWERS = {
    "zh": "您的订单 ABC-20240520-001 已到达上海转运中心，运单号 SF1234567890。",
    "en": "Your order ABC-20240520-001 is at the Shanghai transit centre, tracking number SF1234567890.",
}
QUESTIONS = {"zh": "帮我查一下订单 ABC-20240520-001 到哪里了", "en": "Where is my order ABC-20240520-001?"}


def route_to(*intents: tuple[str, float]) -> Any:
    return lambda request: router_reply(request, *intents)


def look_up(language: str) -> RoleQueues:
    return RoleQueues(
        repeat=("router", "extractor"),
        router=[route_to(("order", 0.95))],
        chat=[tool_call("order_query", {"order_id": "ABC-20240520-001"}), Reply(ANSWERS[language])],
        extractor=[extractor_reply],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def with_model(folder: Path, database_url: str, server: ModelServer, **settings: str) -> Steward:
    return Steward(
        folder, database_url=database_url, steward_local_router="off", **server.settings(), **settings
    )


@pytest.mark.parametrize(
    ("mode", "language", "stream"),
    [("function_calling", "zh", False), ("json_schema", "en", True), ("json_mode", "zh", True)],
)
def test_a_turn_is_served_in_every_structured_output_mode(
    folder: Path, database_url: str, mode: str, language: str, stream: bool
) -> None:
    with ModelServer(look_up(language)) as model:
        steward = with_model(folder, database_url, model, steward_structured_output=mode)
        options = ["--stream"] if stream else []
        done = steward.run("chat", QUESTIONS[language], "--user", "user_123", "--json", *options)
    assert done.returncode == 0, done.stderr
    outcome = last_object(done.stdout)
    assert list(outcome) == KEYS
    assert outcome["answer"] == ANSWERS[language]
    assert outcome["intents"] == [{"name": "order", "confidence": 0.95, "source": "model"}]
    (call,) = outcome["tool_calls"]
    assert (call["name"], call["status"], call["error_kind"]) == ("order_query", "ok", None)
    assert outcome["usage"]["by_role"]["chat"] > 0
    assert outcome["usage"]["by_role"]["router"] > 0
    shown = done.stdout.rstrip("\n").rpartition("\n")[0]
    assert "intents" not in shown
    assert shown.strip() == (ANSWERS[language] if stream else "")
    assert not model.refused
    _check_mode(model.requests_of("router")[0], mode)


def _check_mode(request: Request, mode: str) -> None:
    kind = (request.get("response_format") or {}).get("type")
    assert kind == {"function_calling": None, "json_schema": "json_schema", "json_mode": "json_object"}[mode]
    assert bool(request.get("tool_choice")) == (mode == "function_calling")


def test_what_is_learnt_in_one_thread_is_recalled_in_another(folder: Path, database_url: str) -> None:
    wish = "以后查订单直接告诉我到哪了就行，不用再说支付状态"
    learnt = {
        "key": "order_answer_style",
        "content": "查订单时只说到哪了，不说支付状态",
        "type": "preference",
        "confidence": 0.95,
        "importance": 0.7,
        "domains": ["order"],
        "evidence": wish,
    }
    script = RoleQueues(
        repeat=("router", "chat"),
        router=[route_to(("order", 0.95))],
        chat=[Reply("好的，记住了。")],
        extractor=[lambda request: extractor_reply(request, learnt), extractor_reply],
    )
    with ModelServer(script) as model:
        steward = with_model(folder, database_url, model)
        first = steward.chat(wish)
        second = steward.chat("订单 DEF-20240525-002 什么情况了")
    assert first["thread_id"] != second["thread_id"]
    assert [memory["content"] for memory in second["memories"]] == [learnt["content"]]
    assert "不说支付状态" in str(model.requests_of("chat")[-1]["messages"])


def test_a_call_that_staff_must_approve_waits_and_goes_on_from_there(folder: Path, database_url: str) -> None:
    words = "订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123"
    call = {"order_id": "GHI-20240512-003", "issue_desc": "杯子碎了，要求退货", "contact": "13800138123"}

    def chat(request: Request) -> Reply:
        last = request["messages"][-1]
        return (
            tool_call("aftersale_create", call)
            if last["role"] == "user"
            else Reply("退货申请已提交，请留意来电。")
        )

    script = RoleQueues(
        repeat=("router", "chat", "extractor", "reviewer"),
        router=[route_to(("aftersale", 0.95))],
        chat=[chat],
        reviewer=[reviewer_reply],
        extractor=[extractor_reply],
    )
    with ModelServer(script) as model:
        steward = with_model(folder, database_url, model)
        waiting = steward.chat(words)
        thread = waiting["thread_id"]
        assert waiting["interrupt"]["action_requests"][0]["name"] == "aftersale_create"
        assert [call["status"] for call in waiting["tool_calls"]] == ["pending"]
        refused = steward.run("resume", "--thread", thread, "--decision", "approve", "--json")
        assert refused.returncode == 2
        assert "--as-staff" in refused.stderr
        settled = steward.run("resume", "--thread", thread, "--decision", "approve", "--as-staff", "--json")
        assert settled.returncode == 0, settled.stderr
        again = steward.run("resume", "--thread", thread, "--decision", "approve", "--as-staff")
    outcome = last_object(settled.stdout)
    assert outcome["interrupt"] is None
    assert [call["status"] for call in outcome["tool_calls"]] == ["ok"]
    assert outcome["answer"] == "退货申请已提交，请留意来电。"
    assert again.returncode == 3
    assert one_line(again.stderr).startswith("steward: Nothing waits")


def one_line(text: str) -> str:
    (line,) = [line for line in text.splitlines() if line]
    return line


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"steward_review_rounds": "9"}, "STEWARD_REVIEW_ROUNDS"),
        ({"steward_auth": "jwt"}, "STEWARD_JWT_KEY"),
        ({"database_url": "mysql://root@localhost/shop"}, "DATABASE_URL"),
        (
            {"database_url": "postgresql://steward:geheim@127.0.0.1:1/steward?connect_timeout=1"},
            "127.0.0.1:1",
        ),
    ],
)
def test_what_keeps_it_from_starting_is_told_in_one_line(
    folder: Path, settings: dict[str, str], names: str
) -> None:
    done = Steward(folder, **settings).run("chat", "hi", "--user", "u", "--json")
    assert done.returncode == 3
    line = one_line(done.stderr.replace(OFFLINE_NOTE, ""))
    assert names in line
    assert "geheim" not in line
    assert done.stdout == ""


OFFLINE_NOTE = "The offline demo model answers; set OPENAI_API_KEY or OPENAI_BASE_URL for a real one.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["chat", "hi"],
        ["chat", "hi", "--user", ""],
        ["resume", "--thread", "t"],
        ["resume", "--thread", "t", "--decision", "perhaps"],
        ["resume", "--thread", "t", "--decision", "edit"],
        ["costs", "--days", "0"],
        ["no-such-command"],
    ],
)
def test_bad_usage_ends_with_code_2(folder: Path, arguments: list[str]) -> None:
    done = Steward(folder).run(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.fixture
def slow(folder: Path, database_url: str) -> Iterator[tuple[ModelServer, Steward]]:
    def script(request: Request) -> Reply:
        return (
            router_reply(request, ("order", 0.95)) if role_of(request) == "router" else Reply("…", delay=60)
        )

    with ModelServer(script) as model:
        yield model, with_model(folder, database_url, model)


@pytest.mark.parametrize(("kind", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_in_mid_turn_ends_it_without_a_trace(
    slow: tuple[ModelServer, Steward], kind: signal.Signals, code: int
) -> None:
    model, steward = slow
    process = steward.start("chat", "Where is my order?", "--user", "user_123")
    wait_until(lambda: bool(model.requests_of("chat")), seconds=60)
    process.send_signal(kind)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err


def test_a_conversation_goes_on_until_the_input_ends(folder: Path, database_url: str) -> None:
    script = RoleQueues(
        repeat=("router", "extractor"),
        router=[route_to(("chat", 0.95))],
        chat=[Reply("Hello!"), Reply("Goodbye!")],
        extractor=[extractor_reply],
    )
    with ModelServer(script) as model:
        done = with_model(folder, database_url, model).run(
            "chat", "--user", "u", given="hi there\n\nbye now\n"
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Hello!", "Goodbye!"]


def test_a_thread_of_somebody_else_is_not_opened(folder: Path, database_url: str) -> None:
    with ModelServer(look_up("en")) as model:
        steward = with_model(folder, database_url, model)
        thread = steward.chat(QUESTIONS["en"])["thread_id"]
        done = steward.run("chat", "and now?", "--user", "user_456", "--thread", thread)
    assert done.returncode == 2
    assert "another user" in one_line(done.stderr)
