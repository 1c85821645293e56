"""One case of the kill test: what is served, how it is killed, how it is taken up again. Follows from the seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

KINDS = ("tools", "approval", "review", "memory")
TakenUp = Literal["message", "resume"]
# A message is accepted once a checkpoint holds it: then the sender may count on it. Writes can be stored before the
# checkpoint that they belong to; without it they are nothing.
ACCEPTED = """
SELECT EXISTS (SELECT FROM checkpoint_writes JOIN checkpoints USING (thread_id, checkpoint_ns, checkpoint_id)
                WHERE thread_id = %(thread)s AND position(%(id)s in blob) > 0)
    OR EXISTS (SELECT FROM checkpoint_blobs WHERE thread_id = %(thread)s AND position(%(id)s in blob) > 0) AS accepted
"""
AT_EFFECT = 0.5
"""Share of kills that are aimed at a running side effect; the others fall anywhere in the turn."""
AGAIN = 0.3
"""Share of cases whose second process is killed too."""


@dataclass(frozen=True)
class Kill:
    """When the process dies: so many of the turn's lengths after it began, or so many seconds after an effect did."""

    at_effect: bool
    share: float
    seconds: float


@dataclass(frozen=True)
class Case:
    """A thread of its own, with a user of its own."""

    number: int
    kind: str
    taken_up: TakenUp
    kills: tuple[Kill, ...]
    staff_apart: bool
    """Customer and staff decide one after the other."""

    @property
    def thread_id(self) -> str:
        return f"thread-{self.number}"

    @property
    def user_id(self) -> str:
        return f"customer-{self.number}"

    def message_id(self, turn: int) -> str:
        """Id of the customer's message; unlike any other text, so that it can be looked for in the database."""
        return f"message-{self.number}-{turn}-end"


def make_case(seed: int, number: int, kinds: Sequence[str]) -> Case:
    """The case of that number."""
    chance = random.Random(f"{seed}/{number}")
    kind = kinds[number % len(kinds)]
    kills = tuple(_kill(chance, kind) for _ in range(2 if chance.random() < AGAIN else 1))
    taken_up: TakenUp = "message" if number // len(kinds) % 2 else "resume"
    return Case(number, kind, taken_up, kills, chance.random() < 0.5)


def _kill(chance: random.Random, kind: str) -> Kill:
    at_effect = kind != "memory" and chance.random() < AT_EFFECT
    return Kill(at_effect, chance.uniform(0, 1.05), chance.uniform(0, 0.035))
