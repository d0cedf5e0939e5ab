"""Exact kernel PCA of many points, as a picture: ``python -m benchmarks.flagship [--rows N] [--output FILE]``.

The kernel matrix of 100,000 points would take 80 GB. The picture shows neither time nor memory: those are measured by
``make bench`` and stand in the table of the README, which is written from ``results.json``. The title is also kept in
the picture file, where a test reads it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.data import labelled_blobs
from gramian import KernelPCA
from gramian.kernels import RBF
from gramian.plots import ScoresDisplay, new_figure
from gramian.solvers import Krylov

PICTURES = Path(__file__).parents[1] / "docs" / "pictures"
#: Columns, components, and the relative residual asked for.
COLUMNS, COMPONENTS, TOLERANCE = 20, 10, 1e-4


def title(rows: int) -> str:
    """What stands above the picture: nothing that another run would change."""
    return f"Exact kernel PCA of {rows:,} points, whose kernel matrix would take {8 * rows**2 / 1e9:,.2g} GB"


def draw(scores: Any, labels: Any) -> Any:
    """Draw the first four scores, one colour for each blob."""
    figure, axes = new_figure(panels=2)
    for ax, pair in zip(axes, ([0, 1], [2, 3]), strict=True):
        options = {
            "colour": labels,
            "ellipses": None,
            "many": len(scores),
        }  # every point, so that all are seen to be there
        points = ScoresDisplay.from_scores(scores[:, pair], ax=ax, title="", **options).scatter_
        points.set(sizes=[1.0], alpha=0.5)
        ax.set(xlabel=f"component {pair[0] + 1}", ylabel=f"component {pair[1] + 1}")
    figure.suptitle(title(len(scores)))
    return figure


def main() -> None:
    """Fit once and draw."""
    parser = argparse.ArgumentParser(prog="benchmarks.flagship", description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="how many points")
    parser.add_argument("--output", type=Path, help="where the picture goes")
    options = parser.parse_args()
    X, labels = labelled_blobs(options.rows, COLUMNS)
    model = KernelPCA(COMPONENTS, kernel=RBF(gamma=1 / COLUMNS), solver=Krylov(tol=TOLERANCE))
    scores = model.fit_transform(X)
    print(model.summary_)
    output = options.output or PICTURES / f"kernel_pca_{options.rows}.png"
    output.parent.mkdir(parents=True, exist_ok=True)
    draw(scores, labels).savefig(output, dpi=80, metadata={"Title": title(options.rows)})
    print(f"picture in {output}")


if __name__ == "__main__":
    main()
