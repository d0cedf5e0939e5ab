"""What a fit did, for people in a few lines and for machines as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence

from gramian.cli.fit import Fitted

#: Width of the words at the left, as wide as the longest name of an estimator here and the gap after it.
WIDTH = 11
#: Reasons shown for columns that were set aside; JSON has all of them.
SHOWN = 3


def text(fitted: Fitted) -> str:
    """Write about ten lines for people."""
    table, request = fitted.table, fitted.request
    n, d = table.values.shape
    lines = [_line("table", f"{table.source}: {n:,} rows, {d:,} columns")]
    if table.dropped:
        lines.append(_line("set aside", _some(table.dropped)))
    lines += str(fitted.estimator.summary_).splitlines()
    if request.output is None:
        lines.append(_line("scores", "not written; -o scores.csv writes them"))
    elif request.output != "-":
        columns = [*table.labels, *fitted.names]
        lines.append(_line("scores", f"{request.output}: {n:,} rows, columns {_ends(columns)}"))
    first, second = request.code()
    return "\n".join([*lines, _line("Python", first), _line("", second)])


def as_json(fitted: Fitted) -> str:
    """Write the same, and the whole spectrum, as one JSON object."""
    table, request = fitted.table, fitted.request
    facts = {
        **fitted.estimator.summary_.to_dict(),
        "source": table.source,
        "columns": list(table.columns),
        "labels": list(table.labels),
        "dropped": list(table.dropped),
        "files": [] if request.output is None else [request.output],
        "python": "\n".join(request.code()),
    }
    return json.dumps(facts, allow_nan=False)


def _line(word: str, text: str) -> str:
    return f"{word:<{WIDTH}}{text}"


def _some(reasons: Sequence[str]) -> str:
    more = len(reasons) - SHOWN
    return "; ".join(reasons[:SHOWN]) + (f"; and {more} more (--json lists them)" if more > 0 else "")


def _ends(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"
