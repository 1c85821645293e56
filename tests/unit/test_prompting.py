"""Prompts are files; a missing one is named."""

from __future__ import annotations

import pytest

from memory.errors import ConfigurationError
from nodes.prompting import load_prompt


def test_a_prompt_is_the_file_s_text_ready_to_be_filled() -> None:
    assert "the form asked for" in load_prompt("json_fault").format(fault="x: missing")


def test_a_missing_prompt_is_told_with_those_that_are_there() -> None:
    with pytest.raises(ConfigurationError, match="json_fault"):
        load_prompt("no such prompt")
