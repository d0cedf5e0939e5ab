"""Every number of components at once: cross-validated errors, the one-standard-error rule, jackknife intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import scipy.stats
from numpy.typing import ArrayLike

from gramian import lapack
from gramian.config import one_blas_thread
from gramian.engine.tiles import for_each
from gramian.estimators.plans_linear import KEPT_BYTES, SOLVED_TOGETHER_BYTES
from gramian.estimators.two_blocks import Blocks, Scaled, scale_views
from gramian.operators import Compressed, complements, compress, moments_of
from gramian.operators.compressed import CHOLESKY_MIN_OWN_VARIANCE, SQUARABLE_RANGE, from_rows
from gramian.operators.moments import column_scale
from gramian.results import Array, Matrix, plural
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
        names = [""] if q == 1 else [f" y {j + 1}" for j in range(q)]
        head = "components" + "".join(f"{'RMSECV' + name:>14} {'+-':>9} {'R2' + name:>9}" for name in names)
        lines = [head]
        for k in range(len(self.rmsecv)):
            mark = "*" if k == self.recommended else " "
            cells = zip(self.rmsecv[k], self.standard_error[k], self.r2[k], strict=True)
            lines.append(f"{k:>9}{mark}" + "".join(f"{a:>14.5g} {b:>9.2g} {c:>9.4f}" for a, b, c in cells))
        return "\n".join([*lines, f"* {self._rule}"])

    def reason(self, k: int) -> str:
        """Why ``k`` components were taken."""
        if k == self.recommended:
            return f"{plural(k, 'component')}: {self._rule}"
        return f"{plural(k, 'component')}, the least that can be fitted; no component at all is {self._rule}"

    @property
    def _rule(self) -> str:
        if self.recommended == self.best:
            return "the least error, and none with fewer is within one standard error of it"
        return f"the fewest within one standard error of the least error, which {self.best} have"


def cross_validated(
    blocks: Blocks, whole: Scaled, factors: Factors, solve: Solve, scaling: tuple[bool, bool], cv: Folds
) -> RegressionPath:
    """Cross-validate all numbers of components up to those of ``factors``, the fit to all rows, ``whole``.

    The moments of each fold are taken once; those of the rows outside it are sums of the others. All folds are then
    solved together.
    """
    folds, trains = splits(cv, blocks)
    (n, q), k = blocks.Y.shape, factors.squares.shape[1]
    weights = np.ones(n) if blocks.weights is None else blocks.weights
    predictions = np.full((k, n, q), np.nan) if 8 * k * n * q <= KEPT_BYTES else None
    full, _ = whole.original(factors.path()[0])
    keep = 8 * len(folds) * full.size <= KEPT_BYTES
    coefficients: list[Array] = []
    errors: list[Array] = []
    deviations = np.zeros_like(full)
    for views in training(blocks, folds, trains):
        s = scale_views(views, *scaling)
        path = solve(s.A, s.B, k, s.x_blur).path()  # type: ignore[arg-type]
        y_scale = s.y_scale * np.reshape(s.y_unit / s.x_unit, (-1, 1))
        coef = np.swapaxes(path * y_scale[:, None, None, :] / s.x_scale[:, None, :, None], -1, -2)
        errors += _test(blocks, folds[len(errors) :], weights, s, coef, predictions)
        deviations += ((coef - full) ** 2).sum(axis=0)
        coefficients += [coef] if keep else []
    curves = _curves(np.stack(errors), np.array([weights[rows].sum() for rows in folds]), blocks.views.units[-q:])
    return RegressionPath(
        **curves,
        full=full,
        folds=len(folds),
        deviations=deviations,
        coefficients=np.concatenate(coefficients) if keep else None,
        predictions=predictions,
    )


def _test(
    blocks: Blocks, folds: Sequence[Any], weights: Array, s: Scaled, coef: Array, predictions: Array | None
) -> list[Array]:
    """Squared errors (K + 1, q) of models on the rows they have not seen, in the units of the compressed columns."""
    units = blocks.views.units[-coef.shape[2] :]

    def errors(g: int) -> Array:
        rows, mean = folds[g], s.y_mean[g]
        guesses = _predict(blocks.X[rows], coef[g], s.x_mean[g], s.x_blur[g])  # type: ignore[index]
        measured, w = blocks.Y[rows] - mean, weights[rows]
        left = (guesses - measured[:, None, :]) / units
        if predictions is not None:
            predictions[:, rows] = np.moveaxis(guesses, 1, 0) + mean
        return np.vstack([w @ (measured / units) ** 2, np.einsum("mkq,mkq,m->kq", left, left, w)])

    return _each(errors, range(len(coef)))


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


def _predict(X: Matrix, coef: Array, mean: Array, blur: float) -> Array:
    """Predictions (m, k, q) of rows by every model of a path (k, q, d), beside the mean of the targets."""
    k, q, d = coef.shape
    flat = coef.reshape(k * q, d).T
    # Centred first where that matters: far from the origin the difference of two products has no digits left.
    far = isinstance(X, np.ndarray) and blur > 1e3
    products = (X - mean) @ flat if far else X @ flat - mean @ flat
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
    """Compressed rows that train the models of the folds, in stacks of as many as are solved together."""
    X, Y, w = blocks.X, blocks.Y, blocks.weights

    def some(rows: Any, make: Callable[..., Any]) -> Any:
        return make(X[rows], Y[rows], None if w is None else w[rows])

    def outside(g: int) -> Compressed:
        left: Compressed = some(np.delete(np.arange(len(Y)), np.arange(len(Y))[folds[g]]), from_rows)
        return left

    if trains is not None:
        yield from _stacks(some(rows, compress) for rows in trains)
        return
    if blocks.views.route != "moments":
        yield from _stacks(complements(_each(lambda rows: some(rows, from_rows), folds)))
        return
    size = 8 * len(blocks.views.mean) ** 2
    together, at = max(1, SOLVED_TOGETHER_BYTES // size), 0
    for parts in _outside(lambda rows: some(rows, _moments), folds, size):
        for start in range(0, len(parts.weight), together):
            batch = Parts(*(part[start : start + together] for part in parts))
            rows, sound = _roots(batch)
            mean = batch.pilot + batch.offset
            units = np.ones_like(mean)
            if sound.all():
                yield Compressed(rows, blocks.views.d, batch.weight, mean, units, "moments")  # type: ignore[arg-type]
            else:  # without some of the folds columns are nearly dependent
                yield from _stacks(
                    Compressed(rows[g], blocks.views.d, float(batch.weight[g]), mean[g], units[g], "moments")
                    if sound[g]
                    else outside(at + g)
                    for g in range(len(rows))
                )
            at += len(rows)


def _stacks(views: Iterable[Compressed]) -> Iterator[Compressed]:
    """Compressed rows of several problems as one, with an axis before the others; rows of zeros change nothing."""
    batch: list[Compressed] = []

    def stack() -> Compressed:
        rows = np.zeros((len(batch), max(len(view.rows) for view in batch), batch[0].rows.shape[1]))
        for place, view in zip(rows, batch, strict=True):
            place[: len(view.rows)] = view.rows
        weight, mean, units = (np.array([getattr(v, name) for v in batch]) for name in ("weight", "mean", "units"))
        return Compressed(rows, batch[0].d, weight, mean, units, batch[0].route)  # type: ignore[arg-type]

    for view in views:
        batch.append(view)
        if view.rows.nbytes * len(batch) >= SOLVED_TOGETHER_BYTES:
            yield stack()
            batch.clear()
    if batch:
        yield stack()


class Parts(NamedTuple):
    """Moments of several sets of rows, with an axis over the sets before the others."""

    weight: Array
    pilot: Array
    offset: Array
    scatter: Array


def _moments(x: Matrix, y: Matrix, weights: Array | None) -> tuple[Any, ...]:
    found = moments_of(x, weights, beside=y)
    return found.weight, found.pilot, np.broadcast_to(found.offset, found.pilot.shape), found.scatter


def _parts(made: Iterable[tuple[Any, ...]]) -> Parts:
    return Parts(*map(np.stack, zip(*made, strict=True)))


def _merged(a: Parts, b: Parts) -> Parts:
    """Moments of the sets of a and those of b together, set by set."""
    weight = a.weight + b.weight
    share_b = b.weight / np.where(weight > 0, weight, 1.0)
    shift = (b.pilot - a.pilot) + (b.offset - a.offset)
    spread = shift * np.sqrt(a.weight * share_b)[:, None]
    scatter = spread[:, :, None] * spread[:, None, :]
    scatter += a.scatter
    scatter += b.scatter
    return Parts(weight, a.pilot, a.offset + shift * share_b[:, None], scatter)


def _levels(parts: Parts) -> list[Parts]:
    """Moments of each set, of pairs of neighbours, of pairs of those, ..., of all sets together."""
    levels = [parts]
    while len(levels[-1].weight) > 1:
        last = levels[-1]
        if len(last.weight) % 2:
            last = levels[-1] = Parts(*(np.concatenate([part, np.zeros_like(part[:1])]) for part in last))
        levels.append(_merged(Parts(*(part[::2] for part in last)), Parts(*(part[1::2] for part in last))))
    return levels


def _others(parts: Parts, beside: Parts | None = None) -> Parts:
    """Moments of all sets but one, for each, and of rows ``beside`` them.

    What lies outside a pair is added to either half of it, level by level: nothing is subtracted, so nothing cancels.
    """
    levels = _levels(parts)
    found = Parts(*map(np.zeros_like, levels.pop())) if beside is None else beside
    while levels:
        level = levels.pop()
        siblings = Parts(*(part.reshape(-1, 2, *part.shape[1:])[:, ::-1].reshape(part.shape) for part in level))
        found = _merged(siblings, Parts(*(np.repeat(part, 2, axis=0)[: len(level.weight)] for part in found)))
    return Parts(*(part[: len(parts.weight)] for part in found))


def _outside(make: Callable[[Any], Any], folds: Sequence[Any], size: int) -> Iterator[Parts]:
    """Moments outside each fold; many folds are taken in groups, so that few parts of this size exist at a time."""
    if len(folds) < 4 or len(folds) * size <= MOMENTS_TOGETHER_BYTES:
        yield _others(_parts(_each(make, folds)))
        return
    step = int(np.ceil(np.sqrt(len(folds))))
    groups = [folds[at : at + step] for at in range(0, len(folds), step)]
    sums = [_levels(_parts(_each(make, group)))[-1] for group in groups]
    around = _others(Parts(*map(np.concatenate, zip(*sums, strict=True))))
    for at, group in enumerate(groups):
        yield _others(_parts(_each(make, group)), Parts(*(part[at : at + 1] for part in around)))


def _roots(parts: Parts) -> tuple[Array, Array]:
    """Rows with the moments of each set, Cholesky factors of its scatter; and whether squares keep their digits.

    As :func:`gramian.operators.moments.from_moments` does it, for all sets at once.
    """
    squares = np.einsum("gii->gi", parts.scatter)
    variances = squares / np.maximum(parts.weight - 1, 1.0)[:, None]
    low, high = SQUARABLE_RANGE[0] ** 2, SQUARABLE_RANGE[1] ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        varies = variances >= column_scale(np.sqrt(variances), parts.pilot + parts.offset) ** 2 / 2
        sound = (varies & (variances > low) & (variances < high)).all(axis=1)
    rows = np.zeros_like(parts.scatter)
    lengths = np.sqrt(np.where(sound[:, None], squares, 1.0))
    C = parts.scatter / (lengths[:, :, None] * lengths[:, None, :])
    with one_blas_thread():
        try:
            rows[sound] = lapack.interruptible(np.linalg.cholesky, C[sound]).transpose(0, 2, 1)
        except np.linalg.LinAlgError:  # one of them is singular: find out which
            for g in np.flatnonzero(sound):
                try:
                    rows[g] = lapack.cholesky(C[g])
                except np.linalg.LinAlgError:
                    sound[g] = False
    sound &= (np.einsum("gii->gi", rows) ** 2).min(axis=1) >= CHOLESKY_MIN_OWN_VARIANCE
    return rows * lengths[:, None, :], sound


def _each(make: Callable[[Any], Any], folds: Sequence[Any]) -> list[Any]:
    """One part for each fold, made by all threads."""
    parts: list[Any] = [None] * len(folds)

    def put(g: int) -> None:
        parts[g] = make(folds[g])

    for_each(range(len(folds)), put)
    return parts
