"""From what a tool returned to what the model sees of it: cleaned, whitelisted, made to fit, described (T4, T10)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from memory.clean import clean_json
from tools import events
from tools.calls import CallScope, Envelope
from tools.digest import fault_of
from tools.envelope import dump, success
from tools.execute import Raised, attempt
from tools.paths import pick, scalars
from tools.reduce import Compactor, Count, Reduced, fits, reduce
from tools.spec import JSON, ToolSpec
from tools.tables import compact

_ENVELOPE_TOKENS: Final = 60
"""What status, reference and the note on what was left out take beside the data."""
_NAMED_FIELDS: Final = 10
_NAMED_LOSSES: Final = 3
_NOTE_CHARACTERS: Final = 60
_IN_THREAD: Final = 50_000
"""Characters of JSON from which the work is done beside the event loop."""
_READ_MORE: Final = "read_result with this ref, and a path or offset, returns the rest"

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Taken:
    """A result as it is kept: JSON-native, with what it says of the user's own objects."""

    whole: JSON
    losses: tuple[str, ...]
    """What the conversion to JSON lost, in words."""
    identifiers: tuple[str, ...]
    details: tuple[str, ...]


def take(spec: ToolSpec, value: object) -> Taken:
    """Any return value of a tool as data."""
    whole, losses = clean_json(value)
    identifiers = scalars(whole, spec.identifiers)
    return Taken(whole, losses, tuple(identifiers), tuple(scalars(whole, spec.details)))


def new_ref() -> str:
    """A name for a kept result, short enough for a model to copy."""
    return secrets.token_hex(4)


class Presenter:
    """Builds the envelope of every successful call. `budget` is in tokens, as `count` counts them."""

    def __init__(self, budget: int, count: Count, compactor: Compactor | None) -> None:
        self._budget = budget
        self._room = max(budget - _ENVELOPE_TOKENS, budget // 2)
        self._count = count
        self._compactor = compactor

    async def show(self, spec: ToolSpec, taken: Taken, scope: CallScope, ref: str) -> Envelope:
        """What the model sees of a kept result; `ref` names the whole where something is left out.

        Never raises: what has been done is not undone because it cannot be shown.
        """
        try:
            return await self._show(spec, taken, scope, ref)
        except Exception as error:
            events.raised(error, ref, spec.name, scope)
            return success("It succeeded; the result cannot be shown.", ref=ref, omitted={"read": _READ_MORE})

    async def _show(self, spec: ToolSpec, taken: Taken, scope: CallScope, ref: str) -> Envelope:
        kept, left_out = pick_fields(spec, taken.whole, scope.intents)
        omitted = _omitted(left_out, taken.losses)
        taken_up = self._count(dump(omitted)) if omitted else 0
        reduced = await self._fit(spec, kept, scope, taken.identifiers, taken_up)
        if reduced.cut:
            omitted["cut"] = dict(reduced.cut)
        if spec.engine or not (left_out or reduced.cut):
            return success(reduced.data, omitted=omitted)
        return success(reduced.data, ref=ref, omitted={**omitted, "read": _READ_MORE})

    async def _fit(
        self, spec: ToolSpec, data: JSON, scope: CallScope, identifiers: Sequence[str], taken_up: int
    ) -> Reduced:
        """The data as it fits beside what takes up some tokens already."""
        text = dump(data)
        if fits(text, max(self._budget - taken_up, self._budget // 2), self._count):
            return Reduced(data)
        room = max(self._room - taken_up, self._budget // 3)
        large = len(text) > _IN_THREAD
        if not large and fits(dump(table := compact(data)), room, self._count):
            return Reduced(table)
        if (
            not spec.engine
            and (digest := await self._digest(spec, data, scope, identifiers, room)) is not None
        ):
            return Reduced(digest, {"data": f"a digest of {len(text)} characters"})
        if large:
            return await asyncio.to_thread(reduce, data, room, self._count)
        return reduce(data, room, self._count)

    async def _digest(
        self, spec: ToolSpec, data: JSON, scope: CallScope, identifiers: Sequence[str], room: int
    ) -> JSON:
        """What the small model makes of it; None where it fails, or is not to be trusted."""
        if self._compactor is None:
            return None
        request = scope.grounds.user_texts[-1] if scope.grounds.user_texts else ""
        compactor = self._compactor
        result = await attempt(
            lambda: compactor(spec.name, request, data, room), f"digest of {spec.name}", None
        )
        if isinstance(result, Raised):
            log.warning("compactor failed", tool=spec.name, error=type(result.error).__name__)
            return None
        if result.value is None:
            return None
        digest = clean_json(result.value).value
        fault = fault_of(digest, data, identifiers)
        if fault is None and not fits(dump(digest), room, self._count):
            fault = "it is too long"
        if fault is not None:
            log.info("digest not taken", tool=spec.name, fault=fault)
            return None
        return digest


def pick_fields(spec: ToolSpec, data: JSON, intents: Sequence[str]) -> tuple[JSON, list[str]]:
    """The fields that the tool's whitelist lets through for these intents, and the paths left out."""
    keep = spec.keep
    if keep is None or spec.engine:
        return data, []
    if isinstance(keep, tuple):
        return pick(data, keep)
    named = [path for intent in intents for path in keep.get(intent, ())]
    paths = named or keep.get("*", ())
    return pick(data, paths) if paths else (data, [])


def _omitted(left_out: Sequence[str], losses: Sequence[str]) -> dict[str, JSON]:
    omitted: dict[str, JSON] = {}
    if left_out:
        omitted["fields"] = _head(left_out, _NAMED_FIELDS)
    if losses:
        omitted["notes"] = _head(losses, _NAMED_LOSSES)
    return omitted


def _head(texts: Sequence[str], most: int) -> list[JSON]:
    rest = len(texts) - most
    return [*(text[:_NOTE_CHARACTERS] for text in texts[:most]), *([f"{rest} more"] if rest > 0 else [])]
