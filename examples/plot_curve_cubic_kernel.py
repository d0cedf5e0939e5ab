"""
A curve under the cubic kernel
==============================

Points on the curve :math:`x = t`, :math:`y = 2t^2 + t^3` have one degree of freedom, but no line follows them. In the
columns :math:`y, x^2, x^3` they lie in a plane, because :math:`y = 2x^2 + x^3` is a linear relation there: PCA of these
columns finds rank 2, and the direction without variance is the equation of the curve. The kernel :math:`(u'v + 1)^3` is
the dot product of all monomials of :math:`x` and :math:`y` up to degree 3, so its components are cubic functions.
"""

# %%
# Three columns but two dimensions: PCA finds no variance along the third component, and says so.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from gramian import PCA, KernelPCA, RankWarning
from gramian.plots.style import colour, tidy

t = np.linspace(-2.1, 0.8, 120)
X = np.column_stack([t, 2 * t**2 + t**3])


def columns(points):
    """Append powers: from x, y to y, x^2, x^3."""
    x, y = points.T
    return np.column_stack([y, x**2, x**3])


with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always", RankWarning)
    plane = PCA(3).fit(columns(X))
print(said[0].message)

# %%
# PCA of the curve itself, and all components of the cubic kernel that there are.

line = PCA(2).fit(X)
cubic = KernelPCA(kernel="polynomial(degree=3, constant=1)").fit(X)
print(cubic.summary_)

# %%
# A component is a function on the plane, drawn by its level curves. PCA's line is where the component that is left out
# is zero; the same set for the three columns is a curve.

grid = np.stack(np.meshgrid(np.linspace(-2.6, 1.3, 200), np.linspace(-1, 2.6, 200)), axis=-1)
points = grid.reshape(-1, 2)
figure, axes = plt.subplots(2, 2, figsize=(7, 6.2), layout="constrained", sharex=True, sharey=True)
pictures = {
    "PCA of x, y: second component zero": (line.transform(points)[:, 1], None),
    "PCA of y, x², x³: third component zero": (plane.transform(columns(points))[:, 2], None),
    "cubic kernel: levels of component 1": (cubic.transform(points)[:, 0], cubic.transform(X)[:, 0]),
    "cubic kernel: levels of component 2": (cubic.transform(points)[:, 1], cubic.transform(X)[:, 1]),
}
for ax, (title, (heights, scores)) in zip(axes.flat, pictures.items(), strict=True):
    zero = {"levels": [0.0], "colors": colour(3), "linewidths": 2.5}
    style = zero if scores is None else {"levels": np.linspace(scores.min(), scores.max(), 12), "cmap": "viridis"}
    ax.contour(grid[..., 0], grid[..., 1], heights.reshape(grid.shape[:2]), **style)
    ax.plot(*X[::2].T, ".", color=colour(1), markersize=5)
    tidy(ax, title, "x", "y")
    ax.label_outer()

# %%
# PCA's line misses the points; the cubic passes through all of them. Its weights for :math:`y, x^2, x^3` are 1, -2, -1
# (over :math:`\sqrt 6`): the exact equation of the curve. The cubic kernel works with nine monomials, :math:`x, y, x^2,
# xy, y^2, x^3, x^2y, xy^2, y^3`. One relation holds between them, so eight components have variance, and eight are
# found; the levels of the first two bend with the curve.

relation = plane.components_[2]
assert plane.singular_values_[2] <= 1e-12 * plane.singular_values_[0]
assert plane.singular_values_[1] > 0.1 * plane.singular_values_[0]
assert np.allclose(relation / relation[0], [1, -2, -1])
assert line.explained_variance_ratio_[1] > 0.1
assert len(cubic.eigenvalues_) == 8
plt.show()
