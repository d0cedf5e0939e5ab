"""The server: Dash behind the guard, on the loopback address."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from dash import Dash
from flask import Flask, Response
from werkzeug.exceptions import HTTPException
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from gramian.explore import control_callbacks, picture_callbacks
from gramian.explore.datasets import Dataset, open_table
from gramian.explore.guard import Guard
from gramian.explore.layout import page
from gramian.explore.notes import listening
from gramian.explore.session import Explorer

HOST = "127.0.0.1"
#: Seconds after which an idle connection is closed.
IDLE_SECONDS = 120
#: The page around the page.
PAGE_TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>{%metas%}<title>{%title%}</title>{%favicon%}{%css%}</head>
<body>{%app_entry%}<footer>{%config%}{%scripts%}{%renderer%}</footer></body>
</html>
"""


class Handler(WSGIRequestHandler):
    """Says nothing of each request, and nothing of what it is made of."""

    timeout = IDLE_SECONDS
    server_version, sys_version = "gramian", ""

    def log(self, type: str, message: str, *args: object) -> None:
        """Keep the terminal free."""


class Served:
    """A server that was started: its address, and a way to run it."""

    def __init__(self, server: BaseWSGIServer, guard: Guard, explorer: Explorer) -> None:
        self._server, self.guard, self.explorer = server, guard, explorer
        self.address = guard.address

    def run(self) -> None:
        """Serve until the process is interrupted, or :meth:`stop` is called from another thread."""
        self._server.serve_forever()

    def stop(self) -> None:
        self._server.shutdown()


def make_app(first: Dataset | None, folder: Path, port: int) -> tuple[Dash, Guard, Explorer]:
    """The application, guarded."""
    explorer, guard = Explorer(first, folder), Guard(port)
    flask: Any = Flask("gramian.explore")
    app = Dash(
        "gramian.explore",
        server=flask,
        title="gramian",
        update_title="",
        assets_folder=str(Path(__file__).parent / "assets"),
        serve_locally=True,
        compress=False,
        add_log_handler=False,
    )
    flask.register_error_handler(Exception, _failed)
    app.layout = partial(page, first)
    app.index_string = PAGE_TEMPLATE
    control_callbacks.register(app, explorer)
    picture_callbacks.register(app, explorer)
    guard.protect(flask, _policy(app))
    return app, guard, explorer


def _failed(error: Exception) -> Any:
    """One line for the terminal; the page is not told what failed inside."""
    if isinstance(error, HTTPException):
        return error
    print(f"error: {type(error).__name__}: {' '.join(str(error).split())[:500]}", file=sys.stderr, flush=True)
    return Response("The server could not answer that.\n", 500, mimetype="text/plain")


def _policy(app: Dash) -> str:
    """Where the page may take things from: here. WebGL's shaders of plotly.js are compiled from text."""
    scripts = " ".join(["'self'", "'unsafe-eval'", *app.csp_hashes()])
    return (
        f"default-src 'self'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "font-src 'self' data:; worker-src 'self' blob:; connect-src 'self'; object-src 'none'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'"
    )


@contextmanager
def serving(
    table: str | Dataset | None = None, *, folder: Path | None = None, port: int = 0, **reading: Any
) -> Iterator[Served]:
    """Start a server for a table, or for tables to choose from if none is given.

    ``folder`` is where models are kept, the present one unless given; ``reading``: as of :func:`open_table`.

    Examples
    --------
    >>> from gramian.explore.datasets import preset
    >>> with serving(preset("rings")) as served:
    ...     served.address.partition("?")[2][:6]
    'token='
    """
    first = open_table(table, **reading) if isinstance(table, str) else table
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            door.bind((HOST, port))
        except OSError as error:
            raise OSError(
                error.errno, f"port {port} is not free. Choose another with --port, or leave it out"
            ) from error
        door.listen()
        port = door.getsockname()[1]
        app, guard, explorer = make_app(first, folder or Path.cwd(), port)
        server = make_server(HOST, port, app.server, threaded=True, request_handler=Handler, fd=door.fileno())
        try:
            with listening():
                yield Served(server, guard, explorer)
        finally:
            explorer.worker.close()
            server.server_close()
