"""Fat in meat from near-infrared spectra: a calibration as a chemist would report it.

The distinct spectra (193 of 215, with 100 channels from 850 to 1050 nm) are split in calibration and test rows. Each
usual treatment of spectra is cross-validated on the calibration rows; for the best one, partial least squares takes the
fewest components whose error is within one standard error of the least. The test rows are looked at once, at the end.

``python examples/calibrate_meat.py [--picture calibration.png]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.signal import savgol_filter

from gramian import PLSRegression
from gramian.tables import read_table

DATA = Path(__file__).parent / "data" / "meats.csv"
WAVELENGTHS = np.linspace(850, 1050, 100)


def standardised(X: Any) -> Any:
    """Centre and scale each spectrum by itself (SNV): scatter of light shifts and stretches whole spectra."""
    return (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)


def curvature(X: Any) -> Any:
    """Second derivative along the wavelengths, smoothed: baselines and slopes drop out."""
    return savgol_filter(X, 11, 3, deriv=2, axis=1)


TREATMENTS: dict[str, Callable[[Any], Any]] = {
    "absorbances": lambda X: X,
    "SNV": standardised,
    "second derivative": curvature,
    "second derivative, SNV": lambda X: standardised(curvature(X)),
}


def calibrate(X: Any, y: Any) -> PLSRegression:
    """Fit with the number of components chosen; channels share a unit, so columns are not standardised."""
    return PLSRegression("auto", scale=False).fit(X, y)


def chosen_error(model: PLSRegression) -> float:
    """Cross-validated error of the chosen number of components."""
    return float(model.path_.rmsecv[model.n_components_, 0])


def main() -> None:
    """Calibrate, report, and draw if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", type=Path, help="where to write a picture")
    options = parser.parse_args()
    table = read_table(DATA)
    columns = {name: table.values[:, j] for j, name in enumerate(table.columns)}
    X = np.column_stack([values for name, values in columns.items() if name.startswith("x_")])
    # 22 samples stand in the table twice: a copy among the test rows would be predicted by its twin in the fit.
    _, first = np.unique(X, axis=0, return_index=True)
    X, y = X[np.sort(first)], columns["fat"][np.sort(first)]
    test = np.arange(len(y)) % 4 == 3

    models = {name: calibrate(treat(X[~test]), y[~test]) for name, treat in TREATMENTS.items()}
    for name, model in models.items():
        print(f"{name:<24} {model.n_components_:>3} components   RMSECV {chosen_error(model):.3f}")
    best = min(models, key=lambda name: chosen_error(models[name]))
    print(f"\nbest by cross-validation: {best}\n")
    model, X = models[best], TREATMENTS[best](X)
    report(model, X, y, test)
    if options.picture:
        draw(model, X, y, test, options.picture)


def report(model: PLSRegression, X: Any, y: Any, test: Any) -> None:
    """Print what belongs in a paper."""
    path = model.path_
    print(model.summary_, end="\n\n")
    print(path, end="\n\n")
    print(f"calibration  {model.merit(X[~test], y[~test])[0]}")
    k = model.n_components_
    print(f"validation   RMSECV {path.rmsecv[k, 0]:.4g} +- {path.standard_error[k, 0]:.2g} ({k} components)")
    print(f"test         {model.merit(X[test], y[test])[0]}\n")
    intervals = path.jackknife(k)
    certain = (intervals.lower[0] > 0) | (intervals.upper[0] < 0)
    top = np.argsort(-model.vip_)[:5]
    print(
        f"channels with VIP > 1: {(model.vip_ > 1).sum()}, highest at "
        + ", ".join(f"{WAVELENGTHS[j]:.0f}" for j in top)
    )
    print(f"channels whose coefficient differs from 0 (95 %, jackknife): {certain.sum()} of {len(certain)}")
    far = (model.hotelling_t2(X[test]) > model.t2_limit(0.01)) | (model.q_residuals(X[test]) > model.q_limit(0.01))
    print(f"test rows outside the calibration (T2 or Q beyond the 99 % limit): {far.sum()} of {test.sum()}")


def draw(model: PLSRegression, X: Any, y: Any, test: Any, file: Path) -> None:
    """Draw the error curve, predicted against measured values, and the importance of the channels."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path, k = model.path_, model.n_components_
    figure, (curve, fit, importance) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    counts = np.arange(1, len(path.rmsecv))
    curve.errorbar(counts, path.rmsecv[1:, 0], path.standard_error[1:, 0], marker="o", markersize=3, linewidth=1)
    limit = path.rmsecv[path.best, 0] + path.standard_error[path.best, 0]
    curve.axhline(limit, color="0.6", linestyle=":", label="least + one standard error")
    curve.axvline(k, color="0.6", label=f"{k} components")
    curve.set(xlabel="components", ylabel="RMSECV, % fat", ylim=(0, 4 * path.rmsecv[k, 0]))
    curve.legend(frameon=False, loc="upper right")
    for rows, name, marker in ((~test, "calibration", "o"), (test, "test", "x")):
        fit.plot(y[rows], model.predict(X[rows]), marker, markersize=4, label=name, alpha=0.8)
    fit.axline((0, 0), slope=1, color="0.6", linewidth=1)
    fit.set(xlabel="measured, % fat", ylabel="predicted, % fat")
    fit.legend(frameon=False)
    importance.plot(WAVELENGTHS, model.vip_)
    importance.axhline(1, color="0.6", linewidth=1)
    importance.set(xlabel="wavelength, nm", ylabel="importance (VIP)")
    figure.savefig(file, dpi=150)


if __name__ == "__main__":
    main()
