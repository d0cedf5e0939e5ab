"""Hold the contests, print a table of ratios, keep the figures as JSON.

``python -m benchmarks [--only WORD ...] [--output FILE]``
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from rich.console import Console
from rich.table import Table

import gramian
from benchmarks import (
    gram,
    ica,
    kernel_cca,
    kernel_kmeans,
    kernel_pca,
    kernel_ridge,
    kernel_svm,
    moments,
    neighbours,
    pca,
    scale,
    tables,
    two_blocks,
)
from benchmarks.contest import hold

MODULES = (
    gram,
    kernel_pca,
    pca,
    moments,
    ica,
    two_blocks,
    kernel_ridge,
    kernel_svm,
    kernel_kmeans,
    neighbours,
    kernel_cca,
    tables,
)
RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="benchmarks", description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], help="words that the name of a contest must contain")
    parser.add_argument("--scale", action="store_true", help="hold the contests of low rank, and no others")
    parser.add_argument("--output", type=Path, default=RESULTS, help="where the JSON goes")
    options = parser.parse_args()
    contests = [c for module in ((scale,) if options.scale else MODULES) for c in module.contests()]
    chosen = [c for c in contests if all(word in c.name for word in options.only)]
    console = Console(width=120)
    about = machine()
    console.print(", ".join(f"{key} {value}" for key, value in about.items()))
    table = Table("contest", "who", "seconds", "peer / ours", "peak MB", "figures")
    outcomes = []
    for contest in chosen:
        console.print(f"[dim]{contest.name} ...[/dim]")
        outcome = hold(contest)
        outcomes.append(outcome)
        add_rows(table, outcome)
    console.print(table)
    kept = merge(options.output, outcomes)
    options.output.write_text(json.dumps({"about": about, "contests": kept}, indent=1) + "\n")
    console.print(f"figures in {options.output}")


def merge(path: Path, outcomes: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put new outcomes in the place of older ones of the same name; each keeps the date of its own run."""
    today = datetime.date.today().isoformat()
    older = json.loads(path.read_text())["contests"] if path.exists() else []
    fresh = {outcome["contest"]: {"date": today, **outcome} for outcome in outcomes}
    kept = [fresh.pop(outcome["contest"], outcome) for outcome in older]
    return kept + list(fresh.values())


def machine() -> dict[str, Any]:
    """What the figures were measured on, and with."""
    return {
        "date": datetime.date.today().isoformat(),
        "processors": len(os.sched_getaffinity(0)),
        "machine": platform.machine(),
        "python": platform.python_version(),
        "gramian": gramian.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }


def add_rows(table: Table, outcome: dict[str, Any]) -> None:
    """Write one contest: our row, then each peer with its ratios to ours."""
    results = outcome["results"]
    first = next(iter(results))
    ours = results[first]
    for name, result in results.items():
        ratio = "" if name == first else f"{result['seconds'] / ours['seconds']:.2f}"
        table.add_row(
            outcome["contest"] if name == first else "",
            name,
            f"{result['seconds']:.3g}",
            ratio,
            f"{result['peak_mb']:.0f}",
            figures(result, ours if name != first else None),
        )
    table.add_section()


def figures(result: dict[str, Any], ours: dict[str, Any] | None) -> str:
    """Errors and certificates, in a few words."""
    words = [str(result["work"])] if result.get("work") else []
    words += [f"{key} {result[key]:.1e}" for key in ("residual", "checked", "error") if key in result]
    if "likelihood" in result:
        words.append(f"log-likelihood {result['likelihood']:.10g}")
    if result.get("converged") is False:
        words.append("did not converge")
    for key in ("eigenvalues", "first"):
        if ours and key in result and key in ours:
            a, b = np.array(result[key]), np.array(ours[key])
            words.append(f"differs by {np.max(np.abs(a - b) / np.abs(b).max()):.1e}")
    return ", ".join(words)


if __name__ == "__main__":
    main()
