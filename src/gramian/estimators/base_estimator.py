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
import sklearn.base

from gramian.costs.plan import Job, Plan
from gramian.estimators import callbacks, fit_memory, fitted_rows
from gramian.kernels.base import own_copy
from gramian.notebook import Bars, card
from gramian.operators.remote import from_dask
from gramian.results import Array, percent


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
                fit_memory.refuse_if_too_large(self, given.get("X"), given.get("y"))
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
