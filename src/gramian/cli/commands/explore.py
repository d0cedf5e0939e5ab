"""``gramian explore``."""

from __future__ import annotations

import webbrowser
from contextlib import suppress
from typing import Annotated

import typer

from gramian.cli import options as o
from gramian.cli.errors import say

HELP = """Explore a table in the browser.

Methods, kernels and parameters are chosen with sliders; scores, spectrum, loadings and rebuilt rows follow. The page is
served on this machine only, to whoever has the address that is printed; models are kept in the present folder.

\b
Example:
  gramian demo --output demo
  gramian explore demo/digits.csv
  gramian explore demo/wine.csv --port 8050 --no-browser
"""


def explore(
    table: o.TableFile,
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port of the page; any free one if not given.")
    ] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")] = True,
) -> o.Job:
    """Return the job of ``gramian explore``."""

    def job() -> None:
        from gramian.explore.server import serving  # dash is optional, and slow to import

        with serving(table, port=port) as served:
            print(served.address, flush=True)
            say("Ctrl-C ends it.")
            if browser:
                webbrowser.open(served.address)
            with suppress(KeyboardInterrupt):  # the way to end it, and no failure
                served.run()

    return job
