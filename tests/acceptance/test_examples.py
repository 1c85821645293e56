"""The examples do what they say: embedded, with and without an event loop, streamed, and behind FastAPI."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.support.processes import ROOT, environment, free_port, wait_until

NUMBER = "SF1234567890"


@pytest.fixture
def settings(module_database_url: str, tmp_path: Path) -> dict[str, str]:
    return environment(tmp_path, {"DATABASE_URL": module_database_url, "STEWARD_HOME": str(tmp_path)})


@pytest.fixture
def service(settings: dict[str, str], tmp_path: Path) -> Iterator[str]:
    address = f"http://127.0.0.1:{(port := free_port())}"
    command = [sys.executable, "-m", "uvicorn", "examples.service:app", "--port", str(port)]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, env=settings, stdout=log, stderr=log)
    try:
        wait_until(lambda: process.poll() is not None or answers(address), seconds=90)
        assert process.poll() is None, (tmp_path / "log").read_text()
        yield address
    finally:
        process.terminate()
        process.wait(30)


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/openapi.json", timeout=2).is_success
    except httpx.HTTPError:
        return False


@pytest.mark.parametrize("name", ["embed", "embed_sync", "embed_stream"])
def test_a_turn_inside_ones_own_program(settings: dict[str, str], tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / f"examples/{name}.py")],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert NUMBER in done.stdout
    assert ("查询" in done.stderr) == (name == "embed_stream")


def test_a_service_answers_its_own_users_alone(service: str) -> None:
    thread = f"{service}/threads/t1"
    with httpx.Client(timeout=60) as client:
        told = client.post(
            thread, json={"user": "user_123", "text": "where is order ABC-20240520-001?"}
        ).json()
        assert NUMBER in told["answer"]
        waiting = client.post(
            thread, json={"user": "user_123", "text": "cancel order JKL-20240526-004"}
        ).json()
        assert waiting["waits_for_approval"][0]["action_requests"][0]["name"] == "order_update"
        refused = client.post(thread, json={"user": "user_200", "text": "and now?"})
        assert refused.status_code == 400
        assert "belongs to another user" in refused.json()["error"]
