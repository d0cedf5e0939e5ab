"""Component analysis and kernel methods: exact, bounded in memory, scikit-learn compatible.

::

    rows --> space --> singular basis --> mix --> projection --> scores
             linear | kernel | low rank   identity | whiten ...
"""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

# By name, as the package has a module of this name: it would be found before the function.
from gramian.config import config as config
from gramian.config import settings as settings

if TYPE_CHECKING:
    from gramian.api import *
    from gramian.reports import report as report

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import parts of the library, and the public names of :mod:`gramian.api`, when they are first asked for."""
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        if name == "report":
            return import_module("gramian.reports").report
        if name != "__all__" and find_spec(f"gramian.{name}"):
            return import_module(f"gramian.{name}")
    except ModuleNotFoundError as error:  # its message names the package and what to install
        raise AttributeError(str(error)) from error
    api = import_module("gramian.api")
    if name != "__all__" and name not in api.__all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return globals().setdefault(name, getattr(api, name))


def __dir__() -> list[str]:
    parts = (part.name for part in iter_modules(__path__) if not part.name.startswith("_"))
    return sorted({*globals(), *import_module("gramian.api").__all__, *parts})
