"""One file about one fit."""

from __future__ import annotations

import copy
import os
import platform
import re
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from datetime import date
from pathlib import PurePath
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

import gramian
from gramian.construction import steps_of
from gramian.estimators.labels import MAX_GROUPS, index_names
from gramian.files import PathLike, atomic, check_writable
from gramian.reports.checks import checks_of
from gramian.reports.contents import Page
from gramian.reports.model_sections import code, components, number_of_components, rounded, what_was_done
from gramian.reports.page import render
from gramian.reports.row_sections import diagnostics, predictions, scores
from gramian.reports.subject import Beside, Subject, label_of
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
    test: tuple[Any, Any] | None = None,
    supplementary_columns: Table | Mapping[str, ArrayLike] | tuple[Table, Sequence[str]] | None = None,
    supplementary_rows: ArrayLike | Table | None = None,
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
    test : (rows, targets or labels), optional
        Rows that were not used in the fit, and what is true of them: errors of prediction (RMSEP), or accuracy.
    supplementary_columns : Table, (Table, names of its columns), data frame or dict of (n,) arrays, optional
        Columns that were not used in the fit: numbers by their correlations with the scores, texts as groups by their
        means and v-tests.
    supplementary_rows : (m, d) array, data frame or Table, optional
        Rows that were not used in the fit, shown among the others.

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
    if test is not None:
        to["test"] = beside(estimator, *test)
    if supplementary_rows is not None:
        to["further"] = beside(estimator, supplementary_rows)
    if supplementary_columns is not None:
        to |= columns_of(supplementary_columns)
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
    if second is not None:
        y, targets = _answers(model, second)
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


def beside(model: BaseEstimator, X: Any, y: Any = None, call: str = "") -> Beside:
    """Rows beside those of a report, from arrays, data frames or tables."""
    table, names = (X, X.row_ids) if isinstance(X, Table) else (None, index_names(X))
    if isinstance(y, Table):
        y, _ = _answers(model, y)
    if isinstance(X, Table):
        call, columns = call or X.call, list(map(str, getattr(steps_of(model)[0], "feature_names_in_", X.columns)))
        lacking = [name for name in columns if name not in X.columns]
        if lacking:
            raise ValueError(f"{X.source} lacks {lacking[0]!r} of the {len(columns):,} columns of the model.")
        X = X.values[:, [X.columns.index(name) for name in columns]]
    X = np.asarray(X) if isinstance(X, (list, tuple)) else X
    return Beside(X, np.asarray(y) if isinstance(y, (list, tuple)) else y, names, call, table)


def columns_of(given: Any) -> dict[str, Any]:
    """Supplementary columns by name, numbers or texts that are groups, and Python that reads them."""
    table, names = given if isinstance(given, tuple) else (given, getattr(given, "columns", given))
    call = ""
    if isinstance(table, Table):
        call, table = table.call, {**dict(zip(table.columns, table.values.T, strict=True)), **table.labels}
        names = names if isinstance(given, tuple) else table
    found = {str(name): np.asarray(table[name]) for name in names}
    found = {name: part.astype(np.float64 if part.dtype.kind in "iuf" else str) for name, part in found.items()}
    for name, part in found.items():
        kinds = 0 if part.dtype.kind == "f" else len(set(part.tolist()))
        if kinds > MAX_GROUPS:
            told = f"the supplementary column {name!r} has {kinds} different texts"
            raise ValueError(f"{told}; groups are {MAX_GROUPS} at the most.")
    return {"supplementary": found, "supplementary_call": f"({call}, {list(found)!r})" if call else ""}


def _answers(model: BaseEstimator, second: Table) -> tuple[Any, Sequence[str]]:
    """Targets, labels or the second view of a table, with their names."""
    if is_classifier(model):
        label = label_of(model, second)
        return np.array(second.labels[label]), (label,)
    single = len(second.columns) == 1 and not Subject(model).two_views
    return second.values[:, 0] if single else second.values, second.columns


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
    given = {"y": subject.y, "colour": subject.colour, "names": subject.names, **subject.supplementary}
    for name, values in given.items():
        length = None if values is None else np.shape(values)[0] if hasattr(values, "shape") else len(values)
        if length is not None and subject.X is None:
            raise ValueError(f"{name} was given without X. Give the rows that it belongs to.")
        if length is not None and length != subject.n:
            raise ValueError(f"{name} has {length} entries for {subject.n} rows of X. Give one for each row.")
    scored = hasattr(subject.model, "transform") and not subject.two_views and not subject.record.clusters
    if not scored and (subject.supplementary or subject.further is not None):
        raise ValueError(
            f"supplementary columns and rows go with methods that give scores, and {subject.name} has none."
        )
    if subject.test is not None and (subject.test.y is None or not (subject.regresses or subject.classifies)):
        raise ValueError(f"test rows go with models that predict, and {subject.name} does not. Use supplementary rows.")
    if subject.test is not None and subject.test.n != len(subject.test.y):
        raise ValueError(f"test has {subject.test.n} rows and {len(subject.test.y)} targets. Give one for each row.")


def _title(subject: Subject) -> str:
    """What was analysed, and how, in words: ``Decathlon: principal components``."""
    how = subject.record.title.replace("PCA", "principal components")
    how = how[:1].lower() + how[1:]
    of = subject.source.partition(":")[0] or subject.file
    name = re.sub(r"[\W_]+", " ", PurePath(of).name.partition(".")[0]).strip()
    if name:
        return f"{name[:1].upper()}{name[1:]}: {how}"
    facts, how = subject.facts, f"{how[:1].upper()}{how[1:]}"
    return f"{how} of {round(facts['n']):,} rows and {facts['d']:,} columns" if "n" in facts else how
