"""When two calls are the same call: their arguments in one canonical text, and the key that follows from it."""

from __future__ import annotations

import hashlib
import json

from tools.calls import CallScope
from tools.spec import JSON, Arguments


def canonical(args: Arguments) -> str:
    """The one text of equal arguments: whatever the order of fields, `2.0` as `2`."""
    return json.dumps(_plain(args), ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def idempotency_key(scope: CallScope, tool: str, args: Arguments) -> str:
    """Names what a call does, not the provider's id for it: the same after a crash, in a fork, in a copy of the
    thread, and when repeated."""
    parts = (scope.user_id, scope.opened_in or scope.thread_id, scope.turn_id, tool, canonical(args))
    text = json.dumps(parts, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:40]


def _plain(value: JSON) -> JSON:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value
