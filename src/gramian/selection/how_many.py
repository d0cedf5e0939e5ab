"""How many components a table has: every criterion, what it says, and which one decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramian import criteria, registry
from gramian.config import pinned_if_small
from gramian.criteria import Suggestion, Variances, kernel_criteria
from gramian.criteria.noise_edge import DEFLATED
from gramian.criteria.random_tables import SHUFFLED
from gramian.estimators.cca import check_ridge
from gramian.estimators.cca_tests import PERMUTED, WILKS, by_permutations, by_shuffles, by_wilks
from gramian.estimators.factor_checks import refuse_constant
from gramian.estimators.kernel_rows import KernelArgument, resolve_weighted
from gramian.estimators.validation import Table, check_choice, random_generator, validate
from gramian.kernels import as_kernel
from gramian.operators import Moments, moments_of
from gramian.operators.correlation import correlation
from gramian.registry import CCA, PCA, FactorAnalysis, KernelPCA, PLSRegression, PrincipalComponentRegression
from gramian.results import Array, Matrix, Seed, html_table
from gramian.selection.printing import Compared
from gramian.spaces import LinearSpace, MomentSpace
from gramian.spaces.linear import SUM_OF_SQUARES_RANGE

#: Folds of rows, by turns: an even number, so that they also make two halves.
_ROW_FOLDS = 6
#: Columns up to which d x d matrices are formed.
MATRIX_CRITERIA_MAX_COLUMNS = 1000
#: Variance of the largest column, in units of the median one, from which on it is said.
_UNEVEN_VARIANCE_RATIO = 100
_REGRESSIONS = {"pls": PLSRegression, "pcr": PrincipalComponentRegression}
_ONE_STANDARD_ERROR = "within one standard error"
#: Criteria that need d x d matrices, without an answer, and their references.
_OF_MATRICES = (
    ("parallel analysis", None, "Horn 1965"),
    ("likelihood of rows left out", None, "Tipping, Bishop 1999"),
    ("bi-cross-validation", None, "Owen, Perry 2009"),
)


@dataclass(frozen=True)
class HowMany(Compared):
    """What the criteria say; prints as a table.

    Attributes
    ----------
    method : str
    shape : pair of ints
        Rows and columns.
    basis : str
        What was looked at: "covariance", "correlation", a kernel, or a regression.
    table : tuple of Suggestion
        Every criterion: ``criterion``, ``k`` (None where it cannot say), ``reference``, ``detail``.
    recommended : int
        What the deciding criterion says; it may be 0.
    decided_by : str
        Its name.
    note : str
        What to mind, if anything.
    """

    method: str
    shape: tuple[int, int]
    basis: str
    table: tuple[Suggestion, ...]
    recommended: int
    decided_by: str
    note: str = ""

    @property
    def spread(self) -> tuple[int, int]:
        """The least and the most that any criterion says."""
        said = [line.k for line in self.table if line.k is not None]
        return min(said), max(said)

    @property
    def answers(self) -> int:
        """How many criteria have an answer."""
        return sum(line.k is not None for line in self.table)

    def __str__(self) -> str:
        """A line for each criterion; a star marks the one that decides."""
        n, d = self.shape
        least, most = self.spread
        agree = f"criteria say {least} to {most}" if least < most else "all agree"
        agree = agree if self.answers > 1 else "no other criterion has an answer"
        foot = [f"* decides: {self.recommended}; {agree}", *([f"note: {self.note}"] if self.note else [])]
        head = f"{self.method}  {n:,} x {d:,}  {self.basis}"
        return "\n".join([head, self._text("criterion", "k", "reference", ""), *foot])

    def _repr_html_(self) -> str:
        """The same table, for notebooks."""
        n, d = self.shape
        caption = (
            f"<strong>{escape(self.method)}</strong> {n:,} x {d:,} · {escape(self.basis)} · {self.recommended}, as ★ "
            f"says, which decides{' · ' + escape(self.note) if self.note else ''}"
        )
        rows = [(f"{'★ ' if decides else ''}{name}", *rest) for decides, name, *rest in self._lines()]
        return html_table(caption, rows, ("criterion", "k", "reference", "detail"))

    def _lines(self) -> Iterable[tuple[bool, str, *tuple[str, ...]]]:
        for each in self.table:
            k = "-" if each.k is None else str(each.k)
            yield each.criterion == self.decided_by, each.criterion, k, each.reference, each.detail


def how_many(
    X: Table, method: str = "pca", *, y: ArrayLike | None = None, random_state: Seed = None, **options: Any
) -> HowMany:
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
    check_choice("method", method, tuple(COUNTED))
    record = COUNTED[method]
    if record.needs and y is None:
        what = "the second view" if record.needs == "view" else "the targets"
        raise ValueError(f"method={method!r} needs y, {what}. Give y=...")
    if not record.needs and y is not None:
        takers = ", ".join(name for name, row in COUNTED.items() if row.needs)
        raise ValueError(f"method={method!r} takes no y. Leave it out, or use one of: {takers}.")
    beside = {"y": y} if record.needs else {}
    return _COUNTERS[record.counted](X, method=method, random_state=random_state, **beside, **options)


def decide(
    method: str, shape: tuple[int, int], basis: str, table: list[Suggestion], deciders: tuple[str, ...], note: str = ""
) -> HowMany:
    """Let the first of the deciders that has an answer decide."""
    said = {line.criterion: line.k for line in table}
    for name in deciders:
        if (k := said.get(name)) is not None:
            return HowMany(method, shape, basis, tuple(table), k, name, note)
    raise ValueError(
        f"no criterion can say how many components {method} of {shape[0]} x {shape[1]} has. Give more rows."
    )


def how_many_linear(X: Matrix, *, method: str, random_state: Seed = None, scale: bool = False) -> HowMany:
    """Ask the criteria of principal components."""
    check_choice("scale", scale, (True, False))
    X = validate(PCA(), X, min_samples=4)
    seed = int(random_generator(random_state).integers(2**31))
    basis = "correlation" if scale else "covariance"
    if X.shape[1] > MATRIX_CRITERIA_MAX_COLUMNS:
        rows = LinearSpace(X, scale=scale)
        found = _variances(rows)
        why = f"not asked: {X.shape[1]:,} columns are more than {MATRIX_CRITERIA_MAX_COLUMNS:,}"
        table = [*_spectral(found), *(Suggestion(*each, why) for each in _OF_MATRICES), criteria.stands_out(rows)]
        return decide(method, X.shape, basis, table, (DEFLATED,))
    folds = [_comfortable(moments_of(X[at::_ROW_FOLDS])) for at in range(min(_ROW_FOLDS, X.shape[0]))]
    with pinned_if_small(X.shape[1] ** 3):
        moments = MomentSpace(reduce(Moments.__add__, folds), scale=scale)
        found = _variances(moments)
        units = moments.scale * (np.diag(moments.scatter) > 0)
        table = [
            *_spectral(found),
            criteria.horn(found, correlation=scale, seed=seed),
            criteria.held_out(folds, units),
            criteria.bi_cross_validation(folds, units),
            criteria.stands_out(moments),
        ]
    return decide(method, X.shape, basis, table, (DEFLATED,), "" if scale else _uneven(found.columns))


def _variances(space: LinearSpace | MomentSpace) -> Variances:
    found = Variances.of(space.basis(None))
    if not found.d:
        raise ValueError("X has zero variance: there are no components to count. Check X for identical rows.")
    return found


def _uneven(columns: Array) -> str:
    """What to mind where one column can pass for a component."""
    if columns.max() < _UNEVEN_VARIANCE_RATIO * np.median(columns):
        return ""
    return (
        f"the largest column has {columns.max() / np.median(columns):.3g} times the variance of the middle one; "
        "scale=True (--scale) puts all on one footing"
    )


def _comfortable(moments: Moments) -> Moments:
    """Refuse rows whose squares leave double precision."""
    if not np.isfinite(moments.mean).all() or not np.trace(moments.scatter) < SUM_OF_SQUARES_RANGE[1]:
        raise ValueError("the squares of X overflow double precision. Divide X by a constant.")
    return moments


def _spectral(found: Variances) -> list[Suggestion]:
    """Criteria that need the variances alone."""
    return [
        criteria.variance_share(found),
        criteria.kaiser(found),
        criteria.broken_stick(found),
        criteria.largest_gap(found.leading(), whole=True),
        criteria.velicer(found),
        criteria.gavish_donoho(found),
        criteria.minka(found),
        criteria.bic(found),
        criteria.deterministic(found),
    ]


def how_many_factors(X: Matrix, *, method: str, random_state: Seed = None) -> HowMany:
    """Ask the criteria of common factors; they look at the correlation matrix."""
    model = FactorAnalysis()
    X = validate(model, X, min_samples=4)
    seed = int(random_generator(random_state).integers(2**31))
    if X.shape[1] > MATRIX_CRITERIA_MAX_COLUMNS:
        raise ValueError(
            f"X has {X.shape[1]:,} columns; factors are counted for up to {MATRIX_CRITERIA_MAX_COLUMNS:,}. Use fewer."
        )
    moments = _comfortable(moments_of(X))
    refuse_constant(moments, model._names())
    R, n = correlation(moments)[1].R, moments.weight
    with pinned_if_small(X.shape[1] ** 3):
        found = Variances.of_matrix(R, n)
        table = [
            criteria.kaiser(found),
            criteria.broken_stick(found),
            criteria.largest_gap(found.leading(), whole=True),
            criteria.velicer(found),
            *criteria.factor_fits(R, n),
            criteria.horn(found, correlation=True, seed=seed),
            criteria.horn_factors(R, n, seed=seed),
            criteria.deterministic(found),
            criteria.deflated(found),
        ]
    return decide(method, X.shape, "correlation", table, (DEFLATED,))


def how_many_regressors(X: Matrix, *, y: ArrayLike, method: str, random_state: Seed = None, **options: Any) -> HowMany:
    """Cross-validate every number of components in one run; folds are every k-th row, nothing is random."""
    model = _REGRESSIONS[method]("auto", **options)
    path = model.cross_validate(X, y)
    folds = f"{path.folds} folds"
    error = ", ".join(f"{value:.4g}" for value in path.rmsecv[path.best])
    table = [
        Suggestion("least cross-validated error", path.best, "Stone 1974", f"{folds}, RMSECV {error}"),
        Suggestion(
            _ONE_STANDARD_ERROR, path.recommended, "Breiman et al. 1984", f"{folds}, fewest that are near the least"
        ),
    ]
    return decide(method, np.shape(X), "regression", table, (_ONE_STANDARD_ERROR,))


def how_many_pairs(X: Matrix, *, y: ArrayLike, method: str, random_state: Seed = None, **options: Any) -> HowMany:
    """Test canonical correlations, under normality and by permutations."""
    model = CCA(None, **options).fit(X, y)
    p, q = model.rank_
    ridge, rng, found = check_ridge(model.ridge), random_generator(random_state), model.all_correlations_
    rows, second = model._both(X, y)
    tested, basis = Suggestion(WILKS, None, "Rao 1952", "is for ridge = 0"), "canonical correlations"
    if any(ridge):
        permuted = by_shuffles(rows, second, found, ridge, rng, scale=model.scale)
        basis += f", ridge {model.ridge}"
    else:
        tested = Suggestion(WILKS, None, "Rao 1952", f"needs more rows than {p + q + 1}")
        if model.n_samples_ - 1 > p + q:
            tested = by_wilks(found, model.rank_, model.n_samples_)
        permuted = by_permutations(rows, second, len(found), rng)
    return decide(method, np.shape(X), basis, [tested, permuted], (PERMUTED,))


def how_many_kernel(X: Matrix, *, method: str, random_state: Seed = None, kernel: KernelArgument = "rbf") -> HowMany:
    """Compare the spectrum of the kernel matrix with those of shuffled tables."""
    named = as_kernel(kernel)
    X = validate(KernelPCA(kernel=kernel), X, min_samples=4, gram=named)
    resolved = resolve_weighted(named, X, None)
    seed = int(random_generator(random_state).integers(2**31))
    table = list(kernel_criteria(resolved, X, seed))
    return decide(method, X.shape, str(resolved), table, (SHUFFLED, "largest gap"))


#: What criteria look at -> the function that asks them.
_COUNTERS: dict[str, Callable[..., HowMany]] = {
    "variances": how_many_linear,
    "factors": how_many_factors,
    "kernel": how_many_kernel,
    "predictions": how_many_regressors,
    "correlations": how_many_pairs,
}
COUNTED = {name: record for name, record in registry.METHODS.items() if record.counted}
