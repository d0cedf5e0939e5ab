"""What a fit did, for people in a few lines and for machines as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from gramian.cli.fit import Fitted

#: Reasons shown for columns that were set aside; JSON has all of them.
SHOWN = 3


def as_text(fitted: Fitted) -> str:
    """Write about ten lines for people: the summary of the fit, and around it where things come from and went."""
    table, request, summary = fitted.table, fitted.request, fitted.estimator.summary_
    n, d = table.values.shape
    lines = [("table", f"{table.source}: {n:,} rows, {d:,} columns")]
    if table.dropped:
        lines.append(("set aside", _some(table.dropped)))
    lines += summary.lines
    if request.output is None:
        lines.append(("scores", "not written; -o scores.csv writes them"))
    else:
        where = "standard output" if request.output == "-" else request.output
        lines.append(("scores", f"{where}: {n:,} rows, columns {_ends([*table.labels, *fitted.names])}"))
    first, second = request.code()
    return str(replace(summary, lines=(*lines, ("Python", first), ("", second))))


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


def _some(reasons: Sequence[str]) -> str:
    more = len(reasons) - SHOWN
    return "; ".join(reasons[:SHOWN]) + (f"; and {more} more (--json lists them)" if more > 0 else "")


def _ends(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]}, {names[1]}, ..., {names[-1]}"
