"""Every number of components at once: cross-validated errors, the one-standard-error rule, jackknife intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from gramian.engine.tiles import Meter, run, share, threads_for
from gramian.estimators.plans_linear import KEPT_BYTES, SOLVED_TOGETHER_BYTES
from gramian.estimators.two_blocks import Blocks, Scaled, scale_views
from gramian.operators import Compressed, complements, compress, moments_of
from gramian.operators.compressed import Part, from_moments, from_rows
from gramian.results import Array, Matrix
from gramian.solvers.deflation import Factors

#: Bytes of moments of folds that exist at a time.
MOMENTS_TOGETHER_BYTES = 2**26


class Splitter(Protocol):
    """What splitters of scikit-learn can do."""

    def split(self, X: Array, y: Array) -> Iterable[tuple[Array, Array]]:
        """Pairs of training and test rows."""


#: A number of folds, a splitter, or pairs of training and test rows.
Folds: TypeAlias = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]]
#: Finds up to k components of a stack of problems.
Solve = Callable[[Array, Array, int, Array], Factors]


@dataclass(frozen=True)
class Intervals:
    """Coefficients in original units with their jackknife standard errors; arrays are targets x features."""

    coef: Array
    standard_error: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class RegressionPath:
    r"""Cross-validated errors for 0, 1, ..., K components.

    Definition
    ----------
    .. math:: \mathrm{RMSECV}_k = \Big(\tfrac1n \sum_i w_i (y_i - \hat y_i^{(-g)})^2\Big)^{1/2}

    where the model that predicts row i, its means and its scales come from the other folds alone. The standard error is
    that of the mean over folds.

    Attributes
    ----------
    rmsecv, standard_error, r2 : (K + 1, q) arrays
        Of each target; the first row is the model that predicts the mean.
    best : int
        Number of components with the least error, averaged over targets in units of their variance.
    recommended : int
        The smallest number whose error is within one standard error of the least.
    full : (K, q, d) array
        Coefficients of the fit to all rows, in original units, for 1, ..., K components.
    folds : int
        Number of folds g.
    deviations : (K, q, d) array
        Sums over folds of squared deviations of the coefficients from ``full``.
    coefficients : (g, K, q, d) array or None
        Of the model without each fold; None if they would fill more than 256 MB.
    predictions : (K, n, q) array or None
        Of each row by the models that have not seen it, NaN for rows in no fold; None if they would fill more than
        256 MB.
    """

    rmsecv: Array
    standard_error: Array
    r2: Array
    best: int
    recommended: int
    full: Array
    folds: int
    deviations: Array
    coefficients: Array | None
    predictions: Array | None

    def jackknife(self, n_components: int | None = None, level: float = 0.95) -> Intervals:
        r"""Coefficients of the fit to all rows with intervals from the folds.

        Definition
        ----------
        .. math:: s_j^2 = \tfrac{g-1}{g} \sum_h (b_j^{(-h)} - b_j)^2, \qquad b_j \pm t_{g-1} s_j

        References
        ----------
        Martens, Martens, Modified jack-knife estimation of parameter uncertainty in bilinear modelling, 2000.
        """
        if not 0 < level < 1:
            raise ValueError(f"level={level!r} must be between 0 and 1.")
        k = max(self.recommended, 1) if n_components is None else n_components
        if not 1 <= k <= len(self.full):
            raise ValueError(f"n_components={k} must be between 1 and {len(self.full)}, the length of the path.")
        g, coef = self.folds, self.full[k - 1]
        error = np.sqrt((g - 1) / g * self.deviations[k - 1])
        reach = scipy.stats.t.ppf((1 + level) / 2, g - 1) * error
        return Intervals(coef, error, coef - reach, coef + reach)

    def __str__(self) -> str:
        """A table with one line for each number of components; a star marks the recommended one."""
        q = self.rmsecv.shape[1]
        names = [""] if q == 1 else [f" y{j}" for j in range(q)]
        head = "components" + "".join(f"{'RMSECV' + name:>14} {'+-':>9} {'R2' + name:>9}" for name in names)
        lines = [head]
        for k in range(len(self.rmsecv)):
            mark = "*" if k == self.recommended else " "
            cells = zip(self.rmsecv[k], self.standard_error[k], self.r2[k], strict=True)
            lines.append(f"{k:>9}{mark}" + "".join(f"{a:>14.5g} {b:>9.2g} {c:>9.4f}" for a, b, c in cells))
        return "\n".join([*lines, f"* fewest within one standard error of the least error ({self.best} components)"])


def cross_validated(blocks: Blocks, solve: Solve, scaling: tuple[bool, bool], k: int, cv: Folds) -> RegressionPath:
    """Cross-validate all numbers of components up to k.

    The moments of each fold are taken once; those of the rows outside it are sums of the others. All folds are then
    solved together.
    """
    folds, trains = splits(cv, blocks)
    n, q = blocks.Y.shape
    weights = np.ones(n) if blocks.weights is None else blocks.weights
    predictions = np.full((k, n, q), np.nan) if 8 * k * n * q <= KEPT_BYTES else None
    whole = blocks.scaled(*scaling)
    full, _ = whole.original(solve(whole.A[None], whole.B[None], k, np.array([whole.x_blur])).path()[0])
    keep = 8 * len(folds) * full.size <= KEPT_BYTES
    coefficients: list[Array] = []
    errors: list[Array] = []
    deviations = np.zeros_like(full)
    for batch in _batches(training(blocks, folds, trains)):
        scaled = [scale_views(views, *scaling) for views in batch]
        A, B = _stacked([s.A for s in scaled]), _stacked([s.B for s in scaled])
        path = solve(A, B, k, np.array([s.x_blur for s in scaled])).path()
        models = [(s, s.original(steps)[0]) for s, steps in zip(scaled, path, strict=True)]
        errors += _test(blocks, folds[len(errors) :], weights, models, predictions)
        deviations += sum((coef - full) ** 2 for _, coef in models)
        coefficients += [coef for _, coef in models if keep]
    curves = _curves(np.stack(errors), np.array([weights[rows].sum() for rows in folds]), blocks.views.units[-q:])
    return RegressionPath(
        **curves,
        full=full,
        folds=len(folds),
        deviations=deviations,
        coefficients=np.stack(coefficients) if keep else None,
        predictions=predictions,
    )


def _test(
    blocks: Blocks,
    folds: Sequence[Any],
    weights: Array,
    models: list[tuple[Scaled, Array]],
    predictions: Array | None,
) -> list[Array]:
    """Squared errors (K + 1, q) of models on the rows they have not seen, in the units of the compressed columns."""
    errors: list[Any] = [None] * len(models)

    def work(chosen: Sequence[int], meter: Meter) -> None:
        for g in chosen:
            rows, (scaled, coef) = folds[g], models[g]
            guesses, measured = _predict(blocks.X[rows], coef, scaled), blocks.Y[rows] - scaled.y_mean
            w, units = weights[rows], blocks.views.units[-measured.shape[1] :]
            alone = w @ (measured / units) ** 2
            left = (guesses - measured[:, None, :]) / units
            errors[g] = np.vstack([alone, np.einsum("mkq,mkq,m->kq", left, left, w)])
            if predictions is not None:
                predictions[:, rows] = np.moveaxis(guesses, 1, 0) + scaled.y_mean
            meter.tick()

    run(work, share(len(models), threads_for(len(models))))
    return errors


def _curves(errors: Array, sizes: Array, units: Array) -> dict[str, Any]:
    """Turn squared errors (folds, K + 1, q) into curves and choices."""
    kept = sizes > 0
    errors, sizes, g = errors[kept], sizes[kept], int(kept.sum())
    mean = errors.sum(axis=0) / sizes.sum()
    # The spread of the folds about the mean, weighted by their sizes: the standard error of a ratio of sums.
    left = errors - mean * sizes[:, None, None]
    spread = np.sqrt(g / max(g - 1, 1) * (left**2).sum(axis=0)) / sizes.sum()
    rmse = np.sqrt(mean)
    unit = np.where(mean[0] > 0, mean[0], 1.0)
    relative = (mean / unit).mean(axis=1)
    doubt = np.sqrt(g / max(g - 1, 1) * ((left / unit).mean(axis=2) ** 2).sum(axis=0)) / sizes.sum()
    best = int(np.argmin(relative))
    return {
        "rmsecv": rmse * units,
        "standard_error": np.divide(spread, 2 * rmse, out=np.zeros_like(rmse), where=rmse > 0) * units,
        "r2": 1 - mean / unit,
        "best": best,
        "recommended": int(np.argmax(relative <= relative[best] + doubt[best])),
    }


def _batches(views: Iterator[Compressed]) -> Iterator[list[Compressed]]:
    batch: list[Compressed] = []
    for view in views:
        batch.append(view)
        if view.rows.nbytes * len(batch) >= SOLVED_TOGETHER_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _stacked(tables: list[Array]) -> Array:
    """A stack of tables; shorter ones get rows of zeros, which change nothing."""
    out = np.zeros((len(tables), max(len(t) for t in tables), tables[0].shape[1]))
    for place, table in zip(out, tables, strict=True):
        place[: len(table)] = table
    return out


def _predict(X: Matrix, coef: Array, scaled: Scaled) -> Array:
    """Predictions (m, k, q) of rows by every model of a path (k, q, d), beside the mean of the targets."""
    k, q, d = coef.shape
    flat = coef.reshape(k * q, d).T
    # Centred first where that matters: far from the origin the difference of two products has no digits left.
    far = isinstance(X, np.ndarray) and scaled.x_blur > 1e3
    products = (X - scaled.x_mean) @ flat if far else X @ flat - scaled.x_mean @ flat
    return products.reshape(-1, k, q)


def splits(cv: Folds, blocks: Blocks) -> tuple[list[Any], list[Array] | None]:
    """Rows left out together, and the rows that train each model if those are not simply all others.

    A number of folds takes every k-th row; a splitter of scikit-learn, or pairs of index arrays, are heeded.
    """
    n = blocks.shape[0]
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        if cv < 2:
            raise ValueError(f"cv={cv} must be at least 2 folds.")
        count = min(int(cv), n)
        return [slice(g, n, count) for g in range(count)], None
    if not hasattr(cv, "split") and not hasattr(cv, "__iter__"):
        raise ValueError(f"cv={cv!r} must be a number of folds, a splitter, or pairs of training and test rows.")
    found: Any = cv.split(np.zeros((n, 1)), blocks.Y) if hasattr(cv, "split") else cv
    pairs = [(np.asarray(train), np.asarray(test)) for train, test in found]
    trains, tests = [a for a, _ in pairs], [b for _, b in pairs]
    if len(tests) < 2 or any(len(rows) == 0 for rows in tests):
        raise ValueError(f"cv={cv!r} gives an empty fold, or fewer than 2. Use folds that each leave rows out.")
    times = np.bincount(np.concatenate(tests), minlength=n)
    if times.max() > 1:
        raise ValueError(f"cv={cv!r} leaves a row out more than once; folds must not overlap.")
    plain = all(np.array_equal(np.sort(np.concatenate(pair)), np.arange(n)) for pair in pairs) and times.all()
    return [_as_slice(rows) for rows in tests], None if plain else trains


def _as_slice(rows: Array) -> Any:
    """Evenly spaced rows as a slice, which needs no copy."""
    step = int(rows[1] - rows[0]) if len(rows) > 1 else 1
    even = step > 0 and (np.diff(rows) == step).all()
    return slice(int(rows[0]), int(rows[-1]) + 1, step) if even else rows


def training(blocks: Blocks, folds: Sequence[Any], trains: list[Array] | None) -> Iterator[Compressed]:
    """Compressed rows that train the model of each fold."""
    X, Y, w = blocks.X, blocks.Y, blocks.weights
    if trains is not None:
        yield from (compress(X[rows], Y[rows], None if w is None else w[rows]) for rows in trains)
        return
    squared = blocks.views.route == "moments"

    def make(rows: slice | Array) -> Any:
        x, y, v = X[rows], Y[rows], None if w is None else w[rows]
        return moments_of(x, v, beside=y) if squared else from_rows(x, y, v)

    for g, part in enumerate(_outside(make, folds, 8 * len(blocks.views.mean) ** 2)):
        views = part if isinstance(part, Compressed) else from_moments(part, blocks.views.d, careful=True)
        if views is None:  # without this fold the columns are nearly dependent
            others = np.delete(np.arange(len(Y)), np.arange(len(Y))[folds[g]])
            views = from_rows(X[others], Y[others], None if w is None else w[others])
        yield views


def _outside(make: Callable[[Any], Part], folds: Sequence[Any], size: int) -> Iterator[Part]:
    """What is outside each fold; many folds are taken in groups, so that few parts of this size exist at a time."""
    if len(folds) < 4 or len(folds) * size <= MOMENTS_TOGETHER_BYTES:
        yield from complements(_each(make, folds))
        return
    step = int(np.ceil(np.sqrt(len(folds))))
    groups = [folds[at : at + step] for at in range(0, len(folds), step)]
    sums = [reduce(add, _each(make, group)) for group in groups]
    for group, rest in zip(groups, complements(sums), strict=True):
        parts = _each(make, group)
        yield from (rest + part for part in complements(parts)) if len(parts) > 1 else iter([rest])


def _each(make: Callable[[Any], Part], folds: Sequence[Any]) -> list[Part]:
    """One part for each fold, made by all threads."""
    parts: list[Any] = [None] * len(folds)

    def work(chosen: Sequence[int], meter: Meter) -> None:
        for g in chosen:
            parts[g] = make(folds[g])
            meter.tick()

    run(work, share(len(folds), threads_for(len(folds))))
    return parts
