"""The roles' answers: what is forgiven, and what is a failed call."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from nodes.answers import (
    CompactorAnswer,
    ExtractorAnswer,
    ReviewerAnswer,
    RouterAnswer,
    SummariserAnswer,
)

MEMORY = {"key": "k", "content": "c", "type": "fact", "confidence": 0.9}


@pytest.mark.parametrize("stated", [0.9, "0.9", " 0.9 ", "90%"])
def test_a_confidence_may_be_text(stated: object) -> None:
    answer = RouterAnswer.model_validate({"intents": [{"name": "order", "confidence": stated}], "note": "x"})
    assert answer.intents[0].confidence == 0.9


@pytest.mark.parametrize("verdict", ["ORIGINAL_ANSWER", "original_answer ", "Original_Answer"])
def test_a_kept_draft_needs_nothing_else(verdict: str) -> None:
    answer = ReviewerAnswer.model_validate({"verdict": verdict, "problems": None})
    assert (answer.verdict, answer.problems, answer.answer) == ("ORIGINAL_ANSWER", [], None)


def test_absent_and_null_lists_are_empty_where_the_rest_is_clear() -> None:
    assert ExtractorAnswer.model_validate({"memories": None}).memories == []
    item = ExtractorAnswer.model_validate({"memories": [MEMORY | {"domains": None}]}).memories[0]
    assert (item.domains, item.importance, item.evidence) == ([], 0.5, "")
    assert ExtractorAnswer.model_validate({"memories": [MEMORY | {"domains": "order"}]}).memories[
        0
    ].domains == ["order"]


@pytest.mark.parametrize(
    ("stated", "meant"), [("size", "size"), (["size", "fit"], "size"), ([], None), (False, None), ("", None)]
)
def test_an_odd_name_of_what_is_replaced_costs_no_memory(stated: object, meant: str | None) -> None:
    answer = ExtractorAnswer.model_validate({"memories": [MEMORY | {"replaces": stated}]})
    assert answer.memories[0].replaces == meant


def test_key_facts_become_text() -> None:
    facts = {"size": 42, "gift": True, "colours": ["red", "blue"], "none": None, "way": {"by": "sea"}}
    answer = SummariserAnswer.model_validate({"summary": "s", "key_facts": facts})
    assert answer.key_facts == {
        "size": "42",
        "gift": "true",
        "colours": "red, blue",
        "way": '{"by": "sea"}',
    }


@pytest.mark.parametrize(
    ("schema", "answer"),
    [
        (RouterAnswer, {}),
        (RouterAnswer, {"intents": None}),
        (RouterAnswer, {"intents": []}),
        (RouterAnswer, {"intents": ["order"]}),
        (RouterAnswer, {"intents": [{"name": "order"}]}),
        (RouterAnswer, {"intents": [{"name": "", "confidence": 0.5}]}),
        (RouterAnswer, {"intents": [{"name": "order", "confidence": 1.5}]}),
        (RouterAnswer, {"intents": [{"name": "order", "confidence": "nan"}]}),
        (RouterAnswer, {"intents": [{"name": "order", "confidence": "high"}]}),
        (ReviewerAnswer, {"verdict": "OK"}),
        (ReviewerAnswer, {"verdict": "REVISED", "answer": None}),
        (ReviewerAnswer, {"verdict": "REVISED", "answer": "  "}),
        (ReviewerAnswer, {"answer": "text"}),
        (ExtractorAnswer, {}),
        (ExtractorAnswer, {"memories": ["likes tea"]}),
        (ExtractorAnswer, {"memories": [MEMORY | {"type": "state"}]}),
        (ExtractorAnswer, {"memories": [MEMORY | {"content": ""}]}),
        (SummariserAnswer, {"summary": ""}),
        (SummariserAnswer, {"key_facts": {}}),
        (CompactorAnswer, {"digest": []}),
        (CompactorAnswer, {"digest": {}}),
    ],
)
def test_everything_else_is_a_failed_call(schema: type[BaseModel], answer: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        schema.model_validate(answer)
