"""Charts of saved models, and of rows in other clothes."""

import dataclasses

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes, load_linnerud, load_wine, make_moons

import gramian
from gramian import CCA, PCA, FactorAnalysis, KernelCCA, KernelPCA, KernelSVC, PLSRegression, ProbabilisticPCA, charts

WINE = load_wine().data
DIABETES, LINNERUD = load_diabetes(return_X_y=True), load_linnerud(return_X_y=True)
MOONS = make_moons(80, noise=0.1, random_state=0)


def assert_same_chart(one, other):
    """Compare two charts, whatever they hold."""
    if dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            assert_same_chart(getattr(one, field.name), getattr(other, field.name))
    elif isinstance(one, np.ndarray):
        assert_allclose(one, other, rtol=1e-6, atol=1e-10)
    elif isinstance(one, tuple):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same_chart(a, b)
    else:
        assert one == other or one == pytest.approx(other)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "data", "calls"),
    [
        (PCA(3, scale=True), (WINE,), "scree scores biplot outliers"),
        (PCA(3, scale=True), (WINE,), "loadings() heat() contributions residuals()"),
        (KernelPCA(3, landmarks=40), (WINE,), "scree scores residuals()"),
        (FactorAnalysis(2), (WINE,), "scree heat() scores"),
        (ProbabilisticPCA(2, method="em"), (WINE[:, :4],), "scree likelihood() reconstructions"),
        (PLSRegression("auto"), DIABETES, "cv_curve() importance() predicted"),
        (CCA(), LINNERUD, "correlations paired loadings()"),
        (KernelCCA(2, ridge=0.1), LINNERUD, "correlations() paired"),
        (KernelSVC(), MOONS, "regions"),
    ],
    ids=lambda part: type(part).__name__ if hasattr(part, "fit") else None,
)
def test_a_saved_model_gives_the_charts_of_the_fitted_one(model, data, calls, tmp_path):
    model.fit(*data)
    gramian.save(model, tmp_path / "model.safetensors")
    loaded = gramian.load(tmp_path / "model.safetensors")
    for call in calls.split():
        rows = () if call.endswith("()") else data
        chart = getattr(charts, call.removesuffix("()"))
        assert_same_chart(chart(model, *rows), chart(loaded, *rows))


@pytest.mark.parametrize("dress", [sp.csr_array, np.float32, np.asfortranarray, lambda X: X.tolist()])
def test_rows_in_other_clothes(dress):
    X = dress(WINE)
    model, plain = PCA(2, scale=True).fit(X), PCA(2, scale=True).fit(WINE)
    for name in ("scree", "scores", "outliers"):
        one, other = (getattr(charts, name)(*pair) for pair in ((model, X), (plain, WINE)))
        shown = (one.values, other.values) if name == "scree" else (one.points.at, other.points.at)
        assert_allclose(*shown, rtol=1e-3, atol=1e-3)


def test_frames_of_polars_have_names():
    X = pl.DataFrame({name: WINE[:, j] for j, name in enumerate(("alcohol", "acid", "ash"))})
    assert set(charts.biplot(PCA(2).fit(X), X).columns) == {"alcohol", "acid", "ash"}
    assert charts.contours(KernelPCA(2).fit(X), X, grid=8).xlabel == "alcohol"
