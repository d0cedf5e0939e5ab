"""What a fitted model keeps of the tables it was fitted to: names of columns and targets, and how text was encoded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def named(model: Any, table: Any, y: Any = None) -> Any:
    """Let a fitted model know the names of its columns, as ``gramian fit`` does before it saves one.

    A model that knows them finds its columns in other tables by name, in any order.

    Parameters
    ----------
    model : fitted estimator or pipeline
        The names are put where scikit-learn puts those of a data frame, ``feature_names_in_``.
    table : Table or stream of rows
        What X was taken from.
    y : Table, stream, str or sequence of str, optional
        What the targets or the second view were taken from, or their names.

    Returns
    -------
    estimator
        The same model.

    Examples
    --------
    >>> from gramian import PCA
    >>> from gramian.tables import as_table
    >>> table = as_table({"length": [5.1, 4.0, 4.6], "width": [3.5, 3.0, 3.4]})
    >>> named(PCA(1).fit(table.values), table).feature_names_in_.tolist()
    ['length', 'width']
    """
    steps = [step for _, step in model.steps] if hasattr(model, "steps") else [model]
    steps[0].feature_names_in_ = np.array(_columns(table), dtype=object)
    notes: dict[str, Any] = {
        "target_names_in_": np.array(_columns(y), dtype=object),
        "categories_in_": dict(getattr(table, "levels", {})),
        "dates_in_": list(getattr(table, "dates", [])),
    }
    vars(steps[-1]).update({name: value for name, value in notes.items() if len(value)})
    return model


def _columns(of: Any) -> Sequence[str]:
    if of is None or isinstance(of, str):
        return [] if of is None else [of]
    found = getattr(of, "columns", of)
    return list(of.names if found is None else found)  # columns of a stream that have no names are numbered
