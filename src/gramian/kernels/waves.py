"""Random Fourier features: waves whose products are, on average, a stationary kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gramian.kernels.base import REGISTRY, Kernel, MappedKernel, require_positive
from gramian.kernels.pairwise import Rows, dot
from gramian.kernels.stationary import Stationary
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
    compares_rows = False
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
    half = -(-count // 2)
    W = kernel.frequencies(half, d, rng)
    if W is None:
        names = ", ".join(name for name, cls in REGISTRY.items() if _has_frequencies(cls))
        raise ValueError(
            f"RandomFeatures needs a kernel whose spectral measure is known ({names}, or a multiple of one), "
            f"not {kernel}. Use Landmarks, which take any positive kernel."
        )
    variance = float(kernel.diagonal(np.zeros((1, d)))[0])
    return Waves(2 * half, variance), np.concatenate([W, -W])


def _has_frequencies(cls: type[Kernel]) -> bool:
    """Whether a class knows its spectral measure, for some parameters at least."""
    if cls.frequencies is Stationary.frequencies:
        return cls.gaussian_rates is not Stationary.gaussian_rates  # type: ignore[attr-defined]
    return cls.frequencies is not Kernel.frequencies
