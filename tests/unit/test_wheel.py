"""The wheel brings the four packages with all their files, and nothing else at top level."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from hatchling.builders.wheel import WheelBuilder

from graph.shadow import check_packages
from tests.support.processes import ROOT, environment

PACKAGES = ("graph", "nodes", "tools", "memory")


def test_the_wheel_holds_every_file_of_the_four_packages_and_nothing_else(tmp_path: Path) -> None:
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"]))
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
    files = (file for package in PACKAGES for file in (ROOT / package).rglob("*") if file.is_file())
    assert packed == {str(file.relative_to(ROOT)) for file in files if "__pycache__" not in file.parts}


def test_a_package_of_the_host_that_hides_one_of_ours_is_named_in_one_sentence(tmp_path: Path) -> None:
    """As where a project has a `tools` of its own and puts its folder first."""
    (tmp_path / "tools.py").write_text("", encoding="utf-8")
    settings = environment(tmp_path, {})
    settings["PYTHONPATH"] = f"{tmp_path}:{settings['PYTHONPATH']}"
    done = subprocess.run(
        [sys.executable, "-c", "from graph import open_agent"],
        cwd=tmp_path,
        env=settings,
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: Steward's package 'tools'")
    assert str(tmp_path / "tools.py") in last


def test_packages_side_by_side_are_well() -> None:
    check_packages(ROOT)
    with pytest.raises(ImportError, match="'nodes'"):
        check_packages(ROOT / "elsewhere")
