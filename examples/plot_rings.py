"""
Kernel k-means on rings
=======================

K-means gives each point to the nearest centre, so its clusters are separated by straight lines, which cut through the
rings. Kernel k-means does the same in the feature space of a kernel, where a centre is the mean of the features of its
points and need not be the image of any point. It needs similarities only. The width of the Gaussian kernel sets the
distance at which points count as similar, and so the clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from gramian import KernelKMeans
from gramian.plots.style import COLOURS, tidy

X, ring = make_circles(400, factor=0.4, noise=0.06, random_state=0)
kernels = {
    "linear kernel": "linear",
    "Gaussian, too wide (1)": "rbf(sigma=1)",
    "Gaussian, fitting (0.35)": "rbf(sigma=0.35)",
    "Gaussian, too narrow (0.1)": "rbf(sigma=0.1)",
}
models = {name: KernelKMeans(2, kernel=kernel, random_state=0).fit(X) for name, kernel in kernels.items()}


def agreement(labels):
    """Return the share of points in the cluster of their ring; clusters have no names, so the better way round."""
    share = np.mean(labels == ring)
    return max(share, 1 - share)


# %%
# Regions show the clusters of new points. With the linear kernel, which is plain k-means, each cluster has half of
# either ring. Under a Gaussian kernel as wide as the rings all points are similar, and clusters are as with the linear
# kernel. At 0.35, about half of the gap between the rings, points of one ring are connected through their neighbours,
# and the rings are separated without error. At 0.1 a point resembles only the few next to it, and a cluster is an arc.
# The objective says which clusters are best under a kernel, not which kernel is best: it falls as kernels widen.

steps = [np.linspace(-1.4, 1.4, 200)] * 2
grid = np.stack(np.meshgrid(*steps), axis=-1)
figure, axes = plt.subplots(2, 2, figsize=(6.4, 6.6), sharex=True, sharey=True, layout="constrained")
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    # The cluster of the first point of the inner ring has the second colour in every picture.
    first = model.labels_[ring == 1][0]
    labels = np.where(model.labels_ == first, 1, 0)
    regions = np.where(model.predict(grid.reshape(-1, 2)) == first, 1, 0).reshape(grid.shape[:2])
    ax.contourf(*steps, regions, levels=[-0.5, 0.5, 1.5], colors=COLOURS[:2], alpha=0.2)
    for cluster, marker in ((0, "o"), (1, "^")):
        ax.scatter(*X[labels == cluster].T, s=10, color=COLOURS[cluster], marker=marker)
    ax.set_aspect("equal")
    tidy(
        ax,
        f"{name}\n{100 * agreement(model.labels_):.0f} % of points with their ring",
        "first column" if ax in axes[1] else "",
        "second column" if ax in axes[:, 0] else "",
    )

found = {name: agreement(model.labels_) for name, model in models.items()}
assert found["Gaussian, fitting (0.35)"] == 1
assert max(found["linear kernel"], found["Gaussian, too wide (1)"]) < 0.6
assert found["Gaussian, too narrow (0.1)"] < 0.8
plt.show()
