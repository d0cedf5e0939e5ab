"""How sections ask for charts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def asked(chart: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A chart, or None where the estimator, or these rows, cannot give it: charts refuse by these errors."""
    try:
        return chart(*args, **kwargs)
    except (TypeError, ValueError):
        return None
