"""
Three signals, three microphones: ICA
=====================================

Three sources play at once, and three microphones in different places record three mixtures. Neither the sources nor the
places are known. Independent component analysis undoes the mixing from one assumption: the sources are independent and
heavy-tailed, that is, near zero most of the time and large now and then, as speech and clicks are. Scores of PCA are
only uncorrelated. So is any rotation of whitened data, and PCA cannot choose the right one.
"""

import matplotlib.pyplot as plt
import numpy as np

from gramian import ICA, PCA
from gramian.plots.style import COLOURS, tidy

rng = np.random.default_rng(0)
n = 4000
time = np.arange(n) / 1000
beats = np.exp(-(((time * 1.4) % 1 - 0.3) ** 2) / 0.0008)  # a pulse, 1.4 times a second
chirp = np.sin(2 * np.pi * 40 * time) * np.exp(-(((time % 1.0) - 0.5) ** 2) / 0.01)  # a bird, once a second
crackle = rng.standard_normal(n) * (rng.random(n) < 0.03)  # scratches at random
sources = np.column_stack([beats, chirp, crackle])
sources = (sources - sources.mean(axis=0)) / sources.std(axis=0)
places = rng.standard_normal((3, 3))
recorded = sources @ places.T

# %%
# Both methods are fitted to the recordings only.

ica = ICA(3).fit(recorded)
found = {"ICA": ica.transform(recorded), "PCA": PCA(3).fit_transform(recorded)}


def agreement(scores):
    """Return the absolute correlations of scores (rows) with sources (columns)."""
    return np.abs(np.corrcoef(scores.T, sources.T)[:3, 3:])


# %%
# Each score is drawn in the colour of the source it resembles most, in its place and with its sign. ICA separates the
# pulse, the bird and the scratches. The principal components are still mixtures: the bird and the scratches are in all
# three. What no method can recover is size, sign and order of the sources, since a loud source far away sounds like a
# soft one near by.


def in_order(scores):
    """Return scores in the order of the sources they resemble, each score used once, with their signs."""
    left = np.corrcoef(scores.T, sources.T)[:3, 3:]
    ordered = np.zeros_like(scores)
    for _ in range(3):
        i, j = np.unravel_index(np.abs(left).argmax(), left.shape)
        ordered[:, j] = scores[:, i] * np.sign(left[i, j]) / scores[:, i].std()
        left[i], left[:, j] = 0, 0
    return ordered


columns = {"sources": sources, "recordings": recorded, "PCA": in_order(found["PCA"]), "ICA": in_order(found["ICA"])}
figure, axes = plt.subplots(3, 4, figsize=(8.4, 4.2), sharex=True, layout="constrained")
for column, (name, signals) in zip(axes.T, columns.items(), strict=True):
    for at, (ax, signal) in enumerate(zip(column, signals.T, strict=True)):
        ax.plot(time, signal, linewidth=0.6, color="0.3" if name == "recordings" else COLOURS[at])
        ax.set_yticks([])
        tidy(ax, name if at == 0 else "", "seconds" if at == 2 else "", "")

assert agreement(found["ICA"]).max(axis=0).min() > 0.99
assert agreement(found["PCA"]).max(axis=0).min() < 0.9
plt.show()
