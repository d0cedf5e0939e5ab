"""The base of all estimators: all-or-nothing fits that ask for room first, scikit-learn's callbacks, a card of the fit.

::

    fit --> is there room for the plan of this estimator? --> fit --> parameters kept with the fit
                  no: ValueError with what would fit          fails: the estimator is as before
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
import sklearn.base
from sklearn.base import is_classifier

from gramian.config import format_bytes, settings
from gramian.costs.plan import Job, Plan, advise, enough, plan_of
from gramian.estimators import callbacks, fitted_rows
from gramian.kernels.base import own_copy
from gramian.notebook import Bars, card
from gramian.operators import Rows
from gramian.operators.remote import from_dask, is_stream
from gramian.operators.memory_limit import BUDGET, MemoryLimit, memory_limit
from gramian.results import Array, percent

#: No plan takes more bytes than this for each pair of rows and columns together, and this many beside.
_PLAN_MAX_BYTES_PER_PAIR, _PLAN_MAX_BYTES_BESIDE = 128, 10**8


class BaseEstimator(callbacks.Callbacks, sklearn.base.BaseEstimator):
    """scikit-learn's base; a fitted estimator shows its summary and a small picture below the diagram in notebooks.

    ``sklearn.set_config(display="text")`` gives text, as for every estimator.
    """

    #: Parameters that answers after a fit depend on: they are kept with the fit, see :func:`as_fitted`.
    _kept_parameters: ClassVar[tuple[str, ...]] = ()

    def _plan(self, job: Job, /) -> Plan:
        """What a fit to data of that size would do; every estimator has its own."""
        raise TypeError(f"estimator={type(self).__name__} has no forecast. Give an estimator of gramian.")

    def _component_shares(self) -> Array | None:
        """Shares of the variance that the components hold, if they are known."""
        found = getattr(self, "explained_variance_ratio_", None)
        return None if found is None else np.asarray(found, dtype=np.float64)

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
        for name in ("explained_variance_", "eigenvalues_"):
            if hasattr(self, name):
                values = np.asarray(getattr(self, name), dtype=np.float64)
                return Bars(values, "variance", f"Variances of {len(values)} components.")
        return None


def _read_quietly(table: Any) -> Any:
    """Let scikit-learn read a docstring for its diagram, once for each class, without warnings of unknown sections."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unknown section", UserWarning)
        table._repr_html_inner()
    return table


def as_fitted(estimator: sklearn.base.BaseEstimator, name: str) -> Any:
    """Return a parameter as it was at the last fit: what is set later counts from the next fit on.

    It must be among the ``_kept_parameters`` of the class. During a fit, and for a fit in a model file of an earlier
    version, it is the parameter as it is now; None for an estimator that has no such parameter.
    """
    return vars(estimator).get("_fitted_with", {}).get(name, getattr(estimator, name, None))


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
        self.__dict__.pop("_fitted_with", None)  # a fit goes by the parameters as they are now
        args, kwargs = tuple(map(from_dask, args)), {name: from_dask(given) for name, given in kwargs.items()}
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        fitted_rows.forget(self, weighted=given.get("sample_weight") is not None)
        try:
            if whole:
                refuse_if_too_large(self, given.get("X"), given.get("y"))
            result = callbacks.call(fit, self, *args, **kwargs)
            if whole and "y" in names:
                y = given.get("y")
                fitted_rows.name_targets(self, getattr(given.get("X"), "y", None) if y is None else y)
            if kept := getattr(self, "_kept_parameters", ()):
                self._fitted_with = _copies(self, kept)
            return result
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return wrapped


def _copies(estimator: BaseEstimator, names: tuple[str, ...]) -> dict[str, Any]:
    """Return copies of parameters. A random generator is none: it is shared, and goes on from draw to draw."""
    values = {name: getattr(estimator, name) for name in names}
    shared = (np.random.Generator, np.random.RandomState)
    return {name: own_copy(value) for name, value in values.items() if not isinstance(value, shared)}


def refuse_if_too_large(estimator: BaseEstimator, X: Any, y: Any = None) -> None:
    """Raise ValueError if the fit would take more memory than there is.

    Sparse rows and those of a cluster, kernels that are functions, and what has no forecast are let through.
    """
    shape = (X.n_rows or 0, X.n_features) if isinstance(X, Rows) else getattr(X, "shape", ())
    if sp.issparse(X) or len(shape) != 2 or callable(getattr(estimator, "kernel", None)):
        return
    there = memory_limit()
    if _PLAN_MAX_BYTES_PER_PAIR * float(sum(shape)) ** 2 + _PLAN_MAX_BYTES_BESIDE <= there.bytes and not isinstance(
        X, Rows
    ):
        return  # the usual case: no need to look closely
    job = _job(estimator, X, y)
    if job is None:
        return
    try:
        found = plan_of(estimator, job)
    except TypeError:
        return  # the message of the fit is more exact
    except ValueError:
        if enough(estimator, job, there.bytes) is None:
            return  # it is not refused for lack of memory
        raise
    if found.bytes > there.bytes:
        raise ValueError(_refusal(estimator, job, found, there))


def _job(estimator: BaseEstimator, X: Any, y: Any) -> Job | None:
    """Sizes of the data; None if they are not known before the fit."""
    if isinstance(X, Rows):
        targets = X.y if y is None else y
        q = targets.n_features if isinstance(targets, Rows) else _targets(estimator, targets)
        n = X.n_rows or X.about
        return Job(n, X.n_features, q, stream=True, reader=X.reader) if n and is_stream(X) else None
    n, d = map(int, X.shape)
    dtype = getattr(X, "dtype", None)
    name = dtype.name if isinstance(dtype, np.dtype) else "object"
    return Job(n, d, _targets(estimator, y), name) if min(n, d) > 0 else None


def _targets(estimator: BaseEstimator, y: Any) -> int:
    """Columns of the second view or of the targets; classes of a classifier."""
    shape: tuple[int, ...] = getattr(y, "shape", ())
    if is_classifier(estimator):
        return len(set(np.ravel(y).tolist())) if len(shape) == 1 else 2
    return max(1, int(shape[1])) if len(shape) == 2 else 1


def _refusal(estimator: BaseEstimator, job: Job, found: Plan, there: MemoryLimit) -> str:
    """One line: what is needed, what there is, what would fit."""
    remedies = list(advise(estimator, job, there.bytes))
    if there.bound != BUDGET:
        remedies.append(f"{format_bytes(1.2 * found.bytes - there.bytes)} more")
    elif more := enough(estimator, job, there.bytes):
        remedies.append(more[0])
    has = format_bytes(settings().memory or 0 if there.bound == BUDGET else there.bytes)
    name, needed = type(estimator).__name__, f"{format_bytes(found.bytes)} beside the data ({found.route})"
    return f"{name} needs {needed}; {there.bound} {has}. Use {', or '.join(remedies)}."
