"""Cases are read strictly: what is misspelled is told by file and line instead of being passed over."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from graph.eval.cases import LEVELS, Case, CaseFile
from graph.eval.reading import BadCases, read_cases
from graph.shop import SHOP

SCHEMA = Path(__file__).resolve().parents[2] / "docs/eval.schema.json"


def read(folder: Path, text: str) -> list[Case]:
    file = folder / "cases.yaml"
    file.write_text(text, encoding="utf-8")
    return read_cases(file, SHOP)


def shipped() -> list[Case]:
    assert SHOP.evaluation
    return read_cases(SHOP.evaluation.cases, SHOP)


def test_the_shops_cases_cover_both_languages_and_every_level() -> None:
    cases = shipped()
    assert len(cases) >= 40
    assert set(Counter(case.level for case in cases)) == set(LEVELS)
    assert min(Counter(case.language for case in cases).values()) >= 20
    assert {need for case in cases for need in case.needs} <= set(SHOP.evaluation.demo_lacks)  # type: ignore[union-attr]


def test_the_documented_schema_is_the_real_one() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == CaseFile.model_json_schema()


def test_what_the_file_says_holds_for_cases_that_say_nothing(tmp_path: Path) -> None:
    text = "user: ann\nnow: 2024-05-27T10:00:00+08:00\ncases:\n"
    text += "  - {id: a, turns: [{say: hi}]}\n  - {id: b, user: bob, turns: [{say: no}]}\n"
    first, second = read(tmp_path, text)
    assert (first.user, second.user) == ("ann", "bob")
    assert first.now == second.now
    assert second.turns[0].say == "no", "YAML's words for true and false are what the customer says"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "cases:\n  - id: a\n    turns:\n      - say: hi\n        expct: {}\n",
            r":5: cases\[0\].turns\[0\].expct",
        ),
        ("cases:\n  - id: a\n    turns:\n      - expect: {}\n", r":4: .*either `say` or `decide`"),
        ("cases:\n  - id: a\n    turns: []\n", r":3: cases\[0\].turns"),
        (
            "cases:\n  - id: a\n    turns:\n      - say: hi\n        expect:\n          route: ordr\n",
            r":6: .*no intent is called 'ordr'; there are aftersale, chat",
        ),
        (
            "cases:\n  - id: a\n    turns: [{say: hi}]\n    end:\n      - {view: ordres}\n",
            r":5: .*no view is called 'ordres'; there are memories, order, ticket",
        ),
        ("cases:\n  - id: a\n   turns: x\n", r":3: "),
        ("cases:\n  - id: a\n    id: b\n    turns: [{say: hi}]\n", r":3: 'id' stands here twice"),
        ("cases:\n  - {id: a, turns: [{decide: edit}]}\n", "needs `args`"),
        ("", "file: "),
        (
            "cases:\n  - {id: a, turns: [{say: hi}]}\n  - {id: a, turns: [{say: hi}]}\n",
            "two cases are called 'a'",
        ),
    ],
)
def test_a_fault_is_told_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadCases, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadCases, match="cannot be read"):
        read_cases(tmp_path / "nothing.yaml", SHOP)
    with pytest.raises(BadCases, match=r"no \.yaml file"):
        read_cases(tmp_path, SHOP)
