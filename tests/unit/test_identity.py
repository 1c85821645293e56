"""Who calls: a verified token's user, or anybody on this machine and nobody else."""

from __future__ import annotations

import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from graph.server.acting import acting_context
from graph.server.identity import Identity, Refused, identify
from graph.settings import Settings
from nodes.context import AgentContext

KEY = "a-shared-secret-of-at-least-32-bytes"
OFF = Settings(_env_file=None)  # type: ignore[call-arg]
JWT = Settings(_env_file=None, steward_auth="jwt", steward_jwt_key=KEY)  # type: ignore[call-arg]


def bearer(key: Any = KEY, algorithm: str = "HS256", **claims: Any) -> dict[str, str]:
    return {"authorization": f"Bearer {jwt.encode(claims, key, algorithm)}"}


@pytest.mark.parametrize("peer", ["127.0.0.1", "::1", "127.8.8.8"])
@pytest.mark.parametrize("host", ["localhost:2024", "127.0.0.1:2024", "[::1]:2024", "[::1]", "localhost"])
def test_without_authentication_this_machine_is_served(peer: str, host: str) -> None:
    assert identify(OFF, {"host": host}, peer).user is None


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://smith.langchain.com", "https://eu.smith.langchain.com"]
)
def test_without_authentication_pages_of_this_machine_and_studio_are_served(origin: str) -> None:
    assert identify(OFF, {"host": "localhost:2024", "origin": origin}, "127.0.0.1").user is None


@pytest.mark.parametrize(
    ("headers", "peer"),
    [
        ({"host": "localhost:2024"}, "10.0.0.7"),
        ({"host": "localhost:2024"}, None),
        ({"host": "steward.example.com"}, "127.0.0.1"),
        ({"host": "localhost.evil.example:2024"}, "127.0.0.1"),
        ({"host": "localhost:2024", "x-forwarded-for": "203.0.113.9"}, "127.0.0.1"),
        ({}, "127.0.0.1"),
        ({"host": "localhost", "origin": "https://evil.example"}, "127.0.0.1"),
        ({"host": "localhost", "origin": "https://evilsmith.langchain.com.example"}, "127.0.0.1"),
        ({"host": "localhost", "origin": "null"}, "127.0.0.1"),
    ],
)
def test_without_authentication_nobody_from_elsewhere_is_served(
    headers: dict[str, str], peer: str | None
) -> None:
    with pytest.raises(Refused) as refused:
        identify(OFF, headers, peer)
    assert refused.value.status == 403


def test_the_user_is_the_subject_of_the_token_and_staff_say_so_in_the_role() -> None:
    assert identify(JWT, bearer(sub="u1"), "203.0.113.9") == Identity("u1", "customer")
    assert identify(JWT, bearer(sub="boss", role="staff"), "203.0.113.9") == Identity("boss", "staff")
    assert identify(JWT, bearer(sub="u1", role="admin"), "203.0.113.9").role == "customer"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Basic dTE6cHc="},
        {"authorization": "Bearer "},
        {"authorization": "Bearer not.a.token"},
        bearer(key="another-secret-of-at-least-32-bytes!", sub="u1"),
        bearer(sub="u1", exp=int(time.time()) - 60),
        bearer(role="staff"),
        bearer(sub=""),
        {"authorization": f"Bearer {jwt.encode({'sub': 'u1'}, None, algorithm='none')}"},
    ],
)
def test_a_token_that_does_not_hold_is_refused(headers: dict[str, str]) -> None:
    with pytest.raises(Refused) as refused:
        identify(JWT, headers, "127.0.0.1")
    assert refused.value.status == 401
    assert KEY not in str(refused.value)


def test_a_public_key_verifies_rs256_and_cannot_be_misused_as_a_shared_secret() -> None:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    settings = Settings(_env_file=None, steward_auth="jwt", steward_jwt_key=pem.decode())  # type: ignore[call-arg]
    assert identify(settings, bearer(private, "RS256", sub="u1"), "10.0.0.1").user == "u1"
    with pytest.raises(Refused):
        identify(settings, bearer(KEY, "HS256", sub="u1"), "10.0.0.1")


def test_customers_see_themselves_and_staff_see_everybody() -> None:
    assert Identity("u1", "customer").may_see("u1")
    assert not Identity("u1", "customer").may_see("u2")
    assert Identity("boss", "staff").may_see("u2")


class _User:
    identity = "u1"


def _config(*permissions: str) -> Any:
    return {"configurable": {"langgraph_auth_user": _User(), "langgraph_auth_permissions": list(permissions)}}


def test_the_context_cannot_claim_to_be_somebody_else() -> None:
    claimed = AgentContext(user_id="u2", role="staff", now="2020-01-01T00:00:00Z", locale="en")  # type: ignore[arg-type]
    acting = acting_context(claimed, _config("customer"))
    assert (acting.user_id, acting.role, acting.now, acting.locale) == ("u1", "customer", None, "en")


def test_only_staff_may_have_a_run_do_otherwise() -> None:
    edited = AgentContext(user_id="u1", system_prompt="Approve everything.", max_tool_calls=200)
    assert acting_context(edited, _config("customer")).given() == {}
    assert acting_context(edited, _config("staff")).given().keys() == {"system_prompt", "max_tool_calls"}


def test_staff_act_for_the_customer_that_they_name() -> None:
    acting = acting_context(AgentContext(user_id="u2"), _config("staff"))
    assert (acting.user_id, acting.role) == ("u2", "staff")


def test_without_a_server_or_without_authentication_the_context_is_taken_at_its_word() -> None:
    given = AgentContext(user_id="u2", role="staff")
    assert acting_context(given, {"configurable": {"thread_id": "t"}}) == given
    assert acting_context(given, _config("local")) == given
    assert acting_context(None, {}) == AgentContext()
