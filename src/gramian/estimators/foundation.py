"""The base of all estimators: scikit-learn's, with its callbacks, and with a card of the fit in notebooks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import sklearn.base

from gramian.estimators.callbacks import Callbacks

#: What draws the card of a fitted estimator as HTML. Charts stand above estimators, so gramian/__init__ puts it here.
_cards: list[Callable[[Any], str]] = []


def show_with(card: Callable[[Any], str]) -> None:
    """Let notebooks show this beside scikit-learn's diagram of a fitted estimator."""
    _cards[:] = [card]


class BaseEstimator(Callbacks, sklearn.base.BaseEstimator):
    """scikit-learn's base; a fitted estimator shows its summary and a small picture below the diagram in notebooks.

    ``sklearn.set_config(display="text")`` gives text, as for every estimator.
    """

    #: Parameters that answers after a fit depend on: they are kept with the fit (``validation.py: as_fitted``).
    _kept_parameters: ClassVar[tuple[str, ...]] = ()

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
        return "".join(card(self) for card in _cards) if hasattr(self, "summary_") else ""


def _read_quietly(table: Any) -> Any:
    """Let scikit-learn read a docstring for its diagram, once for each class, without a word of sections new to it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Unknown section", UserWarning)
        table._repr_html_inner()
    return table
