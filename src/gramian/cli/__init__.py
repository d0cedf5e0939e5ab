"""The command ``gramian``.

::

    arguments --> app (typer) --> job --> fit         read, fit, write, say what was found
                                          show        load, read rows if there are any, print a table
                                          apply       load, read, transform | inverse | predict | score, write; inspect
                                          select      read, ask the criteria
                                          compare     read, fit several times
                                          doctor      read, look for faults
                                          report      load, read, write the page
                                          demo        write tables to try, fit digits, draw

A file holds the options of a command, its work and its output. What is known of methods is in
:mod:`gramian.registry`.
"""

from __future__ import annotations

import sys

from gramian import __version__


def main() -> None:
    """Run the command line and exit."""
    if sys.argv[1:] == ["--version"]:  # without the seconds that the command line takes to load
        print(f"gramian {__version__}")
        return
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
