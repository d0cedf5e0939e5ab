"""How often each criterion finds the number of components that is there.

``python -m benchmarks.criteria [--draws 200] [--output FILE]``

Tables are drawn from spiked covariances over a grid of rows, columns, noise and strength, some without any signal.
Every other cell is for tuning, the others are for scoring; which is which was fixed before anything was tuned. All
criteria see the same tables.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from gramian.config import config, one_blas_thread
from gramian.criteria import (
    Variances,
    bi_cross_validation,
    bic,
    broken_stick,
    deflated,
    deterministic,
    gavish_donoho,
    held_out,
    kaiser,
    largest_gap,
    minka,
    variance_share,
    velicer,
)
from gramian.criteria.base import Suggestion
from gramian.criteria.edge import noise_edge
from gramian.criteria.parallel import component_limits, passed_limits
from gramian.operators import moments_of
from gramian.results import Array

RESULTS = Path(__file__).parent / "criteria.json"
FOLDS, TABLES = 6, 100
ROWS, COLUMNS, NOISES = (60, 200, 1000), (10, 30, 80), ("equal", "unequal")
#: Components that are there, and their variance in units of the least that can be found in infinite tables.
SIGNALS = ((0, 0.0), (1, 4.0), (3, 4.0), (3, 10.0), (5, 30.0))


@dataclass(frozen=True)
class Cell:
    """One kind of table."""

    n: int
    d: int
    noise: str
    k: int
    strength: float
    role: str

    def columns(self) -> Array:
        """Variances of the noise, one on average."""
        t = np.ones(self.d) if self.noise == "equal" else 10.0 ** np.linspace(-0.5, 0.5, self.d)
        return t / t.mean()

    def draw(self, rng: np.random.Generator) -> Array:
        """A table with k components in random directions; the first is twice as large as the last."""
        t, gamma = self.columns(), self.d / self.n
        least = np.sqrt(gamma) * noise_edge(t, self.n - 1).place / (1 + np.sqrt(gamma)) ** 2
        sizes = least * self.strength * np.linspace(2, 1, self.k) if self.k else np.empty(0)
        V = np.linalg.qr(rng.standard_normal((self.d, self.k)))[0] if self.k else np.empty((self.d, 0))
        noise = rng.standard_normal((self.n, self.d)) * np.sqrt(t)
        return noise + rng.standard_normal((self.n, self.k)) * np.sqrt(sizes) @ V.T


def grid() -> list[Cell]:
    """All cells; neighbours on the grid, along every side of it, take turns in being for tuning and for scoring."""
    kinds = product(*(list(enumerate(side)) for side in (ROWS, COLUMNS, NOISES, SIGNALS)))
    return [
        Cell(n, d, noise, *signal, ("tuning", "scoring")[(a + b + c + e) % 2])
        for (a, n), (b, d), (c, noise), (e, signal) in kinds
    ]


def suggestions(X: Array, limits: Array) -> Iterator[Suggestion]:
    """What every criterion says of a table."""
    folds = [moments_of(X[at::FOLDS]) for at in range(FOLDS)]
    total = folds[0]
    for fold in folds[1:]:
        total = total + fold
    found = Variances.of_matrix(total.scatter / (total.weight - 1), total.weight)
    yield from (rule(found) for rule in (variance_share, kaiser, broken_stick, deterministic, velicer))
    yield largest_gap(found.values)
    yield from (rule(found) for rule in (gavish_donoho, minka, bic, deflated))
    yield passed_limits(found, limits, TABLES)
    yield held_out(folds, np.ones(len(found.columns)))
    yield bi_cross_validation(folds, np.ones(len(found.columns)))


def judge(work: tuple[Cell, int, int]) -> dict[str, Any]:
    """Count hits in one cell."""
    cell, draws, at = work
    hits: dict[str, int] = {}
    with config(threads=1), one_blas_thread():
        seeds = np.random.default_rng([20261116, at]).spawn(draws)
        first = np.var(cell.draw(np.random.default_rng([20261116, at, 1])), axis=0, ddof=1)
        # Once a cell, from the columns of one table: those of the others are the same but for chance.
        limits = component_limits(first, cell.n - 1.0, correlation=False, tables=TABLES, seed=0)
        for rng in seeds:
            for said in suggestions(cell.draw(rng), limits):
                hits[said.criterion] = hits.get(said.criterion, 0) + (said.k == cell.k)
    return {**asdict(cell), "draws": draws, "hits": hits}


def rates(cells: list[dict[str, Any]], role: str) -> dict[str, float]:
    """Mean hit rate of every criterion over the cells of a role, the best first."""
    chosen = [cell for cell in cells if cell["role"] == role]
    found = {
        name: float(np.mean([cell["hits"][name] / cell["draws"] for cell in chosen])) for name in chosen[0]["hits"]
    }
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def text(cells: list[dict[str, Any]]) -> str:
    """A table of hit rates: tuning, scoring, and scoring apart by what is there."""
    tuning, scoring = rates(cells, "tuning"), rates(cells, "scoring")
    parts = {
        "no signal": [cell for cell in cells if cell["k"] == 0],
        "equal noise": [cell for cell in cells if cell["noise"] == "equal"],
        "unequal noise": [cell for cell in cells if cell["noise"] == "unequal"],
    }
    lines = ["| criterion | tuning | scoring | " + " | ".join(parts) + " |", "|---" * (len(parts) + 3) + "|"]
    for name in scoring:
        cut = [f"{100 * rates(part, 'scoring')[name]:.1f}" for part in parts.values()]
        lines.append(f"| {name} | {100 * tuning[name]:.1f} | {100 * scoring[name]:.1f} | {' | '.join(cut)} |")
    return "\n".join(lines)


def main() -> None:
    """Draw, count, print, keep."""
    parser = argparse.ArgumentParser(prog="benchmarks.criteria", description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="tables in each cell")
    parser.add_argument("--output", type=Path, help="where the JSON goes; nowhere if not given")
    options = parser.parse_args()
    # The largest first, so that no worker is left with one at the end.
    work = [(cell, options.draws, at) for at, cell in enumerate(grid())]
    order = sorted(range(len(work)), key=lambda at: -work[at][0].d)
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        outcomes = workers.map(judge, [work[at] for at in order], chunksize=1)
    cells = [outcome for _, outcome in sorted(zip(order, outcomes, strict=True), key=lambda pair: pair[0])]
    print(text(cells))
    if options.output:
        kept = {"draws": options.draws, "cells": cells}
        options.output.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
