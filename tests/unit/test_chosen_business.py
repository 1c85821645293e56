"""STEWARD_BUSINESS names the business everywhere; what cannot be had is told in one sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from graph.chosen_business import chosen_business
from graph.settings import Settings
from graph.shop import SHOP
from memory.errors import ConfigurationError


def chosen(name: str) -> object:
    return chosen_business(Settings(_env_file=None, steward_business=name))


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    return tmp_path


def test_the_shop_is_served_unless_something_else_is_said() -> None:
    assert chosen_business(Settings(_env_file=None)) is SHOP


def test_a_module_of_the_working_directory_is_found(here: Path) -> None:
    (here / "corner_desk.py").write_text(
        "from graph import Business, Intent\nDESK = Business('desk', 'Help.', [Intent('chat', 'Any.')], [])\n",
        encoding="utf-8",
    )
    assert getattr(chosen("corner_desk:DESK"), "name", None) == "desk"


def test_a_module_of_the_working_directory_never_hides_an_installed_one(here: Path) -> None:
    (here / "tools.py").write_text("raise RuntimeError('must not be imported')", encoding="utf-8")
    assert chosen("graph.shop:SHOP") is SHOP
    assert sys.path[-1] == str(here)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("graph.shop", "write MODULE:NAME"),
        (":SHOP", "write MODULE:NAME"),
        ("no_such_module:X", "there is no module 'no_such_module'"),
        ("graph.shop.no_such:X", "there is no module 'graph.shop.no_such'"),
        ("graph.shop:NOTHING", "has no such name"),
        ("graph.shop.texts:FOLDER", "no Business"),
    ],
)
def test_a_name_that_leads_nowhere_is_told_in_one_sentence(name: str, sentence: str) -> None:
    with pytest.raises(ConfigurationError, match="STEWARD_BUSINESS") as raised:
        chosen(name)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import not_installed_anywhere", "No module named 'not_installed_anywhere'"),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_module_that_fails_says_why(here: Path, code: str, sentence: str) -> None:
    (here / "faulty_desk.py").write_text(code, encoding="utf-8")
    with pytest.raises(ConfigurationError, match="importing 'faulty_desk' failed") as raised:
        chosen("faulty_desk:DESK")
    assert sentence in str(raised.value)
