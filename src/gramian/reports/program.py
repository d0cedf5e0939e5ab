"""The program of a report: Python that reads, fits the model or loads it, and writes the report again."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian.construction import construction, imports, steps_of, unwritten
from gramian.reports.subject import Subject, label_of
from gramian.results import Array
from gramian.tables import Table


def program(subject: Subject) -> str:
    """Write a program that reads, fits (or loads the model, where the rows are not those of the fit) and reports."""
    model, refits = subject.model, subject.refits
    lines, x, y = _reading(subject)
    if not refits and subject.file:
        lines.append(f"model = load({subject.file!r})")
    elif not refits:
        lines.append("# model: the fitted estimator")
    else:
        weights = _weights(model)
        lines += [f"# {name}: as it was given to the fit" for name in unwritten(model)]
        lines += ["# weights: those of the rows in the fit"] if weights else []
        values = [f"{x}.values" if subject.table is not None else x]
        if subject.takes_y:
            values.append(_target(subject, y))
        fitted = f"{construction(model)}.fit({', '.join([*values, *weights])})"
        if subject.classifies and subject.second is not None:  # so that the report knows which labels of y are meant
            fitted = f"named({fitted}, {x}, {label_of(subject.estimator, subject.second)!r})"
        lines.append(f"model = {fitted}")
    lines.append(f"print({'model[-1]' if hasattr(model, 'steps') else 'model'}.summary_)")
    given = ["model", repr(subject.path), *([x] if x else []), *([y] if y else [])]
    given += [f"colour={_colour(subject, x)}"] if subject.colour is not None else []
    of_table = () if subject.table is None else subject.table.row_ids or ()
    given += ["names=names"] if subject.names is not None and list(subject.names) != list(of_table) else []
    beside, more = _beside(subject)
    lines[len(lines) :], given = beside, [*given, *more, *([f"title={subject.title!r}"] if subject.title else [])]
    lines.append(f"report({', '.join(given)})")
    return "\n".join([*imports("\n".join(lines)), "", *lines])


def _beside(subject: Subject) -> tuple[list[str], list[str]]:
    """Lines that read test rows and what is supplementary, and the arguments of the report for them."""
    lines, given, bare = [], [], []
    known = {"test": subject.test, "supplementary_rows": subject.further}
    for name, rows in known.items():
        if rows is not None:
            lines += [f"{name} = {rows.call}"] if rows.call else []
            bare += [] if rows.call else [name]
            label = _label(rows.y, {"test": rows.table}) if rows.table is not None and subject.classifies else ""
            given.append(f"{name}=(test, {label})" if label else f"{name}={name}")
    if subject.supplementary:
        lines += [f"supplementary_columns = {subject.supplementary_call}"] if subject.supplementary_call else []
        bare += [] if subject.supplementary_call else ["supplementary_columns"]
        given.append("supplementary_columns=supplementary_columns")
    return [*([f"# {', '.join(bare)}: as they were given to the report"] if bare else []), *lines], given


def _weights(model: BaseEstimator) -> list[str]:
    """The argument of ``fit`` for weights, if the fit had any."""
    if not getattr(steps_of(model)[-1], "_weighted", False):
        return []
    prefix = f"{model.steps[-1][0]}__" if hasattr(model, "steps") else ""
    return [f"{prefix}sample_weight=weights"]


def _reading(subject: Subject) -> tuple[list[str], str, str]:
    """Lines that make the rows, and how rows and targets are called in the program."""
    table, second = subject.table, subject.second
    if subject.X is None:
        return [], "", ""
    if table is None:
        named = ["X", *(["y"] if subject.y is not None else [])]
        named += [name for name in ("colour", "names") if getattr(subject, name) is not None]
        of = "the rows of the fit" if subject.of_the_fit else "the rows of the report"
        comment = f"# {', '.join(named)}: {of}{', and what goes with them' if len(named) > 1 else ''}"
        return [comment], "X", "y" if subject.y is not None else ""
    if second is not None:
        known = {"x": table, "y": second}
        lines = [
            f"{name} = {each.call}" if each.call else f"# {name}: a table, as gramian.tables reads it"
            for name, each in known.items()
        ]
        if table.call and table.call == second.call:
            lines = [f"x, y = {table.call}"]
        return lines, "x", "" if subject.y is None else "y"
    lines = [f"table = {table.call}" if table.call else "# table: the rows, as gramian.tables reads them"]
    label = "" if subject.y is None else _label(subject.y, {"table": table})
    if subject.y is None or label:
        return lines, "table", label
    return [*lines, "# y: what goes with the rows"], "table", "y"


def _label(values: ArrayLike, known: Mapping[str, Table]) -> str:
    """The column of labels that holds some values, as an expression."""
    for variable, table in known.items():
        for name, cells in table.labels.items():
            if list(map(str, np.ravel(values))) == list(cells):
                return f"{variable}.labels[{name!r}]"
    return ""


def _target(subject: Subject, y: str) -> str:
    """What ``fit`` takes of the targets."""
    if subject.second is None or y != "y":
        return y
    if subject.classifies:
        return f"y.labels[{label_of(subject.estimator, subject.second)!r}]"
    values: Array = np.asarray(subject.y)
    return "y.values[:, 0]" if values.ndim == 1 else "y.values"


def _colour(subject: Subject, x: str) -> str:
    if subject.table is None:
        return "colour"
    known = {x: subject.table, **({"y": subject.second} if subject.second is not None else {})}
    return _label(subject.colour, known) or "colour"
