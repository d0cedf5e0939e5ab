"""
Two views that share one hidden cause
=====================================

A microphone and a camera record the same scene: most of the variation is in one view only, a little is common to both.
Canonical correlation analysis finds the common part. In the first pair of views the shared cause is added to the
columns, below larger variation of each view alone. In the second it enters nonlinearly: it is the radius of a ring in
one view and the height above a parabola in the other, so that no linear combination shows it. Every model is fitted to
one half of the rows, and every picture shows the other half.
"""

import matplotlib.pyplot as plt
import numpy as np

from gramian import CCA, PCA, KernelCCA
from gramian.plots.style import tidy

rng = np.random.default_rng(0)
n = 800
cause = rng.uniform(-1, 1, n)
train, test = np.arange(n) < n // 2, np.arange(n) >= n // 2


def mixed(private):
    """Return a view of six columns: the cause, and larger things that only this view sees, mixed at random."""
    hidden = np.column_stack([cause, 3 * rng.standard_normal((n, private))])
    return hidden @ rng.standard_normal((private + 1, 6)) + 0.1 * rng.standard_normal((n, 6))


straight = mixed(3), mixed(3)
angle, position = rng.uniform(0, 2 * np.pi, n), rng.uniform(-1.5, 1.5, n)
radius = 2 + cause
ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + 0.1 * rng.standard_normal((n, 2))
parabola = np.column_stack([position, position**2 + cause]) + 0.1 * rng.standard_normal((n, 2))
bent = ring, parabola

# %%
# Four attempts: PCA of each view by itself and CCA for the linear pair, CCA and kernel CCA for the nonlinear one.


def by_pca(X, Y):
    """Return the first principal scores of both views, of the test rows."""
    return [PCA(1).fit(view[train]).transform(view[test])[:, 0] for view in (X, Y)]


def together(model, X, Y):
    """Return the first pair of canonical scores of the test rows."""
    return [scores[:, 0] for scores in model.fit(X[train], Y[train]).transform(X[test], Y[test])]


kernel_cca = KernelCCA(1, kernel="rbf(sigma=1)", ridge=0.01, folds=None)
attempts = {
    "straight cause, PCA of each view": by_pca(*straight),
    "straight cause, CCA": together(CCA(1), *straight),
    "bent cause, CCA": together(CCA(1), *bent),
    "bent cause, kernel CCA": together(kernel_cca, *bent),
}

# %%
# A point is a test row, its colour the hidden cause. On the left the two scores are unrelated: the directions of
# greatest variance belong to one view each, and no linear combination is a radius. On the right the scores of rows not
# used in the fit correlate, and their colours are in order: both scores follow the shared cause.

figure, axes = plt.subplots(2, 2, figsize=(7, 6.2), layout="constrained")
for ax, (name, (t, s)) in zip(axes.flat, attempts.items(), strict=True):
    drawn = ax.scatter(t, s, c=cause[test], s=12, cmap="cividis")
    tidy(
        ax,
        f"{name}\ncorrelation of the scores {np.corrcoef(t, s)[0, 1]:.2f}",
        "score of the first view",
        "of the second",
    )
figure.colorbar(drawn, ax=axes, label="hidden cause", shrink=0.6)

agreement = [abs(np.corrcoef(t, s)[0, 1]) for t, s in attempts.values()]
known = [abs(np.corrcoef(t, cause[test])[0, 1]) for t, _ in attempts.values()]
assert agreement[0] < 0.2
assert agreement[2] < 0.2
assert min(agreement[1], agreement[3]) > 0.8
assert min(known[1], known[3]) > 0.9
assert max(known[0], known[2]) < 0.3
plt.show()
