"""Eigenpairs of symmetric operators: dense, block Krylov, power and subspace iteration, and what is made of them.

Only this module chooses the method, sorts eigenvalues, fixes signs, cuts the null space and computes residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from gramian import lapack
from gramian.config import format_bytes, memory_budget, one_blas_thread, within_budget
from gramian.operators import Operator, Outline
from gramian.progress import Tracker, track
from gramian.results import Array, SolverTrace, Spectrum

#: Largest matrix handed to LAPACK: beyond it memory and time are better spent on products.
DENSE_LIMIT = 10_000
#: Rows up to which LAPACK is as quick as any iteration.
LAPACK_QUICK_MAX_ROWS = 500
#: Rows up to which the whole spectrum takes a second or two.
WHOLE_SPECTRUM_MAX_ROWS = 2_000
#: Rows up to which a dense solution follows an iteration that did not converge.
DENSE_RETRY_MAX_ROWS = 4_000
#: Products at the most, where nothing else is as good, and products that are tried before a dense solution: where
#: eigenvalues are close, twelve of 1,000 rows take as long as LAPACK.
MAX_PRODUCTS, MIN_TRIED_PRODUCTS, ROWS_A_TRIED_PRODUCT = 100, 10, 80
#: Squares of larger eigenvalues, which residuals are made of, would overflow.
MAX_EIGENVALUE = 1e150


@dataclass(frozen=True)
class Raw:
    """Eigenpairs as a solver returns them: in any order, with any sign.

    ``complete``: whether the values are the whole spectrum. ``image``: ``A @ vectors`` in double precision if the
    solver has it, so that the certificate costs nothing more. ``others``: further Ritz values, without vectors.
    """

    values: Array
    vectors: Array
    products: str
    complete: bool = False
    converged: bool = True
    stopped: str = ""
    image: Array | None = None
    others: Array = field(default_factory=lambda: np.empty(0))


class Products(Protocol):
    """A symmetric matrix known by its products."""

    @property
    def n(self) -> int: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __matmul__(self, V: Array) -> Array: ...


class Solver(Protocol):
    """Finds the k algebraically largest eigenpairs of a symmetric operator."""

    name: ClassVar[str]

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        """Return at least the k largest, or all there are."""
        ...


@dataclass(frozen=True)
class Dense:
    """Form the matrix and hand it to LAPACK.

    All eigenvalues are computed: LAPACK's routines for a part of them can return no pairs and no error where
    eigenvalues coincide, as they do for a kernel near the identity.

    Cost
    ----
    About ``9 n^3``; three matrices of ``8 n^2`` bytes.
    """

    name: ClassVar[str] = "dense"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator | None = None) -> Raw:
        # Symmetric: the transpose is the same matrix in column order, which LAPACK overwrites without a copy.
        A, k = operator.toarray().T, min(k, operator.n)
        values, vectors = lapack.leading_eigenpairs(A, k, overwrite=True)
        return Raw(values[operator.n - k :], vectors, products="", complete=True, others=values[: operator.n - k])


@dataclass(frozen=True)
class Krylov:
    r"""Search the span of a block and its images for the leading eigenpairs.

    Definition
    ----------
    .. math:: Q = \mathrm{orth}[V, AV, A^2V, \dots], \qquad Q'AQ = Y \Theta Y', \quad v_k = Q y_k

    The search runs in single precision, where a product costs half; it is finished by products in double precision,
    the last of which is the certificate.

    Parameters
    ----------
    tol : float
        Largest residual ``||A v - lambda v|| / lambda`` of the wanted pairs, in double precision.
    extra : int
        Vectors in a block beyond the wanted ones.
    max_products : int
        Block products before giving up; the residuals then say how far it came.
    mixed : bool
        Search in single precision first.
    blocks : int
        Blocks kept before a restart; fewer if the memory budget asks for it.

    Cost
    ----
    Some 3 to 10 products of ``k + extra`` vectors for spectra that decay; memory for ``2 blocks (k + extra)`` vectors.
    """

    tol: float = 1e-6
    extra: int = 10
    max_products: int = MAX_PRODUCTS
    mixed: bool = True
    blocks: int = 8

    name: ClassVar[str] = "krylov"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        size = block = min(operator.n, k + self.extra)
        blocks, narrow = self.affordable(operator.n, size), 0
        # Products have threads of their own: threads of BLAS beside them would compete for the same cores.
        with one_blas_thread(), track("eigenvectors", expected=5) as tracker:
            search, start = Subspace(k, blocks * size, tracker), leading(operator.sketch(4 * size, rng), size)
            if self.mixed and operator.narrow_pays:
                # To 0.8 tol, so that one product in double precision confirms it; that product needs few spare vectors.
                search.run(operator.astype(np.float32), start, 0.8 * self.tol, self.max_products - 1)
                size = min(size, k + 2) if search.converged else size
                narrow, start = search.products, search.ritz(size)[1].astype(np.float64)
            search.run(operator, start, self.tol, self.max_products)
            theta, V, image, others = search.ritz(size)
        wide = search.products - narrow
        counts = f"{narrow} products in float32, {wide} in float64" if narrow else f"{wide} products"
        return Raw(
            theta,
            V,
            f"{counts}, {block} vectors each",
            converged=search.converged,
            stopped="" if search.converged else f"max_products={self.max_products} reached",
            image=image,
            others=others,
        )

    def affordable(self, n: int, size: int) -> int:
        """Blocks of vectors that fit the memory budget, with their images."""
        blocks = min(self.blocks, memory_budget() // (3 * 8 * n * size))
        if blocks < 3:
            raise ValueError(
                f"{size} vectors of {n:,} rows need at least {format_bytes(3 * 3 * 8 * n * size)}, over the budget of "
                f"{format_bytes(memory_budget())}. Ask for fewer components, or raise gramian.config(memory=...)."
            )
        return blocks


@dataclass
class Subspace:
    """An orthonormal basis Q that grows by blocks, with its image ``W = A Q`` and ``H = Q'AQ``."""

    k: int
    limit: int
    tracker: Tracker
    products: int = 0
    converged: bool = False
    worst: list[float] = field(default_factory=list)
    size: int = 0
    Q: Array = field(init=False)
    W: Array = field(init=False)
    H: Array = field(init=False)

    def run(self, operator: Products, block: Array, tol: float, max_products: int) -> None:
        """Multiply and extend until the k leading pairs are within ``tol``, stagnate, or products run out."""
        eps = float(np.finfo(operator.dtype).eps)
        # Blocks lie side by side; room that is never used costs nothing.
        self.Q, self.W = (np.empty((operator.n, self.limit), operator.dtype, order="F") for _ in range(2))
        self.H, self.size, self.worst, self.converged = np.empty((self.limit, self.limit)), 0, [], False
        block = orthonormalise(block.astype(operator.dtype), np.ones(block.shape[1]), self.Q[:, :0])
        while block.shape[1] and self.products < max_products:
            if self.size + block.shape[1] > self.limit:
                self._restart(max(self.limit // 2, self.k))
            rest, image = self._extend(block, operator @ block)
            theta, Y = self._pairs(self.k)
            theta = theta[: Y.shape[1]]
            # All residuals lie in what the last image adds to the basis, but for directions left out as rounding.
            errors, floor = column_norms(rest @ Y[-rest.shape[1] :]), 2 * eps * np.abs(theta[:1]).sum()
            allowed = np.maximum(tol * np.abs(theta), floor)
            if (errors <= allowed).all():
                theta, V, images, _ = self.ritz(self.k)
                errors = column_norms(images - V * theta)
                self.converged = bool((errors <= allowed).all())
            self.worst.append(float((errors / np.maximum(np.abs(theta), floor)).max(initial=0.0)))
            self.tracker.advance(self._forecast(tol))
            if self.converged or self._stagnates(eps):
                return
            block = orthonormalise(rest, column_norms(image), self.Q[:, : self.size])
        self.converged = not block.shape[1]  # nothing new to add: the span is invariant

    def _extend(self, block: Array, image: Array) -> tuple[Array, Array]:
        """Add a block and its image; return what this has outside of the basis, and itself."""
        old, self.size = self.size, self.size + block.shape[1]
        new, all_of_it = slice(old, self.size), slice(self.size)
        self.products += 1
        self.Q[:, new], self.W[:, new] = block, image
        inside = self.Q[:, all_of_it].T @ image
        self.H[all_of_it, new] = inside
        self.H[new, :old] = inside[:old].T
        self.H[new, new] = (inside[old:] + inside[old:].T) / 2
        return image - self.Q[:, all_of_it] @ inside, image

    def _restart(self, count: int) -> None:
        """Keep the leading Ritz vectors alone."""
        theta, V, images, _ = self.ritz(count)
        self.size = len(theta)
        self.Q[:, : self.size], self.W[:, : self.size] = V, images
        self.H[: self.size, : self.size] = np.diag(theta)

    def _pairs(self, count: int) -> tuple[Array, Array]:
        """All Ritz values, descending, and the leading vectors in terms of the basis."""
        theta, Y = lapack.leading_eigenpairs(self.H[: self.size, : self.size], min(count, self.size))
        return theta[::-1], Y[:, ::-1].astype(self.Q.dtype)

    def ritz(self, count: int) -> tuple[Array, Array, Array, Array]:
        """Leading Ritz values (descending), vectors, and their images; the other values."""
        theta, Y = self._pairs(count)
        count = Y.shape[1]
        return theta[:count], self.Q[:, : self.size] @ Y, self.W[:, : self.size] @ Y, theta[count:]

    def _stagnates(self, eps: float) -> bool:
        # Residuals below 1e-4 that no longer halve are rounding of single precision.
        return eps > 1e-10 and len(self.worst) > 2 and self.worst[-1] < 1e-4 and self.worst[-1] > 0.5 * self.worst[-2]

    def _forecast(self, tol: float) -> float:
        """Products expected in all, from the rate of the last two."""
        if len(self.worst) < 2 or self.worst[-1] <= 0 or self.worst[-1] >= self.worst[-2]:
            return self.products + 4
        rate = np.log(self.worst[-2] / self.worst[-1])
        return self.products + max(1.0, float(np.log(max(self.worst[-1] / tol, 1.0)) / rate)) + 1


def leading(F: Array, count: int) -> Array:
    """Leading left singular vectors of a tall factor."""
    values, Y = np.linalg.eigh(F.T @ F)
    order = np.argsort(-values)[:count]
    return F @ Y[:, order] / np.sqrt(np.maximum(values[order], np.finfo(np.float64).tiny))


def orthonormalise(V: Array, before: Array, Q: Array) -> Array:
    """Orthonormal basis of columns outside the span of ``Q``; nothing if they are nothing but rounding.

    ``before``: lengths of the columns before they were projected out of that span. Projected once more, and scaled by
    the eigenvectors of V'V before and after: only products of tall matrices, and columns that carry rounding drop out.
    """
    eps = float(np.finfo(V.dtype).eps)
    after = column_norms(V)
    kept = after > 20 * eps * before
    V = V[:, kept] / after[kept].astype(V.dtype)
    for again in (True, False):
        values, Y = np.linalg.eigh((V.T @ V).astype(np.float64))
        kept = values > 1e3 * eps * values.max(initial=0.0)
        V = V @ (Y[:, kept] / np.sqrt(values[kept])).astype(V.dtype)
        V = V - Q @ (Q.T @ V) if again else V
    return V


def column_norms(V: Array) -> Array:
    """Lengths of the columns, in double precision."""
    return np.sqrt(np.einsum("ij,ij->j", V, V, dtype=np.float64))


@dataclass(frozen=True)
class Power:
    r"""Power iteration with deflation: multiply and normalise until the component converges, project it out, repeat.

    Definition
    ----------
    .. math:: v \leftarrow (I - PP') A v / \|\cdot\|, \qquad P = \text{the components so far}

    Parameters
    ----------
    tol : float
        Residual ``||A v - lambda v|| / lambda`` at which a component is taken.
    max_iter : int
        Products per component before it is taken as it is.

    Cost
    ----
    ``log(tol) / log(lambda_2 / lambda_1)`` products of one vector per component: slow for close eigenvalues.
    """

    tol: float = 1e-10
    max_iter: int = 10_000

    name: ClassVar[str] = "power"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        n, eps = operator.n, np.finfo(np.float64).eps
        values, vectors = list[float](), list[Array]()
        largest, products, converged, stopped = 0.0, 0, True, ""
        with track("components", expected=k) as tracker:
            while sum(value > 0 for value in values) < k and len(values) < n and not stopped:
                P = np.column_stack(vectors) if vectors else np.empty((n, 0))
                v = _project_out(rng.standard_normal(n), P)
                v /= np.linalg.norm(v)
                for _ in range(self.max_iter):
                    w = _project_out((operator @ v[:, None])[:, 0], P)
                    products += 1
                    value, length = float(v @ w), float(np.linalg.norm(w))
                    largest = max(largest, length)
                    if length <= n * eps * largest:
                        stopped = "the rest is null space"
                        break
                    if np.linalg.norm(w - value * v) <= max(self.tol * abs(value), 50 * eps * largest):
                        break
                    v = w / length
                else:
                    converged = False
                if not stopped:
                    values.append(value)
                    vectors.append(v)
                    tracker.advance(k)
        return Raw(
            np.array(values),
            np.column_stack([v / np.linalg.norm(v) for v in vectors]) if vectors else np.empty((n, 0)),
            f"{products} products of one vector",
            converged=converged,
            stopped=stopped or ("" if converged else f"max_iter={self.max_iter} reached"),
        )


def _project_out(v: Array, P: Array) -> Array:
    """Project out the columns of ``P``; twice, because once leaves rounding."""
    for _ in range(2):
        v = v - P @ (P.T @ v)
    return v


@dataclass(frozen=True)
class Randomized:
    r"""Multiply a random block until the wanted eigenpairs have settled.

    Definition
    ----------
    .. math:: Q \leftarrow \mathrm{orth}(A Q), \qquad Q'AQ = Y \Theta Y', \quad V = QY

    Parameters
    ----------
    tol : float
        Largest residual ``||A v - lambda v|| / lambda`` of the wanted pairs.
    oversampling : int
        Columns beyond the wanted ones.
    max_iter : int
        Products before giving up; the residuals then say how far it came.

    Cost
    ----
    One product of ``k + oversampling`` vectors per iteration; the error falls by ``lambda_{k+p} / lambda_k`` each time.
    """

    tol: float = 1e-8
    oversampling: int = 10
    max_iter: int = 300

    name: ClassVar[str] = "randomized"

    def solve(self, operator: Operator, k: int, rng: np.random.Generator) -> Raw:
        size = min(operator.n, k + self.oversampling)
        Q = np.linalg.qr(rng.standard_normal((operator.n, size)))[0]
        floor, shift, wanted = 50 * np.finfo(np.float64).eps, 0.0, slice(size - k, size)
        with track("eigenvectors", expected=20) as tracker:
            for products in range(1, self.max_iter + 1):
                W = operator @ Q
                theta, Y = np.linalg.eigh((Q.T @ W + W.T @ Q) / 2)
                V, image = Q @ Y, W @ Y
                errors = np.linalg.norm(image[:, wanted] - V[:, wanted] * theta[wanted], axis=0)
                allowed = np.maximum(self.tol * np.abs(theta[wanted]), floor * np.abs(theta).max())
                tracker.advance(max(20, products + 1))
                converged = bool((errors <= allowed).all())
                if converged:
                    break
                # The iteration converges to the largest magnitudes; a shift makes large negative values small.
                shift = max(shift, -float(theta[0]))
                Q = np.linalg.qr(image + shift * V)[0]
        return Raw(
            theta,
            V,
            f"{products} products of {size} vectors",
            converged=converged,
            stopped="" if converged else f"max_iter={self.max_iter} reached",
            image=image,
        )


EIGEN_SOLVERS: dict[str, type] = {solver.name: solver for solver in (Dense, Krylov, Power, Randomized)}


def eigen(
    operator: Operator,
    k: int,
    solver: str | Solver = "auto",
    rng: np.random.Generator | None = None,
    count: Callable[[Array], int] | None = None,
) -> Spectrum:
    """Return the k largest eigenpairs of a symmetric operator that are positive.

    ``operator``: symmetric, n x n. ``k``: pairs wanted; fewer come back if the operator has fewer positive eigenvalues.
    ``solver``: "auto", "dense", "krylov", "power", "randomized", or an object such as ``Krylov(tol=1e-10)``. ``rng``:
    source of starting vectors. ``count`` says how many of them are wanted, once their values are known.
    """
    chosen, reason = choose_eigen_solver(operator, k, solver)
    with np.errstate(over="ignore", invalid="ignore"):  # arrange raises if anything overflowed
        if isinstance(chosen, Dense):  # it draws nothing, and to make a generator takes 12 us
            raw = chosen.solve(operator, min(k, operator.n))
        else:
            raw = chosen.solve(operator, min(k, operator.n), rng or np.random.default_rng(0))
    if solver == "auto" and not raw.converged and _fits(operator.n) and operator.n <= DENSE_RETRY_MAX_ROWS:
        reason = f"{chosen.name} did not settle in {raw.products}"
        chosen = Dense()
        raw = chosen.solve(operator, k, np.random.default_rng(0))
    trace = SolverTrace(chosen.name, reason, raw.products, raw.converged, raw.stopped)
    return arrange(operator, raw, k, trace, count)


def choose_eigen_solver(operator: Operator | Outline, k: int, solver: str | Solver) -> tuple[Solver, str]:
    """Return a solver and the reason for it."""
    n, size = operator.n, 8 * operator.n**2
    if not isinstance(solver, str):
        return solver, "as asked"
    if solver == "auto":
        fits = _fits(n)
        if fits and n <= LAPACK_QUICK_MAX_ROWS:
            return Dense(), f"a {n:,} x {n:,} matrix is small"
        if fits and k > n // 10:
            return Dense(), f"{k:,} of {n:,} components are many"
        if fits and n <= WHOLE_SPECTRUM_MAX_ROWS and not operator.positive:
            return Dense(), "the whole spectrum tells how indefinite the kernel is"
        if fits:
            tried = max(MIN_TRIED_PRODUCTS, n // ROWS_A_TRIED_PRODUCT) if n <= DENSE_RETRY_MAX_ROWS else MAX_PRODUCTS
            reason = f"for {k} of {n:,} components a few products are quicker than a factorisation"
            return _krylov(operator, tried), reason
        over = f", the budget is {format_bytes(memory_budget())}" if not within_budget(3 * size) else ""
        return _krylov(operator), f"matrix-free: the {n:,} x {n:,} matrix would take {format_bytes(size)}{over}"
    if solver not in EIGEN_SOLVERS:
        known = ", ".join(["auto", *EIGEN_SOLVERS])
        raise ValueError(f"solver={solver!r} is not known. Use one of: {known}.")
    if solver == "dense" and not _fits(n):
        raise ValueError(
            f"solver='dense' needs {format_bytes(3 * size)} for a {n:,} x {n:,} matrix (budget "
            f"{format_bytes(memory_budget())}, largest n {DENSE_LIMIT:,}). Use solver='auto', which forms no matrix."
        )
    return (_krylov(operator) if solver == "krylov" else EIGEN_SOLVERS[solver]()), "as asked"


def arrange(
    operator: Operator, raw: Raw, k: int, trace: SolverTrace, count: Callable[[Array], int] | None = None
) -> Spectrum:
    """Sort, cut the null space and what is negative, and certify what is left."""
    if not np.isfinite(raw.values).all() or np.abs(raw.values).max(initial=0.0) > MAX_EIGENVALUE:
        raise ValueError("the spectrum overflows double precision. Divide X by a constant, or standardise its columns.")
    order = np.argsort(-raw.values, kind="stable")
    values = raw.values[order]
    k = k if count is None else min(k, count(values))
    met = np.concatenate([values, raw.others])
    null = null_tolerance(operator.n, np.abs(met).max(initial=0.0))
    kept = order[: min(k, int((values > null).sum()))]
    negative = met[met < -null]
    if len(negative) and operator.positive:
        negative = negative[negative < -operator.rounding]
    V = np.ascontiguousarray(raw.vectors[:, kept])
    image = raw.image[:, kept] if raw.image is not None else operator @ V
    return Spectrum(
        values=raw.values[kept],
        vectors=V,
        residuals=residuals(image, V, raw.values[kept]),
        trace=trace,
        n_negative=len(negative),
        most_negative=float(-negative.min()) if len(negative) else 0.0,
        absolute_sum=float(np.abs(met).sum()) if raw.complete else None,
        null=raw.vectors[:, order[len(kept) : k]] if raw.complete and len(kept) < k else None,
    )


def residuals(image: Array, vectors: Array, values: Array) -> Array:
    """Certificate ``||A v - lambda v|| / lambda`` of each pair."""
    return np.linalg.norm(image - vectors * values, axis=0) / np.where(values > 0, values, 1.0)


def null_tolerance(n: int, largest: float) -> float:
    """Below this an eigenvalue cannot be told from zero."""
    return n * np.finfo(np.float64).eps * largest


def _krylov(operator: Operator | Outline, most: int = MAX_PRODUCTS) -> Krylov:
    # Where single precision is no cheaper, a tolerance of 1e-10 costs one or two more products, and spare vectors as
    # much as the wanted ones, as entries are read and not made: six are as quick as ten, or quicker.
    narrow = operator.narrow_pays
    return Krylov(max_products=most) if narrow else Krylov(tol=1e-10, extra=6, mixed=False, max_products=most)


def _fits(n: int) -> bool:
    # Three times the matrix: itself, its eigenvectors, and LAPACK's work space.
    return n <= DENSE_LIMIT and within_budget(3 * 8 * n**2)
