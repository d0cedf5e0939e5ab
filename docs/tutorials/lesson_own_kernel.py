"""
A kernel of your own
====================

Points on a circle: hours of a day, directions of the wind, days of the year. Eleven at night is near one in the
morning, but the numbers 23 and 1 are far apart. This page makes a kernel for such data, tests it, and uses it in a
regression.
"""

# %%
# The question
# ------------
# Temperature on 250 days, with noise. The day of the year is all there is to predict from.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV

from gramian import KernelRidge
from gramian.kernels import parse
from gramian.kernels.base import require_positive
from gramian.kernels.dot_product import DotProduct
from gramian.testing import check_kernel

rng = np.random.default_rng(3)
day = np.sort(rng.uniform(0, 365, 250))


def truth(t):
    """Mean temperature on a day: a wave for the year, and one for the seasons."""
    return 10 - 9 * np.cos(2 * np.pi * (t - 20) / 365) + 2 * np.sin(4 * np.pi * t / 365)


temperature = truth(day) + 1.5 * rng.standard_normal(len(day))

# %%
# A function is enough
# --------------------
# The distance of two points on a circle is the chord. With :math:`r^2 = 2 - 2\cos(2\pi (s - t)/p)` a Gaussian of it is
# positive definite, because it is a Gaussian of points in the plane:
#
# .. math:: k(s, t) = \exp\left(-\frac{1 - \cos(2\pi (s - t)/p)}{\sigma^2}\right)
#
# An estimator takes any function of two blocks of rows that returns a block of similarities.


def circular(S, T, period=365.0, sigma=0.5):
    """Similarity of days of the year, for blocks of rows."""
    return np.exp(-(1 - np.cos(2 * np.pi * (S - T.T) / period)) / sigma**2)


model = KernelRidge(0.5, kernel=circular).fit(day[:, None], temperature)
print(model.summary_)

# %%
# The year has no end
# -------------------
# A Gaussian kernel of the day numbers treats 31 December and 1 January as the two most different days.

plain = KernelRidge(0.5, kernel="rbf(sigma=29)").fit(day[:, None], temperature)
t = np.linspace(0, 365, 200)
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
axes.plot(day, temperature, ".", color="0.7", markersize=4)
axes.plot(t, truth(t), color="0.3", linestyle=":", label="truth")
for name, fitted in (("circular", model), ("Gaussian", plain)):
    curve = fitted.predict(t[:, None])
    axes.plot(t, curve, label=name)
    print(f"{name:<9} step at the turn of the year: {abs(curve[-1] - curve[0]):.2f} degrees")
axes.set(xlabel="day of the year", ylabel="temperature")
axes.legend(frameon=False)


# %%
# A class has more
# ----------------
# Parameters with names, text, sums with other kernels, tiles under a memory budget. A kernel of the library is a
# distance or a dot product, and a scalar map of it. Days as points of the unit circle have :math:`x'y = \cos(2\pi (s
# - t)/p)`: the kernel is an exponential of the dot product, named after von Mises, with concentration :math:`\kappa =
# 1/\sigma^2`.


@dataclass(repr=False)
class VonMises(DotProduct):
    r"""Exponential of the dot product; for rows of length 1, of the cosine of the angle between them.

    Definition
    ----------
    .. math:: k(x, y) = \exp(\kappa\,(x'y - 1))
    """

    concentration: float = 4.0

    name = "von_mises"

    def check(self):
        """Refuse a concentration that is none."""
        require_positive(self, concentration=self.concentration)

    @property
    def factor(self):
        """Multiplied into the dot product at no cost."""
        return self.concentration

    def of(self, tile):
        """The map, in place on a tile."""
        tile -= self.concentration
        return np.exp(tile, out=tile)


def plane(days, period=365.0):
    """Days of the year as points on the circle."""
    angle = 2 * np.pi * np.asarray(days) / period
    return np.column_stack([np.cos(angle), np.sin(angle)])


# %%
# The laws: symmetry, diagonal, tiles, single precision, sparse rows, parameters, text, definiteness. They raise an
# error if one is broken.

check_kernel(VonMises(concentration=0.7))
check_kernel(parse("2*von_mises(concentration=0.3) + linear"))
print(parse("2*von_mises(concentration=0.3) + linear"))

# %%
# Both are the same function:

print(np.allclose(VonMises(concentration=4.0)(plane(day)), circular(day[:, None], day[:, None])))

# %%
# And a search
# ------------
# The parameter is named after the field of the class.

grid = {"kernel__concentration": [0.1, 0.5, 2.0, 8.0], "ridge": [0.02, 0.1, 0.5, 2.0]}
order = rng.permutation(len(day))
search = GridSearchCV(KernelRidge(kernel=VonMises()), grid, scoring="neg_root_mean_squared_error", cv=5)
search.fit(plane(day)[order], temperature[order])
print(search.best_params_)
errors = -search.cv_results_["mean_test_score"].reshape(4, 4)
print("least error of each concentration:", *errors.min(axis=1).round(3))
off = np.sqrt(np.mean((search.predict(plane(t)) - truth(t)) ** 2))
print(f"cross-validated error {-search.best_score_:.2f} (the noise is 1.5), distance to the truth {off:.2f}")

# %%
# The best pair is at the edge of the grid, and a wider grid would move it on: where concentration and ridge shrink
# together, the error hardly changes. All such pairs predict about equally well, so the best one means nothing by
# itself.

# %%
# To make it part of the library, move the class to ``src/gramian/kernels/dot_product.py`` and add its name to
# ``__all__`` there: see :doc:`/extend/kernel`.
