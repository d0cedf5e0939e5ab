"""The space of the columns themselves, of tables and of streams: directions are explicit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.config import format_bytes, within_budget
from gramian.lapack import interruptible, orient, svd
from gramian.operators import Compressed, Data, Dense, Moments, Normal, moments_of
from gramian.operators.moments import column_scale, row_count
from gramian.projection import LinearProjection
from gramian.results import Array, Matrix, Mix, SolverTrace
from gramian.solvers.eigen import DENSE_LIMIT, EIGEN_SOLVERS, Solver, eigen, null_tolerance, residuals
from gramian.spaces.base import SingularBasis, fewest

#: An eigenproblem of A'A errs by an eighth of a rounding of its largest eigenvalue or so: a singular value whose square
#: has this ratio to the largest square by 200 roundings of the largest singular value, at a tenth of it by 600.
ILL_CONDITIONED_RATIO = 1e-7
#: Components of at least this part of the largest eigenvalue are left as they are where smaller ones are found again.
RESOLVED_RATIO = 1e-6


@dataclass(frozen=True, kw_only=True)
class LinearBasis(SingularBasis):
    """Singular basis with explicit directions V, d x k.

    ``squared_variances`` is the sum of all squared variances, those left out included, if it is known; ``rows`` are
    what the basis came from, if they are at hand.
    """

    mean: Array
    scale: Array
    column_variances: Array
    squared_variances: float | None
    directions: Array
    rows: Matrix = None

    @property
    def total_variance(self) -> float:
        """Variance of the whole space, divisor n - 1."""
        return float(self.column_variances.sum())

    def scores(self) -> Array:
        if self.rows is None:
            raise ValueError("the rows were not kept: project them with basis.projection(mix).scores(X).")
        return self.projection().scores(self.rows)

    def projection(self, mix: Mix | None = None) -> LinearProjection:
        V, back = self.directions, self.directions.T
        if mix is not None:
            V, back = interruptible(np.matmul, V, mix.forward), interruptible(np.matmul, mix.back, back)
        return LinearProjection(self.mean, V / self.scale[:, None], back * self.scale)


def finished(
    values: Array,
    V: Array,
    k: int,
    *,
    column_squares: Array,
    fourth: float | None,
    unit: float = 1.0,
    null: Array | None = None,
    **rest: Any,
) -> LinearBasis:
    """Make a basis of k oriented directions from those found; what is missing has no variance.

    ``column_squares`` are sums of squares of the columns, ``fourth`` the sum of fourth powers of all singular values,
    both in units of ``unit``; ``null`` are directions without variance, if some are known.
    """
    total = float(column_squares.sum())
    with np.errstate(over="ignore", under="ignore"):
        squared = np.inf if fourth is None else fourth * np.square(np.float64(unit) ** 2 / (rest["n"] - 1))
    V = _complete(V if null is None or V.shape[1] == k else np.column_stack([V, null])[:, :k], k)
    values = values if len(values) == k else np.concatenate([values, np.zeros(k - len(values))])
    singular = np.sqrt(values) * unit
    _check_range(singular, values, rest["n"])
    return LinearBasis(
        singular=singular,
        shares=values / total if total > 0 else np.zeros(k),
        column_variances=column_squares / (rest["n"] - 1) * unit * unit,  # the square alone may overflow
        squared_variances=float(squared) if np.isfinite(squared) else None,
        directions=V * orient(V),
        **rest,
    )


def by_svd(A: Array, k: int, n: float) -> dict[str, Any]:
    """What :func:`finished` asks of k components, by singular values of A, which stands for n rows."""
    _, s, Vt = svd(A)
    kept = min(k, int((s > null_tolerance(int(max(n, A.shape[1])), s.max(initial=0))).sum()))
    values, V = s[:kept] ** 2, Vt[:kept].T
    return {
        "values": values,
        "V": V,
        "residuals": residuals(interruptible(np.matmul, A.T, A @ V), V, values),
        "column_squares": np.einsum("ij,ij->j", A, A),
        "fourth": float((s**4).sum()),
    }


def ill_conditioned(basis: LinearBasis) -> bool:
    """Whether the last of the components may err by more than 300 roundings of the largest singular value.

    Of columns without variance come as many components that are known to have none.
    """
    values = basis.eigenvalues[: max(1, np.count_nonzero(basis.column_variances))]
    return bool(values[-1] < ILL_CONDITIONED_RATIO * values[0])


def _among(V: Array, rows: Array, d: int) -> Array:
    """Vectors whose entries are those of V in some rows, and 0 in the others."""
    out = np.zeros((d, V.shape[1]))
    out[rows] = V
    return out


def _complete(V: Array, k: int) -> Array:
    """Add orthonormal directions of zero variance until there are k: any will do, so take the same each time."""
    missing = k - V.shape[1]
    if missing == 0:
        return V
    extra = np.random.default_rng(0).standard_normal((V.shape[0], missing))
    Q, _ = interruptible(np.linalg.qr, np.column_stack([V, extra]))
    return np.column_stack([V, Q[:, V.shape[1] :]])


def _check_range(singular: Array, values: Array, n: float) -> None:
    """Refuse data whose variances leave the range of double precision: they would read as infinite or as nothing."""
    if not len(values) or values[0] == 0:
        return
    with np.errstate(over="ignore", under="ignore"):
        square = singular[0] ** 2
    if not np.finfo(np.float64).tiny * (n - 1) < square < np.inf:  # a sum over rows, which must be finite too
        word, remedy = ("overflow", "Divide") if square > 1 else ("underflow", "Multiply")
        raise ValueError(
            f"the variances of X {word} double precision (largest singular value {singular[0]:.1e}). "
            f"{remedy} X by a constant, or use scale=True."
        )


LINEAR_ROUTES = ("covariance", "svd", "dual")
#: Multiplications below which a direct SVD, the most accurate route, takes no time worth saving: 0.02 ms for a few
#: components; of all of them the smallest would often be found again from the rows, which takes longer.
SVD_MAX_MULTIPLICATIONS, SVD_OF_ALL_MAX_MULTIPLICATIONS = 1e4, 5e4
#: Multiplications below which moments are made for ``partial_fit``, though the route did not need them: 5 ms.
MOMENTS_MAX_MULTIPLICATIONS = 1e8
#: Variances in this range have squares and sums that stay far from the ends of double precision.
SUM_OF_SQUARES_RANGE = (1e-100, 1e100)


class MomentSpace:
    """Columns known by their moments alone: the rows may have come from anywhere, in any order.

    ``center``, ``scale``: subtract the column means; divide by the standard deviations. ``rows``, ``reason``: what the
    moments are of, and why they serve, if that is to be told.
    """

    def __init__(
        self, moments: Moments, *, center: bool = True, scale: bool = False, rows: Matrix = None, reason: str = ""
    ) -> None:
        self.rows, self.reason = rows, reason
        self.moments, self.center, d = moments, center, moments.d
        self.weight, self.limit = moments.weight, min(d, row_count(moments.weight))
        self.mean = moments.mean if center else np.zeros(d)
        scatter = moments.scatter if center else moments.about_origin()
        sizes = np.sqrt(np.diag(scatter) / (moments.weight - 1)) if scale else np.ones(d)
        self.scale = column_scale(sizes, self.mean) if scale else sizes
        self.scatter = scatter / np.outer(self.scale, self.scale) if scale else scatter

    def standardized(self) -> MomentSpace:
        """The same columns, divided by their standard deviations."""
        return MomentSpace(self.moments, center=self.center, scale=True)

    def basis(
        self,
        rank: int | None,
        solver: str | Solver = "auto",
        rng: np.random.Generator | None = None,
        share: float | None = None,
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), or those that reach a share, from the scatter matrix.

        Columns without variance are directions without variance: LAPACK need not look for them.
        """
        S, d = self.scatter, self.moments.d
        squares = S.diagonal()
        total, live, k = (
            squares.sum(),
            np.flatnonzero(squares > 0),
            self.limit if rank is None else min(rank, self.limit),
        )
        some = 0 < len(live) < d

        def count(values: Array) -> int:
            return len(values) if share is None or not total > 0 else fewest(values / total, share)

        found = eigen(
            Dense(S[np.ix_(live, live)] if some else S, positive=True), k, solver, rng, count if share else None
        )
        V, null = found.vectors, found.null
        if some:
            dead = np.flatnonzero(squares <= 0)
            units = _among(np.eye(len(dead)), dead, d)
            V, null = _among(V, live, d), units if null is None else np.hstack([_among(null, live, d), units])
        return finished(
            found.values,
            V,
            k if share is None else min(k, count(found.values)),
            column_squares=squares,
            fourth=float(np.vdot(S, S)),
            null=null,
            n=self.weight,
            limit=self.limit,
            residuals=found.residuals,
            trace=replace(found.trace, solver="covariance", reason=self.reason or found.trace.reason),
            mean=self.mean,
            scale=self.scale,
            rows=self.rows,
        )


class LinearSpace:
    """Centred (and scaled) columns of a table.

    ``X``: rows, n x d. ``center``, ``scale``: subtract the column means; divide by the standard deviations. ``weights``
    (n,): frequencies of the rows. ``check``: called before rows are trusted to be finite, unless one pass over them has
    shown it.
    """

    def __init__(
        self,
        X: Matrix,
        *,
        center: bool = True,
        scale: bool = False,
        weights: Array | None = None,
        check: Callable[[], None] | None = None,
    ) -> None:
        self.check = check or (lambda: None)
        self._moments: Moments | None = None
        self._comfortable = False  # whether their squares are far from the ends of double precision
        self._left: Array | None = None  # eigenvectors of AA', where they were found
        self.X, (self.n, self.d) = X, X.shape
        self.limit = min(self.d, self.n if weights is None else row_count(float(weights.sum())))
        self.center, self.scale, self.weights = center, scale, weights

    @cached_property
    def data(self) -> Data:
        """The rows as the routes that visit them more than once see them."""
        known = self.moments() if isinstance(self.X, np.ndarray) else None
        mean, unit = (known.mean, 1.0) if known is not None and self._comfortable else (None, None)
        return Data(self.X, center=self.center, scale=self.scale, weights=self.weights, mean=mean, unit=unit)

    def basis(
        self,
        rank: int | None,
        solver: str | Solver = "auto",
        rng: np.random.Generator | None = None,
        share: float | None = None,
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by one of four routes that agree.

        ``"covariance"`` (d x d), ``"svd"``, ``"dual"`` (n x n) are dense; any other solver works on products.
        With ``share``, those that reach this share of the variance: the digits of the others need no work.
        """
        k = self.limit if rank is None else min(rank, self.limit)
        route, reason = self.choose(solver, k)
        whole = self._found(route, reason, k, rng, share)
        basis = whole.reaching(share)
        if solver == "auto" and route != "svd" and ill_conditioned(basis) and self._fits():
            if whole.rank < self.limit:
                whole = self._found(route, reason, self.limit, rng)
            basis = self._resolved(whole, basis.rank)
        return basis

    def _found(
        self, route: str | Solver, reason: str, k: int, rng: np.random.Generator | None, share: float | None = None
    ) -> LinearBasis:
        basis = self._one_pass(k, reason, rng, share) if route == "covariance" else None
        if basis is None:
            self.check()
            basis = self._solve(route, reason, k, rng)
        return basis

    def _resolved(self, whole: LinearBasis, k: int) -> LinearBasis:
        """The first k components, those of small variance from the rows: their squares have lost digits.

        Eigenvectors of A'A are orthonormal to rounding, so those of the small values, V, span the right space, up to
        ``eps / RESOLVED_RATIO`` = 2e-10 at its border. The rows in that space, AV, have no large values, so their
        squares resolve what comes next, and so on. Singular values are then as accurate as those of a decomposition of
        A, for one product with V. Where ``AA'`` was taken, with eigenvectors U, columns of A'U serve as the rows do.
        """
        data, left = self.data, self._left is not None
        side = _complete(self._left, self.n) if self._left is not None else _complete(whole.directions, self.d)
        values, V = whole.eigenvalues / data.unit**2, whole.directions
        first = int((values >= RESOLVED_RATIO * values[0]).sum())
        values, V, side = values[:first], V[:, :first], side[:, first:]
        # Of columns without variance the rows would say no more.
        varies = np.ones(side.shape[1], bool) if left else side[whole.column_variances > 0].any(axis=0)
        side, dead = side[:, varies], side[:, ~varies]
        image = data.adjoint(side) if left else data.times(side)
        nothing = null_tolerance(max(self.n, self.d), np.sqrt(values[0])) ** 2
        while len(values) < k and image.shape[1]:
            for _ in range(2 if left else 0):  # A'U is orthogonal to the directions that are found, but for rounding
                image -= interruptible(np.matmul, V, V.T @ image)
            spectrum = eigen(Dense(interruptible(np.matmul, image.T, image), positive=True), image.shape[1], "dense")
            found = spectrum.values
            count = int((found >= max(RESOLVED_RATIO * found.max(initial=0.0), nothing)).sum())
            if count == 0:
                break
            rest = [spectrum.vectors[:, count:], *([] if spectrum.null is None else [spectrum.null])]
            new = interruptible(np.matmul, image if left else side, spectrum.vectors[:, :count])
            values, V = np.concatenate([values, found[:count]]), np.column_stack([V, new / np.linalg.norm(new, axis=0)])
            image, side = image @ np.column_stack(rest), side @ np.column_stack(rest)
        values, V = values[:k], V[:, :k]
        small = V[:, first:]
        image = data.adjoint(data.times(small)) if left else interruptible(np.matmul, self._scatter(), small)
        basis = finished(
            values,
            V,
            k,
            column_squares=whole.column_variances * ((whole.n - 1) / data.unit**2),
            fourth=None,
            unit=data.unit,
            null=None if left or len(values) == k else np.hstack([side, dead]),
            n=whole.n,
            limit=self.limit,
            residuals=np.concatenate([whole.residuals[:first], residuals(image, small, values[first:])]),
            trace=replace(whole.trace, reason=f"{whole.trace.reason}; {k - first:,} of small variance from the rows"),
            mean=whole.mean,
            scale=whole.scale,
            rows=self.X,
        )
        return replace(basis, squared_variances=whole.squared_variances)

    def _scatter(self) -> Array:
        """A'A in the units of the rows."""
        if self._moments is None:
            return self.data.scatter()
        return MomentSpace(self._moments, center=self.center, scale=self.scale).scatter

    def standardized(self) -> LinearSpace | MomentSpace:
        """The same columns, divided by their standard deviations; from moments, if one pass has left them."""
        low, high = SUM_OF_SQUARES_RANGE
        if self._moments is not None and low < np.trace(self._moments.scatter) < high:
            return MomentSpace(self._moments, center=self.center, scale=True)
        return LinearSpace(self.X, center=self.center, scale=True, weights=self.weights)

    def moments(self) -> Moments | None:
        """Moments of the rows if they are at hand, or cheap; None otherwise."""
        # They are d x d: of a wide table with few rows they would cost far more than the fit.
        if self._moments is None and max(self.n, self.d) * self.d**2 <= MOMENTS_MAX_MULTIPLICATIONS:
            self._sum()
        return self._moments

    def _sum(self) -> Moments:
        """Moments of the rows, and whether they are far from the ends of double precision."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._moments = moments_of(self.X, self.weights)
            size = float(found.scatter.trace()) + found.weight * float(found.mean @ found.mean)
        self._comfortable = SUM_OF_SQUARES_RANGE[0] < size < SUM_OF_SQUARES_RANGE[1]  # not if it is NaN
        return found

    def choose(self, solver: str | Solver, k: int) -> tuple[str | Solver, str]:
        """Return the route for k components and the reason for it."""
        return choose(self.n, self.d, k, solver, sparse=not isinstance(self.X, np.ndarray))

    def _one_pass(
        self, k: int, reason: str, rng: np.random.Generator | None, share: float | None
    ) -> LinearBasis | None:
        """Components from one pass over the rows; None if their squares leave the comfortable range."""
        found = self._sum()
        if not self._comfortable:
            return None
        space = MomentSpace(found, center=self.center, scale=self.scale, rows=self.X, reason=reason)
        return space.basis(k, "auto", rng, share)

    def _solve(self, route: str | Solver, reason: str, k: int, rng: np.random.Generator | None) -> LinearBasis:
        data = self.data
        side = "left" if route == "dual" or (route not in LINEAR_ROUTES and data.d > data.n) else "right"
        normal = Normal(data, side)
        if route == "svd":
            found, trace = by_svd(data.toarray(), k, data.n), SolverTrace("svd", reason)
        else:
            dense = route in ("covariance", "dual")
            squares, operator = data.column_squares, Dense(normal.toarray(), positive=True) if dense else normal
            fourth = float(np.vdot(operator.A, operator.A)) if isinstance(operator, Dense) else None
            spectrum = eigen(operator, k, "auto" if dense else route, rng)
            V, trace = spectrum.vectors, replace(spectrum.trace, reason=reason)
            trace = replace(trace, solver=str(route)) if dense else trace
            if side == "left":
                self._left = V
                # If AA'u = s^2 u then A'u / s is the direction; QR takes the rounding of the large ones out of others.
                V, _ = interruptible(np.linalg.qr, data.adjoint(V))
            found = {"values": spectrum.values, "V": V, "residuals": spectrum.residuals}
            found |= {"column_squares": squares, "fourth": fourth}
        return finished(
            **found,
            k=k,
            unit=data.unit,
            n=data.weight,
            limit=self.limit,
            trace=trace,
            mean=data.mean,
            scale=data.scale,
            rows=self.X,
        )

    def _fits(self) -> bool:
        return isinstance(self.X, np.ndarray) and within_budget(24 * self.n * self.d)


def choose(n: int, d: int, k: int, solver: str | Solver, *, sparse: bool = False) -> tuple[str | Solver, str]:
    """Return the route to k components of n rows of d columns, and the reason for it."""
    if solver != "auto":
        if solver == "svd" and sparse:
            raise ValueError("solver='svd' would make sparse X dense. Use 'covariance', 'dual' or 'auto'.")
        if isinstance(solver, str) and solver not in (*LINEAR_ROUTES, *EIGEN_SOLVERS):
            known = ", ".join(["auto", *LINEAR_ROUTES, *EIGEN_SOLVERS])
            raise ValueError(f"solver={solver!r} is not known. Use one of: {known}.")
        return solver, "as asked"
    quick = SVD_MAX_MULTIPLICATIONS if k < min(n, d) else SVD_OF_ALL_MAX_MULTIPLICATIONS
    if not sparse and n * d * min(n, d) <= quick:
        return "svd", f"{n:,} x {d:,} is small"
    if d <= n and d <= DENSE_LIMIT and within_budget(24 * d**2):
        return "covariance", f"{d:,} columns, fewer than {n:,} rows"
    if n <= DENSE_LIMIT and within_budget(24 * n**2):
        return "dual", f"{n:,} rows, fewer than {d:,} columns"
    side = min(n, d)
    return "krylov", f"a {side:,} x {side:,} matrix would take {format_bytes(8 * side**2)}"


#: Routes that one or two passes over the rows allow.
STREAM_ROUTES = ("auto", "covariance", "svd")


class StreamSpace:
    """Centred (and scaled) columns of a stream.

    ``moments``: of all rows. ``triangle``: given a reason, returns the triangular factor of the centred rows, from
    another pass if need be, or raises. ``center``, ``scale``: subtract the column means; divide by the standard
    deviations.
    """

    def __init__(
        self, moments: Moments, triangle: Callable[[str], Compressed], *, center: bool = True, scale: bool = False
    ) -> None:
        self.moments, self.triangle = moments, triangle
        self.center, self.scale = center, scale
        self.limit = min(moments.d, row_count(moments.weight))

    def standardized(self) -> MomentSpace:
        """The same columns, each of unit variance, by their moments."""
        return MomentSpace(self.moments, center=self.center, scale=self.scale).standardized()

    def basis(
        self,
        rank: int | None,
        solver: str | Solver = "auto",
        rng: np.random.Generator | None = None,
        share: float | None = None,
    ) -> LinearBasis:
        """Return the leading ``rank`` components (all if None), by the moments unless digits ask for the factor."""
        if solver not in STREAM_ROUTES:
            raise ValueError(
                f"solver={solver!r} needs the rows in memory, and X is a stream. "
                f"Use one of: {', '.join(STREAM_ROUTES)}."
            )
        reason = "as asked"
        if out_of_range(self.moments):
            reason = "squares of X leave double precision"
        elif solver != "svd":
            basis = MomentSpace(self.moments, center=self.center, scale=self.scale).basis(rank, "auto", rng, share)
            if solver == "covariance" or not ill_conditioned(basis):
                return replace(basis, trace=replace(basis.trace, reason="one pass over the rows"))
            reason = f"eigenvalues span more than {1 / ILL_CONDITIONED_RATIO:.0e}"
        return self._accurate(rank, reason).reaching(share)

    def _accurate(self, rank: int | None, reason: str) -> LinearBasis:
        views = self.triangle(reason)
        unit, n, mean = float(views.units.max()), views.weight, views.mean
        A = views.rows * (views.units / unit)
        if not self.center:
            A, mean = np.vstack([A, np.sqrt(n) * (mean / unit)]), np.zeros_like(mean)
        scale = np.ones(len(mean))
        if self.scale:
            deviations = np.sqrt(np.einsum("ij,ij->j", A, A) / (n - 1))
            scale = column_scale(deviations, mean / unit) * unit
            A, unit = A * (unit / scale), 1.0
        limit = min(len(mean), row_count(n))
        k = limit if rank is None else min(rank, limit)
        return finished(
            **by_svd(A, k, n),
            k=k,
            unit=unit,
            n=n,
            limit=limit,
            trace=SolverTrace("svd", f"{reason}: orthogonal triangulation of the rows, then their singular values"),
            mean=mean,
            scale=scale,
        )


def out_of_range(moments: Moments) -> bool:
    """Whether squares of rows are so large or small that they cannot be trusted."""
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.trace(moments.scatter)) + moments.weight * float(moments.mean @ moments.mean)
    return not (SUM_OF_SQUARES_RANGE[0] < size < SUM_OF_SQUARES_RANGE[1] or size == 0)  # also if it is NaN


def moments_unresolved(
    moments: Moments, rank: int | None = None, share: float | None = None, *, center: bool, scale: bool
) -> bool:
    """Whether moments do not resolve the components that are wanted."""
    if out_of_range(moments):
        return True
    return ill_conditioned(MomentSpace(moments, center=center, scale=scale).basis(rank, share=share))
