"""The command ``gramian``.

::

    arguments --> commands (typer) --> job --> run --> fit       read, fit, write, report
                                                       apply     load, read, transform | inverse | predict, write
                                                       figures   load, read, compare with what is there
                                                       select    read, ask the criteria
                                                       compare   fit, several times
                                                       page      load, read, report
                                                       demo      fit digits, with pictures; tables to try

A new method is a row in ``methods.py``.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from gramian.cli.app import run

        sys.exit(run())
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == "pyarrow":
            sys.exit(f"error: {error}")
        if missing in ("typer", "rich"):
            sys.exit(f'error: the command line needs {missing}: pip install "gramian[cli]"')
        raise
    except KeyboardInterrupt:  # while modules load
        print("interrupted", file=sys.stderr)
        sys.exit(130)
