"""The base of all estimators: scikit-learn's, with its callbacks, and with a card of the fit in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sklearn.base

from gramian.estimators.callbacks import Callbacks

#: What draws the card of a fitted estimator as HTML. The layer that knows charts puts itself here (gramian.notebook).
_cards: list[Callable[[Any], str]] = []


def show_with(card: Callable[[Any], str]) -> None:
    """Let notebooks show this beside scikit-learn's diagram of a fitted estimator."""
    _cards[:] = [card]


class BaseEstimator(Callbacks, sklearn.base.BaseEstimator):
    """scikit-learn's base; a fitted estimator shows its summary and a small picture below the diagram in notebooks.

    ``sklearn.set_config(display="text")`` gives text, as for every estimator.
    """

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + self._card()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._card()
        return bundle

    def _card(self) -> str:
        return "".join(card(self) for card in _cards) if hasattr(self, "summary_") else ""
