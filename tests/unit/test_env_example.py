"""`.env.example` is the list of settings that people copy from."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from graph.settings import Settings

TEXT = (Path(__file__).resolve().parents[2] / ".env.example").read_text(encoding="utf-8")
LISTED = dict(re.findall(r"^#?([A-Z_]+)=(.*)$", TEXT, re.MULTILINE))


def test_every_setting_is_listed_and_nothing_else() -> None:
    assert set(LISTED) == {name.upper() for name in Settings.model_fields}


def test_the_listed_defaults_are_the_real_ones() -> None:
    for name, field in Settings.model_fields.items():
        if field.default is not None:
            default = f"{field.default:g}" if isinstance(field.default, float) else str(field.default)
            assert LISTED[name.upper()] == default, name


def test_a_copy_changes_nothing_until_a_line_is_uncommented() -> None:
    assert not [line for line in TEXT.splitlines() if line and not line.startswith("#")]


def test_a_line_says_what_each_group_is_for() -> None:
    lines = TEXT.splitlines()
    for before, line in itertools.pairwise(lines):
        if re.match(r"#[A-Z_]+=", line):
            assert before.startswith("#"), f"{line} stands alone"
