"""Neighbours in feature space: 10,000 handwritten digits looked up among 60,000.

The digits are MNIST's four files of the form ``train-images-idx3-ubyte.gz``, looked for in the folder ``mnist`` below
the one that the environment variable ``GRAMIAN_DATA`` names. Without them the contest is left out, which is said.
"""

from __future__ import annotations

import gzip
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contest import Contest, Contestant

FILES = {"train": "train", "test": "t10k"}


def folder() -> Path | None:
    """Where the digits are, None if they are not there."""
    place = Path(os.environ.get("GRAMIAN_DATA", "")) / "mnist"
    present = all((place / f"{part}-images-idx3-ubyte.gz").exists() for part in FILES.values())
    return place if "GRAMIAN_DATA" in os.environ and present else None


def digits(part: str) -> tuple[Any, Any]:
    """Pixels as rows, and labels."""
    place = folder()
    if place is None:
        raise FileNotFoundError("GRAMIAN_DATA does not name a folder with mnist in it")
    images, labels = (_read(place / f"{FILES[part]}-{kind}-ubyte.gz") for kind in ("images-idx3", "labels-idx1"))
    return images.reshape(len(images), -1).astype(np.float64), labels


def _read(path: Path) -> Any:
    """An array in the idx format: two zero bytes, the type (8: bytes), the number of sizes, the sizes, the values."""
    content = gzip.decompress(path.read_bytes())
    sizes = np.frombuffer(content, dtype=">i4", count=content[3], offset=4)
    return np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * content[3]).reshape(sizes)


def ours(kernel: str) -> Callable[[], dict[str, Any]]:
    """Gramian's classifier."""
    from gramian.estimators.kernel_neighbours import KernelKNNClassifier

    (X, y), (new, truth) = digits("train"), digits("test")
    model = KernelKNNClassifier(5, kernel=kernel).fit(X, y)

    def run() -> dict[str, Any]:
        errors = int((model.predict(new) != truth).sum())
        return {"work": f"{model.summary_.facts['solver']}, {errors} wrong of {len(truth):,}"}

    return run


def theirs() -> Callable[[], dict[str, Any]]:
    """scikit-learn's classifier, by brute force."""
    from sklearn.neighbors import KNeighborsClassifier

    (X, y), (new, truth) = digits("train"), digits("test")
    model = KNeighborsClassifier(5, algorithm="brute").fit(X, y)
    return lambda: {"work": f"{int((model.predict(new) != truth).sum())} wrong of {len(truth):,}"}


def contests() -> list[Contest]:
    """All of them."""
    if folder() is None:
        print("neighbours left out: set GRAMIAN_DATA to a folder with mnist in it", file=sys.stderr)
        return []
    return [
        Contest(
            "5 neighbours of 10,000 MNIST digits among 60,000",
            (
                Contestant("gramian", ours, {"kernel": "rbf"}),
                Contestant("gramian, polynomial kernel", ours, {"kernel": "polynomial(degree=2, scale=1e-6)"}),
                Contestant("scikit-learn brute", theirs, {}),
            ),
            repeats=3,
            warm=False,
        )
    ]
