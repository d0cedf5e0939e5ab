"""Rows prepared once give the same answers as rows prepared for each call; copies, pickles and files hold none."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import KernelKNNRegressor, KernelPCA, KernelRidge, config, models
from gramian.kernels import RBF, Function, parse
from gramian.kernels.base import Mapped
from gramian.kernels.pairwise import PreparedRows
from gramian.operators import CrossGram

KERNELS = [
    *("rbf(sigma=3)", "rbf(sigma=1e-9)", "laplacian(gamma=0.1)", "laplacian(gamma=0.1, norm='l2')", "matern"),
    *("rational_quadratic", "thin_plate_spline", "linear", "polynomial(degree=2)", "sigmoid(scale=0.1)", "cosine"),
    *("rbf(sigma=3) + 2*linear", "matern(length_scale=2)*cosine", "(rbf(sigma=3) + cosine)**2"),
    *("rbf(sigma=2)[0:3]", "linear[1, 3]*rbf(sigma=5)"),
]
STORED = {"dense": np.asarray, "csr": sp.csr_array}


def rows(rng, n, d, far):
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    X[:, 0] += far  # a column without zeros that is far from the origin is moved, of sparse rows too
    return X


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize(("d", "far"), [(6, 0.0), (6, 100.0), (300, 0.0)])
def test_pairs_of_prepared_rows_are_the_same(kernel, dtype, d, far, rng):
    given = [rows(rng, n, d, far).astype(kind) for n, kind in ((9, "float64"), (7, "float64"), (5, "float32"))]
    for keep in STORED.values():
        Y = keep(given[0])
        known = parse(kernel).resolve(Y)
        kept = PreparedRows(Y)
        for put in STORED.values():
            for X in (*map(put, given[1:]), put(given[1][:1]), Y):
                fresh = known.pairs(X, Y, np.dtype(dtype))
                again = known.against(X, kept, np.dtype(dtype))
                assert again.shape == fresh.shape
                tiles = [p.tile(slice(0, p.shape[0]), slice(0, 9), np.empty(p.shape, p.dtype)) for p in (fresh, again)]
                np.testing.assert_array_equal(*tiles)


def test_prepared_rows_do_not_remember_the_parameters_of_a_kernel(rng):
    X, Y = rng.standard_normal((4, 3)), PreparedRows(rng.standard_normal((5, 3)))
    for kernel in (RBF(sigma=1.0), RBF(sigma=2.0), parse("rbf(sigma=2)[0, 1]"), parse("rbf(sigma=2)[1, 2]")):
        found = kernel.against(X, Y, np.float64).tile(slice(0, 4), slice(0, 5), np.empty((4, 5)))
        np.testing.assert_allclose(found, kernel(X, Y.rows), rtol=1e-12)


class Halved(RBF):
    """A user's kernel that has its values from its parent's."""

    has_text = False

    def pairs(self, X, Y, dtype):
        return Mapped(super().pairs(X, Y, dtype), lambda tile: np.multiply(tile, 0.5, out=tile))

    def diagonal(self, X):
        return super().diagonal(X) / 2


def test_a_kernel_with_pairs_of_its_own_has_the_last_word(rng):
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((4, 3))
    for kernel in (Halved(sigma=2.0), Halved(sigma=2.0) + RBF(sigma=1.0), Halved(sigma=2.0)[0:2]):
        model = KernelRidge(0.1, kernel=kernel).fit(X, X[:, 0])
        other = KernelRidge(0.1, kernel=Function(kernel)).fit(X, X[:, 0])
        np.testing.assert_allclose(model.predict(Z), other.predict(Z), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", ["rbf", "matern", "linear", "cosine + rbf", "rbf[0:280]"])
def test_the_rows_of_a_fit_have_the_answers_that_they_have_in_other_company(kernel, dtype, rng):
    """All of them together take half of the tiles: those across the diagonal are the same."""
    X = rng.standard_normal((600, 300)).astype(dtype)
    model = KernelPCA(3, kernel=kernel, random_state=0).fit(X)
    whole = model.transform(X)
    parts = np.concatenate([model.transform(X[:250]), model.transform(X[250:])])
    rounding = 1e-10 if dtype == "float64" else 1e-5
    np.testing.assert_allclose(whole, parts, rtol=0, atol=rounding * np.abs(parts).max())
    almost = X.copy()
    almost[-1] *= 2
    assert np.abs(model.transform(almost)[-1] - whole[-1]).max() > 100 * rounding * np.abs(parts).max()


def test_a_function_of_a_user_need_not_be_symmetric(rng):
    kernel = Function(lambda A, B: A @ B.T + A.sum(axis=1)[:, None])
    X, V = rng.standard_normal((40, 300)), rng.standard_normal((40, 2))
    np.testing.assert_allclose(CrossGram(kernel, X, X) @ V, kernel(X) @ V, rtol=1e-9)
    assert not (kernel + RBF(sigma=1.0)).is_symmetric


def prepared(model):
    return model.projection_.prepared


def test_what_was_prepared_is_made_once_and_is_no_part_of_copies_pickles_and_files(rng, tmp_path):
    X, Z = rng.standard_normal((50, 400)), rng.standard_normal((3, 400))
    model = KernelPCA(2, kernel="rbf").fit(X)
    models.save(model, tmp_path / "before.gram")
    size, expected = len(pickle.dumps(model)), model.transform(Z)
    made = prepared(model)._made
    assert made
    before = {name: id(value) for name, value in made.items()}
    np.testing.assert_array_equal(model.transform(Z), expected)
    assert {name: id(value) for name, value in made.items()} == before
    models.save(model, tmp_path / "after.gram")
    assert (tmp_path / "before.gram").read_bytes() == (tmp_path / "after.gram").read_bytes()
    assert len(pickle.dumps(model)) < size + 1000
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert not prepared(other)._made
        assert prepared(other).rows is other.projection_.anchors
        np.testing.assert_array_equal(other.transform(Z), expected)
    np.testing.assert_array_equal(models.load(tmp_path / "after.gram").transform(Z), expected)


def test_nothing_is_kept_where_memory_is_short(rng):
    X, Z = rng.standard_normal((50, 400)), rng.standard_normal((3, 400))
    model = KernelPCA(2, kernel="rbf").fit(X)
    with config(memory=3 * X.nbytes):
        scores = model.transform(Z)
    assert not prepared(model)._made
    np.testing.assert_array_equal(model.transform(Z), scores)
    assert prepared(model)._made


@pytest.mark.parametrize("kernel", ["rbf", "linear", "polynomial(degree=2)"])
def test_neighbours_among_rows_prepared_once(kernel, rng, tmp_path):
    X, y = np.round(rng.standard_normal((700, 30)), 1), rng.standard_normal(700)
    Z = [X[:4], 1e6 * X[:3], 1e-6 * X[:2], rng.standard_normal((5, 30))]  # of other units than the rows before
    model = KernelKNNRegressor(5, kernel=kernel).fit(X, y)
    size = len(pickle.dumps(model))
    found = [model.kneighbors(rows) for rows in (*Z, *Z)]
    for rows, (distances, columns) in zip((*Z, *Z), found, strict=True):
        fresh = KernelKNNRegressor(5, kernel=kernel).fit(X, y).kneighbors(rows)
        np.testing.assert_array_equal(columns, fresh[1])
        np.testing.assert_array_equal(distances, fresh[0])
    assert len(pickle.dumps(model)) < size + 1000
    models.save(model, tmp_path / "model.gram")
    np.testing.assert_array_equal(models.load(tmp_path / "model.gram").predict(Z[3]), model.predict(Z[3]))
    model.fit(X[:100], y[:100])  # nothing is left of the rows before
    assert model.kneighbors(Z[3])[1].max() < 100
