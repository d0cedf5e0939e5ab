"""An application without a server: Flask's test client plays the browser."""

from __future__ import annotations

import pytest

pytest.importorskip("dash", reason="the extra 'explore' is not installed")

from gramian.explore.datasets import preset
from gramian.explore.notes import listening
from gramian.explore.server import make_app

PORT = 8123
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


@pytest.fixture
def served(tmp_path):
    """An application over the rings, its guard, and its folder."""
    app, guard, explorer = make_app(preset("rings"), tmp_path, PORT)
    with listening():
        yield app, guard, explorer
    explorer.worker.close()


@pytest.fixture
def client(served):
    """A browser that has not been here before."""
    return served[0].server.test_client()


@pytest.fixture
def member(served, client):
    """A browser that opened the address and has the cookie."""
    guard = served[1]
    answer = client.get(f"/?token={guard.token}", headers={"Host": HOST})
    assert answer.status_code == 303
    return client
