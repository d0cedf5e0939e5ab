"""The rows themselves, their moments, or their triangular factor: methods of two blocks give the same digits."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import CCA, PLSSVD, PLSCanonical, PLSRegression, PrincipalComponentRegression
from gramian.estimators import cca
from gramian.estimators.fit_rows import FitRows
from gramian.operators import compressed, moments_of, source
from gramian.operators.compressed import near_moments

METHODS = {
    "pls": PLSRegression(3),
    "pls5": PLSRegression(5),
    "unscaled": PLSRegression(2, scale=False),
    "pcr": PrincipalComponentRegression(3),
    "contribution": PrincipalComponentRegression(3, order="contribution"),
    "canonical": PLSCanonical(2),
    "svd": PLSSVD(2),
}
LOOKED_AT = ("coef_", "x_weights_", "x_rotations_", "x_loadings_", "y_loadings_", "y_weights_", "score_squares_")


def tables(seed, orders, n=400, d=12):
    """Rows whose standard deviations span some orders of magnitude along directions that no column follows."""
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.standard_normal((d, d)))
    X = (rng.standard_normal((n, d)) * np.logspace(0, -orders, d)) @ turn
    Y = X @ rng.standard_normal((d, 3)) + 0.3 * rng.standard_normal((n, 3))
    return X + rng.integers(0, 4), Y


def dearly(model, X, Y, monkeypatch):
    """The same fit with the triangular factor of the rows, as if moments could never do."""
    with monkeypatch.context() as patch:
        patch.setattr(FitRows, "compressed", lambda rows, *given, **named: rows.exact())
        return type(model)(**model.get_params()).fit(X, Y)


def route(model):
    return model.summary_.facts["route"]


@pytest.fixture
def compressing(monkeypatch):
    """Small tables are compressed as large ones are."""
    monkeypatch.setattr(compressed, "PRODUCTS_MAX_ENTRIES", 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("orders", [0, 1, 2, 4, 6, 8, 10, 12, 15])
@pytest.mark.parametrize("limit", [0, compressed.PRODUCTS_MAX_ENTRIES])
def test_all_routes_have_ten_digits(method, orders, limit, monkeypatch):
    monkeypatch.setattr(compressed, "PRODUCTS_MAX_ENTRIES", limit)
    for seed in range(4):
        X, Y = tables(seed, orders)
        found = type(METHODS[method])(**METHODS[method].get_params()).fit(X, Y)
        assert (route(found) == "rows") == (limit > 0 and not method.startswith(("pcr", "contribution")))
        dear = dearly(found, X, Y, monkeypatch)
        assert route(dear) == "triangular"
        for name in LOOKED_AT:
            if (wanted := getattr(dear, name, None)) is not None:
                size = np.abs(wanted).max(axis=0) if wanted.shape[0] == X.shape[1] else np.abs(wanted).max()
                assert_allclose(getattr(found, name) / size, wanted / size, atol=2e-9, err_msg=name)


@pytest.mark.usefixtures("compressing")
@pytest.mark.parametrize("method", ["pls", "svd", "canonical", "pcr"])
def test_columns_that_nearly_repeat_do_not_matter_to_leading_components(method):
    for seed in range(4):
        X, Y = tables(seed, 1)
        X = np.c_[X, X[:, :1] + 1e-9 * X[:, 1:2], X[:, 2], np.zeros(len(X)), np.full(len(X), 3.0)]
        assert route(type(METHODS[method])(**METHODS[method].get_params()).fit(X, Y)) == "moments"


@pytest.mark.usefixtures("compressing")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_columns_of_zeros_are_told_from_tiny_ones(kind):
    X, Y = tables(0, 1)
    nothing, tiny = X.copy(), X.copy()
    nothing[:, 3] = 0
    tiny[:, 3] *= 1e-170
    assert route(PLSRegression(2).fit(kind(nothing), Y)) == "moments"
    found, wanted = PLSRegression(2).fit(kind(tiny), Y), PLSRegression(2).fit(kind(X), Y)
    assert route(found) == "triangular"
    assert_allclose(found.x_weights_, wanted.x_weights_, atol=1e-10)


@pytest.mark.usefixtures("compressing")
def test_what_needs_small_directions_takes_the_triangle():
    X, Y = tables(1, 9)
    for model in (
        PLSRegression(12),
        PLSRegression(None),
        PrincipalComponentRegression(),
        CCA(2),
        PLSRegression("auto"),
    ):
        assert route(model.fit(X, Y)) == "triangular", model
    hilbert = 1 / (np.arange(100)[:, None] + np.arange(1, 11))
    for k, wanted in ((2, "moments"), (6, "triangular")):
        assert route(PLSRegression(k).fit(hilbert, hilbert @ np.ones(10))) == wanted


@pytest.mark.parametrize("limit", [0, compressed.PRODUCTS_MAX_ENTRIES])
def test_a_component_that_is_only_rounding_is_not_found(limit, monkeypatch):
    """Five components of columns of rank three: all routes stop at three."""
    monkeypatch.setattr(compressed, "PRODUCTS_MAX_ENTRIES", limit)
    X, Y = tables(2, 1)
    low = X[:, :3] @ np.random.default_rng(0).standard_normal((3, 12))
    with pytest.warns(gramian.RankWarning, match="nothing is left"):
        assert PLSRegression(5).fit(low, Y).n_components_ == 3


@pytest.mark.parametrize("method", ["pls", "svd", "canonical"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("column", [0.0, 0.1, 1e9, "tiny", "huge"])
def test_rows_themselves_give_what_their_triangle_gives(method, weighted, column, monkeypatch):
    """Also with weights, columns that are constant, and columns whose squares leave double precision."""
    X, Y = tables(5, 1)
    X = np.c_[
        X, np.full(len(X), column) if isinstance(column, float) else X[:, 0] * {"tiny": 1e-170, "huge": 1e170}[column]
    ]
    w = np.random.default_rng(0).integers(0, 3, len(X)) + 0.5 if weighted else None
    found = type(METHODS[method])(**METHODS[method].get_params()).fit(X, Y, w)
    assert route(found) == ("rows" if isinstance(column, float) else "triangular")
    with monkeypatch.context() as patch:
        patch.setattr(FitRows, "compressed", lambda rows, *given, **named: rows.exact())
        wanted = type(found)(**found.get_params()).fit(X, Y, w)
    for name in (*LOOKED_AT, "x_scores_", "x_explained_", "selectivity_ratio_", "residual_moments_", "intercept_"):
        if (expected := getattr(wanted, name, None)) is not None:
            assert_allclose(getattr(found, name), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max(), err_msg=name)
    for a, b in (
        zip((found.moments_.mean, found.moments_.scatter), (wanted.moments_.mean, wanted.moments_.scatter), strict=True)
        if isinstance(column, float)
        else ()
    ):
        assert_allclose(a, b, atol=1e-9 * np.abs(b).max())


PAIRS = ("correlations_", "x_weights_", "y_weights_", "x_structure_", "y_cross_structure_", "coef_", "intercept_")


@pytest.mark.parametrize("orders", [0, 2, 6])
@pytest.mark.parametrize("weighted", [False, True])
def test_canonical_pairs_of_a_triangle_are_those_of_the_singular_vectors(orders, weighted, monkeypatch):
    for limit, names in ((0, {"moments", "triangular"}), (compressed.TRIANGLE_MAX_MULTIPLICATIONS, {"triangular"})):
        monkeypatch.setattr(compressed, "TRIANGLE_MAX_MULTIPLICATIONS", limit)
        X, Y = tables(6, orders)
        w = np.random.default_rng(0).integers(0, 3, len(X)) + 0.5 if weighted else None
        found = CCA(2).fit(X, Y, w)
        assert route(found) in names
        with monkeypatch.context() as patch:
            patch.setattr(cca, "_of_triangle", lambda scaled: None)
            wanted = CCA(2).fit(X, Y, w)
        assert found.rank_ == wanted.rank_ == (12, 3)
        for name in PAIRS:
            expected = getattr(wanted, name)
            assert_allclose(getattr(found, name), expected, atol=10.0 ** (orders - 13) * np.abs(expected).max())


@pytest.mark.parametrize("column", [0.0, 3.0, "copy", "sum"])
def test_canonical_pairs_of_columns_that_depend_on_others(column):
    """The rank is not full: singular vectors of each view decide."""
    X, Y = tables(7, 0)
    extra = {"copy": X[:, 0], "sum": X @ np.ones(12)}.get(column, np.full(len(X), column))
    found, wanted = CCA(2).fit(np.c_[X, extra], Y), CCA(2).fit(X, Y)
    assert found.rank_ == (12, 3)
    assert_allclose(found.correlations_, wanted.correlations_, atol=1e-12)
    # Signs may differ.
    assert_allclose(np.abs(found.transform(np.c_[X, extra])), np.abs(wanted.transform(X)), atol=1e-9)


def test_a_long_table_of_nearly_dependent_columns_has_no_pass_for_moments(monkeypatch):
    X, Y = tables(8, 6, 20_000)
    wanted = CCA(2).fit(X, Y)
    taken = []
    monkeypatch.setattr(
        source, "moments_of", lambda *given, **named: taken.append(given) or moments_of(*given, **named)
    )
    found = CCA(2).fit(X, Y)
    assert (route(found), len(taken)) == ("triangular", 0)
    assert_allclose(found.correlations_, wanted.correlations_, rtol=1e-12)
    easy = X @ np.linalg.inv(np.linalg.qr(X - X.mean(axis=0), mode="r"))
    assert route(CCA(2).fit(easy, Y)) == "moments"
    assert len(taken) == 1
    rare = np.c_[easy, np.arange(20_000) == 7]  # constant in the rows that are looked at
    assert route(CCA(2).fit(rare, Y)) == "moments"


def test_a_stream_is_read_once_where_one_pass_will_do():
    X, Y = tables(3, 1)
    X = np.c_[X, X[:, 0]]
    passes = []

    def blocks():
        passes.append(1)
        return iter(np.array_split(np.c_[X, Y], 5))

    stream = gramian.rows(blocks, y_columns=["x13", "x14", "x15"])
    found = PLSRegression(2).fit(stream)
    assert route(found) == "moments"
    assert_allclose(found.coef_, PLSRegression(2).fit(X, Y).coef_, atol=1e-12)
    assert len(passes) <= 2, passes  # the first block is looked at for its columns


@pytest.mark.parametrize("n", [60, 5000])
def test_near_moments_have_the_moments(n):
    X, Y = tables(4, 8, n)
    found = moments_of(X, beside=Y)
    near = near_moments(found, 12, lambda columns: False)
    size = np.sqrt(np.diag(found.scatter))
    assert_allclose(near.rows.T @ near.rows / np.outer(size, size), found.scatter / np.outer(size, size), atol=1e-14)
    assert near_moments(moments_of(X * 1e-170, beside=Y), 12, lambda columns: False) is None
    assert near_moments(moments_of(X * 1e170, beside=Y), 12, lambda columns: False) is None
