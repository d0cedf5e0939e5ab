"""Kernel CCA: scikit-learn's contract, and input that reads wrong."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import gramian
from gramian import KernelCCA
from gramian.estimators.warnings import GramianWarning, IndefiniteKernelWarning, RankWarning


@pytest.fixture
def views(table, rng):
    X = table[:60, :4]
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2, rng.standard_normal(60)])
    Y.setflags(write=False)
    return X, Y


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.5}, r"n_components=1\.5"),
        ({"ridge": -1}, "ridge=-1"),
        ({"ridge": (0.1, 0.1, 0.1)}, "ridge="),
        ({"ridge": "much"}, "ridge='much'"),
        ({"rank": 0}, "rank=0"),
        ({"rank": True}, "rank=True"),
        ({"folds": 1}, "folds=1"),
        ({"solver": "power"}, "solver='power' is not known"),
        ({"scale": "x"}, "scale='x'"),
        ({"kernel": "nonsense"}, "nonsense"),
        ({"kernel_y": "rbf(gamma=-1)"}, "gamma=-1"),
        ({"kernel": "precomputed"}, "square Gram matrix"),
        ({"kernel_y": "precomputed"}, "kernel_y='precomputed' needs a square"),
        ({"solver": "krylov"}, "Say how many"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_named(views, change, match):
    with pytest.raises((ValueError, TypeError), match=match):
        KernelCCA(**change).fit(*views)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "match"),
    [
        (lambda Y: None, "requires y"),
        (lambda Y: Y[:-1], "same number"),
        (lambda Y: np.where(Y[3, 1] < Y, np.nan, Y), "NaN"),
        (lambda Y: Y * np.inf, "Y contains"),
        (lambda Y: Y.astype(complex), "Complex"),
        (lambda Y: np.char.add(Y.astype(str), "a"), "not numbers"),
        (lambda Y: Y[:, :0], "shape"),
        (lambda Y: Y[:, :, None], "shape"),
        (lambda Y: np.ma.masked_array(Y), "masked"),
        (lambda Y: np.zeros_like(Y), "Y has zero variance"),
    ],
)
def test_a_second_view_that_reads_wrong_is_refused(views, spoil, match):
    X, Y = views
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=match):
        KernelCCA(2).fit(X, spoil(Y))


@pytest.mark.parametrize("solver", ["dense", "krylov"])
def test_views_without_variance_are_named(views, solver):
    X, Y = views
    with pytest.raises(ValueError, match="zero variance"):
        KernelCCA(1, solver=solver, ridge=0.1).fit(np.ones_like(X), Y)


def test_asymmetric_matrices_are_refused(views):
    X, _ = views
    K = X @ X.T
    K[0, 1] += 1
    with pytest.raises(ValueError, match=r"symmetric.*Y differs"):
        KernelCCA(1, kernel="linear", kernel_y="precomputed").fit(X, K)


def test_precomputed_matrices_have_no_columns_to_scale(views):
    X, Y = views
    with pytest.raises(ValueError, match="scale=True"):
        KernelCCA(1, scale=True, kernel_y="precomputed").fit(X, Y @ Y.T)


def test_new_rows_must_have_the_columns_of_the_fit(views):
    X, Y = views
    model = KernelCCA(1)
    with pytest.raises(NotFittedError):
        model.transform(X)
    model.fit(X, Y)
    with pytest.raises(ValueError, match="features"):
        model.transform(X[:, :2])
    with pytest.raises(ValueError, match="Y has 2 columns"):
        model.transform(X, Y[:, :2])
    with pytest.raises(ValueError, match="same number"):
        model.transform(X, Y[:5])


def test_a_failed_fit_leaves_the_old_one(views):
    X, Y = views
    model = KernelCCA(1).fit(X, Y)
    before = model.transform(X)
    with pytest.raises(ValueError, match="zero variance"):
        model.fit(X, np.zeros(60))
    assert np.array_equal(model.transform(X), before)


def test_indefinite_kernels_keep_what_is_positive_and_say_so(views):
    X, Y = views[0] - 3.0, views[1]
    with pytest.warns(IndefiniteKernelWarning, match="of X is indefinite"):
        model = KernelCCA(2, ridge=0.1, kernel="sigmoid(scale=2, constant=-1)", kernel_y="rbf").fit(X, Y)
    assert np.isfinite(model.transform(X)).all()
    assert (model.correlations_ <= 1).all()
    assert "indefinite" in str(model.summary_)
    assert model.summary_.facts["n_negative"][0] > 0


def test_more_pairs_than_there_are(views):
    X, Y = views
    with pytest.warns(RankWarning, match="smaller rank is 3"):
        model = KernelCCA(10, ridge=0.1, kernel="linear").fit(X, Y)
    assert model.transform(X).shape == (60, 3)


def test_one_column_may_come_flat(views):
    X, Y = views
    flat, column = KernelCCA(1).fit(X, Y[:, 0]), KernelCCA(1).fit(X, Y[:, :1])
    assert np.array_equal(flat.transform(X, Y[:, 0])[1], column.transform(X, Y[:, :1])[1])


def test_few_rows_hold_nothing_out(views):
    X, Y = views
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        assert KernelCCA(1).fit(X[:5], Y[:5]).held_out_correlations_ is None
        assert KernelCCA(1).fit(X[:6], Y[:6]).held_out_correlations_.shape == (1,)
    assert KernelCCA(1, folds=None).fit(X, Y).held_out_correlations_ is None


def test_repeated_rows_and_far_points_stay_finite(views):
    X, Y = views
    model = KernelCCA(2).fit(np.repeat(X, 3, axis=0), np.repeat(Y, 3, axis=0))
    far = model.transform(X + 1e6)
    assert np.isfinite(far).all()
    assert_allclose(far, np.broadcast_to(far[0], far.shape), atol=1e-12)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_extreme_scales(views, kernel):
    X, Y = views
    plain = KernelCCA(2, scale=True, kernel=kernel).fit(X, Y)
    for size in (1e-150, 1e150):
        model = KernelCCA(2, scale=True, kernel=kernel).fit(X * size, Y)
        assert_allclose(model.correlations_, plain.correlations_, rtol=1e-6)


def test_constant_columns_change_nothing(views):
    X, Y = views
    more = np.column_stack([X, np.full(60, 7.0)])
    for scale in (False, True):
        one, other = (KernelCCA(2, kernel="rbf(sigma=2)", scale=scale).fit(V, Y) for V in (X, more))
        assert_allclose(other.correlations_, one.correlations_, rtol=1e-9)


def test_data_frames_and_names_of_scores(views):
    X, Y = views
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = KernelCCA(2).set_output(transform="pandas").fit(frame, pd.DataFrame(Y))
    scores = model.transform(frame)
    assert list(scores.columns) == ["CC1", "CC2"]
    assert_allclose(scores.to_numpy(), KernelCCA(2).fit(X, Y).transform(X))
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[list("dcba")])


def test_single_precision_stays_so_and_inputs_are_not_changed(views):
    X, Y = views
    before = X.tobytes(), Y.tobytes()
    narrow = KernelCCA(2).fit(X.astype(np.float32), Y)
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.correlations_, KernelCCA(2).fit(X, Y).correlations_, rtol=1e-5)
    assert (X.tobytes(), Y.tobytes()) == before


def test_many_rows_need_a_number_of_pairs(rng):
    X = rng.standard_normal((600, 3))
    with gramian.config(memory="5MB"):
        with pytest.raises(ValueError, match="Say how many"):
            KernelCCA().fit(X, X)
        with pytest.raises(ValueError, match="solver='dense' needs"):
            KernelCCA(2, solver="dense").fit(X, X)


def test_a_kernel_that_may_be_indefinite_is_cut_where_it_does_not_fit(rng):
    X = rng.standard_normal((600, 3))
    kernel, Y = gramian.kernels.RBF(sigma=1.5), X[:, :2] ** 2
    with gramian.config(memory="20MB"), pytest.warns(RankWarning, match="only the 200 leading components"):
        model = KernelCCA(2, ridge=0.1, kernel=lambda A, B: kernel.block(A, B), folds=None).fit(X, Y)
    exact = KernelCCA(2, ridge=0.1, kernel=kernel, kernel_y=kernel, folds=None).fit(X, Y)
    assert_allclose(model.correlations_, exact.correlations_, rtol=1e-6)


def test_a_nested_kernel_parameter_can_be_set():
    model = clone(KernelCCA(kernel=gramian.kernels.RBF(sigma=1.0))).set_params(kernel__sigma=3.0)
    assert model.kernel == gramian.kernels.RBF(sigma=3.0)


@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_far_from_the_origin_nothing_changes(views, solver):
    X, Y = views
    near = KernelCCA(2, kernel="linear", solver=solver).fit(X, Y)
    for offset in (1e3, 1e6):
        far = KernelCCA(2, kernel="linear", solver=solver).fit(X + offset, Y + offset)
        assert_allclose(far.correlations_, near.correlations_, rtol=1e-8)
        assert_allclose(far.held_out_correlations_, near.held_out_correlations_, rtol=1e-6)
        for one, other in zip(far.transform(X + offset, Y + offset), near.transform(X, Y), strict=True):
            assert_allclose(one, other, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("size", [1e8, 1e30])
@pytest.mark.parametrize("solver", ["auto", "krylov"])
def test_a_ridge_below_rounding_is_none(rng, size, solver):
    X = rng.standard_normal((700, 3))
    Y = np.column_stack([X[:, 0] + rng.standard_normal(700), rng.standard_normal(700)])
    model = KernelCCA(1, kernel="linear", solver=solver, ridge=(0.01, 0.0), folds=None)
    expected = gramian.CCA(1).fit(X, Y).correlations_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)
        assert_allclose(model.fit(X * size, Y).correlations_, expected, rtol=1e-8)
        model.set_params(ridge=(0.01, 1e-9))
        assert_allclose(model.fit(X * size, Y).correlations_, expected, rtol=1e-6)


def test_folds_without_variance_are_left_out(rng):
    X, Y = rng.standard_normal((6, 3)), rng.standard_normal((6, 1))
    kernel = "thin_plate_spline(centring=proper)"
    model = KernelCCA(1, kernel=kernel, kernel_y="rbf").fit(X, Y)  # 3 rows leave nothing beside 4 functions
    assert model.held_out_correlations_ is None


@pytest.mark.parametrize(
    "change", [{}, {"kernel": "linear", "ridge": 0}, {"kernel": "linear", "solver": "krylov"}], ids=str
)
def test_squares_that_underflow_are_refused(views, change):
    X, Y = views
    for size in (1e-160, 1e-300):
        with pytest.raises(ValueError, match=r"X.*underflow"):
            KernelCCA(1, **change).fit(X * size, Y)
        with pytest.raises(ValueError, match=r"Y.*underflow"):
            KernelCCA(1, **change).fit(X, Y * size)
