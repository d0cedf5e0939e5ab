"""
Covariance or correlation: a change of units
============================================

The height of a plant may be given in metres or in millimetres. Four measurements of a plant and three of its soil share
one latent variable, the fertility of the soil, with which height does not vary. Each method finds its first direction
twice: with heights in metres, and again with the same heights in millimetres. PCA maximises variance and PLS-SVD
covariance, which depend on units. CCA maximises correlation, which does not.
"""

import matplotlib.pyplot as plt
import numpy as np

from gramian import CCA, PCA, PLSSVD
from gramian.plots.style import COLOURS, tidy

rng = np.random.default_rng(0)
n = 200
fertility = rng.standard_normal(n)
names = ["leaves", "flowers", "seeds", "height"]
plant = fertility[:, None] * [1.0, 0.9, 0.8, 0.0] + 0.6 * rng.standard_normal((n, 4))
soil = fertility[:, None] * [0.9, 1.0, 0.8] + 0.6 * rng.standard_normal((n, 3))
units = {"metres": plant, "millimetres": plant * [1, 1, 1, 1000]}

# %%
# ``scale=False`` leaves the columns in their units; for PCA and CCA that is the default.


def first_scores(plant):
    """Return the first score of the plants by each method."""
    return {
        "PCA: variance": PCA(1).fit_transform(plant)[:, 0],
        "PLS-SVD: covariance": PLSSVD(1, scale=False).fit(plant, soil).transform(plant)[:, 0],
        "CCA: correlation": CCA(1).fit(plant, soil).transform(plant)[:, 0],
    }


def size(a, b):
    """Return the absolute correlation of two columns."""
    return abs(np.corrcoef(a, b)[0, 1])


scores = {unit: first_scores(rows) for unit, rows in units.items()}

# %%
# Bars show how strongly each measurement correlates with the first score. In metres all three methods have found the
# fertility. In millimetres the height has a million times its variance, and PCA finds the height and nothing else. For
# PLS-SVD the chance covariance of height and soil is a thousand times larger, and it finds the height, too. The scores
# of CCA are the same to rounding. Dividing by standard deviations (``scale=True``) also makes the first two independent
# of units. The scores of CCA do not change under any invertible linear map of the columns.

figure, axes = plt.subplots(1, 3, figsize=(7, 3.2), sharey=True, layout="constrained")
places = np.arange(len(names))
for ax, method in zip(axes, scores["metres"], strict=True):
    for shift, colour, (unit, rows) in zip((-0.2, 0.2), COLOURS, units.items(), strict=False):
        heights = [size(column, scores[unit][method]) for column in rows.T]
        ax.bar(places + shift, heights, 0.38, color=colour, label=f"height in {unit}")
    ax.set_xticks(places, names, rotation=30, ha="right")
    tidy(ax, method, "", "|correlation| with first score" if ax is axes[0] else "")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)

found = {unit: {method: size(t, fertility) for method, t in by.items()} for unit, by in scores.items()}
assert all(r > 0.85 for r in found["metres"].values())
assert found["millimetres"]["PCA: variance"] < 0.2
assert found["millimetres"]["PLS-SVD: covariance"] < 0.2
assert size(scores["metres"]["CCA: correlation"], scores["millimetres"]["CCA: correlation"]) > 1 - 1e-12
plt.show()
