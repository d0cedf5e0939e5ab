"""Section A: tables that are odd in their entries, their shape or their storage."""

import re
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from tests.cases import ESTIMATORS, LINEAR, N, X, answer, estimator, fitted, targets

import gramian

from .cases import finite, finite_or_refused, refusal, same_up_to_sign

ALL = pytest.mark.parametrize("name", ESTIMATORS)
NAMES = list("abcde")


def put(value):
    Z = X.copy()
    Z[3, 1] = value
    return Z


@ALL
@pytest.mark.parametrize(
    ("Z", "words"),
    [
        pytest.param(put(np.nan), "NaN", id="A01 NaN"),
        pytest.param(put(np.inf), "infinity", id="A02 infinity"),
        pytest.param(X[:0], "0 sample", id="A11 no rows"),
        pytest.param(X[:, :0], "0 feature", id="A12 no columns"),
        pytest.param(X[:, 0], "[Rr]eshape", id="A13 one dimension"),
        pytest.param(np.stack([X, X]), "[Rr]eshape", id="A14 three dimensions"),
        pytest.param(np.full(X.shape, "a"), "string", id="A20 strings"),
        pytest.param(np.full(X.shape, "a", dtype=object), "string", id="A20 strings as objects"),
        pytest.param(X * 1j, "Complex data not supported", id="A21 complex"),
        pytest.param(np.ma.masked_array(X, X > 1.5), "masked", id="A23 masked"),
        pytest.param(pd.DataFrame(put(np.nan)).convert_dtypes(), "NaN", id="A25 nullable with a gap"),
    ],
)
def test_refused(name, Z, words):
    assert re.search(words, refusal(ValueError, fitted, name, Z, targets(name)))


@ALL
@pytest.mark.parametrize(
    ("Z", "words"),
    [
        pytest.param(np.column_stack([X, np.full(N, 7.0)]), "zero variance", id="A03 one constant column"),
        pytest.param(np.full_like(X, 0.1), "zero (co)?variance", id="A04 all columns constant"),
        pytest.param(np.tile(X[0], (N, 1)), "zero (co)?variance", id="A05 all rows identical"),
        pytest.param(np.repeat(X, 3, axis=0), "never", id="A06 every row three times"),
        pytest.param(X[:1], "at least 2 samples|only one class|n_samples=1", id="A07 one row"),
        pytest.param(np.random.default_rng(0).standard_normal((10, 50)), "never", id="A09 10 x 50"),
        pytest.param(X.astype(object), "never", id="A19 objects that are numbers"),
    ],
)
def test_finite_or_refused_by_name(name, Z, words):
    finite_or_refused(name, Z, words)


@pytest.mark.parametrize("name", ["KernelPCA", "KernelPCA linear", "PCA"])
def test_eigenvalues_of_rows_three_times(name):
    """A06: those of the Gram matrix are three times as large; the variances have another divisor."""
    once, thrice = fitted(name), fitted(name, np.repeat(X, 3, axis=0))
    if name == "PCA":
        np.testing.assert_allclose(thrice.explained_variance_ * (3 * N - 1), 3 * once.explained_variance_ * (N - 1))
    else:
        np.testing.assert_allclose(thrice.eigenvalues_, 3 * once.eigenvalues_, rtol=1e-9)


@ALL
def test_one_column(name):
    """A08."""
    one = {"n_components": 1} if "n_components" in estimator(name).get_params() else {}
    finite(name, X[:, :1], **one)
    if name == "PCA":
        assert abs(fitted(name, X[:, :1], **one).components_) == 1


@pytest.mark.parametrize("name", LINEAR)
def test_many_rows_need_no_matrix_of_them(name):
    """A10: 5,000 x 3, where a matrix of all pairs would take 200 MB."""
    Z = np.random.default_rng(0).laplace(size=(5000, 3))
    tracemalloc.start()
    try:
        finite(name, Z, **({"n_components": 1} if name == "FactorAnalysis" else {}))
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


#: Power of the unit of X that the answer has, where theory knows one.
UNITS = {
    **dict.fromkeys(["FactorAnalysis", "ICA", "ProbabilisticPCA", "Standardizer", "CCA", "KernelPCA"], 0),
    **dict.fromkeys(["KernelPCA laplacian", "KernelPCA cosine", "KernelCCA", "KernelRidge", "KernelKMeans"], 0),
    **dict.fromkeys(["PCA", "RandomProjection", "KernelPCA linear", "KernelKMeans linear"], 1),
}
LOST = "overflow|underflow|zero variance|double precision"


@ALL
@pytest.mark.parametrize(
    "size", [pytest.param(s, id=f"A15 scale {s:g}") for s in (1e-300, 1e-160, 1e-30, 1e30, 1e150, 1e160, 1e300)]
)
def test_scale(name, size):
    found = finite_or_refused(name, X * size, LOST)
    if found is not None and UNITS.get(name) is not None and 1e-150 < size < 1e151:
        expected = finite(name, X)
        same_up_to_sign(found / size ** UNITS[name], expected, 1e-6)


@pytest.mark.parametrize("name", ["KernelRidge", "KernelSVC", "KernelKNNClassifier"])
def test_rows_that_look_alike_for_their_unit(name):
    """A15: squares that underflow are said."""
    y = targets(name)
    with pytest.warns(gramian.RankWarning, match="underflow"):
        estimator(name).fit(X * 1e-300, y) if y is not None else estimator(name).fit(X * 1e-300)


@ALL
def test_columns_of_very_different_size(name):
    """A16."""
    found = finite_or_refused(name, X * np.logspace(-8, 8, 5), "zero variance is left")
    if name in ("FactorAnalysis", "Standardizer", "PLSRegression", "PLSCanonical", "PLSSVD", "CCA"):
        same_up_to_sign(found, finite(name, X), 1e-6)


def test_sources_do_not_depend_on_units():
    """A16: all of them; fewer are sought where variances are large, and those do."""
    found = answer(fitted("ICA", X * np.logspace(-8, 8, 5), n_components=5), X * np.logspace(-8, 8, 5))
    expected = answer(fitted("ICA", n_components=5))
    match = np.abs(found.T @ expected) / N
    assert (match.max(axis=0) > 0.99 * np.square(expected).mean(axis=0)).all()


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in ("RandomProjection", "KernelSVC linear")])
def test_far_from_the_origin(name):
    """A17 offset 1e9: nothing is lost where only differences count."""
    found = finite(name, X + 1e9)
    if name not in ("KernelPCA cosine", "KernelPCA polynomial"):
        same_up_to_sign(found, finite(name, X), 1e-6)


def test_random_projection_far_from_the_origin():
    """A17: a projection without a centre is that of the offset, and finite."""
    finite("RandomProjection", X + 1e9)
    finite("KernelSVC linear", X + 1e9)


@ALL
@pytest.mark.parametrize(
    "dtype", [pytest.param(t, id=f"A18 {np.dtype(t)}") for t in (np.float32, np.float16, np.int64, np.uint8, bool)]
)
def test_number_types(name, dtype):
    Z = np.random.default_rng(0).integers(0, 2, (N, 5)) if dtype is bool else np.round(np.abs(X) * 90)
    Z = Z.astype(dtype)
    expected = finite(name, Z.astype(float))
    same_up_to_sign(finite(name, Z), expected, 1e-4 if dtype is np.float32 else 1e-9)


@ALL
def test_sparse(name):
    """A22."""
    Z = np.where(np.abs(X) < 0.4, 0.0, X)
    if name in ("ICA", "Standardizer"):
        assert "parse" in refusal(TypeError, fitted, name, sp.csr_matrix(Z))
        return
    if name == "KernelPCA landmarks":  # sparse landmarks stay rows and are not moved to means
        finite(name, sp.csr_array(Z))
        return
    expected = finite(name, Z)
    for form in (sp.csr_array, sp.csr_matrix, sp.coo_array, sp.csc_matrix):
        same_up_to_sign(finite(name, form(Z)), expected, 1e-6)


@ALL
def test_frames(name):
    """A24 nullable columns, A26 polars, A27 columns in another order."""
    expected, frame = finite(name, X), pd.DataFrame(X, columns=NAMES)
    model = fitted(name, frame.convert_dtypes())
    same_up_to_sign(answer(model, frame.convert_dtypes()), expected, 1e-12)
    table = pl.DataFrame(X, schema=NAMES)
    same_up_to_sign(answer(fitted(name, table), table), expected, 1e-12)
    with pytest.raises(ValueError, match="feature names"):  # scikit-learn's own, of several lines
        answer(model, frame[NAMES[::-1]])


def memory_map(Z, folder):
    np.save(folder / "Z.npy", Z)
    return np.load(folder / "Z.npy", mmap_mode="r")


def read_only(Z):
    Z = Z.copy()
    Z.setflags(write=False)
    return Z


@ALL
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda Z, _: np.repeat(np.repeat(Z, 2, axis=0), 2, axis=1)[::2, ::2], id="A28 strided"),
        pytest.param(lambda Z, _: np.asfortranarray(Z), id="A29 Fortran"),
        pytest.param(lambda Z, _: read_only(Z), id="A30 read-only"),
        pytest.param(memory_map, id="A31 memory map"),
        pytest.param(lambda Z, _: Z[::-1, ::-1].copy()[::-1, ::-1], id="A32 negative strides"),
        pytest.param(lambda Z, _: Z.astype(">f8"), id="A33 big-endian"),
    ],
)
def test_storage(name, change, tmp_path):
    Z = change(X, tmp_path)
    same_up_to_sign(finite(name, Z), finite(name, X), 1e-12 if name != "ICA" else 1e-9)


@ALL
def test_nothing_is_written_to(name):
    """A34."""
    Z, y = X.copy(), targets(name)
    before = Z.tobytes(), None if y is None else y.tobytes()
    answer(fitted(name, Z, y), Z)
    assert (Z.tobytes(), None if y is None else y.tobytes()) == before


COUNTS = {
    name: key
    for name, (model, _) in ESTIMATORS.items()
    for key in ("n_components", "n_clusters", "n_neighbors")
    if key in model.get_params(deep=False)
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize(
    "value",
    [
        *(pytest.param(value, id=f"A35 {value!r}") for value in (0, -1, 2.7, "two")),
        pytest.param(True, id="A37 True"),
    ],
)
def test_numbers_of_components(name, value):
    key = COUNTS[name]
    assert f"{key}={value!r}" in refusal((ValueError, TypeError), fitted, name, **{key: value})


@pytest.mark.parametrize("name", COUNTS)
def test_far_too_many_components(name):
    """A35 10**6: refused, or as many as there are with a warning."""
    model, y = estimator(name, **{COUNTS[name]: 10**6}), targets(name)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model.fit(X, y) if y is not None else model.fit(X)
        except ValueError as error:
            said.append(error)
    assert any("1000000" in str(getattr(one, "message", one)) for one in said)


@pytest.mark.parametrize(
    ("name", "count"), [("PCA", 5), ("KernelPCA linear", 5), ("KernelPCA", N - 1), ("ICA", 5), ("ProbabilisticPCA", 4)]
)
def test_all_components(name, count):
    """A36."""
    assert answer(fitted(name, n_components=None)).shape == (N, count)
