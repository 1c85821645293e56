"""A service of your own around the agent: `uvicorn examples.service:app`. Who the user is, your own login says."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from graph import AgentContext, open_agent
from graph.conversation import send
from memory.errors import InvalidInput


class Message(BaseModel):
    user: str
    text: str


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    async with open_agent() as agent:
        app.state.agent = agent
        yield


app = FastAPI(lifespan=lifespan)


@app.post("/threads/{thread_id}")
async def say(thread_id: str, message: Message, request: Request) -> dict[str, object]:
    context = AgentContext(user_id=message.user)
    snapshot = await send(request.app.state.agent, message.text, thread_id, context)
    waits = [interrupt.value for interrupt in snapshot.interrupts]
    return {"answer": snapshot.values["answer"], "waits_for_approval": waits}


@app.exception_handler(InvalidInput)
async def refuse(_: Request, error: InvalidInput) -> JSONResponse:
    return JSONResponse({"error": str(error)}, 400)
