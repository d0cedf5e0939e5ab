"""The methods of the command line: a table with one row for each."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable
from dataclasses import dataclass

import gramian as g
from gramian.cli.errors import UsageError

#: Option -> argument of the estimator. A method takes an option if its estimator has the argument.
ARGUMENTS = {
    "whiten": "whiten",
    "kernel": "kernel",
    "kernel-y": "kernel_y",
    "landmarks": "landmarks",
    "preimage": "preimage",
    "rotation": "rotation",
    "ridge": "ridge",
    "C": "C",
    "solver": "solver",
    "seed": "random_state",
}


@dataclass(frozen=True)
class Method:
    """A method: its estimator, what it needs beside the rows, what ``-k`` counts and is if not given.

    Attributes
    ----------
    needs : {"", "target", "view", "label"}
        Nothing; numeric columns to predict; a second block of columns; a text column to predict.
    size : str
        Argument that ``-k`` sets; none if empty.
    default : int, optional
        Value of ``-k`` if it is not given; None leaves it to the estimator.
    units : bool
        Whether the result depends on the units of the columns.
    streams : bool
        Whether rows may stream by; those of a kernel method through landmarks.
    auto : bool
        Whether ``-k auto`` is taken.
    """

    estimator: type
    needs: str = ""
    size: str = "n_components"
    default: int | None = None
    units: bool = True
    auto: bool = False
    streams: bool = False

    def has(self, argument: str) -> bool:
        """Whether the estimator has an argument."""
        return argument in inspect.signature(self.estimator).parameters

    def takes(self, option: str) -> bool:
        """Whether the method takes an option of the command line."""
        if option == "k":
            return bool(self.size)
        if option == "target":
            return self.needs in ("target", "view")
        return self.has(ARGUMENTS[option])


METHODS = {
    "pca": Method(g.PCA, auto=True, streams=True),
    "kernel-pca": Method(g.KernelPCA, default=2, auto=True, streams=True),
    "probabilistic-pca": Method(g.ProbabilisticPCA, default=2, auto=True, streams=True),
    "factor-analysis": Method(g.FactorAnalysis, units=False, auto=True, streams=True),
    "ica": Method(g.ICA, units=False),
    "random-projection": Method(g.RandomProjection, auto=True, streams=True),
    "pls": Method(g.PLSRegression, "target", auto=True, streams=True),
    "pcr": Method(g.PrincipalComponentRegression, "target", auto=True, streams=True),
    "cca": Method(g.CCA, "view", units=False, auto=True, streams=True),
    "pls-canonical": Method(g.PLSCanonical, "view", streams=True),
    "pls-svd": Method(g.PLSSVD, "view", streams=True),
    "kernel-cca": Method(g.KernelCCA, "view", default=2, streams=True),
    "kernel-ridge": Method(g.KernelRidge, "target", size="", streams=True),
    "kernel-svm": Method(g.KernelSVC, "label", size=""),
    "kernel-kmeans": Method(g.KernelKMeans, size="n_clusters", streams=True),
    "kernel-knn": Method(g.KernelKNNClassifier, "label", size="n_neighbors"),
    "kernel-knn-regression": Method(g.KernelKNNRegressor, "target", size="n_neighbors"),
    "kernel-prototypes": Method(g.KernelPrototypeClassifier, "label", size=""),
}


def method_named(name: str) -> Method:
    """Return a row of the table."""
    if name in METHODS:
        return METHODS[name]
    near = difflib.get_close_matches(name, METHODS, n=1)
    hint = f"Did you mean {near[0]}?" if near else f"Known are {', '.join(METHODS)}."
    raise UsageError(f"--method {name} is not known. {hint}")


def check_option(name: str, option: str) -> None:
    """Refuse an option that a method does not take, and say which methods do."""
    if method_named(name).takes(option):
        return
    shown = {"k": "-k", "target": "--target"}.get(option, f"--{option}")
    raise UsageError(f"{shown} goes with --method {friends(lambda m: m.takes(option))}, not with {name}.")


def friends(wanted: Callable[[Method], bool]) -> str:
    """Names of the methods of which something is true, for a sentence."""
    names = [name for name, method in METHODS.items() if wanted(method)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
