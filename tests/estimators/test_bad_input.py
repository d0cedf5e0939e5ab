"""Bad input gets one line that names the argument and the remedy, and leaves a fitted model as it was."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import PCA, KernelPCA
from gramian.kernels import RBF

BOTH = [PCA, KernelPCA]


def complaint(function, *kinds):
    with pytest.raises(kinds or ValueError) as caught:
        function()
    message = str(caught.value)
    assert "\n" not in message, message
    return message


def with_value(X, value):
    X = X.copy()
    X[4, 2] = value
    return X


@pytest.mark.parametrize("estimator", BOTH)
class TestRows:
    def test_nan_is_named_with_its_place(self, estimator, table):
        message = complaint(lambda: estimator().fit(with_value(table, np.nan)))
        assert "NaN" in message
        assert "row 4 (counted from 0), column 2" in message
        frame = pd.DataFrame(with_value(table, np.nan), columns=list("abcdefghij"))
        assert "column 'c'" in complaint(lambda: estimator().fit(frame))
        nullable = frame.convert_dtypes()
        assert "NaN" in complaint(lambda: estimator().fit(nullable))

    def test_infinity_is_named(self, estimator, table):
        assert "infinity" in complaint(lambda: estimator().fit(with_value(table, np.inf)))
        fitted = estimator().fit(table)
        assert "infinity" in complaint(lambda: fitted.transform(with_value(table, -np.inf)))

    def test_sparse_nan_is_named(self, estimator, table):
        assert "row 4 (counted from 0), column 2" in complaint(
            lambda: estimator().fit(sp.csr_array(with_value(table, np.nan)))
        )

    @pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
    def test_empty(self, estimator, shape):
        assert "minimum of 1 is required" in complaint(lambda: estimator().fit(np.empty(shape)))

    def test_one_row(self, estimator):
        assert "needs at least 2 samples" in complaint(lambda: estimator().fit(np.ones((1, 4))))

    @pytest.mark.parametrize("shape", [(5,), (2, 3, 4)])
    def test_wrong_number_of_dimensions(self, estimator, shape):
        assert "Reshape your data" in complaint(lambda: estimator().fit(np.ones(shape)))

    def test_wrong_width(self, estimator, table):
        fitted = estimator().fit(table)
        assert "X has 9 features" in complaint(lambda: fitted.transform(table[:, :9]))

    def test_complex_masked_and_text(self, estimator, table):
        assert "Complex data not supported" in complaint(lambda: estimator().fit(table * 1j))
        masked = np.ma.masked_array(table, table > 5)
        assert "masked" in complaint(lambda: estimator().fit(masked))
        complaint(lambda: estimator().fit(np.array([["a", "b"], ["c", "d"]])))

    @pytest.mark.parametrize("value", [0, -1, 2.7, 1.0, 0.0])
    def test_n_components_out_of_range(self, estimator, table, value):
        assert f"n_components={value}" in complaint(lambda: estimator(value).fit(table))

    @pytest.mark.parametrize("value", ["two", True, [2]])
    def test_n_components_of_the_wrong_kind(self, estimator, table, value):
        assert "n_components" in complaint(lambda: estimator(value).fit(table), TypeError)

    def test_too_many_components(self, estimator, table):
        limit = 10 if estimator is PCA else 200
        assert f"Use n_components={limit} or fewer" in complaint(lambda: estimator(10**6).fit(table))

    def test_a_failed_refit_leaves_the_model_as_it_was(self, estimator, table):
        model = estimator(2).fit(table)
        before = model.transform(table)
        for bad in (table[:, :4] * np.nan, table[:, :3][:1]):
            complaint(lambda bad=bad: model.fit(bad))
        assert model.n_features_in_ == 10
        assert np.array_equal(model.transform(table), before)

    def test_unknown_solver(self, estimator, table):
        message = complaint(lambda: estimator(2, solver="lanczos").fit(table))
        assert "'lanczos'" in message
        assert "krylov" in message

    def test_input_is_not_changed(self, estimator, table):
        X = table.copy()
        estimator(2).fit(X).transform(X)
        assert X.tobytes() == table.tobytes()


class TestKernels:
    def test_width(self, table):
        assert "sigma=0" in complaint(lambda: RBF(sigma=0))
        assert "sigma=-1" in complaint(lambda: KernelPCA(kernel="rbf(sigma=-1)").fit(table))
        assert "gamma=-1" in complaint(lambda: RBF(gamma=-1))
        message = complaint(lambda: RBF(sigma=1, gamma=2))
        assert "sigma=1" in message
        assert "gamma=2" in message

    def test_unknown_name_gets_the_nearest(self, table):
        message = complaint(lambda: KernelPCA(kernel="gausian").fit(table))
        assert "Did you mean 'gaussian'?" in message
        assert "polynomial" in message

    def test_not_a_kernel_at_all(self, table):
        assert "kernel=3" in complaint(lambda: KernelPCA(kernel=3).fit(table), TypeError)

    @pytest.mark.parametrize(
        ("function", "word"),
        [
            (lambda A, B: np.ones(3), "returned shape (3,)"),
            (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN"),
            (lambda A, B: "text", "str"),
        ],
    )
    def test_a_function_that_returns_nonsense(self, table, function, word):
        assert word in complaint(lambda: KernelPCA(kernel=function).fit(table))

    def test_a_function_that_raises_is_heard(self, table):
        def fails(A, B):
            raise ZeroDivisionError("from the user")

        with pytest.raises(ZeroDivisionError, match="from the user"):
            KernelPCA(kernel=fails).fit(table)

    def test_precomputed(self, table):
        K = RBF(sigma=2.0)(table)
        model = KernelPCA(2, kernel="precomputed")
        assert "square Gram matrix" in complaint(lambda: model.fit(K[:50]))
        skew = K.copy()
        skew[0, 1] += 1e-3
        assert "symmetric" in complaint(lambda: model.fit(skew))
        model.fit(K)
        assert "200" in complaint(lambda: model.transform(K[:, :50]))

    def test_all_rows_alike(self):
        assert "zero variance" in complaint(lambda: KernelPCA(2).fit(np.ones((20, 3))))
        assert "rank 0" in complaint(lambda: KernelPCA(2, kernel="rbf(gamma=0)").fit(np.eye(20)))

    def test_extreme_widths_stay_finite(self, table):
        for kernel in (
            "rbf(gamma=1e300)",
            "rbf(sigma=1e-200)",
            "laplacian(gamma=1e300, norm=l2)",
            "laplacian(gamma=1e300)",
        ):
            model = KernelPCA(3, kernel=kernel).fit(table)
            assert_allclose(model.eigenvalues_, 1, rtol=1e-9)  # the Gram matrix is the identity
            assert np.isfinite(model.transform(table * 1e6)).all()

    @pytest.mark.parametrize("kernel", ["rbf", "matern", "laplacian", "rational_quadratic", "thin_plate_spline"])
    @pytest.mark.parametrize("size", [1e-300, 1e-160, 1e-30, 1e30, 1e150])
    @pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
    def test_extreme_rows_are_finite_or_refused(self, table, kernel, size):
        model = KernelPCA(2, kernel=kernel)
        if size == 1e-300 or (kernel == "thin_plate_spline" and size == 1e150):
            with pytest.raises(ValueError, match=r"zero variance|overflow"):
                model.fit(table * size)
        else:
            assert np.isfinite(model.fit_transform(table * size)).all()

    def test_overflow_is_named(self, table):
        assert "degree=200" in complaint(lambda: KernelPCA(2, kernel="polynomial(degree=200, scale=1e3)").fit(table))
        message = complaint(lambda: KernelPCA(2, kernel="polynomial(degree=2.5, constant=0)").fit(table - 3))
        assert "fractional power" in message
        assert "overflow" in complaint(lambda: KernelPCA(2, kernel="rbf(sigma=1)").fit(table * 1e200))

    def test_more_components_than_positive_eigenvalues(self, table):
        """A57."""
        X = np.repeat(table[:5], 4, axis=0)
        with pytest.warns(gramian.RankWarning, match="4 positive eigenvalues"):
            model = KernelPCA(10, kernel="rbf(sigma=1)").fit(X)
        assert model.transform(table).shape == (200, 4)

    def test_a_dense_solver_refuses_before_it_allocates(self, table):
        """B63."""
        with gramian.config(memory="100kB"):
            message = complaint(lambda: KernelPCA(2, solver="dense").fit(table))
        assert "960 kB" in message
        assert "solver='auto'" in message
        with gramian.config(memory="900kB"):
            assert KernelPCA(2, kernel="rbf(sigma=2)").fit(table).summary_.facts["solver"] == "krylov"
        message = complaint(lambda: KernelPCA().fit(np.zeros((200_000, 2))))
        assert "n_components=10" in message


class TestPCA:
    def test_constant_columns(self, table):
        X = np.column_stack([table, np.full(200, 7.0)])
        for scale in (False, True):
            pca = PCA(10, scale=scale).fit(X)
            assert_allclose(pca.components_[:, -1], 0, atol=1e-12)
            assert np.isfinite(pca.transform(X)).all()

    def test_all_constant(self):
        with pytest.warns(gramian.RankWarning, match="zero variance"):
            pca = PCA().fit(np.full((20, 3), 5.0))
        assert (pca.explained_variance_ == 0).all()
        assert (pca.explained_variance_ratio_ == 0).all()
        assert (pca.transform(np.full((4, 3), 5.0)) == 0).all()

    def test_more_components_than_the_rank(self, table):
        X = np.column_stack([table[:, :3], table[:, :3] @ [1.0, 2.0, 3.0]])
        with pytest.warns(gramian.RankWarning, match="rank 3"):
            pca = PCA(4, whiten=True).fit(X)
        assert pca.explained_variance_[-1] == 0
        assert_allclose(pca.components_ @ pca.components_.T, np.eye(4), atol=1e-10)
        assert (pca.transform(X)[:, -1] == 0).all()

    @pytest.mark.parametrize("route", ["svd", "dual", "covariance", "power", "auto"])
    def test_fewer_rows_than_columns(self, rng, route):
        pca = PCA(solver=route).fit(rng.standard_normal((10, 50)))
        assert (pca.explained_variance_ > 0).sum() == 9
        assert_allclose(pca.components_ @ pca.components_.T, np.eye(10), atol=1e-8)

    @pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
    @pytest.mark.parametrize("route", ["auto", "covariance", "dual", "svd", "krylov", "power"])
    def test_scale_equivariance(self, table, size, route):
        plain, scaled = PCA(3, solver=route).fit(table), PCA(3, solver=route).fit(table * size)
        assert_allclose(np.sqrt(scaled.explained_variance_) / size, np.sqrt(plain.explained_variance_), rtol=1e-9)
        assert_allclose(scaled.explained_variance_ratio_, plain.explained_variance_ratio_, rtol=1e-9)
        assert_allclose(scaled.transform(table * size) / size, plain.transform(table), rtol=1e-6, atol=1e-6)

    @pytest.mark.parametrize("size", [1e-300, 1e300])
    def test_variances_beyond_the_range_are_refused(self, table, size):
        assert "by a constant" in complaint(lambda: PCA(2).fit(table * size))

    def test_far_from_the_origin(self, table):
        near, far = PCA().fit(table), PCA().fit(table + 1e9)
        assert_allclose(far.explained_variance_, near.explained_variance_, rtol=1e-5)

    def test_svd_of_sparse_rows_is_refused(self, table):
        assert "sparse" in complaint(lambda: PCA(solver="svd").fit(sp.csr_array(table)))

    def test_scores_of_another_width_are_refused(self, table):
        assert "m x 2" in complaint(lambda: PCA(2).fit(table).inverse_transform(np.ones((3, 5))))
