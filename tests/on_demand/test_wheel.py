"""The wheel in a fresh virtual environment (`make check-wheel`): it serves the shop, and a new business, without the
checkout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder

from tests.support.processes import ROOT, last_object


@pytest.fixture(scope="module")
def steward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment that has nothing but the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"]))
    run(folder, sys.executable, "-m", "venv", "venv")
    run(folder, "venv/bin/python", "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), wheel)
    return folder / "venv/bin/steward"


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_it_answers_remembers_and_draws_itself(steward: Path, tmp_path: Path) -> None:
    question = "where is order ABC-20240520-001?"
    told = last_object(run(tmp_path, str(steward), "chat", question, "--user", "user_123", "--json"))
    assert "SF1234567890" in told["answer"]
    assert "route" in run(tmp_path, str(steward), "graph")


def test_a_new_business_runs_on_it(steward: Path, tmp_path: Path) -> None:
    run(tmp_path, str(steward), "new", "bakery")
    asked = ("chat", "what is the state of R-1001?", "--user", "ann", "--json")
    assert "a first request" in last_object(run(tmp_path / "bakery", str(steward), *asked))["answer"]
