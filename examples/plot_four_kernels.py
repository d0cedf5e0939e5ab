"""
One data set under four kernels
===============================

The kernel defines which points are similar, and so the components of kernel PCA. Two rings of points are projected with
a quadratic kernel (a = 1, c = 0.1), a hyperbolic tangent (a = 5, c = 0.5), a Gaussian kernel (sigma = 0.3) and a thin
plate spline (c = 1). The tangent and the spline are not positive definite: their centred matrices have negative
eigenvalues, which cannot be variances. The fit counts them, warns, and keeps positive components only.
"""

# %%
# Each fit says what it found; what it warned of is printed here.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from gramian import IndefiniteKernelWarning, KernelPCA
from gramian.plots.style import colour, tidy

X, ring = make_circles(150, factor=0.3, noise=0.05, random_state=0)
kernels = {
    "quadratic": "polynomial(degree=2, scale=1, constant=0.1)",
    "tanh": "sigmoid(scale=5, constant=0.5)",
    "Gaussian": "rbf(sigma=0.3)",
    "thin plate spline": "thin_plate_spline(c=1)",
}
models, negative = {}, {}
for name, kernel in kernels.items():
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", IndefiniteKernelWarning)
        models[name] = KernelPCA(2, kernel=kernel).fit(X)
    negative[name] = models[name].summary_.facts["n_negative"]
    print(f"{name}: {said[0].message if said else 'no negative eigenvalues.'}")

# %%
# The first component as a function on the plane, by its level curves.

grid = np.stack(np.meshgrid(np.linspace(-1.4, 1.4, 120), np.linspace(-1.4, 1.4, 120)), axis=-1)
classes = [(ring == 0, "o", 0, "outer ring"), (ring == 1, "^", 1, "inner ring")]
figure, axes = plt.subplots(2, 2, figsize=(7, 7), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    heights = model.transform(grid.reshape(-1, 2))[:, 0].reshape(grid.shape[:2])
    ax.contour(grid[..., 0], grid[..., 1], heights, levels=10, cmap="viridis", linewidths=1.2)
    for rows, marker, at, _ in classes:
        ax.plot(*X[rows].T, marker, color=colour(at), markersize=4, markeredgewidth=0)
    ax.set_aspect("equal")
    tidy(ax, f"{name}, component 1", "x", "y")
    ax.label_outer()

# %%
# The projections onto the first two components.

figure, axes = plt.subplots(2, 2, figsize=(7, 6.6), layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    scores = model.transform(X)
    for rows, marker, at, label in classes:
        ax.plot(*scores[rows].T, marker, color=colour(at), markersize=4, markeredgewidth=0, label=label)
    tidy(ax, f"{name}: {negative[name] or 'none'} negative", "component 1", "component 2")
figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)

# %%
# The first component of the quadratic kernel is mostly a combination of :math:`x^2`, :math:`xy` and :math:`y^2`, that
# of the tangent close to a sigmoid along one direction: neither separates the rings. For the Gaussian kernel the first
# component is nearness to the inner ring, for the spline it is close to the distance from the centre; either of them
# tells the rings apart with one threshold. The largest eigenvalue of the spline in size is negative and belongs to the
# linear part of the plane; with ``centring=proper`` the linear part is removed, no negative eigenvalue is left, and the
# first component hardly changes.


def told_apart(scores):
    """Whether one threshold on the first component tells the rings apart."""
    outer, inner = scores[ring == 0, 0], scores[ring == 1, 0]
    return inner.min() > outer.max() or outer.min() > inner.max()


assert [name for name, model in models.items() if told_apart(model.transform(X))] == ["Gaussian", "thin plate spline"]
assert [name for name, count in negative.items() if count] == ["tanh", "thin plate spline"]
spline = models["thin plate spline"]
assert spline.summary_.facts["most_negative"] > 2 * spline.eigenvalues_[0]
proper = KernelPCA(2, kernel="thin_plate_spline(c=1, centring=proper)").fit(X)
assert proper.summary_.facts["n_negative"] == 0
assert np.corrcoef(proper.transform(X)[:, 0], spline.transform(X)[:, 0])[0, 1] > 0.999
plt.show()
