"""Before anything runs: which tool is meant, whether its arguments hold, whether a person has to be asked.

Nothing here has a side effect, so that a node may do it again after an interrupt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, cast

from memory.clean import clean_text
from tools import events
from tools.approval import may_decide
from tools.arguments import check_arguments, check_call
from tools.calls import CallScope, Decision, Envelope, Outcome, PreparedCall, RawCall
from tools.envelope import failure as error_envelope
from tools.envelope import success
from tools.execute import Raised, attempt
from tools.failures import Failure, classify, internal
from tools.grounding import ask_for, leave_out, missing_grounds, strange_contacts
from tools.keys import canonical
from tools.ledger import Ledger
from tools.outcomes import envelope_of, refusal
from tools.registry import ToolRegistry, UnknownTool
from tools.run_call import CallRunner
from tools.spec import JSON, Approval, Approver, Arguments, ToolSpec
from tools.validate import Rejected, explain

CIRCLES: Final = 3
"""With so many identical calls in one turn a model is taken to go in circles."""
_NAME_CHARACTERS: Final = 64


class Preparer:
    """Turns calls as the model wrote them into calls that may run, or into the reason why they may not."""

    def __init__(
        self, registry: ToolRegistry, ledger: Ledger, runner: CallRunner, rule_seconds: float
    ) -> None:
        self._registry = registry
        self._ledger = ledger
        self._runner = runner
        self._rule_seconds = rule_seconds

    async def prepare(self, call: RawCall, scope: CallScope) -> PreparedCall | Outcome:
        """Passes on the graph's own signals; a fault of ours refuses the call and nothing else."""
        call = _clean(call)
        try:
            prepared = await self._prepare(call, scope)
            args = prepared.args
            name = prepared.spec.name if isinstance(prepared, PreparedCall) else prepared.name
            if repeats(scope.made, name, args) >= CIRCLES - 1:
                return await self._repeated(call, name, args, scope)
            return prepared
        except Exception as error:
            failure = internal(call.name)
            events.raised(error, failure.error_id, call.name, scope)
            return refusal(call, call.name, failure.kind, failure.description)

    async def settle(
        self, call: PreparedCall, decision: Decision | None, scope: CallScope
    ) -> PreparedCall | Outcome:
        """The call as a person decided on it; one that needs no approval as it is."""
        needed = call.approval
        if needed is None:
            return call
        if decision is None:
            return self._denied(call, f"waits for approval by {needed.by}; it did not run.")
        by = decision.get("by", "customer")
        if not may_decide(by, needed.by):
            return self._denied(call, f"needs approval by {needed.by}; it did not run.")
        call = replace(call, key=decision.get("key"))
        message = clean_text(decision.get("message", ""))
        match decision.get("type"):
            case "approve":
                return call
            case "edit":
                return await self._edited(call, _clean_texts(decision.get("args", {})), by, scope)
            case "respond":
                said = success({"executed": False, "answer_of": by, "answer": message})
                return Outcome(call.id, call.spec.name, call.args, said, attempts=0)
            case _:
                return self._denied(
                    call,
                    f"was not approved by {by}; it did not run.{f' They said: {message}' if message else ''}",
                )

    async def _prepare(self, call: RawCall, scope: CallScope) -> PreparedCall | Outcome:
        spec = self._registry.resolve(call.name, (*scope.offered, *self._registry.engine_names))
        if isinstance(spec, UnknownTool):
            return refusal(call, call.name, "unknown_tool", spec.text)
        checked = check_call(spec, call)
        if isinstance(checked, Rejected):
            return refusal(call, spec.name, checked.kind, explain(checked, spec))
        # What was read from text, or out of a text, may hold what the plain arguments did not.
        args = _clean_texts(checked.args) if call.args is None or checked.notes else checked.args
        if why := await self._ungrounded(spec, args, scope):
            return refusal(call, spec.name, "ungrounded_argument", why, args=args)
        return await self._with_approval(PreparedCall(call, spec, args, checked.notes), scope)

    async def _ungrounded(self, spec: ToolSpec, args: Arguments, scope: CallScope) -> str | None:
        """Which arguments stem from nowhere, in words; results of the thread are read where those do not suffice."""
        grounds = scope.grounds
        if not missing_grounds(args, spec, grounds) and not strange_contacts(args, spec, grounds):
            return None
        identifiers, details = await self._ledger.known(scope)
        if missing := missing_grounds(args, spec, grounds, identifiers, details):
            return ask_for(missing, args, spec)
        if strange := strange_contacts(args, spec, grounds, identifiers, details):
            return leave_out(strange, spec)
        return None

    async def _with_approval(self, call: PreparedCall, scope: CallScope) -> PreparedCall | Outcome:
        approval = await self._approval(call.spec, call.id, call.args, scope)
        if isinstance(approval, Failure):
            envelope = envelope_of(approval, call.spec)
            return Outcome(call.id, call.spec.name, call.args, envelope, attempts=0)
        return replace(call, approval=approval)

    async def _approval(
        self, spec: ToolSpec, call_id: str, args: Arguments, scope: CallScope
    ) -> Approval | Failure | None:
        """Who has to be asked. Where the tool's rule fails nobody can tell, so the call does not run."""
        rule = spec.approval
        if rule is None or isinstance(rule, Approval):
            return rule
        context = self._runner.context(call_id, spec.name, args, scope)
        result = await attempt(lambda: rule(args, context), f"rule of {spec.name}", self._rule_seconds)
        if not isinstance(result, Raised):
            return cast("Approval | None", result.value)
        failure = classify(result.error, spec.name)
        if not failure.is_business:
            events.raised(result.error, failure.error_id, spec.name, scope)
        return failure

    async def _edited(
        self, call: PreparedCall, args: Arguments, by: Approver, scope: CallScope
    ) -> PreparedCall | Outcome:
        """The arguments are the person's now: checked again, and against what that person may approve."""
        checked = check_arguments(call.spec, args)
        if isinstance(checked, Rejected):
            return refusal(call.raw, call.spec.name, checked.kind, explain(checked, call.spec), args=args)
        edited = replace(call, args=_clean_texts(checked.args), notes=checked.notes, approval=None)
        asked = await self._with_approval(edited, scope)
        if isinstance(asked, PreparedCall) and asked.approval and not may_decide(by, asked.approval.by):
            return self._denied(edited, f"needs approval by {asked.approval.by} as edited; it did not run.")
        return asked

    def _denied(self, call: PreparedCall, why: str) -> Outcome:
        return refusal(call.raw, call.spec.name, "denied", f"{call.spec.name} {why}", args=call.args)

    async def _repeated(self, call: RawCall, name: str, args: Arguments, scope: CallScope) -> Outcome:
        """The answer to a model that goes in circles: what the turn knows already."""
        envelope: Envelope = error_envelope(
            "limit",
            f"{name} has been called with these arguments before in this turn; the result does not change.",
        )
        spec = self._registry.get(name)
        before = await self._ledger.same_in_turn(scope, name, args)
        if spec and before and before.status == "ok":
            envelope = {**await self._runner.restore(spec, before, scope), **envelope}
        elif before:
            envelope["error_desc"] += " It failed each time."
        return Outcome(call.id, name, args, envelope, attempts=0)


def repeats(made: Sequence[tuple[str, Arguments]], name: str, args: Arguments) -> int:
    """How many of the calls made are this one: same tool, equal arguments."""
    same_tool = [given for tool, given in made if tool == name]
    return [canonical(given) for given in same_tool].count(canonical(args)) if same_tool else 0


def _clean(call: RawCall) -> RawCall:
    """Without NUL and halves of characters, which no store takes; nothing else is changed before it is checked."""
    return replace(
        call,
        name=clean_text(call.name)[:_NAME_CHARACTERS],
        args=None if call.args is None else _clean_texts(call.args),
        text=None if call.text is None else clean_text(call.text),
    )


def _clean_texts(args: Arguments) -> Arguments:
    return {clean_text(name): _clean_value(value) for name, value in args.items()}


def _clean_value(value: JSON) -> JSON:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    return _clean_texts(value) if isinstance(value, dict) else value
