"""The work behind ``gramian fit --dry-run``: read (of a stream only how large it is), forecast, write nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from gramian.cli.bar import Bar
from gramian.cli.errors import in_options
from gramian.cli.inputs import Inputs, gather
from gramian.cli.request import FitRequest
from gramian.cli.streams import gather_stream, streams
from gramian.config import config, format_bytes
from gramian.forecasting import Forecast, forecast


def foresee(request: FitRequest, *, json: bool, quiet: bool) -> None:
    """Print what a fit would cost; fail with the advice if it would not fit."""
    request.check()
    with Bar(quiet=quiet or json) as bar, config(**request.settings):
        with bar.step("reading"):
            inputs = gather_stream(request) if streams(request) else gather(request)
        found = forecast(request.model(), *_shape(inputs), q=_width(request, inputs), **_kind(inputs))
    if json:
        print(found.to_json())
    elif not quiet:
        print(in_options(str(found)))
    if not found.fits:
        raise ValueError(_remedy(found))


def _shape(inputs: Inputs) -> tuple[int, int]:
    """Rows and columns; of text that streams by, rows by the size of the files."""
    X = inputs.X
    return (max(1, X.n_rows or X.about or 1), X.n_features) if inputs.streamed else X.shape


def _kind(inputs: Inputs) -> dict[str, Any]:
    return {"stream": inputs.X} if inputs.streamed else {"dtype": inputs.X.dtype}


def _width(request: FitRequest, inputs: Inputs) -> int:
    """Targets, columns of the second view, or classes."""
    if inputs.y is None:
        return 1
    return len(np.unique(inputs.y)) if request.row.needs == "label" else len(inputs.targets)


def _remedy(found: Forecast) -> str:
    what = "with its blocks of rows" if found.stream else "beside the data"
    text = f"the fit needs {format_bytes(found.bytes)} {what}, over the budget of {format_bytes(found.budget)}"
    return f"{text}. Would fit: {'; '.join(found.advice)}" if found.advice else text
