"""The checks reach their aim on drafts with planted faults and on sound ones, also on those not tuned on."""

from __future__ import annotations

import pytest

from bench.review import FACTS, SETS, drafts


@pytest.mark.parametrize("name", SETS)
def test_planted_faults_are_found_and_sound_drafts_are_left_alone(name: str) -> None:
    found, flagged = [], []
    for draft in drafts(name):
        findings = draft.findings()
        if draft.planted is None:
            flagged.append(bool(findings))
        elif draft.planted in FACTS:
            found.append(draft.is_found(findings))
    assert sum(found) / len(found) >= 0.9
    assert sum(flagged) / len(flagged) <= 0.03


def test_the_sets_are_large_enough_and_in_both_languages() -> None:
    for name in ("tuning", "held_back"):
        planted = [draft.planted for draft in drafts(name)]
        assert sum(kind in FACTS for kind in planted) >= 60
        assert planted.count(None) >= 60
        assert {draft.language for draft in drafts(name)} == {"zh", "en"}
