"""
Handwritten digits from a few components
========================================

An 8 x 8 picture of a digit is a point in 64 dimensions. PCA gives the subspace of k dimensions that is nearest to all
pictures on average; a picture is rebuilt from its k scores as the mean picture plus so much of each component. Two or
three scores can be plotted as a point. The error is known without rebuilding a picture: it is the variance of the
components left out.
"""

# %%
# All 1,797 digits; one of each kind is rebuilt from 2, 3, 5, 10, 20 and 40 components.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA
from gramian.plots import ReconstructionsDisplay, ScoresDisplay

X, digit = load_digits(return_X_y=True)
counts = [2, 3, 5, 10, 20, 40]
models = {k: PCA(k).fit(X) for k in counts}
rebuilt = {k: model.inverse_transform(model.transform(X)) for k, model in models.items()}

chosen = [np.flatnonzero(digit == d)[3] for d in range(10)]
figure, ax = plt.subplots(figsize=(7, 4.8), layout="constrained")
options = {"rows": chosen, "counts": counts, "shape": (8, 8)}
ReconstructionsDisplay.from_estimator(models[40], X, ax=ax, title="digits and what components rebuild", **options)

# %%
# The nearest plane: each digit is a point.

figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
options = {"colour": digit, "ellipses": None, "title": "digits in two dimensions"}
ScoresDisplay.from_estimator(models[2], X, ax=ax, **options)

# %%
# The nearest space of three dimensions.

scores = models[3].transform(X)
means = np.array([scores[digit == d].mean(axis=0) for d in range(10)])
figure, ax = plt.subplots(figsize=(7, 6), layout="constrained", subplot_kw={"projection": "3d"})
ScoresDisplay.from_estimator(models[3], X, components=(1, 2, 3), colour=digit, ax=ax, title="and in three")
ax.view_init(elev=12, azim=-70)

# %%
# From two components a 0, a 3, a 4 or a 6 can be guessed, from ten most digits can be read, from forty the digits look
# complete. The plane holds 29 % of the variance and mixes the digits in the middle; the third component more than
# doubles the distance from the mean of the 2s to that of the 7s. The measured errors of the rebuilt pictures equal the
# variances left out.

for k, model in models.items():
    measured = np.mean(np.sum((rebuilt[k] - X) ** 2, axis=1))
    print(f"{k:>2} components hold {model.explained_variance_ratio_.sum():.1%}, squared error {measured:.1f}")
    assert np.isclose(measured, model.reconstruction_error(), rtol=1e-10)
held = [model.explained_variance_ratio_.sum() for model in models.values()]
assert np.all(np.diff(held) > 0)
assert 0.28 < held[0] < 0.29
assert held[3] > 0.7
assert held[-1] > 0.98
between = means[2] - means[7]
assert np.linalg.norm(between) > 2 * np.linalg.norm(between[:2])
plt.show()
