"""The other commands as processes: memory, costs, worker, graph, doctor, and the demo."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.support.model_replies import Reply, Request, extractor_reply, router_reply
from tests.support.model_server import ModelServer, role_of
from tests.support.processes import Steward, environment

WISH = "以后只在周六送货"
LEARNT = {
    "key": "delivery_day",
    "content": "只在周六送货",
    "type": "preference",
    "confidence": 0.95,
    "importance": 0.7,
    "domains": ["logistics"],
    "evidence": WISH,
}


def script(request: Request) -> Reply:
    role = role_of(request)
    if role == "router":
        return router_reply(request, ("logistics", 0.95))
    if role == "extractor":
        return extractor_reply(request, *([LEARNT] if WISH in str(request["messages"]) else []))
    return Reply("好的。")


@pytest.fixture
def steward(tmp_path: Path, database_url: str) -> Iterator[Steward]:
    with ModelServer(script) as model:
        yield Steward(tmp_path, database_url=database_url, steward_local_router="off", **model.settings())


def remembered(database_url: str) -> list[str]:
    with psycopg.connect(database_url) as connection:
        rows = connection.execute(
            "SELECT content FROM user_memory WHERE user_id = 'user_123' AND superseded_by IS NULL"
        ).fetchall()
    return [row[0] for row in rows]


def test_a_worker_of_its_own_remembers_what_a_turn_has_queued(steward: Steward, database_url: str) -> None:
    steward.settings["STEWARD_WORKER"] = "external"
    steward.chat(WISH)
    assert remembered(database_url) == []
    assert steward.run("worker", "--once").returncode == 0
    assert remembered(database_url) == [LEARNT["content"]]


def test_a_memory_is_corrected_and_a_user_erased_everywhere(steward: Steward, database_url: str) -> None:
    thread = steward.chat(WISH)["thread_id"]
    assert remembered(database_url) == [LEARNT["content"]]
    corrected = steward.run(
        "memory", "set", "--user", "user_123", "--key", "delivery_day", "--content", "只在周日送货"
    )
    assert corrected.returncode == 0, corrected.stderr
    shown = steward.run("memory", "list", "--user", "user_123").stdout
    assert "只在周日送货" in shown
    assert "只在周六送货" not in shown
    assert steward.run("memory", "forget", "--user", "user_123", given="n\n").returncode != 0
    assert remembered(database_url) == ["只在周日送货"]
    one = steward.run("memory", "forget", "--user", "user_123", "--key", "Delivery Day")
    assert (one.returncode, "forgotten" in one.stderr) == (0, True)
    assert "只在周日送货" not in steward.run("memory", "list", "--user", "user_123").stdout
    assert steward.run("memory", "forget", "--user", "user_123", "--yes").returncode == 0
    left = json.loads(steward.run("memory", "export", "--user", "user_123").stdout)
    assert [name for name, part in left.items() if isinstance(part, list) and part] == []
    # the conversation is gone too, so its name is free
    assert steward.chat("你好", "--thread", thread, user="user_456")["answer"] == "好的。"


def test_costs_are_shown_as_table_json_and_picture(steward: Steward) -> None:
    thread = steward.chat("你好")["thread_id"]
    steward.chat("还在吗", "--thread", thread)
    table = steward.run("costs", "--thread", thread)
    assert table.returncode == 0, table.stderr
    assert "instructions" in table.stdout
    picture = steward.folder / "costs.png"
    found = steward.run("costs", "--thread", thread, "--json", "--plot", str(picture))
    spent = json.loads(found.stdout)
    assert len(spent["rows"]) == 2
    assert spent["total"]["prompt_tokens"] == sum(row["prompt_tokens"] for row in spent["rows"]) > 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_graph_is_drawn_without_database_and_network(tmp_path: Path) -> None:
    steward = Steward(tmp_path, database_url="postgresql://nobody@127.0.0.1:1/none")
    text = steward.run("graph", "--mermaid").stdout
    assert "request_approval -. &nbsp;settled&nbsp; .-> execute_tools" in text
    assert steward.run("graph", "--png", "graph.png").returncode == 0
    assert (tmp_path / "graph.png").read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / ".steward").exists()


def test_the_doctor_finds_what_is_wrong_and_names_the_cure(steward: Steward) -> None:
    well = steward.run("doctor")
    assert well.returncode == 0, well.stdout
    sick = Steward(
        steward.folder,
        database_url="postgresql://nobody@127.0.0.1:1/none",
        openai_base_url="http://127.0.0.1:1/v1",
        steward_modle="gpt",
    ).run("doctor")
    assert sick.returncode == 3
    for name in ("STEWARD_MODLE", "127.0.0.1:1/none", "OPENAI_BASE_URL"):
        assert name in sick.stdout
    assert "Traceback" not in sick.stdout + sick.stderr


def test_help_comes_at_once_and_names_every_command(tmp_path: Path) -> None:
    steward = Steward(tmp_path)
    steward.run("--help")  # compiles what was never imported before
    started = time.monotonic()
    done = steward.run("--help")
    assert time.monotonic() - started < 2
    for command in ("chat", "resume", "worker", "memory", "costs", "graph", "doctor", "serve"):
        assert command in done.stdout


THREADS = """
import atexit, sys
from graph.cli.main import main

def count() -> None:
    import numpy, threadpoolctl
    print([pool["num_threads"] for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"])

atexit.register(count)
sys.argv = ["steward", "--help"]
main()
"""


def test_a_process_of_ours_has_no_threads_of_blas_that_a_fork_could_wait_for(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", THREADS],
        env=environment(tmp_path, {}),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[1]"


def test_the_demo_walks_through_its_six_steps(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "graph.demo"],
        cwd=tmp_path,
        env=environment(tmp_path, {}),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    for step in range(1, 7):
        assert f"\n{step}  " in done.stdout
    for sign in (
        "上海转运中心",
        "SF1234567890",
        "user_memory: ",
        "aftersale_create waits for approval by staff",
        "ORIGINAL_ANSWER",
        "shop.ticket: AS-",
        "Shanghai transit centre",
        "OPENAI_API_KEY",
    ):
        assert sign in done.stdout
    answers = [line for line in done.stdout.splitlines() if line.startswith("steward  ")]
    assert "支付" not in answers[2], "the preference was not followed"
    assert done.stderr == ""
    assert list((tmp_path / ".steward").iterdir()) == []


def test_the_server_tells_its_options_without_starting_anything(tmp_path: Path) -> None:
    told = Steward(tmp_path, database_url="postgresql://127.0.0.1:1/nowhere").run("serve", "--help")
    assert told.returncode == 0, told.stderr
    assert "--n-jobs-per-worker" in told.stdout
