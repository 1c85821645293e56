"""STEWARD_BUSINESS at every way of use, as processes: command line, doctor, worker, dev server."""

from __future__ import annotations

import json
from collections.abc import Iterator

import httpx
import pytest

from tests.support.processes import ROOT, Server, Steward, free_port, last_object


@pytest.fixture(scope="module")
def steward(tmp_path_factory: pytest.TempPathFactory, module_database_url: str) -> Steward:
    folder = tmp_path_factory.mktemp("clinic")
    # The examples are no part of what is installed: they are found in the working directory.
    (folder / "examples").symlink_to(ROOT / "examples")
    return Steward(folder, database_url=module_database_url, steward_business="examples.clinic:CLINIC")


@pytest.fixture(scope="module")
def server(steward: Steward) -> Iterator[Server]:
    with Server(steward) as server:
        yield server


def test_the_command_line_serves_it(steward: Steward) -> None:
    told = steward.chat("when is my appointment AP-10482?", user="patient_7")
    assert [call["name"] for call in told["tool_calls"]] == ["appointment_query"]
    assert "Dr Lin" in told["answer"]


def test_the_doctor_says_which_business_it_is(steward: Steward) -> None:
    done = steward.run("doctor")
    assert done.returncode == 0, done.stdout
    assert "clinic" in done.stdout
    assert "no rules" in done.stdout


def test_the_worker_serves_it(steward: Steward) -> None:
    assert steward.run("worker", "--once").returncode == 0


def test_the_dev_server_serves_it(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as client:
        thread = client.post("/threads", json={}).json()["thread_id"]
        state = client.post(
            f"/threads/{thread}/runs/wait",
            json={
                "assistant_id": "steward",
                "input": {"messages": [{"role": "user", "content": "show AP-10482"}]},
                "context": {"user_id": "patient_7"},
            },
        ).json()
    assert "Dr Lin" in state["answer"]


def test_a_name_that_leads_nowhere_is_one_line(steward: Steward) -> None:
    lost = Steward(steward.folder, **{**steward.settings, "STEWARD_BUSINESS": "examples.clinic:NOBODY"})
    for command in (("graph",), ("serve", "--port", str(free_port()))):
        done = lost.run(*command)
        assert done.returncode == 3
        assert done.stderr.strip().count("\n") == 0
        assert "STEWARD_BUSINESS" in done.stderr


def test_eval_tells_a_faulty_file_by_its_line_and_prints_the_form_of_a_right_one(steward: Steward) -> None:
    (steward.folder / "faulty.yaml").write_text("cases:\n  - id: a\n    turns: [{say: hi, expct: 1}]\n")
    done = steward.run("eval", "faulty.yaml")
    assert done.returncode == 2
    assert "faulty.yaml:3: cases[0].turns[0].expct" in done.stderr
    assert json.loads(steward.run("eval", "--schema").stdout)["title"] == "CaseFile"


def test_eval_plays_its_cases_and_fails_under_what_is_asked_for(steward: Steward) -> None:
    done = steward.run("eval", "--case", "appointment-*", "--json", "--fail-under", "1")
    assert done.returncode == 0, done.stderr
    report = last_object(done.stdout)
    assert (report["business"], report["offline"], len(report["cases"])) == ("clinic", True, 2)
