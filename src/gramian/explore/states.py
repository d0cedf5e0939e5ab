"""What the page shows as the part of an address behind ``#``: what differs from the first view of a table."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, urlencode

from gramian.explore.choice import CONTROLS, LOOKS, TICKS
from gramian.explore.datasets import Dataset


def first_values(data: Dataset) -> dict[str, Any]:
    """First values of the controls for a table."""
    values = {**CONTROLS, **LOOKS, "second": list(data.half()), "k": min(2, data.X.shape[1]), "rows-as": data.rows_as}
    values |= {"target": data.table.columns[-1], "label": next(iter(data.labels), ""), "scale": data.uneven}
    if data.groups:
        values["colour"] = f"group:{next(iter(data.groups))}"
    values |= data.advice
    return values | {name: ["on"] if values[name] else [] for name in TICKS}


def state_of(base: Dataset, data: Dataset, controls: dict[str, Any]) -> str:
    """The table, its columns if they are not those it opens with, and the controls that were moved.

    >>> from gramian.explore.datasets import preset
    >>> rings = preset("rings").opened
    >>> state_of(preset("rings"), rings, first_values(rings) | {"width": -1.0})
    '#table=%22rings%22&width=-1.0'
    """
    found: dict[str, Any] = {"table": base.key}
    if data.table.columns != base.opened.table.columns:
        found["columns"] = list(data.table.columns)
    first = first_values(data)
    found |= {name: value for name, value in controls.items() if value != first[name]}
    return "#" + urlencode({name: json.dumps(value) for name, value in found.items()})


def read_state(text: str) -> tuple[str, list[str] | None, dict[str, Any]]:
    """Key of the table, its columns if they are named, and controls of the right kind, whatever was sent."""
    try:
        found = {name: json.loads(value) for name, value in parse_qsl(text.lstrip("#"), strict_parsing=True)}
    except ValueError:
        found = {}
    columns = found.pop("columns", None)
    named = columns if isinstance(columns, list) and columns else None
    kinds = {name: (list if name in TICKS else type(value)) for name, value in {**CONTROLS, **LOOKS}.items()}
    values = {
        name: found[name]
        for name, kind in kinds.items()
        if isinstance(found.get(name), (int, float) if kind in (int, float) else kind)
    }
    return str(found.get("table", "")), named, values
