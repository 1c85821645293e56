"""What the customer says: different in every turn, so that nothing compresses or caches better than in life."""

from __future__ import annotations

import random

SHORT = "Where is my parcel ABC-20240520-001?"
_SYLLABLES = (
    "ba co du fe gi ha jo ku le mi na po qua re si to u ve wy za ler ton mar sel ning ver".split()  # noqa: SIM905
)


def long_text(turn: int, characters: int = 1200) -> str:
    """A long-winded question about an order, of so many characters; the same for the same turn."""
    drawn = random.Random(turn)
    words = [f"And where is order ABC-20240520-{turn % 1000:03} now?"]
    while sum(len(word) + 1 for word in words) < characters:
        words.append("".join(drawn.choices(_SYLLABLES, k=drawn.randint(1, 4))))
    return " ".join(words)[:characters]
