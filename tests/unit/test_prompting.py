"""Prompts are files; a missing one is named."""

from __future__ import annotations

import pytest

from memory.errors import ConfigurationError
from nodes.prompting import fill, load_prompt


def test_a_prompt_is_the_file_s_text_ready_to_be_filled() -> None:
    assert "the form asked for" in fill(load_prompt("json_fault"), fault="x: missing")


def test_a_missing_prompt_is_told_with_those_that_are_there() -> None:
    with pytest.raises(ConfigurationError, match="json_fault"):
        load_prompt("no such prompt")


def test_braces_that_are_no_place_stand_and_what_is_filled_in_is_not_filled_again() -> None:
    assert fill('{a} {"b": {c}} {d} {', a="{c}", c=1) == '{c} {"b": 1} {d} {'
