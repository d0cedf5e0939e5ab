"""The base of all estimators: all-or-nothing fits that ask for memory first, answers by blocks, a card of the fit.

::

    fit --> is there memory for the plan of this estimator? --> fit --> parameters kept with the fit
                  no: ValueError with what would fit              fails: the estimator is as before
"""

from __future__ import annotations

import copy
import functools
import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import sklearn.base
from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin, is_classifier, is_regressor
from sklearn.utils.validation import check_is_fitted

from gramian.config import is_little
from gramian.costs.plan import Job, Plan
from gramian.estimators import callbacks, fit_memory
from gramian.estimators.column_vectors import ColumnVectors, Reading, vectors_of_directions
from gramian.estimators.fit_rows import Gate
from gramian.estimators.labels import NamedComponents
from gramian.estimators.result_tables import ResultTable, ResultTables
from gramian.estimators.table_maker import Makers, TableMaker, tables_of
from gramian.estimators.validation import Checked, Table, from_dask, validate
from gramian.kernels.base import own_copy
from gramian.notebook import Bars, card
from gramian.operators import Rows
from gramian.operators.remote import Remote
from gramian.operators.rows import ArrayRows
from gramian.results import Array, percent

#: Fitted attributes that have an entry for each training row and that no answer to new rows needs.
TRAINING_ROW_ATTRIBUTES = ("labels_", "x_scores_", "_left_out", "_rows_of_fit")
#: Parameters that are values: they need no copy.
PLAIN = (str, int, float, type(None))


class BaseEstimator(callbacks.Callbacks, sklearn.base.BaseEstimator):
    """scikit-learn's base; a fitted estimator shows its summary and a small picture below the diagram in notebooks.

    ``sklearn.set_config(display="text")`` gives text, as for every estimator.
    """

    #: Parameters that answers after a fit depend on: they are kept with the fit, see :func:`as_fitted`.
    _kept_parameters: ClassVar[tuple[str, ...]] = ()
    #: Whether all training rows are kept, also where landmarks stand for them: no hashes are needed beside them.
    _keeps_rows: ClassVar[bool] = False
    #: Whether what is missing in new rows is imputed.
    _imputes: Any = False

    def _plan(self, job: Job, /) -> Plan:
        """What a fit to data of that size would do; every estimator has its own."""
        raise TypeError(f"estimator={type(self).__name__} has no forecast. Give an estimator of gramian.")

    @classmethod
    @functools.cache
    def _get_param_names(cls) -> list[str]:
        return super()._get_param_names()  # reads the signature, which takes a tenth of a small fit

    def _component_shares(self) -> Array | None:
        """Shares of the variance that the components hold, if they are known."""
        found = getattr(self, "explained_variance_ratio_", None)
        return None if found is None else np.asarray(found, dtype=np.float64)

    def tables(self, X: Table | None = None, y: Table | None = None, *, frames: str = "auto") -> ResultTables:
        """Return what the fit found as labelled tables by name; each is computed when it is read.

        Parameters
        ----------
        X : (m, d) array, data frame or sparse matrix, optional
            Rows, for tables of rows, such as "scores".
        y : (m,) or (m, q) array, optional
            Targets, labels or the second view of these rows, for tables of errors.
        frames : {"auto", "pandas", "polars", "plain"}
            What a table is: a data frame of pandas or polars, or a small table of this library. "auto" takes the first
            of them that is installed.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from gramian import PCA
        >>> X = load_iris(as_frame=True).data
        >>> print(PCA(2, scale=True).fit(X).tables(X)["loadings"].round(3))  # doctest: +NORMALIZE_WHITESPACE
                             PC1    PC2
        column
        sepal length (cm)  0.890  0.361
        sepal width (cm)  -0.460  0.883
        petal length (cm)  0.992  0.023
        petal width (cm)   0.965  0.064
        """
        check_is_fitted(self)
        return tables_of(as_it_was_fitted(self), X, y, frames=frames)

    def _tables(self, make: TableMaker) -> Makers:
        """Tables by name; a class adds what it has to those of the classes before it."""
        found: Makers = {"summary": lambda: _summary_table(self)}
        if is_classifier(self):
            found |= make.class_tables()
        elif is_regressor(self):
            found |= make.number_tables()
        if self._component_values() is not None:
            found["eigenvalues"] = lambda: self._eigenvalues(make)
        vectors = self._column_vectors()
        if vectors is not None and vectors.correlations and not vectors.second:
            found["structure"] = lambda: make.by_columns("structure", vectors.values, vectors.what)
        return found

    def _eigenvalues(self, make: TableMaker) -> ResultTable:
        name, values = self._component_values() or ("", np.empty(0))
        shares = self._component_shares()
        cumulative = None if shares is None else np.cumsum(shares)
        columns = {name: values, "share of variance": shares, "cumulative share": cumulative}
        return make.by_components("eigenvalues", columns)

    def _component_values(self) -> tuple[str, Array] | None:
        """What the components account for, and what that is called, if it is known."""
        for name in ("explained_variance_", "eigenvalues_"):
            if hasattr(self, name):
                return "eigenvalue", np.asarray(getattr(self, name), dtype=np.float64)
        return None

    def _column_vectors(self) -> ColumnVectors | None:
        """Coordinates of the columns along the components, as pictures draw them, if there are any."""
        return vectors_of_directions(self)

    def _reading(self) -> Reading:
        """Values of the components, and their entries, as a fit to other rows gives them too."""
        raise TypeError(f"{type(self).__name__} has no components whose number criteria know.")

    def _predictions_left_out(self, X: Table, y: Table) -> Array | None:
        """Predictions of the rows of the fit, each from a fit without it, where they are known."""
        return None

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._card()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._card()
        return bundle

    def _get_params_html(self, *args: Any, **kwargs: Any) -> Any:
        return _read_quietly(super()._get_params_html(*args, **kwargs))

    def _get_fitted_attr_html(self, *args: Any, **kwargs: Any) -> Any:
        return _read_quietly(super()._get_fitted_attr_html(*args, **kwargs))

    def _card(self) -> str:
        return card(self.summary_, self._bars()) if hasattr(self, "summary_") else ""

    def _bars(self) -> Bars | None:
        """What the components hold, or how strongly pairs are correlated; None if there are none."""
        if (found := getattr(self, "correlations_", None)) is not None:
            values = np.asarray(found, dtype=np.float64)
            return Bars(values, "correlation of each pair", f"Correlations of {len(values)} pairs.")
        if (shares := self._component_shares()) is not None:
            total = percent(float(shares.sum()))
            told = f"Shares of the variance of {len(shares)} components, together {total}."
            return Bars(shares, f"share of the variance, {total} in all", told, share=True)
        if (known := self._component_values()) is not None:
            return Bars(known[1], "variance", f"Variances of {len(known[1])} components.")
        return None


def _summary_table(estimator: BaseEstimator) -> ResultTable:
    lines = [("fitted", ", ".join(estimator.summary_.title[1:])), *estimator.summary_.lines]
    text = np.array([text for _, text in lines], dtype=object)
    return ResultTable("summary", "line", tuple(label for label, _ in lines), {"text": text})


def _read_quietly(table: Any) -> Any:
    """Let scikit-learn read a docstring for its diagram, once for each class, without warnings of unknown sections."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unknown section", UserWarning)
        table._repr_html_inner()
    return table


def as_fitted(estimator: sklearn.base.BaseEstimator, name: str) -> Any:
    """Return a parameter as it was at the last fit: what is set later counts from the next fit on.

    Kept are plain values, and the ``_kept_parameters`` of the class. During a fit, and for a fit in a model file of an
    earlier version, it is the parameter as it is now; None for an estimator that has no such parameter.
    """
    return vars(estimator).get("_fitted_with", {}).get(name, getattr(estimator, name, None))


def as_it_was_fitted(model: Any) -> Any:
    """Return the model with the parameters of its fit: a copy that shares what was fitted, if some were set since.

    What is told or done again of a fitted model (a report, a bootstrap, a program) is of these parameters.
    """
    if hasattr(model, "steps"):  # a pipeline
        found = copy.copy(model)
        found.steps = [(name, as_it_was_fitted(step)) for name, step in model.steps]
        return found
    kept = vars(model).get("_fitted_with", {})
    if all(getattr(model, name, None) is value for name, value in kept.items()):
        return model
    found = object.__new__(type(model))
    vars(found).update({**vars(model), **kept})
    return found


def all_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let a fit that fails or is interrupted leave the estimator as it was before the call, and tell its callbacks."""
    return _all_or_nothing(fit, whole=False)


def planned_fit(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a fit that begins with all of its rows: all or nothing, and refused if its plan needs too much memory.

    Others (:func:`all_or_nothing`) add rows to what is there.
    """
    return _all_or_nothing(fit, whole=True)


def _all_or_nothing(fit: Callable[..., Any], *, whole: bool) -> Callable[..., Any]:
    names = list(inspect.signature(fit).parameters)[1:]

    @functools.wraps(fit)
    def wrapped(self: BaseEstimator, *args: Any, **kwargs: Any) -> Any:
        before = dict(self.__dict__)
        args, kwargs = tuple(map(from_dask, args)), {name: from_dask(given) for name, given in kwargs.items()}
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        for name in ("_fitted_with", "_weighted", *(("_rows_of_fit",) if whole else ())):
            self.__dict__.pop(name, None)  # a fit goes by the parameters and the rows that it has now
        if given.get("sample_weight") is not None:
            self._weighted = True
        try:
            if whole and not _is_small(given.get("X")):
                fit_memory.refuse_if_too_large(self, given.get("X"), given.get("y"))
            watched = "_skl_callbacks" in before or "_parent_callback_ctx" in before
            result = callbacks.call(fit, self, *args, **kwargs) if watched else fit(self, *args, **kwargs)
            if whole and "y" in names:
                self.__dict__.pop("target_names_in_", None)
                y = getattr(given.get("X"), "y", None) if given.get("y") is None else given["y"]
                if hasattr(y, "columns") or hasattr(y, "name"):
                    _name_targets(self, y)
            self._fitted_with = _copies(self)
            return result
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return wrapped


def _is_small(X: Any) -> bool:
    """Whether no plan for rows of this shape takes memory that is worth a question."""
    shape = getattr(X, "shape", ())
    return None not in shape and is_little(fit_memory.PLAN_MAX_BYTES_PER_PAIR * float(sum(shape)) ** 2)


def _name_targets(estimator: BaseEstimator, y: Any) -> None:
    """Keep the names of the targets, or of the columns of the second view, if all are text, as those of X are kept."""
    names = getattr(y, "columns", None)
    if names is None and getattr(y, "name", None) is not None and np.ndim(y) == 1:
        names = [y.name]
    if names is None or not len(names) or not all(isinstance(name, str) for name in names):
        return
    if hasattr(estimator, "y_projection_") or is_regressor(estimator) or is_classifier(estimator):
        estimator.target_names_in_ = np.array(names, dtype=object)


def _copies(estimator: BaseEstimator) -> dict[str, Any]:
    """Return copies of the parameters that are plain values or that answers depend on.

    A random generator is none: it is shared, and goes on from draw to draw.
    """
    shared, kept = (np.random.Generator, np.random.RandomState), estimator._kept_parameters
    found = {}
    for name, value in estimator.get_params(deep=False).items():
        pair = isinstance(value, (tuple, list)) and all(isinstance(each, PLAIN) for each in value)
        if isinstance(value, PLAIN) or ((pair or name in kept) and not isinstance(value, shared)):
            found[name] = value if isinstance(value, PLAIN) else own_copy(value)
    return found


def check_columns(estimator: BaseEstimator, rows: Rows) -> None:
    """Refuse a stream with other columns than those of the fit."""
    d, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    if rows.n_features != d:
        raise ValueError(
            f"X has {rows.n_features} features, but {type(estimator).__name__} is expecting {d} features as input."
        )
    if names is not None and rows.columns is not None and list(names) != list(rows.columns):
        odd = next(at for at, pair in enumerate(zip(names, rows.columns, strict=True)) if pair[0] != pair[1])
        raise ValueError(
            "The feature names should match those that were passed during fit: column "
            f"{odd} is {rows.columns[odd]!r}, not {names[odd]!r}. Choose columns= in the order of the fit."
        )


class OnRead:
    """A fitted attribute that is computed when it is first read, see :func:`on_read`."""

    def __init__(self, compute: Callable[[Any, Any], Any]) -> None:
        self.compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self
        if (kept := vars(model).get("_kept")) is None:
            raise AttributeError(f"{type(model).__name__!r} object has no attribute {self.name!r}", name=self.name)
        found = vars(model)[self.name] = self.compute(model, kept)
        return found


def on_read(compute: Callable[[Any, Any], Any]) -> Any:
    """Let a fitted attribute be computed when it is first read, from what the fit has kept for that (``_kept``).

    Of 1,500 rows and columns five components take 40 ms, the sums of squares that a limit of Q needs 130.
    """
    return OnRead(compute)


class ComputesOnRead:
    """An estimator with such attributes; before it is pickled or saved they are computed, and ``_kept`` is dropped."""

    _kept: Any

    @classmethod
    @functools.cache
    def _on_read(cls) -> tuple[str, ...]:
        found = {name for base in cls.__mro__ for name, part in vars(base).items() if isinstance(part, OnRead)}
        return tuple(sorted(found))

    def _complete(self) -> None:
        """Compute what nobody has read yet, and drop what it is computed from."""
        if "_kept" in vars(self):
            for name in self._on_read():
                getattr(self, name)
            del self._kept

    def __getstate__(self) -> Any:
        self._complete()
        return super().__getstate__()


@dataclass(frozen=True)
class Answer:
    """A method of a fitted estimator, as it goes to blocks of rows that have passed the gate."""

    estimator: BaseEstimator
    method: str

    def __call__(self, block: Array) -> Array:
        more = (len(block),) if self.method == "_y_scores" else ()
        return np.asarray(getattr(self.estimator, self.method)(block.view(Checked), *more))


def by_blocks(method: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``transform`` or ``predict`` take a stream: the answer is a stream of what it says of each block."""

    @functools.wraps(method)
    def wrapped(self: BaseEstimator, X: Any, *more: Any, **named: Any) -> Any:
        X = from_dask(X)
        if not isinstance(X, Rows):
            return method(self, X, *more, **named)
        check_is_fitted(self)
        check_columns(self, X)
        light = copy.copy(self)
        for name in TRAINING_ROW_ATTRIBUTES:
            light.__dict__.pop(name, None)
        names = tuple(map(str, self.get_feature_names_out())) if method.__name__ == "transform" else None
        gate = Gate(X.columns, missing=as_fitted(self, "missing"), welcome=self._imputes)
        answers = X.answers(Answer(light, method.__name__), names, gate=gate)
        Y = from_dask(named.get("Y", more[0] if more else None))
        if Y is None or not hasattr(self, "_y_scores"):
            return answers
        if isinstance(X, Remote) and not isinstance(Y, Remote):
            raise TypeError("X is a dask collection, and Y is not. Give both of one kind.")
        Y = Y if isinstance(Y, Rows) else ArrayRows(Y)
        return answers, Y.answers(Answer(light, "_y_scores"), names, gate=Gate(Y.columns, own="Y"))

    return wrapped


class ProjectionTransformer(NamedComponents, TransformerMixin):
    """Scores of new rows through the fitted ``projection_``."""

    projection_: Any

    @by_blocks
    def transform(self, X: Table) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : (m, d) array, data frame, sparse matrix or stream
            New rows.

        Returns
        -------
        (m, k) array
            float32 for float32 rows, float64 otherwise; computed in double precision. Of a stream, a stream.
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def _inverse(self, X: ArrayLike, what: str) -> Array:
        """Rows that have the scores ``X``, in their precision; ``what`` names the scores in a message."""
        check_is_fitted(self)
        scores, k = np.asarray(X), self.projection_.size
        if scores.ndim != 2 or scores.shape[1] != k:
            raise ValueError(f"X has shape {scores.shape}; {what.format(k=k)}, m x {k}, are expected.")
        rows = self.projection_.inverse(scores)
        return rows.astype(scores.dtype if scores.dtype == np.float32 else np.float64, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "projection_")  # moments of a first row alone are no fit

    def _tables(self, make: TableMaker) -> Makers:
        return super()._tables(make) | make.score_tables()

    @property
    def _n_features_out(self) -> int:
        return self.projection_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags
