"""The operator's page in a real Chromium on the real server (`make check-browser`), served by the offline model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import jwt
import pytest
from langgraph_sdk import get_sync_client
from playwright.sync_api import Browser, Page, expect

from tests.conftest import ROOT
from tests.support.browser import NARROW, WIDE, chromium, layout_shifts, low_contrast, overflows, window
from tests.support.processes import Server, Steward

USER = "user_123"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
RETURN = "订单 GHI-20240512-003 的杯子碎了，我要退货，电话 13800138123"
KEY = "a-shared-secret-of-at-least-32-bytes"
PICTURES = Path(os.environ.get("STEWARD_SCREENSHOTS", ROOT / "build/console"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Iterator[Server]:
    with Server(Steward(tmp_path_factory.mktemp("console"), database_url=module_database_url)) as server:
        yield server


def say(server: Server, *texts: str, thread_id: str | None = None) -> str:
    """A customer's conversation; its thread."""
    client = get_sync_client(url=server.url)
    thread_id = client.threads.create(thread_id=thread_id or str(uuid4()))["thread_id"]
    for text in texts:
        message = {"messages": [{"role": "user", "content": text}]}
        client.runs.wait(thread_id, "steward", input=message, context={"user_id": USER})
    return thread_id


def state(server: Server, thread_id: str) -> Any:
    return get_sync_client(url=server.url).threads.get_state(thread_id)["values"]


def go(page: Page, address: str) -> None:
    page.evaluate("address => { location.hash = address }", address)


def test_a_conversation_is_found_and_its_turn_shows_its_way(server: Server, browser: Browser) -> None:
    thread_id = say(server, "帮我查一下订单 ABC-20240520-001 到哪里了", f"谢谢 {HOSTILE}")
    with window(browser, server.url) as page:
        page.get_by_role("searchbox", name="Search").fill(thread_id)
        page.locator(".list a").filter(has_text=HOSTILE).click()
        expect(page.locator(".bubble").filter(has_text=HOSTILE)).to_be_visible()
        page.get_by_role("link", name="How was this served?").first.click()
        expect(page.get_by_role("img", name="way through the graph")).to_be_visible()
        assert set(page.locator(".graph .node.taken > text").all_text_contents()) >= {
            *("start", "route", "recall_memory", "assemble_context", "call_model"),
            *("execute_tools", "write_memory", "end"),
        }
        assert page.locator(".graph .node:not(.taken) > text").all_text_contents() == [
            *("clarify", "request_approval", "reflect")
        ]
        assert page.locator(".graph .edge.taken").count() == 9
        expect(page.locator(".turn tbody tr").first).to_contain_text("recall_memory")
        expect(page.locator(".turn .intent").first).to_contain_text("order")
        expect(page.locator(".turn .call").first).to_contain_text("order_query")
        page.locator(".turn .call summary").first.click()
        expect(page.locator(".turn .call").first).to_contain_text("SF1234567890")
        page.get_by_label("Bad").check()
        page.get_by_label("Why?").fill("too slow")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_role("status")).to_contain_text("noted")
        go(page, "#/feedback")
        expect(page.locator(".ratings")).to_contain_text("too slow")


@pytest.mark.parametrize("decision", ["reject", "respond", "edit", "approve"])
def test_an_approval_is_settled(server: Server, browser: Browser, decision: str) -> None:
    thread_id = say(server, RETURN)
    waiting = state(server, thread_id)["approvals"][0]["call_id"]
    with window(browser, server.url) as page:
        go(page, "#/approvals")
        card = page.locator(f'[data-call="{waiting}"]').last
        expect(card).to_contain_text("GHI-20240512-003")
        card.get_by_role("button", name=decision.capitalize(), exact=True).click()
        if decision == "reject":
            card.get_by_label("Why?").fill("no return of this kind")
            card.get_by_role("button", name="Reject").last.click()
        elif decision == "respond":
            card.get_by_label("Answer in place").fill("a new cup is on its way")
            card.get_by_role("button", name="Send answer").click()
        elif decision == "edit":
            card.get_by_label("issue_desc").fill("cup broken, edited by staff")
            card.get_by_role("button", name="Approve as edited").click()
        expect(page.get_by_role("status")).to_contain_text("Decided", timeout=20_000)
    left = state(server, thread_id)
    assert not left["approvals"]
    assert left["answer"]
    told = json.dumps(left, ensure_ascii=False)
    expected = {
        "reject": "no return of this kind",
        "respond": "a new cup is on its way",
        "edit": "cup broken, edited by staff",
        "approve": "ok",
    }
    assert expected[decision] in told


def test_a_colleague_replies_and_hands_the_conversation_back(server: Server, browser: Browser) -> None:
    thread_id = say(server, "Where is my order ABC-20240520-001?", "I want to speak to a person please")
    assert state(server, thread_id)["handoff"]
    with window(browser, server.url) as page:
        go(page, "#/people")
        page.locator(f'a[href$="{thread_id}"]').click()
        page.get_by_label("Reply to the customer").fill(f"I look after it. {HOSTILE}")
        page.get_by_role("button", name="Send").click()
        expect(page.locator(".line.staff .bubble")).to_contain_text(
            f"I look after it. {HOSTILE}", timeout=20_000
        )
        page.get_by_role("button", name="Hand back to the agent").click()
        expect(page.get_by_role("status")).to_contain_text("answers again")
        expect(page.locator(".handover")).to_have_count(0)
    left = state(server, thread_id)
    assert left["handoff"] is None
    assert left["turn"]["user_id"] == USER


def test_a_memory_is_corrected_and_forgotten(server: Server, browser: Browser) -> None:
    user = f"a/b 用户 {HOSTILE}"
    path = (
        f"{server.url}/users/{httpx.URL(path='/' + user).raw_path.decode()[1:].replace('/', '%2F')}/memories"
    )
    key = "<b>key</b>"
    put = httpx.put(f"{path}/{key.replace('/', '%2F')}", json={"content": HOSTILE, "type": "preference"})
    assert put.status_code == 200, put.text
    stored = put.json()["key"]
    with window(browser, server.url) as page:
        go(page, "#/memories")
        page.locator(".list a").filter(has_text=user).click()
        card = page.locator(".memory").filter(has_text=HOSTILE)
        expect(card).to_contain_text(stored)
        card.get_by_role("button", name="Correct").click()
        page.get_by_label("Content").first.fill("No Saturday deliveries.")
        page.get_by_role("button", name="Save").first.click()
        card = page.locator(".memory").filter(has_text="No Saturday deliveries.")
        expect(card).to_be_visible()
        assert [one["content"] for one in httpx.get(path).json()["memories"]] == ["No Saturday deliveries."]
        card.get_by_role("button", name="Forget").click()
        card.get_by_role("button", name="Forget for good?").click()
        expect(page.get_by_text("Nothing is remembered of this user.")).to_be_visible()
    assert httpx.get(path).json()["memories"] == []


def test_the_page_speaks_the_browsers_language_and_the_one_chosen(server: Server, browser: Browser) -> None:
    with window(browser, server.url, language="zh-CN") as page:
        expect(page.get_by_role("link", name="会话")).to_be_visible()
        assert page.get_attribute("html", "lang") == "zh-CN"
        page.get_by_role("button", name="EN").click()
        expect(page.get_by_role("link", name="Conversations")).to_be_visible()
        page.reload()
        expect(page.get_by_role("link", name="Conversations")).to_be_visible()


def test_everything_is_reached_by_keyboard_and_shows_its_focus(server: Server, browser: Browser) -> None:
    say(server, "hello")
    with window(browser, server.url) as page:
        expect(page.locator(".list a").first).to_be_visible()
        seen = []
        for _ in range(11):  # as many as there are with one conversation
            page.keyboard.press("Tab")
            name, outlined = page.evaluate(
                "() => [document.activeElement.textContent.trim() || document.activeElement.id,"
                " getComputedStyle(document.activeElement).outlineStyle !== 'none']"
            )
            assert outlined, name
            seen.append(name)
        assert seen[0] == "Skip to content"
        assert {"Conversations", "Memories", "中", "search"} <= set(seen)
        page.locator(".list a").first.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".said")).to_be_visible()
        page.locator(".how").last.focus()
        page.keyboard.press("Enter")
        expect(page.locator(".turn h2")).to_be_focused()


@pytest.mark.parametrize("language", ["en-GB", "zh-CN"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_it_fits_and_can_be_read(
    server: Server, browser: Browser, size: tuple[int, int], scheme: Any, language: str
) -> None:
    thread_id = say(server, "帮我查一下订单 ABC-20240520-001 到哪里了", "请以后周六不要送货")
    waiting = say(server, RETURN)
    turn = f"turn-{next(m for m in state(server, thread_id)['messages'] if m['type'] == 'human')['id']}"
    name = f"{'wide' if size == WIDE else 'narrow'}-{scheme}-{language[:2]}"
    views = {
        "list": ("#/conversations", ".list a"),
        "conversation": (f"#/conversations/{thread_id}", ".said .bubble"),
        "turn": (f"#/conversations/{thread_id}/{turn}", ".graph"),
        "waiting": (f"#/conversations/{waiting}", ".approval"),
        "approvals": ("#/approvals", ".approval"),
        "memories": (f"#/memories/{USER}", ".memories-of h1"),
    }
    PICTURES.mkdir(parents=True, exist_ok=True)
    with window(browser, server.url, size=size, scheme=scheme, language=language) as page:
        for view, (address, awaited) in views.items():
            go(page, address)
            expect(page.locator(awaited).first).to_be_visible()
            page.wait_for_load_state("networkidle")
            assert low_contrast(page) == [], view
            assert overflows(page) == 0, view
            page.screenshot(path=PICTURES / f"{view}-{name}.png")
        shifts = layout_shifts(page)
        assert sum(value for value, _ in shifts) < 0.1, shifts


def test_a_token_is_asked_for_kept_in_the_tab_and_never_in_the_address(
    tmp_path: Path, module_database_url: str, browser: Browser
) -> None:
    steward = Steward(tmp_path, database_url=module_database_url, steward_auth="jwt", steward_jwt_key=KEY)
    customer = jwt.encode({"sub": USER}, KEY)
    staff = jwt.encode({"sub": "boss", "role": "staff"}, KEY)
    with Server(steward) as server, window(browser, server.url) as page:
        for token, told in (("nonsense", "not accepted"), (customer, "not a staff token")):
            page.get_by_label("Token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            expect(page.get_by_role("alert")).to_contain_text(told)
        page.get_by_label("Token").fill(staff)
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator(".list a").first).to_be_visible()
        assert staff not in page.url
        assert (
            page.evaluate("Object.values(localStorage).concat(document.cookie).join().includes('ey')")
            is False
        )
        page.reload()
        expect(page.locator(".list a").first).to_be_visible()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
