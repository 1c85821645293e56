"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. `cure` says what to do when it is not `ok`."""

    name: str
    ok: bool
    detail: str
    cure: str = ""
