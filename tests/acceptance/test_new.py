"""`steward new`: what it writes runs, and it writes over nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graph.skeleton.write import write_skeleton
from memory.errors import InvalidInput
from tests.support.processes import Steward, environment


def test_what_is_written_passes_its_own_tests_and_answers_at_once(
    tmp_path: Path, empty_database_url: str
) -> None:
    done = Steward(tmp_path).run("new", "bakery")
    assert done.returncode == 0, done.stderr
    project = tmp_path / "bakery"
    assert {str(project / line.removeprefix("bakery/")) for line in done.stdout.splitlines()} == {
        str(path) for path in project.rglob("*") if path.is_file()
    }
    settings = {"DATABASE_URL": empty_database_url}
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=project,
        env=environment(project, settings),
        capture_output=True,
        text=True,
        check=False,
    )
    assert tests.returncode == 0, tests.stdout + tests.stderr
    told = Steward(project, database_url=empty_database_url).chat("how does R-1001 stand?", user="ann")
    assert "a first request" in told["answer"]
    assert told["intents"][0]["name"] == "request"


def test_what_is_there_already_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "bakery").mkdir()
    with pytest.raises(InvalidInput, match="is there already"):
        write_skeleton("bakery", tmp_path)
    assert list((tmp_path / "bakery").iterdir()) == []


@pytest.mark.parametrize(
    "name", ["Bakery", "my-bakery", "../bakery", "class", "memory", "json", "pytest", ""]
)
def test_a_name_that_would_not_do_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="call"):
        write_skeleton(name, tmp_path)
    assert list(tmp_path.iterdir()) == []
