"""``--scheduler``: a fit whose rows are read, and whose sums are made, by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gramian.cli.errors import UsageError, say
from gramian.cli.inputs import Inputs
from gramian.cli.request import FitRequest
from gramian.cli.streams import as_table, needs_whole_table
from gramian.tables import remote_rows


@contextmanager
def workers(request: FitRequest, *, quiet: bool) -> Iterator[None]:
    """Connect to the scheduler that was asked for, if one was, and say where its dashboard is."""
    if request.scheduler is None:
        yield
        return
    trouble = needs_whole_table(request)
    if trouble:
        raise UsageError(f"--scheduler {trouble}")
    try:
        from gramian.operators.dask_tasks import connected
    except ImportError as error:
        raise UsageError("--scheduler needs dask. Install it: pip install 'gramian[dask]'.") from error
    with connected(request.scheduler) as dashboard:
        if not quiet:
            say(f"dashboard: {dashboard}")
        yield


def gather_remote(request: FitRequest) -> Inputs:
    """Open what a fit needs, for workers to read."""
    if request.targets is None and request.y_table is None:
        return Inputs(as_table(remote_rows(request.table, request.columns, **request.dialect)))
    if request.y_table is None:
        X = remote_rows(request.table, request.columns, y_columns=request.targets, **request.dialect)
        y = X.y
    else:
        X = remote_rows(request.table, request.columns, **request.dialect)
        y = remote_rows(request.y_table, request.targets, **request.dialect)
    assert y is not None
    y.single = request.row.needs == "target" and y.n_features == 1  # type: ignore[attr-defined]
    return Inputs(as_table(X), y, y.names)
