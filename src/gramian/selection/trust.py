"""How far the components of a fit can be trusted, given so many rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone

from gramian.engine.product import to_dense
from gramian.engine.tiles import row_blocks
from gramian.estimators.base import BaseEstimator, as_it_was_fitted
from gramian.estimators.column_vectors import Reading
from gramian.estimators.validation import check_targets, random_generator, validate
from gramian.registry import METHODS, KernelPCA, record_of
from gramian.results import Array, Matrix, Seed
from gramian.selection.column_importance import columns_of, importance_of
from gramian.selection.trust_bootstrap import Replicas, band, band_from_error, quiet_fit
from gramian.selection.trust_result import Ties, Trust, gaps_in_errors, recovery, unit

#: Rows below which draws differ too much from each other to tell anything.
_MIN_ROWS = 10
#: Rows, as a share of all, and times that the number of components is chosen again. Rows are taken once: copies of a
#: row on both sides of a fold would make every number look good.
_SUBSAMPLE_SHARE, _SUBSAMPLES = 0.8, 20


def trust(
    estimator: BaseEstimator,
    X: Matrix,
    y: ArrayLike | None = None,
    *,
    n_boot: int = 200,
    level: float = 0.95,
    count: Callable[..., int] | None = None,
    random_state: Seed = 0,
) -> Trust:
    """Say what of a fit would come out again from other rows of the same source.

    Intervals for eigenvalues, correlations and loadings; how often the draws give each component again, and which pairs
    they mix; how far the span of all components moves; whether the same number of components would be chosen; for
    kernels, gaps between eigenvalues in standard errors, and which columns a component depends on.

    Parameters
    ----------
    estimator : PCA, ProbabilisticPCA, FactorAnalysis, PLSRegression, PrincipalComponentRegression, CCA or KernelPCA
        With its parameters; fitted here if it is not, and left as it is.
    X : (n, d) array, data frame or sparse matrix
        The rows of the fit.
    y : array, optional
        Targets, or the second view.
    n_boot : int
        Bootstrap draws, of which none are needed for a kernel.
    level : float
        Probability of the intervals.
    count : callable, optional
        ``count(X)`` or ``count(X, y)`` says how many components to take; asked again of parts of the rows. If not
        given, a share of the variance or "auto" in the estimator is.
    random_state : int, Generator, RandomState or None
        Seed of the draws.

    Returns
    -------
    Trust

    Cost
    ----
    ``n_boot`` passes over the rows in tiles, ``n (d + q)^2`` multiplications each, and as many small fits. For
    kernels, the training scores once more.

    References
    ----------
    Efron, Tibshirani, An Introduction to the Bootstrap, Chapman and Hall 1993, chapter 7.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> from gramian.selection import trust
    >>> X = np.random.default_rng(1).standard_normal((400, 5)) * [4.0, 2.0, 2.0, 1.0, 0.5]
    >>> print(trust(PCA(3), X))
    Trust       PCA   400 x 5   95 % intervals by 200 bootstrap draws of moments
    variance 1  16.43, 14.46 to 18.84; recovered in 100 % of draws (median cosine 0.999)
    2           3.914, 3.395 to 4.314; recovered in 43.5 % of draws (median cosine 0.936)
    3           3.567, 3.212 to 4.272; recovered in 43.5 % of draws (median cosine 0.937)
    recovered   a component of the draw has a cosine of 0.95 or more with it
    mixed       components 2 and 3 in 55.5 % of draws: read the two as a plane
    span        turns by up to 2.9 degrees in half of the draws, up to 6.1 in 95 %
    direction   3 of 15 entries differ from zero; table(k) lists them
    """
    if isinstance(n_boot, bool) or not isinstance(n_boot, (int, np.integer)) or n_boot < 20:
        raise ValueError(f"n_boot={n_boot!r} must be a whole number of 20 or more: fewer draws give no intervals.")
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be between 0 and 1, such as 0.95.")
    estimator = as_it_was_fitted(estimator)
    fitted = _fitted(estimator, X, y)
    rng = random_generator(random_state)
    gaps = getattr(fitted, "missing", None) is not None
    rows: Matrix = validate(fitted, X, reset=False, missing=gaps, sparse=not gaps)
    about = {"estimator": type(fitted).__name__, "shape": rows.shape, "level": level}
    if not fitted._reading().entries:  # directions in a feature space have none
        found = _of_kernel(fitted, rows, about)
    else:
        y = y if hasattr(fitted, "predict") else None  # what the others are given they do not look at
        targets = None if y is None else check_targets(y, rows.shape[0], missing=True)
        Y = None if targets is None else targets.values[:, 0] if targets.single else targets.values
        replicas = Replicas(clone(fitted).set_params(n_components=len(fitted._reading().values)), rows, Y, n_boot, rng)
        found = _of_draws(fitted, rows, replicas, about)
    return replace(found, chosen=_choices(estimator, X, y, count, rng))


def _fitted(estimator: BaseEstimator, X: Matrix, y: ArrayLike | None) -> Any:
    """The estimator if it is fitted to these rows, or a clone that is."""
    record = record_of(estimator)
    if record is None or not record.counted:
        known = ", ".join(each.name for each in METHODS.values() if each.counted)
        raise TypeError(f"trust does not know {type(estimator).__name__}. Known: {known}.")
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n < _MIN_ROWS:
        raise ValueError(f"X has {n} rows; at least {_MIN_ROWS} are needed to say what other rows would give.")
    summary = getattr(estimator, "summary_", None)
    if summary is None:
        return clone(estimator).fit(X) if y is None else clone(estimator).fit(X, y)
    if round(summary.facts["n"]) != n:
        raise ValueError(
            f"{type(estimator).__name__} was fitted to {round(summary.facts['n']):,} rows, X has {n:,}. Give the rows "
            "of the fit, or an estimator that is not fitted."
        )
    return estimator


def _of_draws(fitted: BaseEstimator, X: Matrix, replicas: Replicas, about: dict[str, Any]) -> Trust:
    reading, level = fitted._reading(), about["level"]
    k = len(reading.values)
    drawn = [replica._reading() for replica in replicas]
    values = np.array([padded(draw.values, k) for draw in drawn])
    vectors = np.array([align(padded(draw.vectors, k), reading.vectors, free=reading.free) for draw in drawn])
    limits = (-1.0, 1.0) if reading.bounded else (-np.inf, np.inf)
    angles = [largest_angle(reading.vectors, padded(draw.vectors, k)) for draw in drawn] if reading.spans else None
    known = getattr(fitted, "target_names_in_", None) if reading.second else None
    second = tuple(f"y{j}" for j in range(reading.second)) if known is None else tuple(map(str, known))
    return Trust(
        **about,
        # Variances, shares and canonical correlations cannot be negative.
        values=band(reading.values, values, reading.kind, level).within(0.0, np.inf),
        what=reading.what,
        ties=_ties(fitted, X, reading, values),
        recovery=recovery(reading.vectors, vectors),
        vectors=band(reading.vectors, vectors, "signed", level).within(*limits),
        entries=reading.entries,
        columns=(*columns_of(fitted), *second),
        angles=None if angles is None else np.quantile(angles, [0.5, 0.95]),
        draws=replicas.n_boot,
        route="moments" if replicas.by_moments else "weighted rows",
        warned=replicas.warned,
        refused=replicas.refused,
    )


def _ties(fitted: BaseEstimator, X: Matrix, reading: Reading, draws: Array) -> Ties | None:
    """Gaps in standard errors: from the influence of rows where it is known, else from the draws."""
    k = len(reading.values)
    if not reading.ordered:
        return None
    if reading.of_columns and (sp.issparse(X) or not np.isnan(X).any()):
        wider = fitted
        if k < min(X.shape) - 1:  # one more, to see whether the last is told from the first left out
            with suppress(ValueError):  # there may be no more
                wider, _ = quiet_fit(clone(fitted).set_params(n_components=k + 1), X)
        return Ties(gaps_in_errors(wider._reading().values, influence_of_rows(wider, X))[0], k)
    spread = np.diff(draws, axis=1).std(axis=0, ddof=1)
    gaps = -np.diff(reading.values)
    return Ties(np.divide(gaps, spread, out=np.full(k - 1, np.inf), where=spread > 0), k)


def _of_kernel(fitted: KernelPCA, X: Matrix, about: dict[str, Any]) -> Trust:
    """Variances in feature space, their errors from the influence of rows, and the columns behind the components."""
    variances = fitted._reading().values
    gaps, errors = gaps_in_errors(variances, fitted.projection_.scores(X) ** 2)
    given = fitted.kernel_.given
    return Trust(
        **about,
        values=band_from_error(variances, errors, about["level"]),
        what="variance",
        ties=Ties(gaps, len(variances)),
        columns=columns_of(fitted),
        route="influence of rows",
        importance=None if given else importance_of(fitted, X, "auto", random_generator(0)),
    )


def _choices(
    estimator: BaseEstimator, X: Matrix, y: ArrayLike | None, count: Callable[..., int] | None, rng: np.random.Generator
) -> dict[int, float] | None:
    """How often each number of components is chosen from parts of the rows; None if nothing chooses."""
    asked = estimator.n_components
    if count is None and not (asked == "auto" or (isinstance(asked, float) and asked < 1)):
        return None
    table = X if hasattr(X, "shape") else np.asarray(X)
    n, found = table.shape[0], []
    for _ in range(_SUBSAMPLES):
        rows = np.sort(rng.choice(n, max(2, int(_SUBSAMPLE_SHARE * n)), replace=False))
        part = table.iloc[rows] if hasattr(table, "iloc") else table[rows]
        beside = () if y is None else (np.asarray(y)[rows],)
        found.append(int(count(part, *beside)) if count else len(clone(estimator).fit(part, *beside)._reading().values))
    return {k: times / _SUBSAMPLES for k, times in sorted(Counter(found).items())}


def influence_of_rows(estimator: BaseEstimator, X: Matrix) -> Array:
    r"""Influence of rows on the variances of linear components, n x K.

    Of correlation PCA the standard deviations are estimated too, and
    :math:`\psi_{ik} = t_{ik}^2 - \lambda_k \sum_j v_{jk}^2 z_{ij}^2`.
    """
    reading = estimator._reading()
    V, scaled = unit(reading.vectors), getattr(estimator, "scale", False)
    out = np.empty((X.shape[0], V.shape[1]))
    for rows in row_blocks(*X.shape):
        Z = to_dense(X[rows]) - estimator.mean_.astype(np.float64)
        if scaled:
            Z /= estimator.scale_
        out[rows] = (Z @ V) ** 2
        if scaled:
            out[rows] -= reading.values * (Z**2 @ V**2)
    return out


def padded(A: Array, k: int) -> Array:
    """Columns (or entries) up to k, zeros where a draw had fewer."""
    short = k - A.shape[-1]
    return A if short <= 0 else np.concatenate([A, np.zeros((*A.shape[:-1], short))], axis=-1)


def align(vectors: Array, target: Array, *, free: bool = False) -> Array:
    """Match the components of a draw with those of the fit, as far as they are arbitrary: in order and in sign."""
    if free:
        U, _, Vt = np.linalg.svd(vectors.T @ target)
        return vectors @ (U @ Vt)
    k = target.shape[1]
    lengths = np.outer(np.linalg.norm(target, axis=0), np.linalg.norm(vectors, axis=0))
    cosines = np.divide(target.T @ vectors, lengths, out=np.zeros((k, k)), where=lengths > 0)
    rows, matches = scipy.optimize.linear_sum_assignment(-np.abs(cosines))
    return vectors[:, matches] * np.where(cosines[rows, matches] < 0, -1.0, 1.0) + 0.0


def largest_angle(A: Array, B: Array) -> float:
    """Largest angle, in degrees, between the spans of two sets of columns."""
    Qa, Qb = np.linalg.qr(A)[0], np.linalg.qr(B)[0]
    # The sine keeps the digits of small angles, which the cosine loses.
    sine = float(np.linalg.norm(Qb - Qa @ (Qa.T @ Qb), 2))
    return float(np.degrees(np.arcsin(min(sine, 1.0))))
