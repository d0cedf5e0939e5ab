"""One file about one fit."""

from __future__ import annotations

import copy
import os
import platform
import sys
import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import date
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

import gramian
from gramian.estimators.labels import index_names
from gramian.files import PathLike, atomic, check_writable
from gramian.reports.checks import checks_of
from gramian.reports.contents import Page
from gramian.reports.model_sections import code, components, number_of_components, rounded, what_was_done
from gramian.reports.page import render
from gramian.reports.row_sections import diagnostics, predictions, scores
from gramian.reports.subject import Subject, label_of
from gramian.results import plural
from gramian.tables import Table, named

SECTIONS = (what_was_done, number_of_components, components, scores, predictions, diagnostics, code)


def report(
    estimator: BaseEstimator,
    path: PathLike,
    X: ArrayLike | Table | None = None,
    y: ArrayLike | Table | None = None,
    *,
    colour: ArrayLike | None = None,
    names: Sequence[object] | None = None,
    title: str | None = None,
) -> None:
    """Write a report of a fitted estimator: one HTML file that needs no network and nothing beside it.

    Checks in plain words come first; then what was done, the choice of the number of components, components, scores,
    predictions, diagnostics, and the program that does it again. Every picture has a sentence that says what it shows,
    and its numbers as a table and as a CSV file.

    Parameters
    ----------
    estimator : fitted estimator or pipeline
        Of gramian; a pipeline may scale columns before it.
    path : str or path
        File to write, whole or not at all.
    X : (n, d) array, data frame, sparse matrix or Table, optional
        Rows of the fit, or new ones. Without them the report shows what the model alone knows. A table that
        :func:`gramian.tables.read_table` read also names columns and rows, and the program of the report reads it.
    y : array, data frame or Table, optional
        Targets, labels or the second view.
    colour : (n,) array, optional
        A column to colour scores by; ``y`` if not given.
    names : sequence of str, optional
        Names of the rows; the index of a data frame if that is text.
    title : str, optional
        Heading of the page.

    Cost
    ----
    With rows: that of :func:`gramian.selection.doctor`, :func:`gramian.selection.how_many` and 100 bootstrap draws,
    which are left out where they would take long. The file has 5 MB, most of them plotly's.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import load_iris
    >>> import gramian
    >>> X, y = load_iris(return_X_y=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     gramian.report(gramian.PCA(2).fit(X), Path(folder) / "iris.html", X, y)
    ...     (Path(folder) / "iris.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    check_writable(path)
    to: dict[str, Any] = {"path": os.fsdecode(path), "title": title}
    if isinstance(X, Table):
        subject = tabled(estimator, X, y, colour=colour, names=names, **to)
    else:
        X = np.asarray(X) if isinstance(X, (list, tuple)) else X
        subject = Subject(estimator, X, y, colour, index_names(X) if names is None else list(map(str, names)), **to)
    write_page(page_of(subject), path)


def tabled(
    model: BaseEstimator,
    table: Table,
    y: ArrayLike | Table | None = None,
    *,
    names: Sequence[object] | None = None,
    **beside: Any,
) -> Subject:
    """Put together what a report is about from tables, which know names of columns and rows and where they are from."""
    second = y if isinstance(y, Table) else None
    targets: Sequence[str] = ()
    if second is not None and is_classifier(model):
        targets = (label_of(model, second),)
        y = second.labels[targets[0]]
    elif second is not None:
        single = len(second.columns) == 1 and not Subject(model).two_views
        y, targets = (second.values[:, 0] if single else second.values), second.columns
    named = table.row_ids if names is None else tuple(map(str, names))
    return Subject(
        _with_names(model, table, targets),
        table.values,
        np.array(y) if isinstance(y, list) else y,
        names=named,
        source=f"{table.source}: {plural(len(table.values), 'row')}",
        table=table,
        second=second,
        **beside,
    )


def _with_names(model: BaseEstimator, table: Table, targets: Sequence[str]) -> BaseEstimator:
    """A copy of a model that knows the names of its columns and targets; its arrays are shared."""
    if hasattr(model, "steps"):
        found = type(model)([(name, copy.copy(step)) for name, step in model.steps])
        first, last = found[0], found[-1]
    else:
        found = first = last = copy.copy(model)
    columns = getattr(first, "feature_names_in_", table.columns)
    return named(found, columns, getattr(last, "target_names_in_", targets))


def write_page(page: Page, path: PathLike) -> int:
    """Write a page to a file, or to standard output if the path is "-"; return how many bytes it has."""
    data = render(page).encode("utf-8")
    with nullcontext(sys.stdout.buffer) if os.fspath(path) == "-" else atomic(path) as file:
        return file.write(data)


def page_of(subject: Subject, title: str | None = None) -> Page:
    """Put the page together."""
    check_is_fitted(subject.model)
    if not hasattr(subject.estimator, "summary_"):
        raise TypeError(
            f"report does not know {subject.name}. Give a fitted estimator of gramian, or a pipeline that ends in one."
        )
    _check_lengths(subject)
    with warnings.catch_warnings():
        # Rows may come as an array to a model that was fitted to a data frame: then their order is that of the fit.
        warnings.filterwarnings("ignore", message="X does not have valid feature names", category=UserWarning)
        checks = checks_of(subject)
        found = [section for section in (make(subject) for make in SECTIONS) if section is not None]
    subtitle = rounded(" · ".join(subject.estimator.summary_.title))
    versions = f"gramian {gramian.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}"
    made = f"Made on {date.today().isoformat()} with {versions}, Python {platform.python_version()}."
    return Page(title or subject.title or _title(subject), subtitle, checks, found, made)


def _check_lengths(subject: Subject) -> None:
    for name, values in (("y", subject.y), ("colour", subject.colour), ("names", subject.names)):
        length = None if values is None else np.shape(values)[0] if hasattr(values, "shape") else len(values)
        if length is not None and subject.X is None:
            raise ValueError(f"{name} was given without X. Give the rows that it belongs to.")
        if length is not None and length != subject.n:
            raise ValueError(f"{name} has {length} entries for {subject.n} rows of X. Give one for each row.")


def _title(subject: Subject) -> str:
    of = subject.source.partition(":")[0]
    if of:
        return f"{subject.name} of {of}"
    facts = subject.facts
    return f"{subject.name} of {round(facts['n']):,} rows and {facts['d']:,} columns" if "n" in facts else subject.name
