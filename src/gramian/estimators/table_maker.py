"""Tables of results from a fitted estimator, the names that it knows, and rows if there are any.

What components, columns and rows are called is decided in ``labels.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from gramian.estimators.calibration_metrics import ROLE_WORDS, Merit, confusion, merit
from gramian.estimators.fitted_rows import as_in_the_fit, role
from gramian.estimators.labels import are_groups, column_names, component_names, numbered, row_names, target_names
from gramian.estimators.left_out import NUMBER_FOLDS, classes_left_out, leaves_out_classes, numbers_left_out
from gramian.estimators.pipelines import steps_of, transformed
from gramian.estimators.result_tables import PERCENT, TABLES, ResultTable, ResultTables
from gramian.operators import Rows
from gramian.results import Array

Makers: TypeAlias = dict[str, Callable[[], ResultTable]]


@dataclass(frozen=True)
class TableMaker:
    """A fitted estimator with its names, and rows if there are any: what tables are made of."""

    model: Any  #: Estimator or pipeline
    X: Any = None
    y: Any = None
    named_columns: Sequence[str] | None = None
    named_targets: Sequence[str] | None = None
    named_rows: Sequence[str] | None = None
    beside: Mapping[str, Array] = field(default_factory=dict)  #: Further columns of the rows: words are groups
    refits: bool | None = None  #: Whether rows are left out and the fit repeated; as their number allows if None

    def tables(self, kind: str = "plain") -> ResultTables:
        """All tables, in the order of their list."""
        found = self.estimator._tables(self)
        return ResultTables({name: found[name] for name in TABLES if name in found}, kind)

    @property
    def estimator(self) -> Any:
        """The estimator itself, without steps before it."""
        return steps_of(self.model)[-1]

    @property
    def has_rows(self) -> bool:
        """Whether there are rows."""
        return self.X is not None

    @property
    def has_targets(self) -> bool:
        """Whether there are rows, and targets, labels or a second view."""
        return self.X is not None and self.y is not None

    @cached_property
    def rows(self) -> Any:
        """Rows as they reach the estimator."""
        return transformed(steps_of(self.model)[:-1], self.X)

    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0]) if hasattr(self.X, "shape") else len(self.X)

    @property
    def complete(self) -> bool:
        """Whether no entry of the rows is missing."""
        return sp.issparse(self.rows) or not np.isnan(np.asarray(self.rows, dtype=np.float64)).any()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of the data."""
        first = steps_of(self.model)[0]
        return column_names(first, first.n_features_in_, self.named_columns)

    def targets(self, count: int) -> tuple[str, ...]:
        """Names of the targets, or of the columns of the second view."""
        known, word = self.named_targets, "Y" if hasattr(self.estimator, "y_projection_") else "y"
        return tuple(known) if known and len(known) == count else target_names(self.estimator, count, self.y, word=word)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return row_names(self.X, self.n, self.named_rows) or numbered("", self.n)

    def components(self, count: int) -> tuple[str, ...]:
        """Names of the components."""
        return component_names(self.estimator, count)

    def by_components(
        self, name: str, columns: Mapping[str, Array | None], note: str = "", formats: Mapping[str, str] | None = None
    ) -> ResultTable:
        """A line for each component; columns that are None are left out, and shares are written as percent."""
        found = {head: np.asarray(part) for head, part in columns.items() if part is not None}
        names = self.components(len(next(iter(found.values()))))
        formats = {head: PERCENT for head in found if "share" in head} | dict(formats or {})
        return ResultTable(name, "component", names, found, note, _counted(names), formats)

    def by_columns(self, name: str, values: Array, note: str = "") -> ResultTable:
        """A line for each column of the data, a column for each component."""
        names = self.components(values.shape[1])
        return ResultTable(name, "column", self.columns, dict(zip(names, values.T, strict=True)), note, _counted(names))

    def by_views(self, name: str, first: Array, second: Array, note: str = "") -> ResultTable:
        """A line for each column of both views, a column for each component."""
        names, both = self.components(first.shape[1]), np.vstack([first, second])
        view = np.repeat(np.array(["X", "Y"], dtype=object), [len(first), len(second)])
        columns = {"view": view, **dict(zip(names, both.T, strict=True))}
        return ResultTable(name, "column", (*self.columns, *self.targets(len(second))), columns, note, _counted(names))

    def by_targets(self, name: str, values: Array, note: str = "") -> ResultTable:
        """A line for each column of the data, a column for each target: (q, d)."""
        values = np.atleast_2d(values)
        return ResultTable(
            name, "column", self.columns, dict(zip(self.targets(len(values)), values, strict=True)), note
        )

    def by_rows(self, name: str, values: Array, names: Sequence[str] | None = None, note: str = "") -> ResultTable:
        """A line for each row, a column for each component unless columns are named."""
        counted = {} if names else _counted(self.components(values.shape[1]))
        names = names or self.components(values.shape[1])
        return ResultTable(name, "row", self.row_names, dict(zip(names, values.T, strict=True)), note, counted)

    def score_tables(self) -> Makers:
        """Scores of the rows; of both views if the second is given."""
        if not self.has_rows:
            return {}
        found: Makers = {"scores": lambda: self.by_rows("scores", self._first_scores)}
        if hasattr(self.estimator, "y_projection_") and self.y is not None:
            found["scores"] = self._both_scores
        kinds = {name: column.dtype.kind in "biuf" for name, column in self.beside.items()}
        if any(kinds.values()):
            found["supplementary"] = lambda: self._supplementary([name for name in kinds if kinds[name]])
        groups = [name for name in kinds if not kinds[name] and are_groups(self.beside[name])]
        return found | ({"groups": lambda: self._groups(groups)} if groups else {})

    @cached_property
    def _first_scores(self) -> Array:
        return np.asarray(self.model.transform(self.X), dtype=np.float64)

    def _supplementary(self, names: Sequence[str]) -> ResultTable:
        """Correlations of further columns with the scores."""
        T = self._first_scores - self._first_scores.mean(axis=0)
        values: Array = np.full((len(names), T.shape[1]), np.nan)
        for at, name in enumerate(names):
            there = np.isfinite(self.beside[name].astype(np.float64))
            both = np.column_stack([self.beside[name], T])[there].astype(np.float64)
            with np.errstate(invalid="ignore", divide="ignore"):  # what does not vary has no correlation
                values[at] = np.asarray(np.corrcoef(both.T))[0, 1:] if there.sum() > 1 else np.nan
        heads = self.components(T.shape[1])
        columns = dict(zip(heads, values.T, strict=True))
        return ResultTable("supplementary", "column", tuple(names), columns, "", _counted(heads))

    def _groups(self, names: Sequence[str]) -> ResultTable:
        """Mean scores of groups, and their v-tests."""
        T, parts, index = self._first_scores, [], list[str]()
        for name in names:
            groups, codes = np.unique(self.beside[name].astype(str), return_inverse=True)
            members = np.equal.outer(np.arange(len(groups)), codes)
            sizes = members.sum(axis=1)
            parts.append(np.column_stack([sizes, members @ T / sizes[:, None], v_tests(T, codes, len(groups))]))
            index += [f"{name}={group}" if len(names) > 1 else str(group) for group in groups]
        found, heads = np.vstack(parts), self.components(T.shape[1])
        tests = tuple(f"v-test {head}" for head in heads)
        columns = {"rows": found[:, 0].astype(int), **dict(zip((*heads, *tests), found[:, 1:].T, strict=True))}
        note = "v-tests are means in standard errors, rarely beyond 2 by chance"
        counted = _counted(heads) | _counted(tests)
        of = names[0] if len(names) == 1 else "group"
        return ResultTable("groups", of, tuple(index), columns, note, counted, dict.fromkeys(tests, ".2f"))

    def _both_scores(self) -> ResultTable:
        first, second = self.model.transform(self.X, self.y)
        names = self.components(first.shape[1])
        both = [f"{view}_{name}" for view in "xy" for name in names]
        found = self.by_rows("scores", np.hstack([first, second]).astype(np.float64), both)
        return replace(found, components=dict(zip(both, [*range(1, len(names) + 1)] * 2, strict=True)))

    def class_tables(self) -> Makers:
        """Predicted classes, and how often they are right."""
        found: Makers = {"classes": lambda: ResultTable("classes", "class", self._classes, {})}
        if self.has_targets:
            found |= {"accuracy": self._accuracy, "confusion": lambda: self._confusion("confusion", self._guesses)}
            if self._leaves_out:
                found["cross-validation"] = lambda: self._confusion("cross-validation", self.left_out_classes)
        if self.has_rows:
            found["predictions"] = lambda: self._text_rows(predicted=self._guesses, true=self._truth)
        return found

    @cached_property
    def _leaves_out(self) -> bool:
        """Whether classes of rows left out are predicted."""
        return self.refits is not False and leaves_out_classes(self.model, self.X, self.y, many=bool(self.refits))

    @property
    def _classes(self) -> tuple[str, ...]:
        return tuple(map(str, self.estimator.classes_))

    @cached_property
    def _guesses(self) -> Array:
        return np.asarray(self.model.predict(self.X)).astype(str).astype(object)

    @property
    def _truth(self) -> Array | None:
        return None if self.y is None else np.asarray(self.y).astype(str).astype(object).ravel()

    @cached_property
    def left_out_classes(self) -> Array:
        """Classes of rows predicted in five folds."""
        return classes_left_out(self.model, self.X, self.y).astype(str).astype(object)

    def _text_rows(self, **columns: Array | None) -> ResultTable:
        found = {name: part for name, part in columns.items() if part is not None}
        return ResultTable("predictions", "row", self.row_names, found)

    def _accuracy(self) -> ResultTable:
        truth = self._truth
        kinds = {ROLE_WORDS[role(self.model, self.X)]: self._guesses}
        if self._leaves_out:
            kinds[ROLE_WORDS["left out"]] = self.left_out_classes
        right = np.array([np.count_nonzero(guesses == truth) for guesses in kinds.values()])
        total = np.full(len(right), self.n)
        columns = {"accuracy": right / total, "correct": right, "rows": total}
        return ResultTable("accuracy", "which", tuple(kinds), columns, formats={"accuracy": PERCENT})

    def _confusion(self, name: str, guesses: Array) -> ResultTable:
        truth = self._truth
        assert truth is not None
        names = tuple(sorted({*truth, *guesses}))
        counts = confusion(truth, guesses, names)
        total = counts.sum(axis=1)
        shares = [
            np.divide(np.diag(counts), sums, out=np.full(len(sums), np.nan), where=sums > 0)
            for sums in (total, counts.sum(axis=0))
        ]
        columns = {**dict(zip(names, counts.T, strict=True)), "recall": shares[0], "precision": shares[1]}
        note = "true classes down, predicted ones across"
        formats = dict.fromkeys(("recall", "precision"), PERCENT)
        return ResultTable(name, "true class", names, columns, note, formats=formats)

    def number_tables(self) -> Makers:
        """Predicted numbers, and their errors."""
        found: Makers = {}
        if self.has_targets:
            found["errors"] = self._errors
        if self.has_rows:
            found["predictions"] = self._predicted_numbers
        return found

    @cached_property
    def _numbers(self) -> Array:
        found = np.asarray(self.model.predict(self.X), dtype=np.float64)
        return found.reshape(len(found), -1)

    @property
    def _measured(self) -> Array:
        return np.asarray(self.y, dtype=np.float64).reshape(self.n, -1)

    def _predicted_numbers(self) -> ResultTable:
        guesses = self._numbers
        heads = self.targets(guesses.shape[1])
        columns = {f"predicted {name}": part for name, part in zip(heads, guesses.T, strict=True)}
        if self.y is not None:
            columns |= {f"measured {name}": part for name, part in zip(heads, self._measured.T, strict=True)}
        return ResultTable("predictions", "row", self.row_names, columns)

    def merits(self) -> list[tuple[str, Merit]]:
        """Figures of merit of each target: of the rows, and of rows left out where these are known."""
        measured, kind = self._measured, role(self.model, self.X)
        kinds = {kind: self._numbers}
        if self.complete and as_in_the_fit(self.model, self.X):
            left_out = self.estimator._predictions_left_out(self.rows, self.y)
            if left_out is None and self.refits is not False and not hasattr(self.estimator, "y_projection_"):
                left_out = numbers_left_out(self.model, self.X, self.y, many=bool(self.refits))
            kinds |= {} if left_out is None else {"left out": left_out.reshape(self.n, -1)}
        names = self.targets(measured.shape[1])
        return [
            (name, merit(measured[:, at], guesses[:, at], kind))
            for at, name in enumerate(names)
            for kind, guesses in kinds.items()
        ]

    def _errors(self) -> ResultTable:
        return errors_table(self.merits(), self._left_out_told)

    @property
    def _left_out_told(self) -> str:
        """How rows were left out, as far as it is known."""
        return getattr(self.estimator, "_left_out_told", f"RMSECV: rows left out in {NUMBER_FOLDS} folds")


def v_tests(values: Array, codes: Array, groups: int) -> Array:
    r"""How far means of groups lie from the mean of all rows, for each column of ``values``: (groups, k).

    Definition
    ----------
    .. math:: v_g = \frac{\bar t_g - \bar t}{s \sqrt{\frac{1}{n_g} \frac{n - n_g}{n - 1}}}

    with the variance :math:`s^2` of all rows (divisor n): the difference in standard deviations of the mean of
    :math:`n_g` rows drawn from all without replacement. NaN for a group of all rows, and where nothing varies.

    References
    ----------
    Lebart, Morineau, Piron, Statistique exploratoire multidimensionnelle, 1995.

    >>> v_tests(np.arange(4.0)[:, None], np.array([0, 0, 1, 1]), 2).round(3).tolist()
    [[-1.549], [1.549]]
    """
    n = len(values)
    members = np.equal.outer(np.arange(groups), codes).astype(np.float64)
    sizes = members.sum(axis=1)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.sqrt(values.var(axis=0) * (n - sizes) / (sizes * (n - 1)))
        found = (members @ (values - values.mean(axis=0)) / sizes) / errors
    return np.where(errors > 0, found, np.nan)


def errors_table(merits: Sequence[tuple[str, Merit]], left_out: str = "") -> ResultTable:
    """Figures of merit as a table; the name of each error says of which rows it is."""
    found = [each for _, each in merits]
    columns = {
        "rows": np.array([ROLE_WORDS[each.rows] for each in found], dtype=object),
        "n": np.array([each.n for each in found]),
        "error": np.array([each.error_name for each in found], dtype=object),
        **{
            head: np.array([getattr(each, name) for each in found])
            for head, name in (("RMSE", "rmse"), ("bias", "plain_bias"), ("SEP", "sep"), ("R2", "r2"), ("RPD", "rpd"))
        },
        "slope": np.array([each.slope for each in found]),
        "intercept": np.array([each.intercept for each in found]),
    }
    note = left_out if any(each.rows == "left out" for each in found) else ""
    return ResultTable("errors", "target", tuple(name for name, _ in merits), columns, note)


def tables_of(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    columns: Sequence[str] | None = None,
    targets: Sequence[str] | None = None,
    rows: Sequence[str] | None = None,
    frames: str = "plain",
    **more: Any,
) -> ResultTables:
    """Tables of a fitted estimator or pipeline, with names that it does not know itself; ``more``: of the maker."""
    if isinstance(X, Rows):
        raise TypeError("X is a stream, and tables of rows are made of rows in memory. Give some of them as an array.")
    kinds = {"auto": next((kind for kind in ("pandas", "polars") if find_spec(kind)), "plain")}
    kind = kinds.get(frames, frames)
    if kind not in ("pandas", "polars", "plain"):
        raise ValueError(f"frames={frames!r} must be 'auto', 'pandas', 'polars' or 'plain'.")
    return TableMaker(model, X, y, columns, targets, rows, **more).tables(kind)


def _counted(names: Sequence[str]) -> dict[str, int]:
    return {name: at + 1 for at, name in enumerate(names)}
