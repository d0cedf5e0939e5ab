"""How often each criterion finds the number of components that is there.

``python -m benchmarks.criteria [--draws 200] [--seconds 240] [--output FILE]``

Tables are drawn from spiked covariances, and from factor models, over a grid of rows, columns, noise and strength, some
without any signal. Every other cell is for tuning, the others are for scoring; which is which was fixed before anything
was tuned. All criteria see the same tables. What is in the file already is not drawn again: a run that was ended by the
clock can be taken up.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.criteria_cells import Cell, grid
from gramian.config import config, one_blas_thread

RESULTS = Path(__file__).parent / "criteria.json"
SEED = 20261116
#: What decides, for both models.
DEFAULT = "deflated parallel analysis"


def judge(work: tuple[Cell, int, int]) -> dict[str, Any]:
    """Count hits in one cell."""
    cell, draws, at = work
    hits: dict[str, int] = {}
    with config(threads=1), one_blas_thread():
        judges = cell.judges(np.random.default_rng([SEED, at, 1]))
        for rng in np.random.default_rng([SEED, at]).spawn(draws):
            for said in judges.of(cell.draw(rng)):
                hits[said.criterion] = hits.get(said.criterion, 0) + (said.k == cell.k)
    return {"at": at, **asdict(cell), "draws": draws, "hits": hits}


def rates(cells: list[dict[str, Any]], role: str) -> dict[str, float]:
    """Mean hit rate of every criterion over the cells of a role, in percent, the best first."""
    chosen = [cell for cell in cells if cell["role"] == role]
    names = chosen[0]["hits"] if chosen else {}
    found = {name: float(np.mean([100 * cell["hits"][name] / cell["draws"] for cell in chosen])) for name in names}
    return dict(sorted(found.items(), key=lambda pair: -pair[1]))


def text(cells: list[dict[str, Any]]) -> str:
    """A table of hit rates: tuning, scoring, and scoring apart by what is there."""
    tuning, scoring = rates(cells, "tuning"), rates(cells, "scoring")
    parts = {"no signal": [cell for cell in cells if cell["k"] == 0]}
    for noise in dict.fromkeys(cell["noise"] for cell in cells):
        parts[f"{noise} noise"] = [cell for cell in cells if cell["noise"] == noise]
    lines = ["| criterion | tuning | scoring | " + " | ".join(parts) + " |", "|---" * (len(parts) + 3) + "|"]
    for name, rate in scoring.items():
        cut = [f"{rates(part, 'scoring').get(name, float('nan')):.1f}" for part in parts.values()]
        mark = "**" if name == DEFAULT else ""
        lines.append(f"| {mark}{name}{mark} | {tuning[name]:.1f} | {rate:.1f} | {' | '.join(cut)} |")
    return "\n".join(lines)


def main() -> None:
    """Draw, count, keep, print."""
    parser = argparse.ArgumentParser(prog="benchmarks.criteria", description=__doc__)
    parser.add_argument("--draws", type=int, default=200, help="tables in each cell")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no new cell is begun")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the JSON goes")
    options = parser.parse_args()
    known = json.loads(options.output.read_text())["cells"] if options.output.exists() else []
    cells = {cell["at"]: cell for cell in known if cell["draws"] == options.draws}
    work = [(cell, options.draws, at) for at, cell in enumerate(grid()) if at not in cells]
    end = time.monotonic() + options.seconds
    with multiprocessing.get_context("spawn").Pool(2) as workers:
        for outcome in workers.imap(judge, work):
            cells[outcome["at"]] = outcome
            kept = {"draws": options.draws, "cells": [cells[at] for at in sorted(cells)]}
            options.output.write_text(json.dumps(kept, indent=1) + "\n")
            if time.monotonic() > end:
                break
    print(f"{len(cells)} of {len(grid())} cells")
    for model in ("pca", "factor-analysis"):
        part = [cell for cell in cells.values() if cell["model"] == model]
        print(f"\n{model}\n\n{text(part)}" if part else "")


if __name__ == "__main__":
    main()
