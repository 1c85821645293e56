"""One scripted model endpoint for all tests of a worker, begun anew for each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.model_server import ModelServer, RoleQueues


@pytest.fixture(autouse=True)
def _no_maintenance_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the tests remember was said years ago: it would be aged in one hour's tests and not in another's."""
    monkeypatch.setattr("memory.worker.MAINTENANCE", "0 0 29 2 *")


@pytest.fixture(scope="session")
def running_model_server() -> Iterator[ModelServer]:
    with ModelServer(RoleQueues()) as server:
        yield server


@pytest.fixture
def script() -> RoleQueues:
    """What the model server answers, by role; a test adds to it."""
    return RoleQueues()


@pytest.fixture
def server(running_model_server: ModelServer, script: RoleQueues) -> Iterator[ModelServer]:
    """A model endpoint that follows `script`. The test fails where a strict provider had refused a request."""
    running_model_server.reset(script)
    yield running_model_server
    assert not running_model_server.refused
    assert not running_model_server.script_errors
