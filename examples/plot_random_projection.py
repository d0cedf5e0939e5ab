"""
Random projection against PCA
=============================

To turn 1,000 columns into few, PCA looks for the directions in which the rows vary most. A random projection multiplies
by random numbers, whatever the rows are. With K directions almost every squared distance keeps its size up to a
relative error of a few times √(2/K), whatever the data are (Johnson and Lindenstrauss). Here rows vary strongly in
twenty directions, and each row has a neighbour that differs from it a little, in one column of twenty: such differences
matter in a search for nearest neighbours.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramian import PCA, RandomProjection
from gramian.plots.style import COLOURS, tidy

rng = np.random.default_rng(0)
d = 1000
base = rng.standard_normal((300, 20)) @ rng.standard_normal((20, d))
change = rng.standard_normal((300, d)) * (rng.random((300, d)) < 0.05)
rows = np.vstack([base, base + change])
near = np.arange(300), np.arange(300, 600)
one, other = rng.integers(0, 300, (2, 1000))
far = one[one != other], other[one != other]


def ratios(scores, pairs):
    """Return squared distances of pairs of scores over those of the rows."""
    a, b = pairs
    apart = np.sum((rows[a] - rows[b]) ** 2, axis=1)
    return np.sum((scores[a] - scores[b]) ** 2, axis=1) / apart


# %%
# Both methods for growing K. Times are of one run, and depend on the machine.

counts = np.array([5, 10, 20, 50, 200])
methods = {"PCA": PCA, "random projection": RandomProjection}
kept, seconds = {}, {}
for name, method in methods.items():
    found, seconds[name] = [], []
    for k in counts:
        start = perf_counter()
        scores = method(int(k), random_state=0).fit_transform(rows)
        seconds[name].append(perf_counter() - start)
        found.append([np.quantile(ratios(scores, pairs), [0.01, 0.5, 0.99]) for pairs in (far, near)])
    kept[name] = np.array(found)

# %%
# Lines are medians over pairs of rows, bands hold all pairs but one in a hundred at either end; 1 means an unchanged
# distance. PCA can only shrink distances. Between random rows it is exact from twenty components on, as random rows
# differ in twenty directions only; but differences of neighbours are lost, and even 200 components do not keep all of
# them. The random projection treats all pairs alike: right on average, within a band that narrows like 1/√K for any
# data. It needs no rows to be fitted.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8.4, 3.7), layout="constrained")
for at, (ax, title) in enumerate(((left, "Rows at random"), (middle, "Neighbours"))):
    for colour, style, (name, found) in zip(COLOURS, ("o-", "s--"), kept.items(), strict=False):
        low, median, high = found[:, at].T
        ax.fill_between(counts, low, high, color=colour, alpha=0.25, linewidth=0)
        ax.plot(counts, median, style, markersize=4, color=colour, label=name)
    ax.axhline(1, color="0.6", linewidth=0.8)
    ax.set_ylim(0, 2.6)
    tidy(ax, title, "components K", "" if at else "squared distance after / before")
for colour, style, times in zip(COLOURS, ("o-", "s--"), seconds.values(), strict=False):
    right.plot(counts, times, style, markersize=4, color=colour)
right.set_ylim(0)
tidy(right, "Time", "components K", "seconds")
for ax in (left, middle, right):
    ax.set_xscale("log")
    ax.set_xticks(counts, counts)
    ax.minorticks_off()
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False, fontsize=9)

pca, random = kept.values()
at_20, at_50, at_200 = 2, 3, 4
assert np.abs(pca[at_20, 0] - 1).max() < 0.01
assert pca[at_20, 1, 1] < 0.05
assert pca[at_200, 1, 1] < 0.9
assert (np.abs(random[at_50:] - 1).max(axis=(1, 2)) < 4 * np.sqrt(2 / counts[at_50:])).all()
plt.show()
