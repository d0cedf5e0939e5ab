"""The thin plate spline in kernel PCA: plain centring, and beside constants and linear functions."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

import gramian
from gramian import KernelPCA
from gramian.kernels import ThinPlateSpline, parse
from gramian.operators import Gram
from gramian.operators.centering import Centred, KernelCentring, PolynomialCentring, Polynomials, Projected
from gramian.solvers import Krylov
from gramian.spaces import KernelSpace
from gramian.testing import check_operator, check_space

PROPER = ThinPlateSpline(centring="proper")


@pytest.fixture
def plane(rng):
    """Rows in the plane, where a thin plate bends."""
    X = rng.standard_normal((120, 2)) * [2.0, 1.0] + [3.0, -1.0]
    X.setflags(write=False)
    return X


def by_definition(X, new, c=1.0):
    """Eigenvalues of QKQ, and scores of training and new rows, from the formulas as they stand."""
    n, kernel = len(X), ThinPlateSpline(c=c)
    T, t = np.column_stack([np.ones(n), X]), np.column_stack([np.ones(len(new)), new])
    pinv, K = np.linalg.pinv(T), kernel(X)
    Q = np.eye(n) - T @ pinv
    values, vectors = np.linalg.eigh(Q @ K @ Q)
    values, vectors = values[::-1], vectors[:, ::-1]
    rows = Q @ (kernel.block(X, new) - K @ pinv.T @ t.T)
    k = n - 3
    return values, vectors[:, :k] * np.sqrt(values[:k]), rows.T @ vectors[:, :k] / np.sqrt(values[:k])


def aligned(A, B):
    return A * np.sign(np.sum(A * B, axis=0))


class TestProper:
    def test_it_is_the_definition(self, plane, rng):
        new = rng.standard_normal((30, 2)) * 3
        values, training, projected = by_definition(plane, new)
        assert values[-1] > -1e-10 * values[0]  # r^2 log r is positive beside linear functions, with this sign
        model = KernelPCA(5, kernel=PROPER, solver="dense")
        scores = model.fit_transform(plane)
        assert_allclose(model.eigenvalues_, values[:5], rtol=1e-9)
        assert_allclose(aligned(scores, training[:, :5]), training[:, :5], atol=1e-8 * np.abs(training).max())
        assert_allclose(aligned(model.transform(new), projected[:, :5]), projected[:, :5], atol=1e-8)
        assert_allclose(model.explained_variance_ratio_, values[:5] / values.sum(), rtol=1e-9)

    def test_all_components_are_positive_and_nothing_is_warned_of(self, plane):
        model = KernelPCA(kernel=PROPER).fit(plane)
        assert len(model.eigenvalues_) == len(plane) - 3
        assert model.summary_.facts["n_negative"] == 0
        assert_allclose(model.explained_variance_ratio_.sum(), 1, rtol=1e-10)

    @pytest.mark.parametrize("c", [1e-3, 0.5, 30.0, 1e4])
    def test_the_unit_of_length_cancels(self, plane, rng, c):
        new = rng.standard_normal((20, 2)) * 3
        one, other = (KernelPCA(4, kernel=ThinPlateSpline(c=u, centring="proper")).fit(plane) for u in (1.0, c))
        assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=1e-9)
        assert_allclose(other.transform(new), one.transform(new), atol=1e-9)

    def test_the_plain_treatment_does_depend_on_it(self, plane):
        with pytest.warns(gramian.IndefiniteKernelWarning):
            one, other = (KernelPCA(4, kernel=ThinPlateSpline(c=u)).fit(plane).eigenvalues_ for u in (1.0, 30.0))
        assert np.abs(other / one - 1).max() > 0.1

    def test_scores_see_no_linear_function(self, plane):
        scores = KernelPCA(4, kernel=PROPER).fit_transform(plane)
        T = np.column_stack([np.ones(len(plane)), plane])
        assert_allclose(T.T @ scores, 0, atol=1e-9 * np.abs(scores).max() * len(plane))

    @pytest.mark.parametrize("d", [1, 2, 5])
    def test_matrix_free_equals_dense(self, rng, d):
        X, new = rng.standard_normal((150, d)), rng.standard_normal((20, d))
        dense = KernelPCA(3, kernel=PROPER, solver="dense").fit(X)
        with gramian.config(memory="1MB"):
            free = KernelPCA(3, kernel=PROPER, solver=Krylov(tol=1e-11, max_products=300)).fit(X)
        assert_allclose(free.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
        size = np.abs(dense.transform(X)).max()
        assert_allclose(free.transform(new), dense.transform(new), atol=1e-6 * size)
        assert_allclose(free.explained_variance_ratio_, dense.explained_variance_ratio_, rtol=1e-8)

    @pytest.mark.parametrize("solver", ["dense", "krylov"])
    @pytest.mark.parametrize("shift", [0.0, 1e6])
    def test_training_scores_are_the_projection_of_the_training_rows(self, plane, solver, shift):
        model = KernelPCA(4, kernel=PROPER, solver=solver)
        scores = model.fit_transform(plane + shift)
        assert_allclose(model.transform(plane + shift), scores, atol=1e-6 * np.abs(scores).max())
        assert_allclose(scores, KernelPCA(4, kernel=PROPER).fit_transform(plane), atol=1e-5 * np.abs(scores).max())

    def test_columns_that_repeat_others_drop_out(self, plane):
        wide = np.column_stack([plane, plane[:, 0], np.full(len(plane), 7.0)])
        model = KernelPCA(3, kernel=PROPER)
        scores = model.fit_transform(wide)
        assert_allclose(model.transform(wide), scores, atol=1e-8 * np.abs(scores).max())
        assert len(KernelPCA(kernel=PROPER).fit(wide).eigenvalues_) == len(plane) - 3

    @pytest.mark.parametrize("n", [2, 3])
    def test_no_more_rows_than_functions_leave_nothing(self, plane, n):
        with pytest.raises(ValueError, match=r"zero variance.*columns \+ 1"):
            KernelPCA(kernel=PROPER).fit(plane[:n])
        with pytest.raises(ValueError, match=r"zero variance.*columns \+ 1"):
            KernelPCA(kernel=PROPER).fit(np.repeat(plane[:n], 5, axis=0))

    @pytest.mark.parametrize(("n", "d"), [(4, 2), (12, 10), (14, 10), (60, 10)])
    @pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e50])
    def test_few_rows_give_as_many_components_as_there_are(self, rng, n, d, size):
        X = rng.standard_normal((n, d)) * size
        model = KernelPCA(kernel=PROPER)
        scores = model.fit_transform(X)
        assert scores.shape == (n, n - d - 1)
        assert_allclose(model.transform(X), scores, atol=1e-7 * np.abs(scores).max())

    def test_overflow_is_called_by_its_name(self, plane):
        with pytest.raises(ValueError, match="overflow"):
            KernelPCA(2, kernel=PROPER).fit(plane * 1e100)

    def test_what_is_left_of_a_row_alone_in_its_column_is_not_negative(self, plane):
        X = np.column_stack([plane, np.eye(len(plane))[0]])
        gram = KernelSpace(PROPER, X).centred()
        assert (gram.diagonal() >= 0).all()

    def test_repeated_rows(self, plane):
        model = KernelPCA(kernel=PROPER).fit(np.repeat(plane[:40], 2, axis=0))
        assert len(model.eigenvalues_) == 37

    def test_more_components_than_there_are_warns(self, plane):
        with pytest.warns(gramian.RankWarning, match="7 positive eigenvalues"):
            assert KernelPCA(10, kernel=PROPER).fit(plane[:10]).eigenvalues_.shape == (7,)

    def test_sparse_rows_give_the_same(self, plane):
        X = np.where(np.abs(plane) > 1, plane, 0.0)
        dense, sparse = KernelPCA(3, kernel=PROPER).fit(X), KernelPCA(3, kernel=PROPER).fit(sp.csr_array(X))
        assert_allclose(sparse.transform(sp.csr_array(X)), dense.transform(X), atol=1e-7)

    def test_new_rows_far_away_have_finite_scores(self, plane):
        assert np.isfinite(KernelPCA(3, kernel=PROPER).fit(plane).transform(plane * 1e6)).all()

    def test_inside_another_kernel_it_is_refused(self, plane):
        for text in ("2*thin_plate_spline(centring=proper)", "thin_plate_spline(centring=proper)[0:2]"):
            with pytest.raises(ValueError, match="Use that part alone"):
                KernelPCA(2, kernel=text).fit(plane)


class TestPlain:
    def test_the_largest_eigenvalue_in_size_is_negative_and_is_left_out(self, plane):
        """A41."""
        H = np.eye(len(plane)) - 1 / len(plane)
        values = np.linalg.eigvalsh(H @ ThinPlateSpline(c=0.1)(plane) @ H)
        assert -values[0] > values[-1]  # the nasty case
        with pytest.warns(gramian.IndefiniteKernelWarning, match="only positive ones were kept"):
            model = KernelPCA(3, kernel="thin_plate_spline(c=0.1)").fit(plane)
        assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-9)
        assert model.summary_.facts["most_negative"] == pytest.approx(-values[0])
        assert np.isfinite(model.transform(plane * 100)).all()

    def test_it_is_the_default(self):
        assert ThinPlateSpline().centring == "plain"
        assert parse("tps(centring=proper)") == PROPER
        assert str(PROPER) == "thin_plate_spline(centring=proper)"
        with pytest.raises(ValueError, match="'plain' or 'proper'"):
            ThinPlateSpline(centring="linear")


class TestOperator:
    def test_the_laws_of_operators_and_spaces(self, plane):
        check_operator(Projected(Gram(PROPER, plane), Polynomials.of(PROPER.polynomial(plane))))
        check_space(KernelSpace(PROPER, plane), plane)

    def test_columns_diagonal_and_trace_are_those_of_the_matrix(self, plane):
        operator = Projected(Gram(PROPER, plane), Polynomials.of(PROPER.polynomial(plane)))
        A = operator.toarray()
        assert_allclose(operator.columns(np.array([0, 7])), A[:, [0, 7]], atol=1e-11 * np.abs(A).max())
        assert_allclose(operator.diagonal(), np.diag(A), atol=1e-11 * np.abs(A).max())
        assert operator.trace() == pytest.approx(np.trace(A))

    def test_beside_the_constant_alone_it_is_plain_centring(self, table, rng):
        gram = Gram(parse("rbf(sigma=2)"), table)
        general, plain = Projected(gram, Polynomials.of(np.ones((200, 1)))), Centred(gram)
        A = rng.standard_normal((200, 3))
        assert isinstance(general.centring, PolynomialCentring)
        assert isinstance(plain.centring, KernelCentring)
        assert_allclose(general.toarray(), plain.toarray(), atol=1e-12)
        B, trend = general.centring.fold(A)
        C, offset = plain.centring.fold(A)
        assert_allclose(B, C, atol=1e-12)
        assert_allclose(trend[0], offset, atol=1e-11)
