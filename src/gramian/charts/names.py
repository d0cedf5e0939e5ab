"""What components, columns and rows are called in pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from sklearn.base import BaseEstimator

from gramian.estimators import base
from gramian.estimators.component_regression import ComponentRegressor
from gramian.registry import record_of
from gramian.results import Array, percent

#: Columns from which on they are taken for channels of a spectrum, if they have an order.
SPECTRUM_MIN_COLUMNS = 20


def shares_of(estimator: BaseEstimator) -> Array | None:
    """Shares of the variance that the components hold, if they are known."""
    if isinstance(estimator, base.BaseEstimator):
        return estimator._component_shares()
    found = getattr(estimator, "explained_variance_ratio_", None)
    return None if found is None else np.asarray(found, dtype=np.float64)


def noun_of(estimator: object) -> str:
    """What a component is called."""
    record = record_of(estimator)
    return "component" if record is None else record.noun


def label_of(estimator: BaseEstimator, at: int) -> str:
    """Name of the axis of component ``at``, with what it holds.

    >>> from gramian import PCA
    >>> label_of(PCA(2).fit([[0.0, 1.0], [2.0, 0.0], [4.0, 1.5]]), 0)
    'component 1 (88.8 % of variance)'
    """
    name = f"{noun_of(estimator)} {at + 1}"
    correlations = getattr(estimator, "score_correlations_", None)
    if correlations is not None and hasattr(estimator, "correlations_"):
        return f"{name} (correlation {correlations[at]:.2f})"
    shares = shares_of(estimator)
    if shares is None:
        return name
    if isinstance(estimator, ComponentRegressor):
        return f"{name} ({percent(shares[at])} of X, {percent(estimator.y_explained_[at])} of y)"
    return f"{name} ({percent(shares[at])} of variance)"


def short_label(label: str) -> str:
    """The name of a component without what it holds.

    >>> short_label("factor 1 (31 % of variance)")
    'factor 1'
    """
    return label.partition(" (")[0]


def channels(names: Sequence[str]) -> tuple[Array | None, str]:
    """Places of columns that have an order, as wavelengths have, and what they are places of; else None and "column".

    Names that are the same but for one number that rises or falls are places, from 20 columns on.

    >>> places, label = channels([f"nm {at}" for at in range(400, 800, 20)])
    >>> places[:3], label
    (array([400., 420., 440.]), 'nm')
    >>> channels(["fat", "water"]), channels([str(at) for at in range(400, 800, 20)])[1]
    ((None, 'column'), 'column')
    """
    if len(names) < SPECTRUM_MIN_COLUMNS:
        return None, "column"
    parts = [re.fullmatch(r"(\D*?)(-?\d+(?:\.\d+)?)(\D*)", name) for name in names]
    known = [part for part in parts if part is not None]
    if len(known) < len(names) or len({(part[1], part[3]) for part in known}) > 1:
        return None, "column"
    places = np.array([float(part[2]) for part in known])
    steps = np.diff(places)
    if not ((steps > 0).all() or (steps < 0).all()):
        return None, "column"
    word = re.sub(r"[\d.]+", "", names[0]).strip(" _-:.")
    return places, word if len(word) > 1 else "column"
