"""A network between a client and a server that can be cut: nothing arrives any more, and nothing is closed.

    with CutNetwork.to_postgres(database_url) as network:
        ...                  # network.url instead of database_url
        network.cut()        # what is sent from now on is acknowledged and lost
        network.mend()       # new connections work again; the old ones never do

Harder than a pulled cable: TCP sees acknowledged data on both sides, so that no time limit of the kernel ends anything.
So it is with a proxy or a load balancer that hangs, and with a firewall that has forgotten its connections.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from psycopg.conninfo import conninfo_to_dict

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class CutNetwork:
    """Forwards TCP from a free port of its own, in a thread of its own, until it is cut."""

    def __init__(self, connect: Callable[[], Awaitable[Streams]]) -> None:
        self._connect = connect
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self.url = ""
        """The server's address as it is reached from here."""
        self.accepted = 0
        """Connections so far."""
        self._works = True
        self._cuts = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="cut-network", daemon=True)
        self._ended = asyncio.Event()

    @classmethod
    def to_postgres(cls, url: str) -> Self:
        """To the database of an address, which may be at a unix socket."""
        parts = conninfo_to_dict(url)
        host, port = str(parts.get("host", "127.0.0.1")), int(str(parts.get("port") or 5432))

        async def connect() -> Streams:
            if host.startswith("/"):
                return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
            return await asyncio.open_connection(host, port)

        network = cls(connect)
        network.url = f"postgresql://{parts['user']}@127.0.0.1:{network.port}/{parts['dbname']}"
        return network

    @classmethod
    def to_http(cls, url: str) -> Self:
        """To the server of an http address."""
        parts = urlsplit(url)

        async def connect() -> Streams:
            return await asyncio.open_connection(parts.hostname, parts.port)

        network = cls(connect)
        network.url = parts._replace(netloc=f"127.0.0.1:{network.port}").geturl()
        return network

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._ended.set)
        self._thread.join()
        self._listener.close()

    def cut(self) -> None:
        """Lose everything from now on, of old connections and of new ones."""
        self._works = False
        self._cuts += 1

    def mend(self) -> None:
        """Forward what comes through new connections; those that have seen the cut stay silent."""
        self._works = True

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        tasks: set[asyncio.Task[None]] = set()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            tasks.add(asyncio.create_task(self._forward(reader, writer)))

        server = await asyncio.start_server(accept, sock=self._listener)
        await self._ended.wait()
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        if not self._works:
            await self._swallow(reader)
            return
        cuts = self._cuts
        there = await self._connect()
        await asyncio.gather(
            self._pump(reader, there[1], cuts), self._pump(there[0], writer, cuts), return_exceptions=True
        )
        for each in (writer, there[1]):
            each.close()

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, cuts: int) -> None:
        while data := await source.read(65536):
            if cuts == self._cuts:
                sink.write(data)
                await sink.drain()
        if cuts == self._cuts:
            sink.close()

    async def _swallow(self, reader: asyncio.StreamReader) -> None:
        while await reader.read(65536):
            pass
