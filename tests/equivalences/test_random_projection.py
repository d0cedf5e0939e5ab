"""Random projections keep squared distances: exactly on average, and within eps as the bound says."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.random_projection import johnson_lindenstrauss_min_dim

from gramian import RankWarning, config
from gramian.estimators import random_projection
from gramian.estimators.plans_linear import MEASURED_ROWS
from gramian.estimators.random_projection import Distortion, RandomProjection

DENSITIES = [None, "auto", 0.2, 1.0]


@pytest.fixture
def wide(rng):
    X = rng.standard_normal((60, 900)) * np.linspace(0.1, 2, 900) + 5
    X.setflags(write=False)
    return X


@pytest.mark.parametrize("density", DENSITIES)
def test_the_bound_holds(wide, density):
    model = RandomProjection("auto", eps=0.4, density=density).fit(wide)
    k = johnson_lindenstrauss_min_dim(60, eps=0.4)
    assert model.components_.shape == (k, 900)
    ratios = pdist(model.transform(wide), "sqeuclidean") / pdist(wide, "sqeuclidean")
    assert np.abs(ratios - 1).max() < 0.4
    assert np.abs(ratios - 1).max() > 0.05
    assert f"K = {k} is the Johnson-Lindenstrauss bound" in str(model.summary_)


@pytest.mark.slow
@pytest.mark.parametrize("density", DENSITIES)
def test_squared_distances_are_kept_on_average(rng, density):
    X = rng.standard_normal((2, 30))
    before = np.sum((X[0] - X[1]) ** 2)
    ratios = [RandomProjection(16, density=density, random_state=seed).fit(X).distortion_.mean for seed in range(500)]
    assert np.mean(ratios) == pytest.approx(1, abs=4 * np.std(ratios) / np.sqrt(500))
    after = np.sum(np.diff(RandomProjection(16, density=density, random_state=7).fit_transform(X), axis=0) ** 2)
    assert ratios[7] == pytest.approx(after / before, rel=1e-10)


def test_entries_have_their_distribution(wide):
    R = RandomProjection(200, random_state=1).fit(wide).components_
    assert R.mean() == pytest.approx(0, abs=4 / np.sqrt(200 * R.size))
    assert R.var() * 200 == pytest.approx(1, abs=4 * np.sqrt(2 / R.size))
    for density, s in (("auto", 1 / 30), (0.2, 0.2)):
        R = RandomProjection(200, density=density).fit(wide).components_
        assert sp.issparse(R)
        assert R.format == "csr"
        assert R.nnz / np.prod(R.shape) == pytest.approx(s, abs=4 * np.sqrt(s / np.prod(R.shape)))
        assert_allclose(np.abs(R.data), 1 / np.sqrt(200 * s))
        assert (R.data > 0).mean() == pytest.approx(0.5, abs=2 / np.sqrt(R.nnz))
        assert (np.diff(R.indices)[np.diff(R.tocoo().coords[0]) == 0] > 0).all()  # sorted, none twice
    R = RandomProjection(200, density=1.0).fit(wide).components_
    assert isinstance(R, np.ndarray)
    assert_allclose(np.abs(R), 1 / np.sqrt(200))


@pytest.mark.parametrize("density", [None, 1.0])
def test_rows_drawn_with_the_same_seed_are_not_the_directions(density):
    X = np.random.default_rng(0).standard_normal((100, 2000))
    R = RandomProjection(100, density=density, random_state=0).fit(X).components_
    cosines = np.sum(R * X, axis=1) / np.linalg.norm(R, axis=1) / np.linalg.norm(X, axis=1)
    assert np.abs(cosines).max() < 0.15


def test_gaussian_by_name_is_the_default(wide):
    default, named = RandomProjection(3).fit(wide), RandomProjection(3, density="gaussian").fit(wide)
    assert np.array_equal(default.components_, named.components_)
    assert default.density_ == 1


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_give_the_same(rng, density, make):
    X = sp.random_array((80, 500), density=0.05, random_state=rng, format="csr")
    narrow, dense = RandomProjection(10, density=density).fit(make(X)), RandomProjection(10, density=density)
    dense.fit(X.toarray())
    assert_allclose(narrow.transform(make(X)), dense.transform(X.toarray()), atol=1e-12)
    assert isinstance(narrow.transform(make(X)), np.ndarray)
    assert_allclose(float(narrow.distortion_), float(dense.distortion_), rtol=1e-10)


def test_sparse_rows_are_not_made_dense():
    X = sp.csr_array((np.ones(5000), (np.arange(5000), 200 * np.arange(5000))), shape=(5000, 1_000_000))
    model = RandomProjection(2, density="auto").fit(X)  # dense rows would take 40 GB
    assert model.transform(X).shape == (5000, 2)


@pytest.mark.parametrize("density", DENSITIES)
def test_transform_is_the_matrix_and_inverse_its_pseudo_inverse(wide, density):
    model = RandomProjection(7, density=density).fit(wide)
    R = model.components_.toarray() if sp.issparse(model.components_) else model.components_
    scores = model.transform(wide)
    assert_allclose(scores, wide @ R.T, atol=1e-10)  # not centred
    assert_allclose(model.inverse_transform(scores), scores @ np.linalg.pinv(R).T, atol=1e-9)
    assert_allclose(model.transform(model.inverse_transform(scores)), scores, atol=1e-9)
    with pytest.raises(ValueError, match="7 components"):
        model.inverse_transform(scores[:, :3])


def test_distortion_is_that_of_all_pairs_if_they_are_few(wide):
    model = RandomProjection(20, eps=0.3).fit(wide)
    ratios = pdist(wide @ model.components_.T, "sqeuclidean") / pdist(wide, "sqeuclidean")
    expected = Distortion(
        ratios.min(),
        ratios.max(),
        ratios.mean(),
        np.sqrt((ratios**2).mean()),
        (np.abs(ratios - 1) <= 0.3).mean(),
        60 * 59 // 2,
    )
    for name, value in vars(expected).items():
        assert getattr(model.distortion_, name) == pytest.approx(value, rel=1e-9), name
    assert float(model.distortion_) == pytest.approx(np.abs(ratios - 1).max(), rel=1e-9)
    assert model.summary_.to_dict()["distortion"]["pairs"] == 1770


def test_distortion_of_many_rows_comes_from_a_sample(rng):
    X = rng.standard_normal((3000, 10)) + 1e6
    found = RandomProjection(5).fit(X).distortion_
    assert found.pairs == MEASURED_ROWS * (MEASURED_ROWS - 1) // 2
    shifted = RandomProjection(5).fit(X - 1e6).distortion_
    assert found.mean == pytest.approx(shifted.mean, rel=1e-8)


@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_squares_need_not_fit_double_precision(wide, size):
    for X in (wide, sp.csr_array(wide)):
        found = RandomProjection(5).fit(size * X).distortion_
        assert found.mean == pytest.approx(RandomProjection(5).fit(X).distortion_.mean, rel=1e-10)


def test_rows_that_are_all_the_same_have_no_distortion():
    found = RandomProjection(2).fit(np.ones((5, 4)))
    assert found.distortion_.pairs == 0
    assert np.isnan(found.distortion_.mean)
    assert "not measured" in str(found.summary_)


def test_the_bound_is_capped_with_a_warning(table):
    """C77."""
    with pytest.warns(RankWarning, match=r"is 4,541, more than d = 10"):
        model = RandomProjection("auto").fit(table)
    assert model.components_.shape == (10, 10)
    assert johnson_lindenstrauss_min_dim(200, eps=0.1) == 4541
    with pytest.warns(RankWarning, match="n_components=12 is more than d = 10"):
        model = RandomProjection(12).fit(table)
    assert model.transform(table).shape == (200, 12)
    assert_allclose(model.inverse_transform(model.transform(table)), table, atol=1e-10)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"n_components": 0}, ValueError),
        ({"n_components": -3}, ValueError),
        ({"n_components": 0.5}, ValueError),
        ({"n_components": True}, TypeError),
        ({"n_components": None}, TypeError),
        ({"n_components": "all"}, TypeError),
        ({"eps": 0.0}, ValueError),
        ({"eps": 1.0}, ValueError),
        ({"eps": np.nan}, ValueError),
        ({"density": 0}, ValueError),
        ({"density": 1.5}, ValueError),
        ({"density": np.nan}, ValueError),
        ({"density": "dense"}, ValueError),
        ({"density": True}, ValueError),
    ],
    ids=str,
)
def test_bad_parameters(table, arguments, error):
    """C77."""
    (name,) = arguments
    with pytest.raises(error, match=name):
        RandomProjection(**arguments).fit(table)


def test_seed_names_and_precision(wide):
    a, b, c = (RandomProjection(3, random_state=seed).fit(wide) for seed in (1, 1, 2))
    assert np.array_equal(a.components_, b.components_)
    assert a.distortion_ == b.distortion_
    assert not np.allclose(a.components_, c.components_)
    names = ["RP1", "RP2", "RP3"]
    assert list(a.set_output(transform="pandas").transform(wide).columns) == names
    X = wide.astype(np.float32)
    narrow = RandomProjection(3, density="auto").fit(X)
    assert narrow.components_.dtype == narrow.transform(X).dtype == np.float32
    assert narrow.inverse_transform(narrow.transform(X)).dtype == np.float32


def test_more_components_than_memory_holds_are_refused_before_they_are_drawn(rng):
    with config(memory="100MB"), pytest.raises(ValueError, match=r"needs 1\.06 GB .* Use n_components=\d+ or fewer"):
        RandomProjection(10**6).fit(rng.standard_normal((60, 6)))


def test_distances_of_few_rows_are_those_of_their_differences(rng):
    """Rows far from the origin, some of them nearly equal, some equal."""
    X = rng.standard_normal((80, 30)) + 1e3
    X[1], X[2], X[3] = X[0] + 1e-7, X[0] + 1e-4 * rng.standard_normal(30), X[0]
    found = RandomProjection(5).fit(X)
    left, right = np.triu_indices(80, 1)
    expected = random_projection._ratios(found.projection_, X[left], X[right])
    ratios = random_projection._ratios_of_few(found.projection_, X, left, right)
    assert len(ratios) == len(expected) == 80 * 79 // 2 - 1
    assert_allclose(np.sort(ratios), np.sort(expected), rtol=1e-5)
