"""``gramian demo``: tables to try every command on, two fits of digits as ``gramian fit`` does them, three pictures."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_linnerud, load_wine, make_circles

from gramian import KernelPCA
from gramian.cli import options as o
from gramian.cli.fit import Fitted, fit_table
from gramian.cli.options import Request
from gramian.tables import atomic, write_scores

if TYPE_CHECKING:
    from gramian.plots.style import Figure

HELP = """Write example tables, and analyse one of them.

The tables come with scikit-learn. Handwritten digits are analysed by PCA and by kernel PCA; three figures are drawn.

\b
Example:
  gramian demo --output demo
"""
#: Wide enough to see all classes: narrower kernels (sigma below 15) show three classes and squeeze the rest to a point.
DIGITS_KERNEL = "rbf(sigma=25)"
#: Narrower than the gap between the rings, so that the first component tells them apart.
RINGS_KERNEL = "rbf(sigma=0.4)"
DIGITS_COMPONENTS = 20
#: File -> what is in it.
DEMO_TABLES = {
    "digits.csv": "handwritten digits, 64 pixels, with the digit",
    "iris.csv": "flowers, 4 lengths, with the species",
    "wine.csv": "wines, 13 measurements in different units, with the cultivar",
    "diabetes.csv": "patients, 10 measurements and the progression of their disease",
    "linnerud.csv": "men, 3 exercises and 3 measures of the body",
}


@o.options(
    "output",
    output=o.option("-o", "--output", kind=str, default="demo", metavar="FOLDER", help="Folder to write to."),
)
def demo(request: Request) -> None:
    """Write tables, scores of the digits and three pictures to a folder, and say what was done."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it complains where no cache can be written
    folder = Path(str(request.output))
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "digits.csv"
    write_tables(folder)
    linear = fit_table(Request(str(table), n_components=DIGITS_COMPONENTS))
    curved = fit_table(
        Request(
            str(table),
            method="kernel-pca",
            options={"kernel": DIGITS_KERNEL},
            n_components=DIGITS_COMPONENTS,
            output=str(folder / "scores.csv"),
        )
    )
    pictures = {
        "digits.png": (draw_digits(linear, curved), "the first two components of both, by digit"),
        "spectrum.png": (draw_spectra(linear, curved), "the share of variance of each component"),
        "rings.png": (draw_rings(), "two rings that no straight line separates, and kernel PCA, which separates them"),
    }
    for name, (figure, _) in pictures.items():
        with atomic(folder / name) as file:
            figure.savefig(file, format="png")
    print("Handwritten digits, 8 x 8 pixels each, by PCA and by kernel PCA:")
    print(linear.estimator.summary_)
    print(curved.estimator.summary_)
    print(f"scores     {folder / 'scores.csv'}: of kernel PCA")
    print("\n".join(f"picture    {folder / name}: {what}" for name, (_, what) in pictures.items()))
    print("\n".join(f"table      {folder / name}: {what}" for name, what in DEMO_TABLES.items()))
    print(f"next       gramian fit {folder / 'wine.csv'} -k 3 --scale -o scores.csv --model wine.safetensors")


def draw_digits(linear: Fitted, curved: Fitted) -> Figure:
    """Draw both scores side by side."""
    from gramian.plots import ScoresDisplay, new_figure  # matplotlib is optional, and slow to import

    figure, axes = new_figure(panels=2)
    for ax, fitted, title in zip(axes, (linear, curved), ("PCA", f"kernel PCA, {DIGITS_KERNEL}"), strict=True):
        digits = [label.removeprefix("d") for label in fitted.table.labels["digit"]]
        shares = fitted.estimator.explained_variance_ratio_
        ScoresDisplay.from_scores(fitted.scores, shares, colour=digits, ellipses=None, ax=ax, title=title)
    return figure


def draw_spectra(linear: Fitted, curved: Fitted) -> Figure:
    """Draw both spectra into one picture."""
    from gramian.plots import ScreeDisplay, new_figure  # matplotlib is optional, and slow to import

    figure, (ax,) = new_figure()
    for fitted, name in ((linear, "PCA"), (curved, "kernel PCA")):
        ScreeDisplay.from_estimator(fitted.estimator, ax=ax, name=name)
    return figure


def draw_rings() -> Figure:
    """Draw two rings, and the scores that separate them."""
    from gramian.plots import ScoresDisplay, new_figure  # matplotlib is optional, and slow to import

    points, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    labels = ["inner" if is_inner else "outer" for is_inner in inner]
    estimator = KernelPCA(n_components=2, kernel=RINGS_KERNEL)
    scores = estimator.fit_transform(points)
    figure, (left, right) = new_figure(panels=2)
    rings = ScoresDisplay.from_scores(points, colour=labels, ellipses=None, ax=left, title="Two rings")
    rings.ax_.set(xlabel="x", ylabel="y")
    shares, title = estimator.explained_variance_ratio_, f"kernel PCA, {RINGS_KERNEL}"
    ScoresDisplay.from_scores(scores, shares, colour=labels, ellipses=None, ax=right, title=title)
    return figure


def write_tables(folder: Path) -> None:
    """Write all tables."""
    digits, iris, wine = load_digits(), load_iris(), load_wine()
    # As text, so that the digit is a label.
    write_scores(
        folder / "digits.csv", digits.data, digits.feature_names, {"digit": [f"d{at}" for at in digits.target]}
    )
    names = [name.removesuffix(" (cm)").replace(" ", "_") for name in iris.feature_names]
    write_scores(folder / "iris.csv", iris.data, names, {"species": iris.target_names[iris.target].tolist()})
    names = [name.replace("/", "_") for name in wine.feature_names]
    write_scores(folder / "wine.csv", wine.data, names, {"cultivar": wine.target_names[wine.target].tolist()})
    patients = load_diabetes(scaled=False)
    both = np.column_stack([patients.data, patients.target])
    write_scores(folder / "diabetes.csv", both, [*patients.feature_names, "progression"])
    men = load_linnerud()
    write_scores(folder / "linnerud.csv", np.hstack([men.data, men.target]), [*men.feature_names, *men.target_names])
