"""
Whitening: before and after
===========================

Principal components are uncorrelated, but some vary much and others little. Whitening divides each score by its
standard deviation: an ellipsoid becomes a ball, and the covariance matrix becomes the identity. Half of the handwritten
digits are fitted and whitened here; the other half, not used in the fit, is transformed by the same map.
"""

# %%
# The fit uses odd rows; even rows are held out. Constant columns at the border have no variance; all components are
# kept that have at least a thousandth of the greatest variance.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA
from gramian.plots.style import colour, tidy

X = load_digits().data
train, test = X[1::2], X[::2]
spectrum = PCA().fit(train).explained_variance_
k = int(np.sum(spectrum > 1e-3 * spectrum[0]))
plain, white = PCA(k).fit(train), PCA(k, whiten=True).fit(train)

figure, panels = plt.subplot_mosaic(
    [["before", "after"], ["spectrum", "spectrum"]], figsize=(7, 6.4), layout="constrained"
)
for name, model in (("before", plain), ("after", white)):
    scores = model.transform(train)
    panels[name].scatter(scores[:, 0], scores[:, 19], s=8, color=colour(0), alpha=0.7, linewidths=0)
    panels[name].set_aspect("equal", adjustable="datalim")
    tidy(panels[name], f"{name} whitening", "component 1", "component 20")

at = np.arange(1, k + 1)
lines = {
    "before": plain.transform(train),
    "after": white.transform(train),
    "after, rows held out": white.transform(test),
}
for i, (name, scores) in enumerate(lines.items()):
    panels["spectrum"].semilogy(
        at, scores.var(axis=0, ddof=1), "os^"[i] + "-", color=colour(i), markersize=4, label=name
    )
panels["spectrum"].legend(frameon=False)
tidy(panels["spectrum"], "variance of each component", "component", "variance")

# %%
# Before, component 1 has sixteen times the variance of component 20; after, both have the same. The variance of every
# component is 1 to rounding for the rows of the fit and near 1 for rows held out. The disadvantage: components that are
# mostly noise now count as much as the first. Components also lose their order, because all variances are 1; so do not
# whiten before a step that needs distinct eigenvalues.

seen, new = white.transform(train), white.transform(test)
assert np.allclose(np.cov(seen.T), np.eye(k), atol=1e-10)
assert 15 < plain.explained_variance_[0] / plain.explained_variance_[19] < 17
assert 0.7 < new.var(axis=0).min() < new.var(axis=0).max() < 1.4
assert np.allclose(PCA().fit(seen).explained_variance_, 1)
plt.show()
