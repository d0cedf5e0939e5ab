"""The command ``gramian``.

::

    arguments --> app (typer) --> job --> run --> fit: read, fit, write, report
                                                  demo: the same on digits, with pictures
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from gramian.cli.app import run
    except ModuleNotFoundError as error:
        if error.name in ("typer", "rich"):
            sys.exit(f'error: the command line needs {error.name}: pip install "gramian[cli]"')
        if error.name == "pyarrow":
            sys.exit(f"error: {error}")
        raise
    sys.exit(run())
