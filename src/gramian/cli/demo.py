"""The work behind ``gramian demo``: a table, two fits through the same path as ``gramian fit``, three pictures."""

from __future__ import annotations

from pathlib import Path

from sklearn.datasets import make_circles

from gramian import KernelPCA
from gramian.cli.demo_tables import TABLES, write_tables
from gramian.cli.fit import Fitted, fit
from gramian.cli.report import as_text
from gramian.cli.request import FitRequest
from gramian.plots import ScoresDisplay, ScreeDisplay, new_figure
from gramian.plots.style import Figure
from gramian.tables import atomic

#: Wide enough to see all classes: narrower kernels (sigma below 15) show three classes and squeeze the rest to a point.
DIGITS_KERNEL = "rbf(sigma=25)"
#: Narrower than the gap between the rings, so that the first component tells them apart.
RINGS_KERNEL = "rbf(sigma=0.4)"
COMPONENTS = 20


def demo(output: str) -> None:
    """Write the digits, their scores and three pictures to a folder, and say what was done."""
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "digits.csv"
    write_tables(folder)
    linear = fit(FitRequest(str(table), n_components=COMPONENTS))
    curved = fit(
        FitRequest(
            str(table),
            method="kernel-pca",
            options={"kernel": DIGITS_KERNEL},
            n_components=COMPONENTS,
            output=str(folder / "scores.csv"),
        )
    )
    pictures = {
        "digits.png": (draw_digits(linear, curved), "the first two components of both, by digit"),
        "spectrum.png": (draw_spectra(linear, curved), "what each component holds"),
        "rings.png": (draw_rings(), "two rings that no straight line parts, and kernel PCA, which parts them"),
    }
    for name, (figure, _) in pictures.items():
        with atomic(folder / name) as file:
            figure.savefig(file, format="png")
    print("Handwritten digits, 8 x 8 pixels each, by PCA and by kernel PCA:")
    print(linear.estimator.summary_)
    print(as_text(curved))
    print("\n".join(f"picture    {folder / name}: {what}" for name, (_, what) in pictures.items()))
    print("\n".join(f"table      {folder / name}: {what}" for name, what in TABLES.items()))
    print(f"next       gramian fit {folder / 'wine.csv'} -k 3 --scale -o scores.csv --model wine.safetensors")


def draw_digits(linear: Fitted, curved: Fitted) -> Figure:
    """Draw both scores side by side."""
    figure, axes = new_figure(panels=2)
    for ax, fitted, title in zip(axes, (linear, curved), ("PCA", f"kernel PCA, {DIGITS_KERNEL}"), strict=True):
        digits = [label.removeprefix("d") for label in fitted.table.labels["digit"]]
        shares = fitted.estimator.explained_variance_ratio_
        ScoresDisplay.from_scores(fitted.scores, shares, colour=digits, ellipses=None, ax=ax, title=title)
    return figure


def draw_spectra(linear: Fitted, curved: Fitted) -> Figure:
    """Draw both spectra into one picture."""
    figure, (ax,) = new_figure()
    for fitted, name in ((linear, "PCA"), (curved, "kernel PCA")):
        ScreeDisplay.from_estimator(fitted.estimator, ax=ax, name=name)
    return figure


def draw_rings() -> Figure:
    """Draw two rings, and the scores that part them."""
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
