"""``gramian demo``."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from gramian.cli.options import Job

HELP = """Analyse digits, and write tables to try.

Digits, and the other tables, come with scikit-learn. Three pictures are drawn.

\b
Example:
  gramian demo --output demo
"""


def demo(
    output: Annotated[str, typer.Option("-o", "--output", metavar="FOLDER", help="Folder to write to.")] = "demo",
) -> Job:
    """Return the job of ``gramian demo``."""

    def job() -> None:
        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks up where no cache can be written
        from gramian.cli.demo import demo  # matplotlib is optional

        demo(output)

    return job
