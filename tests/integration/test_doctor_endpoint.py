"""What the doctor says of a model endpoint: whether it answers as one, and nothing that is secret (O5)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from graph import Settings
from graph.doctor import examine
from graph.shop.business import SHOP

MODELS = b'{"object": "list", "data": [{"id": "gpt-5-mini"}]}'


@contextmanager
def endpoint(status: int, body: bytes) -> Iterator[tuple[str, list[str]]]:
    """Its address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("location", "/elsewhere")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body", "ok", "said"),
    [
        (200, MODELS, True, "answers; used are gpt-5-mini"),
        (200, b'{"data": []}', True, "answers"),
        (200, b'{"data": [{"id": "other"}]}', False, "does not know gpt-5-mini"),
        (200, b"<html>Welcome</html>", False, "does not answer as a model endpoint does (200)"),
        (302, b"", False, "does not answer as a model endpoint does (302)"),
        (401, b"{}", False, "refuses the key"),
        (404, b"{}", True, "lists no models (404)"),
        (500, b"{}", False, "fails (500)"),
    ],
)
async def test_an_endpoint_is_judged_by_its_answer_and_shown_without_its_secrets(
    status: int, body: bytes, ok: bool, said: str, database_url: str, tmp_path: Path
) -> None:
    with endpoint(status, body) as (address, asked):
        settings = Settings(
            _env_file=None,  # type: ignore[call-arg]
            database_url=database_url,  # type: ignore[arg-type]
            steward_home=tmp_path,
            openai_api_key="sk-secret-1",  # type: ignore[arg-type]
            openai_base_url=f"http://bob:secret-2@{address}/?key=secret-3",
        )
        (found,) = [finding for finding in await examine(settings, SHOP) if finding.name == "models"]
    assert (found.ok, asked) == (ok, ["/v1/models?key=secret-3"])
    assert said in found.detail
    assert address in found.detail
    assert bool(found.cure) == (not ok or status == 404)
    assert "secret" not in f"{found}"
