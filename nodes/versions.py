"""What a turn was served with: version of the business, of all texts that models are given, of each role's model (O5).

The version of the prompts is a digest of their content, so that nobody has to count it up, and an answer of last week
can be laid beside the texts that made it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from nodes.business import Business
from nodes.models import Models
from nodes.prompting import all_prompts
from nodes.settings import ROLES
from nodes.state import Versions

DIGITS = 12


@dataclass(frozen=True)
class Served:
    """The same for every turn of a process."""

    business: str = ""
    """Name and declared version, `shop/1`."""
    prompts: str = ""
    """The first hex digits of the texts' SHA-256."""

    def with_models(self, models: Models) -> Versions:
        """As it is kept in the turn's state."""
        names: dict[str, str] = {role: models.names(role)[0] for role in ROLES}
        return {"business": self.business, "prompts": self.prompts, "models": names}


def served(business: Business, schemas: Sequence[dict[str, Any]]) -> Served:
    """The versions of a business with its tools as models are shown them."""
    digest = hashlib.sha256()
    for text in _texts(business, schemas):
        digest.update(text.encode("utf-8", "replace") + b"\0")
    return Served(f"{business.name}/{business.version}", digest.hexdigest()[:DIGITS])


def _texts(business: Business, schemas: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Everything that stands in some role's prompt whatever the conversation."""
    for name, prompt in sorted(all_prompts().items()):
        yield f"{name}: {prompt}"
    yield business.instructions
    for intent in business.intents:
        yield from (intent.name, intent.description, intent.instructions, *intent.checklist)
    yield json.dumps(schemas, sort_keys=True, ensure_ascii=False)
