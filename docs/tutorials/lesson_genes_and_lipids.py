"""
Genes and lipids
================

Forty mice, half of them with a gene knocked out, on five diets. In their livers 120 genes and 21 fatty acids were
measured. What do the two tables have in common? There are more columns than mice, so canonical correlations overfit.
"""

# %%
# Two views
# ---------

import warnings

import matplotlib.pyplot as plt
import numpy as np

from gramian import CCA, PLSCanonical, RankWarning
from gramian.tables import read_table

folder = "../../examples/data"  # seen from this script

genes, lipids = read_table(f"{folder}/nutrimouse_gene.csv"), read_table(f"{folder}/nutrimouse_lipid.csv")
diet = np.array(read_table(f"{folder}/nutrimouse_diet.csv", columns=[], labels=["diet"]).labels["diet"])
X, Y = genes.values, lipids.values
print(X.shape, Y.shape, *sorted(set(diet)))

# %%
# The trap
# --------
# Canonical correlation without a ridge finds perfect correlation, whatever the tables are. It says so:

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    trap = CCA(2).fit(X, Y)
print(trap.correlations_, "|", str(caught[0].message))

# %%
# It also finds it for lipids of other mice. So a correlation of training rows proves nothing here.

shuffled = Y[np.random.default_rng(0).permutation(len(Y))]
with warnings.catch_warnings():
    warnings.simplefilter("ignore", RankWarning)
    print(CCA(1).fit(X, shuffled).correlations_)


# %%
# A ridge, chosen on mice held out
# --------------------------------
# For each ridge: leave out every fifth mouse in turn, fit the others, and correlate the scores of those left out.


def held_out(model, X, Y, folds=5):
    """Correlation of the first pair of scores on rows that were not fitted."""
    u, v = np.empty(len(X)), np.empty(len(X))
    for fold in range(folds):
        out = np.arange(len(X)) % folds == fold
        scores = model.fit(X[~out], Y[~out]).transform(X[out], Y[out])
        u[out], v[out] = scores[0][:, 0], scores[1][:, 0]
    return np.corrcoef(u, v)[0, 1]


ridges = [0.03, 0.1, 0.3, 1.0, 3.0, 10.0]
curves = {
    "mice as they are": [held_out(CCA(1, ridge=r, scale=True), X, Y) for r in ridges],
    "lipids of other mice": [held_out(CCA(1, ridge=r, scale=True), X, shuffled) for r in ridges],
    "training rows": [CCA(1, ridge=r, scale=True).fit(X, Y).score_correlations_[0] for r in ridges],
}
figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
for name, curve in curves.items():
    axes.plot(ridges, curve, marker="o", label=name)
axes.set(xscale="log", xlabel="ridge", ylabel="correlation of the first pair")
axes.axhline(0, color="0.6", linewidth=1)
axes.legend(frameon=False)

# %%
# Correlations of training rows are above 0.9 for every ridge and tell nothing. Correlations of mice held out are high
# only for the true pairing. (The value at the best ridge is slightly optimistic, since the ridge was chosen by it.)

best = ridges[int(np.argmax(curves["mice as they are"]))]
model = CCA(2, ridge=best, scale=True).fit(X, Y)
print(f"ridge {best}: held out {max(curves['mice as they are']):.2f}")
print(model.summary_)

# %%
# What goes together
# ------------------
# Interpret a pair by the correlations of columns with the scores of their own view. Weights of strongly correlated
# genes are arbitrary.

for view, names, structure in (
    ("genes", genes.columns, model.x_structure_[:, 0]),
    ("lipids", lipids.columns, model.y_structure_[:, 0]),
):
    top = np.argsort(-np.abs(structure))[:6]
    print(f"{view:<7}" + ", ".join(f"{names[j]} {structure[j]:+.2f}" for j in top))

# %%
# And the mice, by diet:

scores = model.transform(X)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
for name in sorted(set(diet)):
    axes.plot(*scores[diet == name].T, "o", label=name)
axes.set(xlabel="first pair, genes", ylabel="second pair, genes")
axes.legend(frameon=False)

# %%
# An alternative maximises covariance in place of correlation. Partial least squares needs no ridge, and prefers
# directions of large variance.

other = PLSCanonical(2).fit(X, Y)
print(other.summary_)
for name, lipid in (("mice as they are", Y), ("lipids of other mice", shuffled)):
    print(f"{name:<21} held out {held_out(PLSCanonical(1), X, lipid):.2f}")
