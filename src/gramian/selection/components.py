"""How many components a table has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gramian import registry
from gramian.estimators.validation import check_choice
from gramian.selection.answer import HowMany
from gramian.selection.linear import how_many_factors, how_many_linear
from gramian.selection.paired import how_many_pairs, how_many_regressors
from gramian.selection.similar import how_many_kernel

#: What criteria look at -> the function that asks them.
_COUNTERS: dict[str, Callable[..., HowMany]] = {
    "variances": how_many_linear,
    "factors": how_many_factors,
    "kernel": how_many_kernel,
    "predictions": how_many_regressors,
    "correlations": how_many_pairs,
}
METHODS = {name: record for name, record in registry.METHODS.items() if record.counted}


def how_many(X: Any, method: str = "pca", *, y: Any = None, random_state: Any = None, **options: Any) -> HowMany:
    """Ask every criterion how many components there are, and let one decide.

    Which one decides is fixed for a method, and was found on simulated tables of known answer
    (``benchmarks/criteria.py``); that criteria differ is part of the answer.

    Parameters
    ----------
    X : (n, d) array, data frame or sparse matrix
        Rows; the Gram matrix (n, n) of a precomputed kernel.
    method : {"pca", "probabilistic-pca", "factor-analysis", "kernel-pca", "pls", "pcr", "cca"}
    y : (n,) or (n, q) array
        Targets of "pls" and "pcr", the second view of "cca".
    random_state : int, Generator, RandomState or None
        Seed of what is drawn at random. None is a fixed seed.
    **options
        As the estimator has them: ``scale`` ("pca": criteria of the correlation matrix; "pls", "pcr"), ``kernel``
        ("kernel-pca"), ``cv`` ("pls", "pcr"), ``ridge`` ("cca").

    Returns
    -------
    HowMany
        ``recommended`` (0 if nothing stands out), ``decided_by``, ``table``; prints as a table.

    Cost
    ----
    One pass over the rows for moments of six folds, then d x d; random tables are drawn as d x d matrices, not as rows.
    Kernel PCA looks at 500 rows. Beyond 1,000 columns the criteria that need d x d matrices are left out.

    References
    ----------
    Jolliffe, Principal Component Analysis, 2nd ed., Springer 2002, chapter 6.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.selection import how_many
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 8)) * 2 + rng.standard_normal((300, 8))
    >>> found = how_many(X)
    >>> found.recommended, found.decided_by
    (2, 'deflated parallel analysis')
    """
    check_choice("method", method, tuple(METHODS))
    record = METHODS[method]
    if record.needs and y is None:
        what = "the second view" if record.needs == "view" else "the targets"
        raise ValueError(f"method={method!r} needs y, {what}. Give y=...")
    if not record.needs and y is not None:
        takers = ", ".join(name for name, row in METHODS.items() if row.needs)
        raise ValueError(f"method={method!r} takes no y. Leave it out, or use one of: {takers}.")
    beside = {"y": y} if record.needs else {}
    return _COUNTERS[record.counted](X, method=method, random_state=random_state, **beside, **options)
