"""What a report is about: the fitted model, rows if there are any, and what is asked of them once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, is_classifier, is_regressor

from gramian.charts import NoChart, Predicted, predicted
from gramian.construction import steps_of
from gramian.estimators.base import as_it_was_fitted
from gramian.estimators.cca import correlations
from gramian.estimators.fitted_rows import of_the_fit, role, rows_of_the_fit
from gramian.estimators.left_out import leaves_out_classes
from gramian.estimators.result_tables import ResultTables
from gramian.estimators.table_maker import TableMaker
from gramian.kernels.parsing import takes_matrix
from gramian.operators import Rows
from gramian.registry import Record, record_of
from gramian.results import Array
from gramian.selection import Diagnosis, HowMany, Trust, doctor, how_many, trust
from gramian.selection.doctor_findings import rows_called
from gramian.tables import Table

#: Multiplications that bootstrap draws may cost: some seconds.
BOOTSTRAP_MAX_WORK = 1e11
#: Bootstrap draws; fewer where each takes many steps.
DRAWS, FEW_DRAWS = 100, 40
#: Rows below which no criterion counts components.
CRITERIA_MIN_ROWS = 4
#: Points from which on a density stands for them: a page draws each as an element.
DRAWN_MAX_POINTS = 5_000
Made = TypeVar("Made")


def chart_or_none(chart: Callable[..., Made], *args: object, **options: object) -> Made | None:
    """A chart, or None where the estimator, or these rows, cannot give it; any other error is a fault, and shows."""
    try:
        return chart(*args, **options)
    except NoChart:
        return None


def correlations_of(values: Array, scores: Array) -> Array:
    """Correlations of a column with scores, over the rows that have both; 0 where nothing varies.

    >>> correlations_of(np.array([1.0, 2.0, 4.0, np.nan]), np.array([[2.0], [4.0], [8.0], [1.0]]))
    array([1.])
    """
    known = np.isfinite(values) & np.isfinite(scores).all(axis=1)
    A, T = values[known, None], scores[known]
    return correlations(A - A.mean(axis=0), T - T.mean(axis=0))[0] if known.any() else np.zeros(scores.shape[1])


@dataclass(frozen=True)
class Beside:
    """Rows beside those of a report: test rows with what is true of them, or supplementary ones."""

    X: Any
    y: Any = None
    names: Sequence[str] | None = None
    call: str = ""  #: Python that reads them; empty if no single call made them
    table: Table | None = None  #: What X was taken from

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)


@dataclass(frozen=True)
class Subject:
    """A fitted model and rows."""

    model: BaseEstimator
    X: Any = None
    y: Any = None  #: Targets, labels or the second view
    colour: Any = None  #: (n,): a column to colour scores by
    names: Sequence[str] | None = None  #: Of the rows
    source: str = ""  #: Where the rows are from
    table: Table | None = None  #: What X was taken from
    second: Table | None = None  #: What y was taken from
    file: str = ""  #: File that holds the model, if there is one
    path: str = "report.html"  #: File that the report is written to
    title: str | None = None  #: Heading of the page
    test: Beside | None = None
    further: Beside | None = None  #: Supplementary rows
    supplementary: Mapping[str, Any] = field(default_factory=dict)  #: Supplementary columns, each (n,), by name
    supplementary_call: str = ""  #: Python that reads them

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", as_it_was_fitted(self.model))  # parameters set since are of the next fit

    @property
    def estimator(self) -> BaseEstimator:
        """The estimator itself, without steps before it."""
        return steps_of(self.model)[-1]

    @property
    def name(self) -> str:
        """Class of the estimator."""
        return type(self.estimator).__name__

    @property
    def record(self) -> Record:
        """What the registry knows of the estimator; of one that it does not know, what holds for most."""
        return record_of(self.estimator) or Record(type(self.estimator), self.name, "", command=self.name)

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the summary of the fit knows."""
        return self.estimator.summary_.facts

    @property
    def two_views(self) -> bool:
        """Whether y is a second view."""
        return self.record.needs == "view"

    @property
    def precomputed(self) -> bool:
        """Whether the rows are those of a kernel matrix."""
        return takes_matrix(getattr(self.estimator, "kernel_", None))

    @property
    def classifies(self) -> bool:
        """Whether classes are predicted."""
        return is_classifier(self.estimator)

    @property
    def regresses(self) -> bool:
        """Whether numbers are predicted."""
        return is_regressor(self.estimator) and not self.two_views

    @property
    def piped(self) -> bool:
        """Whether steps come before the estimator."""
        return len(steps_of(self.model)) > 1

    @property
    def n(self) -> int:
        """Number of rows given."""
        return 0 if self.X is None else int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    @cached_property
    def of_the_fit(self) -> bool:
        """Whether the rows are those of the fit."""
        return self.X is not None and of_the_fit(self.model, self.X)

    @cached_property
    def role(self) -> str:
        """Which rows they are, for figures of merit; as many as the fit had are taken for its rows if it kept none."""
        return role(self.model, self.X) or ("fit" if self.of_the_fit else "")

    @property
    def takes_y(self) -> bool:
        """Whether the fit takes y."""
        return self.two_views or self.classifies or self.regresses

    @property
    def refits(self) -> bool:
        """Whether the rows given are all that a fit needs to give this model."""
        return self.of_the_fit and (self.y is not None or not self.takes_y)

    @property
    def affordable(self) -> bool:
        """Whether what takes the cube of the number of rows, or many fits, is done in a few seconds."""
        most = self.record.refits_max_rows
        return most is None or self.n <= most

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        first = steps_of(self.model)[0]
        names = getattr(first, "feature_names_in_", getattr(self.X, "columns", None))
        if names is None:
            return tuple(f"column {at + 1}" for at in range(first.n_features_in_))
        return tuple(str(name) for name in names)

    @cached_property
    def targets(self) -> tuple[str, ...]:
        """Names of the targets, or of the columns of the second view."""
        known = getattr(self.estimator, "target_names_in_", None)
        named = known if known is not None else getattr(self.y, "columns", None)
        if named is not None:
            return tuple(str(name) for name in named)
        single = getattr(self.y, "name", None)
        if single is not None:
            return (str(single),)
        q = len(getattr(self.estimator, "y_weights_", np.atleast_2d(np.zeros(np.shape(self.y)).T)))
        return ("y",) if q == 1 and not self.two_views else tuple(f"y {at + 1}" for at in range(q))

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows: given ones, or their numbers from 1."""
        if self.names is not None:
            return tuple(str(name) for name in self.names)
        return tuple(str(at + 1) for at in range(self.n))

    @cached_property
    def diagnoses(self) -> dict[str, Diagnosis]:
        """What is wrong with the rows, and with the second view, which is named in the key."""
        kernel = None if self.piped else getattr(self.estimator, "kernel_", None)
        X = self.X
        if isinstance(X, np.ndarray) and X.ndim == 2 and not takes_matrix(kernel):
            X = dict(zip(self.columns, X.T, strict=True)) if len(set(self.columns)) == X.shape[1] else X
        with rows_called(self.row_names):
            found = {"": doctor(X, kernel, None if self.two_views else self.y)}
            if not self.two_views or self.y is None:
                return found
            y, names = self.y, self.targets
            if isinstance(y, np.ndarray) and len(set(names)) == len(names) == np.shape(y)[1]:
                y = dict(zip(names, y.T, strict=True))
            return {**found, "Second view: ": doctor(y)}

    @cached_property
    def trust(self) -> Trust | None:
        """What would come out again from other rows; None where it is not known, or would take long."""
        known = self.record.counted and self.of_the_fit and self.n >= 10 and not self.piped
        if not known or (self.y is None and self.takes_y):
            return None
        q = 0 if self.y is None else int(np.prod(np.shape(self.y)[1:]))
        work = DRAWS * self.n * float(len(self.columns) + q) ** 2
        if self.record.counted == "kernel":  # no draws, but the training scores once more
            work = float(self.n) ** 2 * len(self.columns)
        if self.precomputed or work > BOOTSTRAP_MAX_WORK:
            return None
        slow = self.facts.get("steps", 1) > 1 or getattr(self.estimator, "missing", None) is not None
        return trust(self.estimator, self.X, self.y, n_boot=FEW_DRAWS if slow else DRAWS)

    @cached_property
    def how_many(self) -> HowMany | None:
        """What every criterion says of the number of components."""
        if not self.record.counted or not self.of_the_fit or self.piped or not self.countable:
            return None
        if self.takes_y and self.y is None:
            return None
        beside = {name: getattr(self.estimator, name) for name in ("ridge", "scale") if hasattr(self.estimator, name)}
        if self.takes_y:
            beside["y"] = self.y
        if hasattr(self.estimator, "kernel_"):
            beside["kernel"] = self.estimator.kernel_
        return how_many(self.X, self.record.command, **beside)

    @cached_property
    def countable(self) -> bool:
        """Whether criteria for the number of components can be asked: a few rows that differ, and no gaps."""
        if self.X is None or self.n < CRITERIA_MIN_ROWS or self.gaps:
            return False
        return sp.issparse(self.X) or bool(np.ptp(np.asarray(self.X, dtype=np.float64), axis=0).any())

    @cached_property
    def gaps(self) -> bool:
        """Whether entries are missing."""
        values = None if sp.issparse(self.X) else np.asarray(self.X)
        return values is not None and values.dtype.kind == "f" and bool(np.isnan(values).any())

    @cached_property
    def left_out(self) -> tuple[Predicted, ...]:
        """Of each target, predictions of rows from fits that have not seen them; none where they are not known."""
        if not self.regresses or self.y is None or not self.of_the_fit or not self.affordable or self.gaps:
            return ()
        given: dict[str, Any] = {"left_out": True, "names": self.names, "many": DRAWN_MAX_POINTS}
        try:
            found = [predicted(self.model, self.X, self.y, target=at + 1, **given) for at in range(len(self.targets))]
        except NoChart:  # the estimator knows no way, or it would not fit into memory
            return ()
        return tuple(found)

    @cached_property
    def classes_left_out(self) -> Array | None:
        """Classes of rows, predicted in five folds by fits that have not seen them; None where that is not possible."""
        if not self.classifies or self.X is None or self.y is None:
            return None
        return self.made.left_out_classes if leaves_out_classes(self.model, self.X, self.y) else None

    @cached_property
    def made(self) -> TableMaker:
        """The fit with its names and rows: what tables are made of."""
        X, y = (None, None) if isinstance(self.X, Rows) else (self.X, self.y)
        return TableMaker(self.model, X, y, self.columns, self.targets if y is not None else None, self.row_names)

    def made_of(self, rows: Beside) -> TableMaker:
        """The same with other rows."""
        return TableMaker(
            self.model, rows.X, rows.y, self.columns, self.targets if rows.y is not None else None, rows.names
        )

    @cached_property
    def test_seen(self) -> int:
        """How many test rows have the values of rows of the fit."""
        known = None if self.test is None else rows_of_the_fit(self.model, self.test.X)
        return 0 if known is None else int(known.sum())

    @cached_property
    def scores(self) -> Array:
        """Scores of the rows, of the components that tables show."""
        table = self.tables["scores"]
        return np.column_stack([table[name] for name in table.columns])

    @cached_property
    def tables(self) -> ResultTables:
        """What the fit found, and what it says of the rows."""
        return self.made.tables()

    @cached_property
    def predictions(self) -> Array | None:
        """Predictions of the rows."""
        if self.X is None or not hasattr(self.model, "predict") or self.two_views:
            return None
        return np.asarray(self.model.predict(self.X))


def label_of(model: BaseEstimator, table: Table) -> str:
    """Name of the column of labels that a classifier predicts: the one it knows, or the only one there is."""
    known = [str(name) for name in getattr(steps_of(model)[-1], "target_names_in_", table.labels)]
    if len(known) != 1 or known[0] not in table.labels:
        raise ValueError(
            f"y={table.source} has the text columns {', '.join(table.labels) or 'none'}; one is to be predicted. Give "
            "y.labels[name]."
        )
    return known[0]
