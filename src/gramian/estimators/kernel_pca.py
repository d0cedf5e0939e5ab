"""Kernel principal component analysis."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from gramian import mixing
from gramian.estimators.base import Clock, ProjectionTransformer, random_generator, summarize, warn_of
from gramian.estimators.targets import KernelInput
from gramian.estimators.validation import all_or_nothing, check_components, how_many, whole_number
from gramian.estimators.warnings import RankWarning, warn
from gramian.results import Array
from gramian.spaces import KernelBasis, KernelSpace


class KernelPCA(KernelInput, ProjectionTransformer, BaseEstimator):
    r"""Principal components in the feature space of a kernel.

    Definition
    ----------
    .. math:: K_c = HKH = P \Gamma P', \qquad \text{scores } P\,\Gamma^{1/2}, \quad
              t_k(x) = \gamma_k^{-1/2}\, p_k' H (k(x) - K1/n)

    Parameters
    ----------
    n_components : int, float or None
        Number :math:`K`, up to n; a fraction takes as many as reach that share of the variance (this needs the whole
        spectrum); None takes all with a positive eigenvalue. Fewer come out, with a warning, if there are no more.
    kernel : str, Kernel or callable
        Text such as ``"rbf(sigma=2)"``, an object of :mod:`gramian.kernels`, ``"precomputed"``, or a function of two
        blocks of rows. ``"rbf"`` is the Gaussian kernel with gamma = 1 / (d var X).
    solver : str or solver object
        "auto", "dense", "krylov" (matrix-free), "power" (one by one with peeling), "randomized", or an object such as
        ``gramian.solvers.Krylov(tol=1e-4)``.
    random_state : int, Generator, RandomState or None
        Seed of the iterative solvers. None is a fixed seed.

    Attributes
    ----------
    eigenvalues_ : (K,) array
        Leading eigenvalues of the centred Gram matrix.
    explained_variance_ratio_ : (K,) array
        Their shares of its trace; of the sum of all absolute values if the kernel is not known to be positive and the
        whole spectrum was computed; absent otherwise.
    kernel_ : Kernel
        The kernel with its parameters resolved.
    summary_ : FitSummary
        What was done, and the certificate; prints as a short table.

    Cost
    ----
    Dense: n^2 kernel values and up to 9 n^3 multiplications. By products: n^2 kernel values per product and no matrix.

    References
    ----------
    Schoelkopf, Smola, Mueller, Nonlinear component analysis as a kernel eigenvalue problem, Neural Computation 1998.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from gramian import KernelPCA
    >>> X, y = make_circles(200, factor=0.3, noise=0.05, random_state=0)
    >>> scores = KernelPCA(n_components=2, kernel="rbf(sigma=0.5)").fit_transform(X)
    >>> bool((scores[y == 1, 0].mean() > 0) != (scores[y == 0, 0].mean() > 0))
    True
    """

    def __init__(
        self,
        n_components: int | float | None = None,
        *,
        kernel: Any = "rbf",
        solver: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.solver = solver
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : (n, d) array, data frame or sparse matrix
            Rows; the Gram matrix (n, n) if the kernel is precomputed.
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the components and return the training scores, without a second pass over the kernel."""
        return self._fit(X)

    @all_or_nothing
    def _fit(self, X: Any) -> Array:
        clock = Clock()
        kernel, X = self._read(X, min_samples=2)
        basis = self._basis(KernelSpace(kernel, X))
        self.projection_ = basis.projection(mixing.identity(basis))
        self.eigenvalues_ = basis.eigenvalues
        self.kernel_ = basis.kernel
        self._shares = basis.shares
        self.summary_ = summarize(self, basis, X.shape, clock, detail=str(self.kernel_))
        return basis.scores().astype(X.dtype, copy=False)

    def _basis(self, space: KernelSpace) -> KernelBasis:
        check_components(self.n_components, space.n, f"the number of rows, {space.n}")
        asked = whole_number(self.n_components)
        basis = space.basis(asked, self.solver, random_generator(self.random_state))
        if basis.rank == 0:
            raise ValueError(
                f"zero variance: the centred matrix of the kernel {basis.kernel} has rank 0, all rows look alike. "
                "Check X for identical rows, and the width of the kernel."
            )
        if asked is not None and basis.rank < asked:
            warn(
                f"n_components={asked}, but the centred matrix of the kernel {basis.kernel} has {basis.rank} positive "
                f"eigenvalues: {basis.rank} components were kept.",
                RankWarning,
            )
        warn_of(basis)
        return basis.truncate(how_many(self.n_components, basis))

    @property
    def explained_variance_ratio_(self) -> Array:
        """Shares of the variance in feature space, where they are known."""
        shares: Array | None = getattr(self, "_shares", None)
        if shares is None:
            raise AttributeError(
                "explained_variance_ratio_ is not known: the estimator is not fitted, or the kernel may be indefinite "
                "and its whole spectrum was not computed."
            )
        return shares
