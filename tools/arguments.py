"""From a call as the model wrote it to arguments that may run: read, repaired, coerced, checked. Pure.

match check_call(spec, call):
    case Validated(args, notes): …            # goes on to grounding
    case Rejected() as rejected:              # goes back to the model
        explain(rejected, spec), rejected.kind
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tools.calls import RawCall
from tools.json_text import CUT_OFF, Unreadable
from tools.repair import read_arguments
from tools.spec import ToolSpec
from tools.validate import Rejected, Validated, unreadable, validate


def check_call(spec: ToolSpec, call: RawCall) -> Validated | Rejected:
    """The arguments of `call` as `spec` takes them; a repaired text counts only where it fits the schema."""
    if call.args is not None:
        return check_arguments(spec, call.args)
    if not (call.text or "").strip():
        return unreadable(call.error or CUT_OFF)
    try:
        reading = read_arguments(call.text or "")
    except Unreadable as fault:
        return unreadable(str(fault))
    checked = check_arguments(spec, reading.args)
    if isinstance(checked, Rejected):
        return replace(checked, text=call.error or "it is not one plain JSON object")
    notes = (f"argument text: {reading.note}",) if reading.note else ()
    return Validated(checked.args, (*notes, *checked.notes))


def check_arguments(spec: ToolSpec, args: Mapping[str, Any]) -> Validated | Rejected:
    """Schema first, then what the tool's own types ask beyond it. Also for arguments edited by a person."""
    checked = validate(spec.parameters, args, fill_defaults=spec.fill_defaults)
    if isinstance(checked, Validated) and spec.check is not None and (problems := spec.check(checked.args)):
        return Rejected(tuple(problems))
    return checked
