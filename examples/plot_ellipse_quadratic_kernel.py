"""
An ellipse under the quadratic kernel
=====================================

On the ellipse :math:`x^2 + 4y^2 = 1` the squares of the coordinates satisfy a linear equation. Written in the
coordinates :math:`[x^2, y^2]` the closed curve is a piece of a straight line, and after centring it has one dimension.
The kernel :math:`(u'v)^2`, without a constant, is the dot product of :math:`[x^2, \\sqrt{2}\\,xy, y^2]`, so its
components are combinations of these three.
"""

# %%
# Equally spaced points of the ellipse; their squares have one component with variance, and gramian says so.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from gramian import PCA, KernelPCA, RankWarning
from gramian.plots.style import colour, tidy

angle = 2 * np.pi * np.arange(200) / 200
X = np.column_stack([np.cos(angle), np.sin(angle) / 2])
x, y = X.T
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always", RankWarning)
    squares = PCA(2).fit(X**2)
print(said[0].message)

# %%
# The quadratic kernel with constant 0, all components: there are two.

model = KernelPCA(kernel="polynomial(degree=2, constant=0)").fit(X)
scores = model.transform(X)

figure, axes = plt.subplots(2, 2, figsize=(7, 6), layout="constrained")
axes[0, 0].scatter(x, y, s=10, c=x**2, cmap="viridis")
axes[0, 0].set_aspect("equal", adjustable="datalim")
tidy(axes[0, 0], "the ellipse, coloured by x²", "x", "y")
axes[0, 1].scatter(x**2, y**2, s=10, c=x**2, cmap="viridis")
tidy(axes[0, 1], "its squares: a straight line", "x²", "y²")
grid = np.stack(np.meshgrid(np.linspace(-1.2, 1.2, 160), np.linspace(-0.8, 0.8, 160)), axis=-1)
for component, (ax, name) in enumerate(zip(axes[1], ("x²", "xy"), strict=True)):
    heights = model.transform(grid.reshape(-1, 2))[:, component].reshape(grid.shape[:2])
    ax.contour(grid[..., 0], grid[..., 1], heights, levels=11, cmap="viridis", linewidths=1.2)
    ax.plot(x, y, ".", color=colour(1), markersize=3)
    tidy(ax, f"component {component + 1}: on the ellipse, {name}", "x", "y")

# %%
# The first component is :math:`x^2` on the ellipse (and :math:`y^2` with the other sign), the second is the product
# :math:`xy`; both correlations are 1 to rounding. Away from the ellipse the first one is :math:`4x^2 - y^2`, whose
# levels are hyperbolas. A third component would be :math:`x^2 + 4y^2`, which is constant here, so it has no variance
# and does not appear.


def correlation(u, v):
    """Size of the correlation of two columns."""
    return abs(np.corrcoef(u, v)[0, 1])


assert squares.explained_variance_[1] <= 1e-12 * squares.explained_variance_[0]
assert scores.shape[1] == 2
assert 1 - correlation(scores[:, 0], x**2) < 1e-12
assert 1 - correlation(scores[:, 1], x * y) < 1e-12
off = model.transform(grid.reshape(-1, 2))[:, 0]
assert 1 - correlation(off, 4 * grid[..., 0].ravel() ** 2 - grid[..., 1].ravel() ** 2) < 1e-12
plt.show()
