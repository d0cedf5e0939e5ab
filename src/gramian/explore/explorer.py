"""What the callbacks share: the tabs, the worker, the folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from dash.exceptions import PreventUpdate

from gramian.explore.choice import METHODS, Choice, kernels_listed
from gramian.explore.datasets import Dataset
from gramian.explore.fitting import most_components
from gramian.explore.presets import PRESETS, preset
from gramian.explore.preview import GlimpseCache
from gramian.explore.session import Session, Sessions
from gramian.explore.worker import Worker

#: Controls of a fit, in the order in which callbacks take them.
CONTROLS = ("method", "second", "scale", "kernel", "width", "degree", "text", "ridge", "k", "exact")
#: Controls of the view.
LOOKS = ("x", "y", "z", "space", "colour", "rows-as")


class Explorer:
    """State of the server."""

    def __init__(self, first: Dataset, folder: Path) -> None:
        self.first, self.folder = first, folder
        self.sessions = Sessions(first)
        self.worker = Worker()
        self.glimpses = GlimpseCache()

    def session(self, key: Any) -> Session:
        """The session of a tab; a tab that is not known yet, or no longer, is left alone."""
        found = self.sessions.find(key)
        if found is None:
            raise PreventUpdate
        return found

    def named(self, key: object, session: Session) -> Dataset:
        """A table of the list."""
        if key == session.base.key:
            return session.base
        if isinstance(key, str) and key in PRESETS:
            return preset(key)
        return self.first


def read_choice(data: Dataset, values: dict[str, Any]) -> Choice:
    """What the controls say, whatever was sent: bounded, and of the right kind."""
    known = set(data.table.columns)
    given = values.get("second")
    second = tuple(
        name for name in (given if isinstance(given, list) else ()) if isinstance(name, str) and name in known
    )
    method, kernel = str(values.get("method")), str(values.get("kernel"))
    plain = Choice()
    exponent = _number(values.get("ridge"), -4, 2, -4)
    choice = Choice(
        method=method if method in METHODS else plain.method,
        kernel=kernel if kernel in kernels_listed() else plain.kernel,
        width=_number(values.get("width"), -20, 20, 0.0),
        degree=int(_number(values.get("degree"), 1, 20, 3)),
        text=str(values.get("text") or "")[:500].strip(),
        scale=bool(values.get("scale")),
        ridge=0.0 if exponent <= -4 else float(f"{10**exponent:.3g}"),
        second=second if 0 < len(second) < len(known) else data.half(),
        exact=bool(values.get("exact")),
    )
    most = most_components(data, choice)
    return replace(choice, k=int(_number(values.get("k"), 1, most, 2)))


def _number(value: Any, low: float, high: float, default: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:
        return max(low, min(high, default))
    return float(max(low, min(high, value)))
