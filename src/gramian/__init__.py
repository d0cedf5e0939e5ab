"""Component analysis and kernel methods: exact, bounded in memory, scikit-learn compatible.

::

    rows --> space --> singular basis --> mix --> projection --> scores
             linear | kernel | low rank   identity | whiten ...
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from gramian import kernels, registry, selection
from gramian.config import config, settings
from gramian.estimators.landmarks import Landmarks, RandomFeatures
from gramian.estimators.warnings import (
    ConvergenceWarning,
    GramianWarning,
    HeywoodWarning,
    IndefiniteKernelWarning,
    RankWarning,
    SubGaussianWarning,
)
from gramian.forecasting import Forecast, forecast
from gramian.models import load, save
from gramian.registry import *
from gramian.selection import doctor
from gramian.streams import rows

__version__ = "0.1.0"

__all__ = [
    "ConvergenceWarning",
    "Forecast",
    "GramianWarning",
    "HeywoodWarning",
    "IndefiniteKernelWarning",
    "Landmarks",
    "RandomFeatures",
    "RankWarning",
    "SubGaussianWarning",
    "config",
    "doctor",
    "forecast",
    "kernels",
    "load",
    "report",
    "rows",
    "save",
    "selection",
    "settings",
]
__all__ += registry.__all__


#: What is loaded when it is first asked for: it, or packages that it needs, take long to load.
_LATER: dict[str, Callable[[], Any]] = {
    "charts": lambda: import_module("gramian.charts"),
    "plots": lambda: import_module("gramian.plots"),
    "report": lambda: import_module("gramian.reports").report,
    "tables": lambda: import_module("gramian.tables"),
    "testing": lambda: import_module("gramian.testing"),
}


def __getattr__(name: str) -> Any:
    """Load the modules above when they are first asked for."""
    if name in _LATER:
        try:
            return _LATER[name]()
        except ModuleNotFoundError as error:  # its message names the package and what to install
            raise AttributeError(str(error)) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
