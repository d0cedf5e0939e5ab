"""Classes and numbers of rows, predicted by fits that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.estimators.callbacks import unwatched
from gramian.estimators.fitted_rows import of_the_fit
from gramian.estimators.pipelines import steps_of
from gramian.kernels.parsing import takes_matrix
from gramian.results import Array

#: Folds in which classes and numbers are predicted of rows left out, and rows up to which they are unless asked for.
CLASS_FOLDS, NUMBER_FOLDS, FOLDS_MAX_ROWS = 5, 10, 2_000


def leaves_out_classes(model: Any, X: Any, y: Any, *, many: bool = False) -> bool:
    """Whether rows are those of the fit, with enough of each class for folds, and not too ``many`` to fit again."""
    if not _leaves_out(model, X, 2 * CLASS_FOLDS, many=many):
        return False
    return bool(np.unique(np.asarray(y).astype(str), return_counts=True)[1].min() >= CLASS_FOLDS)


def _leaves_out(model: Any, X: Any, least: int, *, many: bool) -> bool:
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if n < least or (n > FOLDS_MAX_ROWS and not many):
        return False
    return not takes_matrix(getattr(steps_of(model)[-1], "kernel_", None)) and of_the_fit(model, X)


def classes_left_out(model: Any, X: Any, y: Any) -> Array:
    """Classes of rows, predicted in five folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(CLASS_FOLDS, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(unwatched(clone(model)), X, np.asarray(y), cv=folds))


def numbers_left_out(model: Any, X: Any, y: Any, *, many: bool = False) -> Array | None:
    """Numbers of rows, predicted in ten folds of every tenth row; None if rows cannot be left out."""
    if not _leaves_out(model, X, 2 * NUMBER_FOLDS, many=many):
        return None
    from sklearn.model_selection import cross_val_predict

    fold = np.arange(X.shape[0]) % NUMBER_FOLDS
    parts = [(np.flatnonzero(fold != at), np.flatnonzero(fold == at)) for at in range(NUMBER_FOLDS)]
    return np.asarray(cross_val_predict(unwatched(clone(model)), X, np.asarray(y), cv=parts))
