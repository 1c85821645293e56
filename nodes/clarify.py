"""Ask the customer which of the likely kinds of request is meant (R3)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from langchain_core.messages import AIMessage

from nodes.business import Business
from nodes.messages import new_id
from nodes.run import Run
from nodes.state import AgentState
from nodes.texts import say

OPTIONS = 3
FEWEST = 2


async def clarify(state: AgentState, run: Run) -> AgentState:
    """Put the question; the customer's next message is read as the answer to it."""
    route = state["route"]
    assert route is not None, "the edge to here asks for a route"
    locale = state["turn"]["locale"]
    names = _options(route["likely"], [intent["name"] for intent in route["intents"]], run.business)
    joint = "；" if locale.startswith("zh") else "; "
    options = joint.join(
        f"{n}. {run.business.intent(name).label_in(locale)}" for n, name in enumerate(names, 1)
    )
    question = say("clarify", locale, options=options)
    return {
        "clarification": {"question": question, "intents": names, "request": state["turn"]["request"]},
        "messages": [AIMessage(question, id=new_id("question"))],
        "answer": question,
    }


def _options(likely: Sequence[str], routed: Sequence[str], business: Business) -> list[str]:
    """Two or three different intents, likeliest first; filled up by the business's priority."""
    by_priority = sorted(business.intents, key=lambda intent: -intent.priority)
    names = list(dict.fromkeys([*likely, *routed]))[:OPTIONS]
    others = (intent.name for intent in by_priority if intent.name not in names)
    return [*names, *islice(others, max(0, FEWEST - len(names)))]
