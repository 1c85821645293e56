"""An MCP server of our own over streamable HTTP, on real sockets, that can be stopped and started on its port.

with McpServer() as server:
    server.url, server.calls, server.headers
    server.stop(); server.start()

As a process over stdio: python -m tests.support.mcp_server
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from types import TracebackType
from typing import Annotated, Any, Self

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from pydantic import Field
from starlette.responses import Response

READS = ToolAnnotations(read_only_hint=True)
OrderId = Annotated[str, Field(description="Order number, such as ABC-1.")]


class McpServer:
    """Runs in a thread of its own. Keeps the calls that reached it, and what became of those that waited.

    With `sessions` it speaks the protocol as it was before 2026, which a restart makes it forget.
    """

    def __init__(self, *, sessions: bool = False) -> None:
        self._sessions = sessions
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.headers: list[str] = []
        """Authorization, of each request."""
        self.cut_off = threading.Event()
        """Set when a call that waits is cancelled."""
        self.let_go = threading.Event()
        self.seen = threading.Event()
        """Set when a call that waits has come in."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Serve; returns when connections are taken."""
        listening = socket.create_server(("127.0.0.1", self._port), reuse_port=False)
        config = uvicorn.Config(
            self._watching(make_server(self).streamable_http_app()),
            log_level="critical",
            timeout_graceful_shutdown=1,
        )
        self._server = server = uvicorn.Server(config)
        self._thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])))
        self._thread.start()

    def stop(self) -> None:
        """Break all connections; the port refuses from now on."""
        if self._server and self._thread:
            self._server.should_exit = self._server.force_exit = True
            self._thread.join()
        self._server = None

    def _watching(self, app: Any) -> Any:
        async def watch(scope: Any, receive: Any, send: Any) -> None:
            headers = dict(scope.get("headers", ()))
            if scope["type"] == "http":
                self.headers.append(headers.get(b"authorization", b"").decode())
            if self._sessions and headers.get(b"mcp-method") == b"server/discover":
                await Response(status_code=400)(scope, receive, send)
                return
            await app(scope, receive, send)

        return watch


def make_server(log: McpServer | None = None) -> MCPServer:
    """Tools of every kind that matters to the engine."""
    server = MCPServer("parcels")

    def note(name: str, **args: Any) -> None:
        if log:
            log.calls.append((name, args))

    @server.tool(annotations=READS)
    def find_parcel(order_id: OrderId) -> dict[str, str]:
        """Where the parcel of an order is."""
        note("find_parcel", order_id=order_id)
        return {"order_id": order_id, "place": "Suzhou"}

    @server.tool(annotations=READS)
    def find_nothing(order_id: OrderId) -> str:
        """A parcel that does not exist."""
        note("find_nothing", order_id=order_id)
        raise ToolError(f"There is no parcel for {order_id}.")

    @server.tool(annotations=READS)
    async def wait_for_parcel(order_id: OrderId) -> str:
        """Wait until a parcel has arrived."""
        note("wait_for_parcel", order_id=order_id)
        await wait(log)
        return "arrived"

    @server.tool(annotations=ToolAnnotations(destructive_hint=False))
    async def book_pickup(order_id: OrderId, context: Context) -> str:
        """Book a courier to pick a parcel up."""
        meta = context.request_context.meta or {}
        note("book_pickup", order_id=order_id, key=dict(meta).get("steward/idempotency-key"))
        if order_id == "SLOW-1":
            await wait(log)
        return "booked"

    @server.tool(title="Destroy a parcel", annotations=ToolAnnotations(destructive_hint=True))
    def destroy_parcel(order_id: OrderId) -> str:
        """Have a parcel destroyed."""
        note("destroy_parcel", order_id=order_id)
        return "destroyed"

    @server.tool(annotations=READS, structured_output=False)
    def photograph(order_id: OrderId) -> list[Any]:
        """A picture of a parcel."""
        return ["A brown box.", Image(data=b"\x89PNG", format="png")]

    @server.tool(annotations=READS)
    def list_parcels() -> dict[str, Any]:
        """Parcels of the customer."""
        return {"parcels": [{"order_id": "OWN-77", "note": "like OTHER-88"}]}

    @server.tool(annotations=READS)
    async def learn(context: Context) -> str:
        """Make the server learn a new tool."""

        def news() -> str:
            """What is new."""
            return "nothing"

        server.add_tool(news, annotations=READS)
        await context.notify_tools_changed()
        await context.session.send_tool_list_changed()
        return "learnt"

    @server.tool(annotations=READS)
    def undocumented(thing: str) -> str:
        """A tool whose argument nobody describes."""
        return thing

    @server.tool(annotations=READS)
    def end_process() -> str:
        """End the process of this server."""
        os._exit(3)

    return server


async def wait(log: McpServer | None) -> None:
    """Until it is let go; cancellation is noted."""
    if log is None:
        return
    log.seen.set()
    try:
        while not log.let_go.is_set():  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    except asyncio.CancelledError:
        log.cut_off.set()
        raise


if __name__ == "__main__":
    make_server().run("stdio")
