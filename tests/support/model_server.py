"""A scripted model endpoint over real HTTP, for tests, benchmarks and processes under test.

with ModelServer(script) as server:            # script: request -> Reply
    settings = Settings(**server.settings())
    ...
    server.requests_of("router")

python -m tests.support.model_server some.module:script --port 8123
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import json
import socket
import threading
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.support.model_replies import Reply, Request, failure
from tests.support.model_wire import chunks, protocol_fault, whole

Script = Callable[[Request], Reply]
ROLES = ("chat", "router", "reviewer", "extractor", "summariser", "compactor")


def role_of(request: Request) -> str:
    """The role that asks. `ModelServer.settings` names each role's model after the role."""
    model: str = request["model"]
    return model


class RoleQueues:
    """A script with a queue for each role: `RoleQueues(chat=[Reply("hi")], router=[...])`.

    An entry is a reply or a function of the request. The last entry of a queue that `repeat` names answers
    for ever.
    """

    def __init__(self, *, repeat: Iterable[str] = (), **queues: Iterable[Reply | Script]) -> None:
        self._repeat = frozenset(repeat)
        self._queues: dict[str, deque[Reply | Script]] = defaultdict(deque)
        for role, entries in queues.items():
            self._queues[role].extend(entries)

    def add(self, role: str, *entries: Reply | Script) -> None:
        self._queues[role].extend(entries)

    def __call__(self, request: Request) -> Reply:
        queue = self._queues[role_of(request)]
        if not queue:
            raise LookupError(f"The script holds no further answer for {role_of(request)!r}")
        last = len(queue) == 1 and role_of(request) in self._repeat
        entry = queue[0] if last else queue.popleft()
        return entry if isinstance(entry, Reply) else entry(request)


class ModelServer:
    """Runs in a thread of its own on a free port, and keeps every request.

    With `strict` it refuses with 400 what a strict provider refuses: a call without its result, a result
    without its call, arguments that are no JSON object, empty assistant messages.
    """

    def __init__(self, script: Script, *, strict: bool = True, port: int = 0) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.refused: list[str] = []
        """Faults in requests, as `strict` found them."""
        self.script_errors: list[Exception] = []
        self._strict = strict
        # Named as TCP, so that asyncio switches off Nagle's algorithm: it costs 40 ms an answer.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.listen(256)  # a client may connect before the thread has got that far
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"
        routes = [
            Route("/v1/chat/completions", self._complete, methods=["POST"]),
            Route("/requests", self._recorded, methods=["GET"]),
            Route("/faults", self._faults, methods=["GET"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes), log_level="critical", lifespan="off", timeout_graceful_shutdown=1
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, name="model-server", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._server.should_exit = self._server.force_exit = True
        self._thread.join()
        self._socket.close()

    def reset(self, script: Script) -> None:
        """Begin anew with another script, as if just started."""
        self.script = script
        self.requests, self.refused, self.script_errors = [], [], []

    def join(self) -> None:
        """Wait until the server is stopped from elsewhere."""
        self._thread.join()

    def settings(self) -> dict[str, str]:
        """Settings that send every role here, each under a model named after the role."""
        models = {f"steward_{role}_model": role for role in ROLES}
        return {"openai_base_url": self.url, "openai_api_key": "test-key", **models}

    def environment(self) -> dict[str, str]:
        """The same as environment variables, for a process."""
        return {name.upper(): value for name, value in self.settings().items()}

    def requests_of(self, role: str) -> list[Request]:
        return [request for request in self.requests if role_of(request) == role]

    def _run(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._socket]))

    async def _recorded(self, _: HttpRequest) -> Response:
        return JSONResponse(self.requests)

    async def _faults(self, _: HttpRequest) -> Response:
        """What `strict` refused, and where the script failed; for a server in another process."""
        return JSONResponse([*self.refused, *map(str, self.script_errors)])

    async def _complete(self, http: HttpRequest) -> Response:
        request: Request = await http.json()
        self.requests.append(request)
        reply = self._reply(request)
        await asyncio.sleep(reply.delay)
        if reply.body is not None:
            return Response(reply.body, reply.status, reply.headers, "application/json")
        if reply.status != 200:
            return JSONResponse({"error": reply.error}, reply.status, reply.headers)
        if request.get("stream"):
            return StreamingResponse(_events(request, reply), media_type="text/event-stream")
        body = json.dumps(whole(request, reply), ensure_ascii=False).encode()
        if reply.drop_after is None:
            return Response(body, headers=reply.headers, media_type="application/json")
        return StreamingResponse(_half(body), headers={"content-length": str(len(body))})

    def _reply(self, request: Request) -> Reply:
        if self._strict and (fault := protocol_fault(request)):
            self.refused.append(fault)
            return failure(400, fault)
        try:
            return self.script(request)
        except Exception as error:
            self.script_errors.append(error)
            return failure(500, f"The script failed: {error}")


class _Dropped(Exception):
    """Breaks the connection: the server closes it when a response fails half-way."""


async def _events(request: Request, reply: Reply) -> AsyncIterator[bytes]:
    for position, chunk in enumerate(chunks(request, reply)):
        if position == reply.drop_after:
            raise _Dropped
        yield f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode()
        await asyncio.sleep(reply.pause)
    yield b"data: [DONE]\n\n"


async def _half(body: bytes) -> AsyncIterator[bytes]:
    yield body[: len(body) // 2]
    raise _Dropped


def main() -> None:
    """Serve a script as a process until it is stopped."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("script", help="module:name of a function from a request to a Reply")
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    module, _, name = arguments.script.partition(":")
    namespace: Mapping[str, Any] = vars(importlib.import_module(module))
    with ModelServer(namespace[name], port=arguments.port) as server:
        print(server.url, flush=True)  # noqa: T201
        server.join()


if __name__ == "__main__":
    main()
