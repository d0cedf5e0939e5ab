"""The forecast: it takes the route of the fit, grows with the data, and says what would fit."""

import inspect
import json

import numpy as np
import pytest
from sklearn.decomposition import PCA as TheirPCA
from sklearn.pipeline import make_pipeline

import gramian as g
from gramian.costs import machine
from gramian.costs.plan import Job
from gramian.estimators.fit_memory import plan_of
from gramian.registry import RECORDS

ESTIMATORS = [record.estimator for record in RECORDS]
TWO_VIEWS = tuple(record.estimator for record in RECORDS if record.needs == "view")
CLASSIFIERS = tuple(record.estimator for record in RECORDS if record.needs == "label")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Rates that cost nothing: what is tested here does not depend on the machine."""
    monkeypatch.setattr(machine, "seconds", lambda run, alone=False: 1e-3)
    monkeypatch.setattr(machine, "_rates", {})
    monkeypatch.setattr(machine, "_tiles", {})


def data(estimator, n, d, q, rng):
    X = rng.standard_normal((n, d)) * np.linspace(2, 1, d)
    if isinstance(estimator, TWO_VIEWS):
        return X, X[:, :q] + rng.standard_normal((n, q))
    if isinstance(estimator, CLASSIFIERS):
        return X, rng.integers(q, size=n)
    if "y" in inspect.signature(estimator.fit).parameters and hasattr(estimator, "predict"):
        return X, X[:, :q] + 0.1 * rng.standard_normal((n, q))
    return (X,)


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_every_public_estimator_has_a_forecast(kind):
    found = g.forecast(kind(), 400, 30, q=3)
    assert found.bytes > 0
    assert found.seconds > 0
    assert found.fits
    assert str(found).startswith(kind.__name__)
    assert json.loads(found.to_json())["route"] == found.route


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_bytes_and_seconds_grow_with_the_rows(kind):
    estimator = kind(3) if kind in (g.KernelPCA, g.KernelCCA) else kind()
    with g.config(memory="1TB"):
        few, many = (g.forecast(estimator, n, 30, q=3) for n in (20_000, 80_000))
    assert few.bytes <= many.bytes
    assert few.seconds < many.seconds or kind is g.RandomProjection  # which looks at a sample


@pytest.mark.parametrize("kind", ESTIMATORS, ids=lambda kind: kind.__name__)
def test_bytes_and_seconds_grow_with_the_columns(kind):
    estimator = kind(3) if kind in (g.KernelPCA, g.KernelCCA) else kind()
    with g.config(memory="1TB"):
        few, many = (plan_of(estimator, Job(30_000, d, 3)) for d in (20, 200))
    assert few.bytes <= many.bytes or few.route != many.route


GRID = [
    (g.KernelPCA(2), 300, 4, 1),
    (g.KernelPCA(3), 900, 4, 1),
    (g.KernelPCA(80), 600, 4, 1),
    (g.KernelPCA(2, kernel="sigmoid"), 700, 4, 1),
    (g.KernelPCA(2, kernel="laplacian", solver="randomized"), 200, 4, 1),
    (g.KernelRidge(), 200, 5, 2),
    (g.KernelRidge(), 3100, 5, 1),
    (g.KernelRidge(kernel="linear"), 400, 5, 1),
    (g.KernelRidge(kernel="linear"), 40, 60, 1),
    (g.KernelRidge(solver="cg"), 300, 5, 1),
    (g.KernelCCA(2, folds=None), 200, 5, 3),
    (g.KernelCCA(2, folds=None), 700, 5, 3),
    (g.KernelKMeans(3, n_init=2), 300, 4, 1),
    (g.KernelKMeans(3, batch_size=50), 300, 4, 1),
    (g.KernelKNNClassifier(), 1200, 4, 2),
    (g.KernelKNNClassifier(), 1200, 9, 2),
    (g.KernelKNNRegressor(kernel="linear"), 300, 9, 1),
    (g.PCA(2), 300, 20, 1),
    (g.PCA(2), 20_000, 90, 1),
    (g.PCA(2), 250, 2000, 1),
    (g.PCA(2, solver="power"), 300, 20, 1),
]


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize(("estimator", "n", "d", "q"), GRID, ids=lambda value: str(value)[:40])
def test_the_route_and_the_reason_are_those_of_the_fit(estimator, n, d, q):
    facts = estimator.fit(*data(estimator, n, d, q, np.random.default_rng(0))).summary_.facts
    found = g.forecast(estimator, n, d, q=q)
    assert found.route == facts["solver"]
    assert found.reason == facts.get("reason", found.reason)


@pytest.mark.parametrize("shape", [(300, 12), (20, 40)], ids=str)
@pytest.mark.parametrize("kind", [g.PLSRegression, g.PrincipalComponentRegression, g.CCA])
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_the_route_of_two_blocks_is_that_of_the_fit(kind, shape):
    facts = kind().fit(*data(kind(), *shape, 2, np.random.default_rng(0))).summary_.facts
    assert g.forecast(kind(), *shape, q=2).route == facts["route"]


@pytest.mark.parametrize("kind", [g.PLSRegression, g.PrincipalComponentRegression])
def test_choosing_components_by_folds_costs_more_than_a_fit(kind):
    fit, few, many = (
        g.forecast(model, 20_000, 30, q=2) for model in (kind(30), kind("auto", cv=3), kind("auto", cv=9))
    )
    assert fit.bytes < min(few.bytes, many.bytes)
    assert fit.seconds < few.seconds < many.seconds
    assert "up to 30 components, 9 folds" in str(many)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_route_of_classifiers_is_that_of_the_fit(kernel):
    X, y = data(g.KernelSVC(), 300, 5, 2, np.random.default_rng(0))
    for kind in (g.KernelSVC, g.KernelPrototypeClassifier):
        facts = kind(kernel=kernel).fit(X, y).summary_.facts
        assert facts["route"].startswith(g.forecast(kind(kernel=kernel), 300, 5, q=2).route)


def test_memory_decides_the_route_as_it_does_in_a_fit():
    with g.config(memory="20MB"):
        found = g.forecast(g.KernelPCA(2), 1_000, 4)
        facts = g.KernelPCA(2).fit(np.random.default_rng(0).standard_normal((1_000, 4))).summary_.facts
    assert (found.route, found.reason) == (facts["solver"], facts["reason"])


@pytest.mark.parametrize(
    ("estimator", "n", "d"),
    [(g.ICA(), 10**6, 50), (g.KernelPCA(100), 10**6, 20), (g.KernelPCA(10, solver="dense"), 9_000, 20)],
    ids=lambda value: str(value)[:20],
)
def test_what_is_advised_would_fit(estimator, n, d):
    with g.config(memory="500MB"):
        found = g.forecast(estimator, n, d)
        assert not found.fits
        assert "over the budget of 500 MB" in str(found)
        advice = dict(part.split("=", 1) for part in found.advice if part.count("=") == 1 and "config" not in part)
        for name, text in advice.items():
            value = text.removesuffix(" or fewer").strip("'")
            changed = type(estimator)(**{**estimator.get_params(), name: int(value) if value.isdigit() else value})
            assert g.forecast(changed, n, d).fits
        rows = next(part for part in found.advice if part.endswith("rows"))
        assert g.forecast(estimator, int(rows.split()[2].replace(",", "")), d).fits
    memory = found.advice[-1].split("'")[1]
    with g.config(memory=memory):
        assert g.forecast(estimator, n, d).fits


def test_a_forecast_changes_nothing():
    model, before = g.KernelPCA(2), g.settings()
    g.forecast(model, 10**5, 20)
    assert vars(model) == vars(g.KernelPCA(2))
    assert g.settings() == before


def test_scaled_rows_count_as_memory():
    plain, scaled = g.PCA(2), make_pipeline(g.Standardizer(), g.PCA(2))
    assert g.forecast(scaled, 10**5, 20).bytes >= g.forecast(plain, 10**5, 20).bytes + 8 * 10**5 * 20


@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool"])
def test_rows_that_are_no_floats_are_copied(dtype):
    assert g.forecast(g.PCA(2), 10**5, 20, dtype=dtype).bytes == g.forecast(g.PCA(2), 10**5, 20).bytes + 16 * 10**6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((TheirPCA(), 100, 5), "estimator=PCA has no forecast"),
        ((g.PCA, 100, 5), "estimator=.* has no forecast"),
        ((make_pipeline(TheirPCA(), g.PCA()), 100, 5), "Only a Standardizer may come before"),
        ((g.PCA(), 0, 5), "n=0 must be a whole number"),
        ((g.PCA(), 100, 5.0), "d=5.0 must be a whole number"),
        ((g.PCA(), True, 5), "n=True must be a whole number"),
        ((g.PCA(9), 100, 5), "n_components=9 is more than"),
        ((g.PCA(solver="fast"), 100, 5), "solver='fast' is not known"),
        ((g.KernelPCA(kernel="nothing"), 100, 5), "nothing"),
        ((g.KernelPCA(), 20_000, 5), "n_components=None asks for all components"),
        ((g.KernelPCA(2, solver="dense"), 20_000, 5), "largest n 10,000"),
        ((g.KernelRidge(kernel="precomputed"), 20, 5), "n=20 and d=5 differ"),
    ],
    ids=str,
)
def test_what_a_fit_would_refuse_is_refused_in_one_line(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message) as caught:
        g.forecast(*arguments)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("estimator", [g.KernelPCA(5), g.KernelRidge(), g.KernelSVC(), g.KernelKMeans(3)], ids=str)
def test_landmarks_cost_by_their_number_and_not_by_pairs_of_rows(estimator):
    estimator.landmarks = 100
    costs = [g.forecast(estimator, n, 20) for n in (50_000, 100_000)]
    assert costs[0].seconds < costs[1].seconds < 2.1 * costs[0].seconds
    estimator.landmarks = 400
    assert g.forecast(estimator, 50_000, 20).bytes > costs[0].bytes


def test_landmarks_are_advised_where_they_would_fit():
    model = g.KernelPCA(100)
    model.landmarks = None
    with g.config(memory="500MB"):
        found = next(text for text in g.forecast(model, 10**6, 20).advice if text.startswith("landmarks="))
        model.landmarks = int(found.split("=")[1].split()[0])
        assert g.forecast(model, 10**6, 20).fits
