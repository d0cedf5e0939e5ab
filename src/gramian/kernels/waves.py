"""Random Fourier features: waves whose products are, on average, a stationary kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.kernels.algebra import Scaled
from gramian.kernels.base import Kernel, MappedKernel, require_positive
from gramian.kernels.pairwise import Rows, dot
from gramian.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic
from gramian.lapack import interruptible
from gramian.results import Array


@dataclass(repr=False)
class Waves(MappedKernel):
    r"""Features of rows rather than similarities: the second argument holds frequencies.

    Definition
    ----------
    .. math:: f_j(x) = \sqrt{v / D}\,(\cos w_j'x + \sin w_j'x)

    With frequencies in pairs w, -w the products :math:`f(x)'f(y)` are :math:`v/D \sum_j \cos w_j'(x - y)`: no phases
    need be kept, and :math:`f(x)'f(x) = v` exactly.

    Parameters
    ----------
    count : int
        Number D of frequencies, both signs counted.
    variance : float
        v, the similarity of a row to itself.

    Cost
    ----
    One matrix product and one cosine per row and frequency.
    """

    count: int
    variance: float = 1.0

    name = "waves"
    has_text = False
    measure = dot

    def check(self) -> None:
        require_positive(self, count=self.count, variance=self.variance)

    @property
    def positive_definite(self) -> bool:
        return False  # not a similarity of two rows at all

    def diagonal(self, X: Rows) -> Array:
        return np.full(X.shape[0], float(self.variance))

    def of(self, tile: Array) -> Array:
        tile -= tile.dtype.type(np.pi / 4)  # cos t + sin t = sqrt(2) cos(t - pi/4)
        np.cos(tile, out=tile)
        tile *= tile.dtype.type((2 * self.variance / self.count) ** 0.5)
        return tile


def random_waves(kernel: Kernel, d: int, count: int, rng: np.random.Generator) -> tuple[Waves, Array]:
    r"""Draw frequencies from the spectral measure of a stationary kernel; return the features and the frequencies.

    Directions are orthogonal in groups of d, which makes the error smaller than that of independent ones; lengths have
    the distribution the kernel asks for. A city-block Laplacian has independent Cauchy entries instead.

    References
    ----------
    Yu, Suresh, Choromanski, Holtmann-Rice, Kumar, Orthogonal random features, NIPS 2016.
    """
    variance, inner = 1.0, kernel
    while isinstance(inner, Scaled):
        variance, inner = variance * float(inner.weight), inner.kernel
    half = -(-count // 2)
    W = _frequencies(inner, half, d, rng)
    if W is None:
        raise ValueError(
            f"RandomFeatures needs a kernel whose spectral measure is known (rbf, laplacian, matern, "
            f"rational_quadratic, or a multiple of one), not {kernel}. Use Landmarks, which take any positive kernel."
        )
    return Waves(2 * half, variance), np.concatenate([W, -W])


def _frequencies(kernel: Any, count: int, d: int, rng: np.random.Generator) -> Array | None:
    if isinstance(kernel, Laplacian) and kernel.norm == "l1":
        return float(kernel.gamma) * rng.standard_cauchy((count, d))
    stretch = _stretch(kernel, count, rng)
    if stretch is None:
        return None
    lengths = np.sqrt(rng.chisquare(d, count)) * stretch
    return lengths[:, None] * _directions(count, d, rng)


def _stretch(kernel: Any, count: int, rng: np.random.Generator) -> Array | None:
    """What frequencies are in units of standard Gaussian ones: the kernel is a mixture of Gaussian kernels."""
    if isinstance(kernel, RBF):
        return np.full(count, np.sqrt(-2 * kernel.factor))
    if isinstance(kernel, Laplacian):
        return float(kernel.gamma) / np.sqrt(rng.chisquare(1, count))
    if isinstance(kernel, Matern):
        if np.isinf(kernel.nu):
            return np.full(count, 1 / float(kernel.length_scale))
        return np.sqrt(2 * kernel.nu / rng.chisquare(2 * kernel.nu, count)) / float(kernel.length_scale)
    if isinstance(kernel, RationalQuadratic):
        return np.sqrt(rng.gamma(kernel.alpha, 1 / kernel.alpha, count)) / float(kernel.length_scale)
    return None


def _directions(count: int, d: int, rng: np.random.Generator) -> Array:
    """Unit vectors, orthogonal in groups of d, each uniform on the sphere."""
    groups = [interruptible(np.linalg.qr, rng.standard_normal((d, d))) for _ in range(-(-count // d))]
    # Signs of the triangular factor make the orthogonal one uniform.
    return np.concatenate([(Q * np.sign(T.diagonal())).T for Q, T in groups])[:count]
