"""How sections ask for charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gramian.charts import NoChart


def asked(chart: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A chart, or None where the estimator, or these rows, cannot give it; any other error is a fault, and shows."""
    try:
        return chart(*args, **kwargs)
    except NoChart:
        return None
