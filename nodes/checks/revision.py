"""Whether a revised draft may take the place of the one before it (F3)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nodes.checks.checker import Checked
from nodes.checks.facts import Fact, says_the_same
from nodes.checks.faults import hard_faults
from nodes.checks.text import fold
from nodes.checks.vocabulary import StateVocabulary


def objection(
    draft: Checked, revision: Checked, problems: Sequence[str], vocabulary: StateVocabulary
) -> str | None:
    """Why the revision is not taken, in a sentence for the reviewer; None where it may be.

    It must bring in nothing from nowhere, and keep what the draft had right. A right fact may give way to another
    one of its kind only where a problem names it.
    """
    new = [fault for fault in revision.faults if fault.kind != "wish" and fault not in draft.faults]
    if new:
        return f"It brings in a new fault: {' '.join(fault.text for fault in new)}"
    brought = [fact for fact in revision.right if not _stands_in(fact, draft.facts, vocabulary)]
    for fact in _dropped(draft, revision, vocabulary):
        replaced = any(other.kind == fact.kind for other in brought)
        if not (replaced and _is_named(fact, problems)):
            return f'It drops "{fact.quote}", which the draft had right.'
    return None


def corrects(draft: Checked, correction: Checked, vocabulary: StateVocabulary) -> bool:
    """Whether a correction has fewer hard faults, none of them new, and keeps what stood beside no fault."""
    before, after = hard_faults(draft.faults), hard_faults(correction.faults)
    if len(after) >= len(before) or not set(after) <= set(before):
        return False
    return all(fact.sentence in draft.faulty_sentences for fact in _dropped(draft, correction, vocabulary))


def _dropped(draft: Checked, revision: Checked, vocabulary: StateVocabulary) -> list[Fact]:
    return [fact for fact in draft.right if not _stands_in(fact, revision.facts, vocabulary)]


def _stands_in(fact: Fact, facts: Iterable[Fact], vocabulary: StateVocabulary) -> bool:
    return any(other.kind == fact.kind and says_the_same(other, fact, vocabulary) for other in facts)


def _is_named(fact: Fact, problems: Sequence[str]) -> bool:
    quote = _bare(fact.quote)
    return any(quote in _bare(problem) for problem in problems)


def _bare(text: str) -> str:
    return "".join(fold(text).casefold().split())
