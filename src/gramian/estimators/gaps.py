"""Where entries that are no numbers are refused, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.operators.source import Piece


def refuse_gaps(piece: Piece, rows: Any, name: str, estimator: Any, *, welcome: bool = False) -> None:
    """Refuse infinities, and NaN unless they are welcome, naming file, place and column of the first."""
    values = piece.values
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # quicker than a look at each, and rarely lies
            return
    bad = np.isinf(values) if welcome else ~np.isfinite(values)
    if not bad.any():
        return
    row, at = np.argwhere(bad)[0]
    what = "NaN" if np.isnan(values[row, at]) else "infinity"
    names = None if rows is None else rows.columns
    column = at if names is None else repr(names[at])
    remedy = 'Drop those rows, or impute them in memory: ProbabilisticPCA(missing="em").'
    if getattr(estimator, "missing", None) is not None:
        remedy = "missing='em' needs the rows in memory: give rows.toarray(), or fill them."
    raise ValueError(f"Input {name} contains {what}: {piece.place(int(row))}, column {column}. {remedy}")
