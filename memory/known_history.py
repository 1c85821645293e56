"""What a channel of a thread was made of when it was last read, so that the next turn reads what has come since.

A checkpoint does not change, and neither does what came before it: whoever finds a known one on the way back need not
go further. Bytes are kept as they are stored, encrypted where they are, and as the database gives them, so nobody who
changes a message changes what the next turn reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from cachetools import TTLCache

MOST_BYTES = 16_000_000
"""Of all threads together; those that were read last stay."""
SECONDS = 600.0
"""What is not read again by then is forgotten."""
Place = tuple[str, str, str]
"""Thread, namespace, channel."""


@dataclass(frozen=True)
class History:
    """A channel at a checkpoint: the latest whole value, and what was written since, the oldest first."""

    checkpoint_id: str
    seed: tuple[str, bytes] | None
    """Type and bytes."""
    tasks: Sequence[str]
    types: Sequence[str]
    blobs: Sequence[bytes]

    @classmethod
    def of(cls, checkpoint_id: str, row: Mapping[str, Any]) -> History:
        """A row of `channel_history.sql`: the bytes that were written follow each other in one value."""
        blobs: list[bytes] = []
        start = 0
        for length in row["lengths"] or ():
            blobs.append(row["bytes"][start : start + length])
            start += length
        seed = (row["seed_type"], row["seed"]) if row["seed_type"] else None
        return cls(checkpoint_id, seed, row["tasks"] or (), row["types"] or (), blobs)

    def followed_by(self, later: History) -> History:
        """The history at the later checkpoint, which was read back to this one only."""
        return History(
            later.checkpoint_id,
            self.seed,
            [*self.tasks, *later.tasks],
            [*self.types, *later.types],
            [*self.blobs, *later.blobs],
        )

    @property
    def size(self) -> int:
        """Bytes, roughly."""
        seed = len(self.seed[1]) if self.seed else 0
        return seed + sum(map(len, self.blobs)) + 200 * (len(self.blobs) + 1)


class KnownHistories:
    """The histories that this event loop has read last, one a place."""

    def __init__(self) -> None:
        self._histories: TTLCache[Place, History] = TTLCache(
            MOST_BYTES, SECONDS, getsizeof=attrgetter("size")
        )

    def get(self, place: Place) -> History | None:
        """What is known of the place, at whatever checkpoint."""
        return self._histories.get(place)

    def keep(self, place: Place, history: History) -> None:
        """Remember a history in the place of the one before; one that is too large for all is not kept."""
        if history.size <= MOST_BYTES:
            self._histories[place] = history
        else:
            self._histories.pop(place, None)
