"""The checks reach their aim on drafts with planted faults and on sound ones, also on the half not tuned on."""

from __future__ import annotations

import pytest

from bench.review import FACTS, drafts


@pytest.mark.parametrize("name", ["tuning", "held_back"])
def test_planted_faults_are_found_and_sound_drafts_are_left_alone(name: str) -> None:
    found, flagged = [], []
    for draft in drafts(name):
        findings = draft.findings()
        if draft.planted is None:
            flagged.append(bool(findings))
        elif draft.planted in FACTS:
            found.append(draft.is_found(findings))
    assert len(found) >= 60
    assert sum(found) / len(found) >= 0.9
    assert len(flagged) >= 30
    assert sum(flagged) / len(flagged) <= 0.03


@pytest.mark.parametrize("name", ["tuning", "held_back"])
def test_both_languages_are_in_the_set(name: str) -> None:
    assert {draft.language for draft in drafts(name)} == {"zh", "en"}
