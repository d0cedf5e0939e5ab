"""
Taking noise off digits
=======================

A digit with noise is projected onto the components of clean digits and reconstructed as pixels: noise outside the
components is removed. With PCA the reconstruction is linear. With kernel PCA the projection is a point of feature space
that in general belongs to no picture. So a *pre-image* is sought, the picture whose features come nearest, in three
ways: nearest in feature space (a fixed point), by distances to clean digits, and by a map learnt from the training
scores.
"""

# %%
# 600 clean digits to learn from, 150 others with Gaussian noise, a standard deviation of 0.35 of the range of pixels.
# The Gaussian kernel is about as wide as two digits are apart.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from gramian import PCA, KernelPCA
from gramian.plots.style import colour, tidy

rng = np.random.default_rng(0)
X, digit = load_digits(return_X_y=True)
order = rng.permutation(len(X))
train, clean, digit = X[order[:600]], X[order[600:750]], digit[order[600:750]]
noisy = clean + 0.35 * 16 * rng.standard_normal(clean.shape)

kernel = "rbf(sigma=40)"
ways = {
    "PCA": lambda k: PCA(k),
    "kernel PCA, nearest": lambda k: KernelPCA(k, kernel=kernel, preimage="fixed_point"),
    "kernel PCA, distances": lambda k: KernelPCA(k, kernel=kernel, preimage="distance"),
    "kernel PCA, learnt": lambda k: KernelPCA(k, kernel=kernel, preimage="learned"),
}


def error(pictures):
    """Mean squared error of a pixel."""
    return float(np.mean((pictures - clean) ** 2))


# %%
# Each way with each number of components.

counts = [4, 8, 16, 32, 48]
errors, pictures = {name: [] for name in ways}, {"clean": clean, "noisy": noisy}
for name, model in ways.items():
    for k in counts:
        fitted = model(k).fit(train)
        found = fitted.inverse_transform(fitted.transform(noisy))
        errors[name].append(error(found))
        if k == 32:
            pictures[name] = found

figure, axes = plt.subplots(len(pictures), 10, figsize=(7, 3.9), layout="constrained")
for row, (name, images) in zip(axes, pictures.items(), strict=True):
    for ax, d in zip(row, range(10), strict=True):
        ax.imshow(images[np.flatnonzero(digit == d)[0]].reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_color("#cccccc")
    row[0].set_ylabel(name, rotation=0, ha="right", va="center")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for at, (name, values) in enumerate(errors.items()):
    ax.plot(counts, values, "os^D"[at] + "-", color=colour(at), label=name)
ax.axhline(error(noisy), color="0.6", linestyle=":", label="noisy")
ax.set(ylim=(0, 45), xticks=counts)
ax.legend(frameon=False, ncols=2, loc="upper left")
tidy(ax, "error against the number of components", "components", "mean squared error of a pixel")

# %%
# With PCA few components blur the digit, and many reproduce the noise. Kernel PCA improves with more components and
# then stays good, because its pre-images are near the clean digits of the fit. The nearest picture in feature space has
# little contrast, because noise moves points towards the mean; pre-images from distances have more. With 32 components,
# the strip above, every pre-image has little more than half of PCA's error or less.

print(f"{'components':<24}" + "".join(f"{k:>7}" for k in counts))
for name, values in errors.items():
    print(f"{name:<24}" + "".join(f"{value:>7.2f}" for value in values))
at = counts.index(32)
assert error(noisy) > 30
for name in list(ways)[1:]:
    assert errors[name][at] < 0.6 * errors["PCA"][at]
    assert min(errors[name]) < 0.9 * min(errors["PCA"])
    assert errors[name][-1] < 1.05 * min(errors[name])
assert errors["PCA"][-1] > 2 * min(errors["PCA"])
plt.show()
