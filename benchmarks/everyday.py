"""Ordinary calls at ordinary sizes, each beside the library that people have: ``python -m benchmarks.everyday``.

Every estimator is called on four tables (small, ordinary, tall, wide): a fit, its answer for up to 2,000 rows, its
answer for one row, and a fit of the ordinary table in single precision; then calls that were found slow (``HARD``).
Both sides run in one process, turn by turn; a short call is repeated until a turn has taken ``TURN_SECONDS``. The ratio
is the peer's time over ours, the median over turns: below one we lose.

``--only WORD ...`` keeps calls whose name has all words, ``--turns N`` changes the number of turns, ``--first``
measures the first fit of a fresh process instead. Figures of a whole sweep go to ``benchmarks/everyday.json``.
"""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn import cross_decomposition, datasets, decomposition, neighbors
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.random_projection import GaussianRandomProjection
from sklearn.svm import SVC

import gramian
from benchmarks.__main__ import machine
from benchmarks.neighbours import digits, folder
from benchmarks.ratios import EVERYDAY, mean
from gramian.kernels import RBF

#: A turn takes at least this long on either side, so that the clock and a switch of processors hardly count.
TURN_SECONDS = 0.02
#: Peers that take longer than this lose by far: they are not asked nine times.
LONG_SECONDS = 5.0
#: The least ratio of calls that take 2 ms and longer, and of shorter ones.
LEAST_LONG, LEAST_SHORT = 0.9, 0.7
#: Rows that are answered for in one call at the most.
MOST_ROWS = 2_000


@dataclass(frozen=True)
class Data:
    """A table with a column to predict, classes, and a second view."""

    X: Any
    y: Any
    labels: Any
    Y: Any

    @functools.cached_property
    def gamma(self) -> float:
        """scikit-learn's ``gamma="scale"``, so that both sides have the same kernel; no part of a fit."""
        values = self.X.data if sparse.issparse(self.X) else self.X
        return 1 / (self.X.shape[1] * float(np.var(values)))

    @property
    def rbf(self) -> RBF:
        """The Gaussian kernel of that width."""
        return RBF(gamma=self.gamma)

    def single(self) -> Data:
        """The same in single precision."""
        return Data(*(a if a is self.labels else a.astype(np.float32) for a in (self.X, self.y, self.labels, self.Y)))


def _completed(X: Any, labels: Any) -> Data:
    """Add what a table lacks: a column to predict and a second view that share directions with it."""
    rng = np.random.default_rng(0)
    W = rng.standard_normal((X.shape[1], 6)) / math.sqrt(X.shape[1])
    Y = np.asarray(X @ W) + rng.standard_normal((X.shape[0], 6))
    return Data(X, Y[:, 0].copy(), np.asarray(labels), Y)


def _made(n: int, d: int) -> Data:
    """Columns of a spectrum that falls smoothly, from 1 to 1e-3 in standard deviation, with four classes."""
    rng = np.random.default_rng(1)
    labels = rng.integers(4, size=n)
    rank = min(n, d, 50)
    scores = rng.standard_normal((n, rank)) + rng.standard_normal((4, rank))[labels]
    X = (scores * np.logspace(0, -3, rank)) @ rng.standard_normal((rank, d)) + 1e-3 * rng.standard_normal((n, d))
    return _completed(X, labels)


def _mnist(n: int) -> Data:
    X, labels = digits("train")
    return _completed(X[:n], labels[:n])


TABLES: dict[str, Callable[[], Data]] = {
    "iris 150 x 4": lambda: _completed(*datasets.load_iris(return_X_y=True)),
    "wine 178 x 13": lambda: _completed(*datasets.load_wine(return_X_y=True)),
    "diabetes 442 x 10": lambda: _completed(datasets.load_diabetes().data, datasets.load_diabetes().target > 140),
    "cancer 569 x 30": lambda: _completed(*datasets.load_breast_cancer(return_X_y=True)),
    "digits 1,797 x 64": lambda: _completed(*datasets.load_digits(return_X_y=True)),
    "made 20,000 x 60": lambda: _made(20_000, 60),
    "made 200,000 x 20": lambda: _made(200_000, 20),
    "made 10,000 x 100": lambda: _made(10_000, 100),
    "made 4,000 x 20": lambda: _made(4_000, 20),
    "made 1,500 x 1,500": lambda: _made(1_500, 1_500),
    "made 100 x 5,000": lambda: _made(100, 5_000),
    "made 600 x 2,000": lambda: _made(600, 2_000),
    "made 4,000 x 784": lambda: _made(4_000, 784),
    "made 500,000 x 100": lambda: _made(500_000, 100),
    "sparse 20,000 x 1,000": lambda: _sparse(20_000, 1_000),
    "MNIST 4,000 x 784": lambda: _mnist(4_000),
    "MNIST 10,000 x 784": lambda: _mnist(10_000),
    "MNIST 60,000 x 784": lambda: _mnist(60_000),
}
#: Small, ordinary, tall, wide.
LINEAR = ("iris 150 x 4", "cancer 569 x 30", "made 20,000 x 60", "made 100 x 5,000")
KERNEL = ("iris 150 x 4", "digits 1,797 x 64", "made 4,000 x 20", "made 600 x 2,000")
#: The same for peers that form several matrices of all pairs of rows.
SLOW = ("iris 150 x 4", "cancer 569 x 30", "diabetes 442 x 10", "made 600 x 2,000")
MANY_COLUMNS = ("made 4,000 x 784", "MNIST 4,000 x 784", "digits 1,797 x 64")


def _sparse(n: int, d: int) -> Data:
    X = sparse.random(n, d, density=0.01, format="csr", random_state=0)
    return _completed(X, np.arange(n) % 4)


@functools.lru_cache(maxsize=1)
def table(name: str) -> Data:
    """The table of that name; calls are ordered by table, so one is kept."""
    return TABLES[name]()


@dataclass(frozen=True)
class Pair:
    """An estimator and its peer as expressions of a table ``t``, the arguments of fit, and the verb of an answer."""

    ours: str
    peer: str
    tables: tuple[str, ...]
    arguments: tuple[str, ...] = ("X",)
    verb: str = "transform"

    @property
    def name(self) -> str:
        return f"{self.ours.removeprefix('G.')} | {self.peer}"


class Picard:
    """picard's function as an estimator."""

    def __init__(self, k: int) -> None:
        self.k = k

    def fit(self, X: Any) -> Picard:
        from picard import picard

        K, W, _ = picard(X.T, n_components=self.k, ortho=False, extended=False, random_state=0, tol=1e-7)
        self.mean, self.matrix = X.mean(axis=0), (W @ K).T
        return self

    def transform(self, X: Any) -> Any:
        return (X - self.mean) @ self.matrix


class TwoViews:
    """cca-zoo takes a list of views."""

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, Y: Any) -> TwoViews:
        self.model.fit([X, Y])
        self.q = Y.shape[1]
        return self

    def transform(self, X: Any) -> Any:
        return self.model.transform([X, np.zeros((len(X), self.q), X.dtype)])


class Tslearn:
    """tslearn takes series: rows of one step a column."""

    def __init__(self, k: int, gamma: float) -> None:
        from tslearn.clustering import KernelKMeans

        self.model = KernelKMeans(k, kernel="rbf", kernel_params={"gamma": gamma}, n_init=1, random_state=0)

    def fit(self, X: Any) -> Tslearn:
        self.model.fit(X[:, :, None])
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X[:, :, None])


class Faiss:
    """FAISS's exact index with the vote of scikit-learn's classifier."""

    def fit(self, X: Any, labels: Any) -> Faiss:
        import faiss

        self.index = faiss.IndexFlatL2(X.shape[1])
        self.index.add(np.ascontiguousarray(X, dtype=np.float32))
        self.labels = labels.astype(np.int64)
        return self

    def predict(self, X: Any) -> Any:
        _, near = self.index.search(np.ascontiguousarray(X, dtype=np.float32), 5)
        counts = np.zeros((len(X), int(self.labels.max()) + 1), dtype=np.int64)
        np.add.at(counts, (np.arange(len(X))[:, None], self.labels[near]), 1)
        return counts.argmax(axis=1)


class Ikpls:
    """ikpls, algorithm 2, with its matrix of targets."""

    def __init__(self, k: int) -> None:
        from ikpls.numpy import PLS

        self.k, self.model = k, PLS(algorithm=2, ddof=1)

    def fit(self, X: Any, y: Any) -> Ikpls:
        self.model.fit(X, y[:, None], self.k)
        return self

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, self.k)


def zoo(module: str, name: str, **given: Any) -> TwoViews:
    """An estimator of cca-zoo."""
    extra = {"kernel": "rbf", "shrinkage": 0.01, **given} if given else {}
    return TwoViews(getattr(importlib.import_module(f"cca_zoo.{module}"), name)(2, **extra))


def intel(name: str, **given: Any) -> Any:
    """An estimator of scikit-learn-intelex, which is oneDAL's."""
    module = {"PCA": "decomposition", "SVC": "svm"}[name]
    return getattr(importlib.import_module(f"sklearnex.{module}"), name)(**given)


def regression(k: int) -> Any:
    """Principal component regression as a pipeline."""
    return make_pipeline(StandardScaler(), decomposition.PCA(k), LinearRegression())


#: What the columns ``ours`` and ``peer`` below may name; ``t`` is the table.
NAMES = {
    **{"G": gramian, "D": decomposition, "C": cross_decomposition, "N": neighbors, "SVC": SVC},
    **{"KernelRidge": KernelRidge, "GaussianRandomProjection": GaussianRandomProjection, "regression": regression},
    **{"Picard": Picard, "Tslearn": Tslearn, "Faiss": Faiss, "Ikpls": Ikpls, "zoo": zoo, "intel": intel},
}
XY, XV, XL = ("X", "y"), ("X", "Y"), ("X", "labels")
PAIRS = (
    Pair("G.PCA(2)", "D.PCA(2)", LINEAR),
    Pair("G.ProbabilisticPCA(2)", "D.PCA(2)", LINEAR, verb="score_samples"),
    Pair("G.FactorAnalysis(2)", "D.FactorAnalysis(2)", ("wine 178 x 13", *LINEAR[1:])),
    Pair("G.ICA(2, random_state=0)", "D.FastICA(2, random_state=0)", LINEAR),
    Pair("G.RandomProjection(2)", "GaussianRandomProjection(2)", LINEAR),
    Pair("G.PrincipalComponentRegression(2)", "regression(2)", LINEAR, XY, "predict"),
    Pair("G.PLSRegression(2)", "C.PLSRegression(2)", LINEAR, XY, "predict"),
    Pair("G.PLSCanonical(2)", "C.PLSCanonical(2)", LINEAR, XV),
    Pair("G.PLSSVD(2)", "C.PLSSVD(2)", LINEAR, XV),
    Pair("G.CCA(2)", "C.CCA(2)", LINEAR, XV),
    Pair("G.KernelPCA(2, kernel=t.rbf)", "D.KernelPCA(2, kernel='rbf', gamma=t.gamma)", KERNEL),
    Pair(
        "G.KernelRidge(1.0, kernel=t.rbf)", "KernelRidge(alpha=1.0, kernel='rbf', gamma=t.gamma)", KERNEL, XY, "predict"
    ),
    Pair("G.KernelSVC(1.0, kernel=t.rbf)", "SVC(C=1.0, gamma=t.gamma)", KERNEL, XL, "predict"),
    Pair("G.KernelKNNClassifier(5, kernel=t.rbf)", "N.KNeighborsClassifier(5)", KERNEL, XL, "predict"),
    Pair("G.KernelKNNRegressor(5, kernel=t.rbf)", "N.KNeighborsRegressor(5)", KERNEL, XY, "predict"),
    Pair("G.KernelPrototypeClassifier('linear')", "N.NearestCentroid()", KERNEL, XL, "predict"),
    Pair("G.KernelKMeans(4, kernel=t.rbf, n_init=1, random_state=0)", "Tslearn(4, t.gamma)", SLOW, verb="predict"),
    Pair("G.KernelCCA(2, kernel=t.rbf, folds=None)", "zoo('nonparametric', 'KCCA', gamma=t.gamma)", SLOW, XV),
)
#: Calls that users make and that were found slow, and other libraries than scikit-learn.
HARD = (
    Pair(
        "G.PCA(0.95)",
        "D.PCA(0.95)",
        ("MNIST 60,000 x 784", "MNIST 10,000 x 784", "digits 1,797 x 64", "made 1,500 x 1,500"),
    ),
    Pair("G.PCA()", "D.PCA()", ("MNIST 10,000 x 784", "digits 1,797 x 64", "wine 178 x 13", "made 1,500 x 1,500")),
    Pair(
        "G.PCA(5)", "D.PCA(5)", ("made 200,000 x 20", "made 20,000 x 60", "made 10,000 x 100", "sparse 20,000 x 1,000")
    ),
    Pair("G.PCA(3)", "D.PCA(3)", ("iris 150 x 4", "diabetes 442 x 10", "wine 178 x 13", "MNIST 10,000 x 784")),
    Pair("G.KernelPCA(5, kernel=t.rbf)", "D.KernelPCA(5, kernel='rbf', gamma=t.gamma)", MANY_COLUMNS),
    Pair(
        "G.KernelRidge(0.1, kernel=t.rbf)",
        "KernelRidge(alpha=0.1, kernel='rbf', gamma=t.gamma)",
        MANY_COLUMNS,
        XY,
        "predict",
    ),
    Pair(
        "G.KernelSVC(10.0, kernel=t.rbf)", "SVC(C=10.0, gamma=t.gamma)", ("wine 178 x 13", *MANY_COLUMNS), XL, "predict"
    ),
    Pair(
        "G.PLSRegression(5)",
        "C.PLSRegression(5)",
        ("MNIST 10,000 x 784", "made 1,500 x 1,500", "diabetes 442 x 10"),
        XY,
        "predict",
    ),
    Pair("G.FactorAnalysis(2)", "D.FactorAnalysis(2)", ("made 1,500 x 1,500", "diabetes 442 x 10")),
    Pair("G.PCA(10)", "intel('PCA', n_components=10)", ("made 500,000 x 100", "made 20,000 x 60", "digits 1,797 x 64")),
    Pair(
        "G.KernelSVC(1.0, kernel=t.rbf)",
        "intel('SVC', C=1.0, gamma=t.gamma)",
        ("digits 1,797 x 64", "made 4,000 x 20"),
        XL,
        "predict",
    ),
    Pair(
        "G.KernelKNNClassifier(5, kernel=t.rbf)",
        "Faiss()",
        ("MNIST 60,000 x 784", "digits 1,797 x 64", "made 4,000 x 20"),
        XL,
        "predict",
    ),
    Pair("G.ICA(4, random_state=0)", "Picard(4)", ("made 20,000 x 60", "iris 150 x 4")),
    Pair("G.PLSRegression(5)", "Ikpls(5)", ("made 20,000 x 60", "cancer 569 x 30", "made 100 x 5,000"), XY, "predict"),
    Pair("G.CCA(2)", "zoo('linear', 'CCA')", LINEAR[:3], XV),
)


@dataclass(frozen=True)
class Call:
    """One line of the sweep."""

    pair: Pair
    table: str
    verb: str
    single: bool = False

    @property
    def name(self) -> str:
        return f"{self.verb}, {self.table}{', float32' if self.single else ''}: {self.pair.name}"

    def prepare(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Our call and the peer's."""
        data = table(self.table)
        data = data.single() if self.single else data
        return self._side(self.pair.ours, data), self._side(self.pair.peer, data)

    def _side(self, expression: str, data: Data) -> Callable[[], Any]:
        make = eval(f"lambda t: {expression}", NAMES)
        arguments = [getattr(data, name) for name in self.pair.arguments]
        if self.verb == "fit":
            return lambda: make(data).fit(*arguments)
        answer = getattr(make(data).fit(*arguments), self.pair.verb)
        rows = data.X[:1] if self.verb == "of one row" else data.X[:MOST_ROWS]
        return lambda: answer(rows)


def calls() -> list[Call]:
    """All of them, ordered by table."""
    found = [Call(p, t, verb) for p in PAIRS for t in p.tables for verb in ("fit", "of rows", "of one row")]
    found += [Call(p, p.tables[1], "fit", single=True) for p in PAIRS]
    found += [Call(p, t, "fit") for p in HARD for t in p.tables]
    found += [Call(p, t, "of one row") for p in HARD if "Kernel" in p.ours for t in p.tables]
    found += [Call(p, p.tables[0], "fit", single=True) for p in HARD if p.peer.startswith("intel('PCA'")]
    found += [Call(p, "MNIST 60,000 x 784", "of rows") for p in HARD if p.peer == "Faiss()"]
    found = [c for c in found if folder() is not None or not c.table.startswith("MNIST")]
    return sorted(found, key=lambda call: list(TABLES).index(call.table))


def measure(call: Call, turns: int) -> dict[str, Any]:
    """Both sides turn by turn; where the peer takes longer than ``LONG_SECONDS``, three turns are enough."""
    sides = call.prepare()
    loops = []
    for side in sides:
        side()
        start = time.perf_counter()
        side()
        once = time.perf_counter() - start
        loops.append(max(1, math.ceil(TURN_SECONDS / max(once, 1e-6))))
    turns = turns if once <= LONG_SECONDS else min(turns, 3)
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns):
        for k in (0, 1) if turn % 2 else (1, 0):
            start = time.perf_counter()
            for _ in range(loops[k]):
                sides[k]()
            seconds[k].append((time.perf_counter() - start) / loops[k])
    ratios = sorted(theirs / ours for ours, theirs in zip(*seconds, strict=True))
    return {
        "call": call.name,
        "ours_ms": round(1e3 * statistics.median(seconds[0]), 4),
        "peer_ms": round(1e3 * statistics.median(seconds[1]), 4),
        "ratio": round(statistics.median(ratios), 3),
        "turns": turns,
        "quartiles": [round(float(q), 3) for q in np.quantile(ratios, [0.25, 0.75])],
    }


def report(outcomes: list[dict[str, Any]]) -> Iterator[str]:
    """The lines that are printed at the end."""
    ratios = sorted(o["ratio"] for o in outcomes)
    lost = [o for o in outcomes if o["ratio"] < (LEAST_LONG if o["ours_ms"] >= 2 else LEAST_SHORT)]
    yield f"{len(outcomes)} calls, {sum(r < 1 for r in ratios)} slower than the peer, {len(lost)} below the limits"
    yield f"geometric mean {mean(ratios):.2f}" + (
        f", without the ten best {mean(ratios[:-10]):.2f}" if ratios[10:] else ""
    )
    yield "worst:"
    for o in sorted(outcomes, key=lambda o: o["ratio"])[:10]:
        yield f"  {o['ratio']:6.2f}  {o['ours_ms']:10.3f} ms  {o['call']}"


FIRST = """
import time, numpy as np, gramian, sklearn
from benchmarks.everyday import NAMES, PAIRS, _made
data, pair = _made(100, 5), PAIRS[{index}]
model = eval(pair.ours, {{**NAMES, "t": data}})
arguments = [getattr(data, name) for name in pair.arguments]
start = time.perf_counter()
model.fit(*arguments)
print(time.perf_counter() - start)
"""


def first_fits() -> Iterator[str]:
    """Seconds of the first fit of a fresh process, beyond imports: the median of three processes."""
    for index, pair in enumerate(PAIRS):
        runs = [
            float(
                subprocess.run(
                    [sys.executable, "-c", FIRST.format(index=index)], capture_output=True, check=True
                ).stdout
            )
            for _ in range(3)
        ]
        yield f"{statistics.median(runs):8.3f} s  {pair.name}"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks.everyday", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words that the name of a call must contain")
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--first", action="store_true", help="the first fit of a fresh process, each estimator")
    parser.add_argument("--output", type=Path, help="where the JSON goes; a part of the sweep is not kept without it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.first:
        for line in first_fits():
            print(line, flush=True)
        return
    chosen = [call for call in calls() if all(word in call.name for word in options.only)]
    outcomes = []
    for call in chosen:
        outcomes.append(measure(call, options.turns))
        o = outcomes[-1]
        print(f"{o['ratio']:7.2f} {o['ours_ms']:12.3f} {o['peer_ms']:12.3f} ms  {o['call']}", flush=True)
    print("\n".join(report(outcomes)))
    output = options.output or (None if options.only else EVERYDAY)
    if output:
        output.write_text(
            json.dumps(
                {"about": machine(), "turns": options.turns, "calls": outcomes},
                indent=1,
            )
            + "\n"
        )


if __name__ == "__main__":
    main()
