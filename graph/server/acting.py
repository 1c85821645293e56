"""Who a run acts for: on the server whoever the token names, elsewhere whoever the caller's context names (M11)."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig

from graph.server.identity import LOCAL, STAFF
from nodes.context import AgentContext
from nodes.overrides import NOTHING


def acting_context(given: AgentContext | None, config: RunnableConfig) -> AgentContext:
    """The context that the run may rely on.

    Where the server has verified a token, user and role are the token's and the clock is the real one: the body
    of a request cannot claim to be somebody else, nor to come from another day. What a run sets otherwise counts from
    staff alone. Staff act on the customer's behalf and keep the user that the context names.
    """
    context = given or AgentContext()
    configurable = config.get("configurable") or {}
    user = configurable.get("langgraph_auth_user")
    permissions = configurable.get("langgraph_auth_permissions") or ()
    if user is None or LOCAL in permissions:
        return context
    if STAFF in permissions:
        return context.model_copy(update={"role": "staff", "now": None})
    own = {"user_id": user.identity, "role": "customer", "now": None}
    return context.model_copy(update={**NOTHING, **own})
