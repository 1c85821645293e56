"""What tests of memory need: an embedder that is loaded once, exchanges, and scripted roles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memory.extraction import Exchange, KnownMemory, MemoryItem, SummariseRequest, Summary

MAY = datetime(2024, 5, 20, 9, 0, tzinfo=UTC)

ODD_USERS = (
    "u_1",
    "u%1",
    "U_1",
    "u.1",
    "mei@example.com",
    "用户一",
    "😀",
    "a/b:c",
    "u_1 ",
    "'; DROP TABLE x; --",
)


def exchange(
    customer: str,
    *,
    user: str = "user_123",
    thread: str = "t1",
    turn: str | None = None,
    after: timedelta = timedelta(),
    answer: str = "好的",
    position: int = 1,
    confirmed: tuple[str, ...] = (),
) -> Exchange:
    return Exchange(
        user_id=user,
        thread_id=thread,
        turn_id=turn or f"turn-{thread}-{customer[:20]}",
        message_id=f"message-{thread}-{customer[:20]}",
        customer=customer,
        answer=answer,
        said_at=MAY + after,
        timezone="Asia/Shanghai",
        position=position,
        confirmed=confirmed,
    )


def item(
    key: str,
    content: str,
    *,
    evidence: str | None = None,
    type: str = "preference",
    confidence: float = 0.9,
    importance: float = 0.5,
    domains: Sequence[str] = ("general",),
) -> MemoryItem:
    return MemoryItem.model_validate(
        {
            "key": key,
            "content": content,
            "type": type,
            "confidence": confidence,
            "importance": importance,
            "domains": list(domains),
            "evidence": content if evidence is None else evidence,
        }
    )


Script = Callable[[Exchange], Sequence[MemoryItem]]


def literal(exchange: Exchange) -> list[MemoryItem]:
    """`key = content` lines of the customer's message, each one memory."""
    lines = [line.partition(" = ") for line in exchange.customer.splitlines()]
    return [item(key, content) for key, sign, content in lines if sign]


@dataclass
class ScriptedExtractor:
    """Answers as the script says; remembers what it was asked and shown."""

    script: Script = literal
    asked: list[str] = field(default_factory=list)
    shown: list[list[str]] = field(default_factory=list)

    async def __call__(self, exchange: Exchange, known: Sequence[KnownMemory], /) -> Sequence[MemoryItem]:
        self.asked.append(exchange.turn_id)
        self.shown.append([memory.key for memory in known])
        return self.script(exchange)


@dataclass
class ScriptedSummariser:
    """A summary that names what it was given; `answers` replaces the next ones."""

    answers: list[Summary | Exception] = field(default_factory=list)
    asked: list[SummariseRequest] = field(default_factory=list)

    async def __call__(self, request: SummariseRequest, /) -> Summary:
        self.asked.append(request)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer
        return Summary(f"[{request.earlier}] {request.conversation}")
