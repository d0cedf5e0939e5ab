"""Classes of rows, predicted by fits that have not seen them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from gramian.estimators.callbacks import unwatched
from gramian.estimators.fitted_rows import of_the_fit
from gramian.estimators.pipelines import steps_of
from gramian.kernels.parsing import takes_matrix
from gramian.results import Array

#: Folds in which classes are predicted of rows left out, and rows up to which they are.
CLASS_FOLDS, CLASS_FOLDS_MAX_ROWS = 5, 2_000


def leaves_out_classes(model: Any, X: Any, y: Any) -> bool:
    """Whether rows are those of the fit, with enough of each class for folds, and not too many to fit again."""
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if not 2 * CLASS_FOLDS <= n <= CLASS_FOLDS_MAX_ROWS:
        return False
    if takes_matrix(getattr(steps_of(model)[-1], "kernel_", None)) or not of_the_fit(model, X):
        return False
    return bool(np.unique(np.asarray(y).astype(str), return_counts=True)[1].min() >= CLASS_FOLDS)


def classes_left_out(model: Any, X: Any, y: Any) -> Array:
    """Classes of rows, predicted in five folds."""
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    folds = StratifiedKFold(CLASS_FOLDS, shuffle=True, random_state=0)
    return np.asarray(cross_val_predict(unwatched(clone(model)), X, np.asarray(y), cv=folds))
