"""Take the noise off handwritten digits: PCA against kernel PCA at the same number of components.

Run as ``python examples/denoise_digits.py strip.png``. The models see clean digits; new digits with Gaussian noise are
projected and led back to pixels. Printed: mean squared errors. Drawn: clean, noisy, PCA, kernel PCA two ways. The row
nearest in feature space is a little pale, for noise takes points towards the mean; distances keep more of the ink.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_digits
from sklearn.decomposition import KernelPCA as SklearnKernelPCA

from gramian import PCA, KernelPCA

#: Pixels run from 0 to 16; the width is about the distance of two digits.
RANGE, SIGMA = 16.0, 40.0
NOISE = 0.35
#: What the strip shows, and with how many components.
DRAWN, COMPONENTS = ("PCA", "kernel PCA", "  by distances"), 32


def models(k):
    """Return the contestants with k components each."""
    kernel = f"rbf(sigma={SIGMA})"
    gamma = 1 / (2 * SIGMA**2)
    return {
        "PCA": PCA(k),
        "kernel PCA": KernelPCA(k, kernel=kernel),
        "  by distances": KernelPCA(k, kernel=kernel, preimage="distance"),
        "  by a learned map": KernelPCA(k, kernel=kernel, preimage="learned"),
        "scikit-learn": SklearnKernelPCA(k, kernel="rbf", gamma=gamma, fit_inverse_transform=True, alpha=5e-3),
    }


def digits(n_train, n_test, seed=0):
    """Return clean digits to learn from, clean ones to compare with and their labels, and the latter with noise."""
    data, labels = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(data))
    train, test = order[:n_train], order[n_train : n_train + n_test]
    noisy = data[test] + NOISE * RANGE * rng.standard_normal((n_test, data.shape[1]))
    return data[train], data[test], labels[test], noisy


def error(rows, clean):
    """Return the mean squared error of a pixel."""
    return float(np.mean((rows - clean) ** 2))


def strip(pictures, labels):
    """Draw one row for each kind of picture, one column for each digit."""
    chosen = [np.flatnonzero(labels == digit)[0] for digit in np.unique(labels)]
    figure = Figure(figsize=(0.75 * len(chosen) + 1.3, 0.78 * len(pictures)), layout="constrained")
    axes = figure.subplots(len(pictures), len(chosen), squeeze=False)
    for row, (name, images) in zip(axes, pictures.items(), strict=True):
        for place, index in zip(row, chosen, strict=True):
            place.imshow(images[index].reshape(8, 8), cmap="gray_r", vmin=0, vmax=RANGE)
            place.set(xticks=[], yticks=[])
        row[0].set_ylabel(name, rotation=0, ha="right", va="center")
    return figure


def main(path="denoise_digits.png", counts=(8, 16, 32, 48), n_train=1200, n_test=400):
    """Print the table of errors, write the strip of images, and return the errors."""
    train, clean, labels, noisy = digits(n_train, n_test)
    print(f"noise of standard deviation {NOISE:.2f} of the range: mean squared error {error(noisy, clean):.1f}")
    print(f"{'components':<20}" + "".join(f"{k:>8}" for k in counts))
    errors, pictures = {}, {"clean": clean, "noisy": noisy}
    for name in models(counts[0]):
        for k in counts:
            model = models(k)[name].fit(train)
            rows = model.inverse_transform(model.transform(noisy))
            errors[name, k] = error(rows, clean)
            if k == min(counts, key=lambda count: abs(count - COMPONENTS)) and name in DRAWN:
                pictures[name.strip()] = rows
        print(f"{name:<20}" + "".join(f"{errors[name, k]:>8.2f}" for k in counts))
    strip(pictures, labels).savefig(Path(path), dpi=150)
    print(f"picture    {path}")
    return errors


if __name__ == "__main__":
    main(*sys.argv[1:2])
