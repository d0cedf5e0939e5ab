"""The 60,000 handwritten digits of MNIST: tune, train on all, test; scikit-learn's SVC on a tenth beside it.

``GRAMIAN_DATA=folder python -m benchmarks.mnist`` or ``python -m benchmarks.mnist folder``, where the folder (or its
``mnist`` subfolder) holds the four files ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz``,
``t10k-images-idx3-ubyte.gz`` and ``t10k-labels-idx1-ubyte.gz``.
"""

from __future__ import annotations

import argparse
import gzip
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import SVC

from gramian import KernelSVC
from gramian.kernels import RBF

#: Widths and bounds tried on the held-out tenth: first the widths at the middle bound, then the bounds at the best.
SIGMAS, BOUNDS = (4.0, 5.0, 6.0), (3.0, 10.0, 30.0)
#: Rows that the trials are trained on.
TRIAL = 10_000


def main() -> None:
    """Run all of it and print what came out."""
    parser = argparse.ArgumentParser(prog="benchmarks.mnist", description=__doc__)
    parser.add_argument("folder", nargs="?", default=os.environ.get("GRAMIAN_DATA", "data"), type=Path)
    folder = find(parser.parse_args().folder)
    if folder is None:
        parser.exit(1, "MNIST is not there. Name its folder in GRAMIAN_DATA or as the argument (see --help).\n")
    X, y = read(folder, "train")
    held = np.random.default_rng(0).permutation(len(y))[: len(y) // 10]
    sigma, C = tune(X, y, held)
    X_test, y_test = read(folder, "t10k")
    start = time.perf_counter()
    model = KernelSVC(C, kernel=RBF(sigma=sigma)).fit(X, y)
    seconds = time.perf_counter() - start
    error = wrong(model, X_test, y_test)
    print(model.summary_)
    print(f"gramian       {len(y):,} digits   {seconds:6.1f} s   test error {error:.2%}", flush=True)
    start = time.perf_counter()
    peer = SVC(C=C, gamma=1 / (2 * sigma**2)).fit(X[held], y[held])
    seconds = time.perf_counter() - start
    print(f"scikit-learn  {len(held):>6,} digits   {seconds:6.1f} s   test error {wrong(peer, X_test, y_test):.2%}")


def tune(X: Any, y: Any, held: Any) -> tuple[float, float]:
    """Return the width and the bound with the fewest errors on the held-out rows, trained on some of the others."""
    rest = np.setdiff1d(np.arange(len(y)), held)
    chosen = np.random.default_rng(1).permutation(rest)[:TRIAL]
    errors: dict[tuple[float, float], float] = {}

    def attempt(sigma: float, C: float) -> None:
        start = time.perf_counter()
        model = KernelSVC(C, kernel=RBF(sigma=sigma)).fit(X[chosen], y[chosen])
        errors[sigma, C] = wrong(model, X[held], y[held])
        spent = time.perf_counter() - start
        print(
            f"sigma {sigma:g}, C {C:g}: {errors[sigma, C]:.2%} of the held-out tenth wrong, {spent:.1f} s", flush=True
        )

    middle = BOUNDS[len(BOUNDS) // 2]
    for sigma in SIGMAS:
        attempt(sigma, middle)
    best = min(errors, key=errors.__getitem__)[0]
    for C in sorted(set(BOUNDS) - {middle}):
        attempt(best, C)
    return min(errors, key=errors.__getitem__)


def wrong(model: Any, X: Any, y: Any) -> float:
    """Share of rows with a wrong label."""
    return float((model.predict(X) != y).mean())


def find(folder: Path) -> Path | None:
    """The folder itself or its mnist subfolder, whichever holds the files."""
    places = (folder, folder / "mnist")
    return next((place for place in places if (place / "train-images-idx3-ubyte.gz").exists()), None)


def read(folder: Path, part: str) -> tuple[Any, Any]:
    """Images as rows between 0 and 1 in single precision, and their labels."""
    images = np.frombuffer(gzip.decompress((folder / f"{part}-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16)
    labels = np.frombuffer(gzip.decompress((folder / f"{part}-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8)
    return images.reshape(len(labels), -1).astype(np.float32) / 255, labels


if __name__ == "__main__":
    main()
