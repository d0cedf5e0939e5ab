from dataclasses import dataclass

import numpy as np
import pytest

from gramian.kernels import RBF, Function, Kernel, Precomputed, parse
from gramian.kernels.base import REGISTRY
from gramian.kernels.pairwise import squared_euclidean
from gramian.kernels.stationary import Stationary
from gramian.testing import check_kernel, sample_rows

TEXTS = [
    "rbf",
    "rbf(sigma=2)",
    "rbf(sigma=median)",
    "rbf(gamma=median)",
    "rbf(gamma=1e8)",
    "laplacian",
    "laplacian(gamma=median)",
    "laplacian(gamma=0.5, norm=l2)",
    "laplacian(norm=l2)",
    "matern",
    "matern(length_scale=median, nu=0.5)",
    "matern(nu=2.5)",
    "matern(nu=inf)",
    "matern(length_scale=2, nu=0.8)",
    "rational_quadratic",
    "rational_quadratic(length_scale=2, alpha=0.3)",
    "linear",
    "polynomial",
    "polynomial(degree=2, constant=0)",
    "polynomial(degree=5, scale=0.1)",
    "quadratic",
    "sigmoid(scale=0.1)",
    "cosine",
    "thin_plate_spline",
    "thin_plate_spline(c=2)",
    "2*rbf(sigma=0.5) + linear",
    "rbf[0:2]*polynomial[1, 2]",
    "(linear + rbf)**3",
    "rbf[-1] + (linear + cosine)",
    "2*(3*rbf)*(linear*rbf)",
    "3*rbf(sigma=2)*matern(nu=2.5) + rational_quadratic**2",
]


@pytest.mark.parametrize("text", sorted({*TEXTS, *REGISTRY} - {"precomputed"}))
def test_every_kernel_obeys_the_laws(text):
    check_kernel(parse(text))


@pytest.mark.parametrize("text", sorted({*TEXTS, *REGISTRY} - {"precomputed"}))
def test_values_in_double_precision_are_those_of_rows_in_double_precision(text):
    """Rows in single precision are widened before anything is made of them."""
    X = sample_rows(20).astype(np.float32)
    wide = X.astype(np.float64)
    kernel = parse(text).resolve(wide)
    expected = kernel(wide, wide[:5])
    np.testing.assert_allclose(kernel(X, X[:5]), expected, rtol=1e-9, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(kernel.diagonal(X), kernel.diagonal(wide), rtol=1e-12)


def test_a_function_obeys_the_laws():
    check_kernel(
        Function(lambda A, B: np.asarray((A @ B.T).todense() if hasattr(A, "todense") else A @ B.T)), text=False
    )


def test_precomputed_rows_are_their_own_values():
    K = parse("rbf(sigma=1)")(sample_rows(20))
    assert np.array_equal(Precomputed().block(K, K), K)
    assert np.array_equal(Precomputed().diagonal(K), np.diag(K))


class Broken(Kernel):
    """Not symmetric: k(x, y) = x[0]."""

    name = "broken"
    has_text = False

    def pairs(self, X, Y, dtype):
        return parse("linear").pairs(X, np.full_like(Y, 1.0) * [1, 0, 0, 0], dtype)

    def diagonal(self, X):
        return X[:, 0]


@dataclass(repr=False)
class Boastful(Stationary):
    """A cosine of the distance, which rises again."""

    name = "boastful"
    has_text = False
    measure = squared_euclidean

    @property
    def positive_definite(self):
        return False

    def of(self, tile):
        return np.cos(tile)


class Crooked(RBF):
    """A Gaussian kernel with half its slope."""

    name = "crooked"
    has_text = False

    @property
    def slope(self):
        return self, -self.factor / 2


class Narrow(RBF):
    """A Gaussian kernel with the frequencies of a wider one."""

    name = "narrow"
    has_text = False

    def gaussian_rates(self, count, rng):
        return super().gaussian_rates(count, rng) / 2


@pytest.mark.parametrize(
    ("kernel", "law"), [(Boastful(), "falls"), (Crooked(sigma=1.0), "slope"), (Narrow(sigma=2.0), "waves")]
)
def test_the_laws_catch_a_kernel_that_promises_what_it_is_not(kernel, law):
    with pytest.raises(AssertionError, match=law):
        check_kernel(kernel, text=False)


def test_the_law_catches_a_kernel_that_is_not_symmetric():
    with pytest.raises(AssertionError, match="k\\(x, y\\) = k\\(y, x\\)"):
        check_kernel(Broken())
