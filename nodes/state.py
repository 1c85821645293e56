"""The graph's state: LangChain messages and JSON-native values, so that any reader can open a checkpoint.

Three kinds of field: the conversation, what outlives a turn, and what belongs to one turn. The last kind is
reset by `open_turn` (see `fresh_turn`).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import _messages_delta_reducer
from typing_extensions import TypedDict

from tools.approval import ApprovalRequest
from tools.calls import Decision
from tools.spec import Arguments

RouteSource = Literal["local", "model", "follow_up", "fallback", "clarified"]
StopReason = Literal[
    "model_calls", "tool_calls", "time", "tokens", "repeated_call", "unrecoverable", "model_unavailable"
]


class RoutedIntent(TypedDict):
    name: str
    confidence: float
    source: RouteSource


class Route(TypedDict):
    """What the turn is about, and what that offers."""

    intents: list[RoutedIntent]
    """Leading one first."""
    tools: list[str]
    """Offered to the model, in this order."""
    review: bool
    why: str
    """The choice in one sentence, for whoever debugs it."""
    likely: list[str]
    """What a question to the customer would offer, likeliest first."""
    ask: bool
    """Too unsure to go on without asking."""
    guess: bool
    """Unsure, and going on all the same: the answer says so."""


class Clarification(TypedDict):
    """A question that waits for the customer's answer."""

    question: str
    intents: list[str]
    request: str
    """The words that could not be placed; they are served once the answer is in."""


class Versions(TypedDict):
    """What a turn was served with, for whoever asks later why it went as it did."""

    business: str
    """Name and version, `shop/1`."""
    prompts: str
    """Digest of all texts that models are given: prompts, instructions, checklists, tools."""
    models: dict[str, str]
    """Model by role; the one that answered in the end stands in the token ledger."""
    overrides: NotRequired[dict[str, str]]
    """What the run had set otherwise, texts by their digest; absent where nothing was."""


class Turn(TypedDict):
    """The frame of the running turn."""

    id: str
    message_id: str
    thread_id: NotRequired[str]
    """Where it was opened: a copy of the thread keeps it. A turn that was begun by an older version does not know."""
    started_at: str
    """UTC, ISO 8601."""
    deadline: float
    """Unix seconds at which the wall-clock budget ends."""
    user_id: str
    locale: str
    timezone: str
    request: str
    """The words that are being served: the message, or the clarified one before it."""
    model_calls: int
    tool_calls: int
    tokens: int
    versions: Versions


class ToolCallRecord(TypedDict):
    """One tool call of this turn, as the outside sees it."""

    id: str
    name: str
    args: Arguments
    status: Literal["ok", "error", "pending"]
    error_kind: str | None
    attempts: int


class RecalledMemory(TypedDict):
    key: str
    content: str
    score: float
    fit: NotRequired[float]
    """How well it fits what was said; a turn that was begun by an older version does not know."""
    domains: list[str]
    constrains: NotRequired[str | None]
    """Whether it is a constraint on what is good for the person, or on how to reach them."""
    grounds: NotRequired[str]
    """The words in it that may ground an argument: the customer's own, or the business's."""


class SessionView(TypedDict):
    """What the session layer knows of this thread and of the customer's earlier ones."""

    summary: str
    folded_until: str | None
    """Id of the newest message that the summary covers."""
    key_facts: dict[str, str]
    snapshots: list[str]
    """Earlier sessions of this user that matter now."""
    customer: str
    """What is known of this user in a few words."""


class SentContext(TypedDict):
    """What the next model call repeats to the letter, so that the provider's prompt cache hits."""

    start: str | None
    """Id of the message where history begins."""
    summary: str
    """Block before history, as it stood when history last began anew."""
    folded_until: str | None
    """What the summary covered then."""
    shortened: dict[str, int]
    """Messages that were cut, with the tokens they were cut to."""


class ContextPlan(TypedDict):
    """What the next model call sees. Small: it names messages, `nodes.context_render` writes them out."""

    first_message_id: str | None
    """History starts here; older messages stand in the summary, or were cut."""
    shortened: dict[str, int]
    """Messages too long for the budget, with the tokens they are cut to."""
    background: str
    """Block before the user's latest message: the route's background and what was recalled, less what an earlier
    block that is still sent says already."""
    summary: str
    tools: list[str]
    tokens: dict[str, int]
    """Estimate by class: instructions, memory, tools, history."""
    cut: list[str]
    """What was left out, in words."""
    earlier: dict[str, int]
    """Earlier turns: their `tokens`, the `limit` above which the oldest are left out, and the tokens in the `next`
    turn, when this one is among them."""
    budget: int
    tight: bool
    """Assembled again after the provider reported an overflow."""
    notice: str
    """Last word to the model when a limit ends the turn."""


ReviewVerdict = Literal["ORIGINAL_ANSWER", "REVISED", "refused", "failed", "corrected"]
"""The reviewer's own, or what became of its call: its revision was `refused`, it `failed` and the draft stands, or
after either the chat model `corrected` the draft."""


class Review(TypedDict):
    rounds: int
    """Reviewer calls so far."""
    verdict: ReviewVerdict
    """Of the last round."""
    problems: list[str]
    """As the reviewer names them."""
    findings: list[str]
    """Of the checks, on the draft as the last round found it."""
    objection: str
    """Why the last revision was not taken; empty where there was none, or it was."""
    started_at: float
    """Unix seconds."""
    done: bool
    """No further round follows."""


class Retry(TypedDict):
    """Calls that failed in passing and are tried again together."""

    attempts: dict[str, int]
    """Attempts made so far, by call id."""
    not_before: float
    """Unix seconds."""


class Handoff(TypedDict):
    """The thread belongs to a human colleague; the agent is silent until it is handed back."""

    since: str
    reason: str
    packet: dict[str, Any]


class Usage(TypedDict):
    by_class: dict[str, int]
    by_role: dict[str, int]


SNAPSHOT_UPDATES = 100_000
"""Updates after which the whole conversation is stored once more. So many that it hardly happens: to put the
differences together takes no longer than to read the whole, and copies would grow with the square of its length."""

Messages = Annotated[
    list[AnyMessage], DeltaChannel(_messages_delta_reducer, snapshot_frequency=SNAPSHOT_UPDATES)
]


def with_changes(messages: list[AnyMessage], changes: list[AnyMessage]) -> list[AnyMessage]:
    """The conversation as the graph will have it once these changes are written."""
    return _messages_delta_reducer(messages, [changes])


class TurnInput(TypedDict):
    """What a caller brings to a turn: the customer's message. The rest of the state is the graph's own."""

    messages: Messages


class AgentState(TypedDict, total=False):
    # the conversation
    messages: Messages
    # what outlives a turn
    session: SessionView
    clarification: Clarification | None
    last_route: list[str]
    closed: str | None
    """Id of the customer's message whose turn was the last to come to its end."""
    sent: SentContext | None
    handoff: Handoff | None
    approvals: list[ApprovalRequest]
    decisions: dict[str, Decision]
    # one turn
    turn: Turn
    route: Route | None
    recalled: list[RecalledMemory]
    context: ContextPlan | None
    draft: AnyMessage | None
    tool_calls: list[ToolCallRecord]
    retry: Retry | None
    review: Review | None
    answer: str | None
    stopped_because: StopReason | None
    fault: str | None
    """Id, in the log, of an unexpected error that ended the turn."""
    usage: Usage


def fresh_turn() -> AgentState:
    """The per-turn fields as a turn finds them."""
    return {
        "route": None,
        "recalled": [],
        "context": None,
        "draft": None,
        "tool_calls": [],
        "retry": None,
        "review": None,
        "answer": None,
        "stopped_because": None,
        "fault": None,
        "usage": {"by_class": {}, "by_role": {}},
    }
