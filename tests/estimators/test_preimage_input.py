"""Pre-images and what they refuse: kernels without any, methods, scores and coefficients of another kind."""

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.kernels import parse
from gramian.preimage import preimage

WITHOUT = ["sigmoid(scale=0.01)", "thin_plate_spline", "thin_plate_spline(centring=proper)", lambda A, B: A @ B.T]


@pytest.mark.parametrize("kernel", WITHOUT, ids=["sigmoid", "spline", "proper spline", "function"])
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_kernels_without_pre_images_are_refused_at_fit(table, kernel):
    """B61."""
    for method in ("auto", "fixed_point", "distance", "learned"):
        with pytest.raises(ValueError, match=r"no pre-images.*rbf.*preimage=None"):
            KernelPCA(2, kernel=kernel, preimage=method).fit(table)
    model = KernelPCA(2, kernel=kernel).fit(table)  # unless nobody asked
    with pytest.raises(ValueError, match="no pre-images"):
        model.inverse_transform(model.transform(table))


def test_a_precomputed_kernel_has_no_rows_to_go_back_to(table):
    K = parse("rbf(sigma=2)")(table)
    with pytest.raises(ValueError, match="no pre-images"):
        KernelPCA(2, kernel="precomputed", preimage="learned").fit(K)
    assert KernelPCA(2, kernel="precomputed").fit(K).eigenvalues_.shape == (2,)


def test_a_method_the_kernel_does_not_allow_names_the_others(table):
    with pytest.raises(ValueError, match=r"'distance' does not work.*'auto', 'fixed_point', 'learned'"):
        KernelPCA(2, kernel="polynomial(degree=2)", preimage="distance").fit(table)
    with pytest.raises(ValueError, match=r"'fixed_point' does not work.*'auto', 'learned'"):
        KernelPCA(2, kernel="laplacian", preimage="fixed_point").fit(table)
    with pytest.raises(ValueError, match=r"preimage='mds' is not known"):
        KernelPCA(2, preimage="mds").fit(table)


def test_scores_of_another_shape_are_refused(table):
    model = KernelPCA(2, kernel="rbf(sigma=2)").fit(table)
    with pytest.raises(ValueError, match="m x 2"):
        model.inverse_transform(np.ones((3, 5)))
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform(np.full((3, 2), np.nan))
    with pytest.raises(ValueError, match="0 rows"):
        model.inverse_transform(np.empty((0, 2)))


def test_scores_that_would_be_misread_are_refused(table):
    model = KernelPCA(2, kernel="rbf(sigma=2)").fit(table)
    for scores, word in (
        (np.ones((3, 2)) * 1j, "Complex"),
        (np.ma.masked_equal(np.ones((3, 2)), 1), "masked"),
        ([["a", "b"]], "X holds values that are not numbers"),
        ([[np.inf, 0.0]], "X contains NaN or infinity"),
    ):
        with pytest.raises(ValueError, match=word):
            model.inverse_transform(scores)


def test_anchors_and_far_points_are_checked(table):
    for anchors, word in ((table * np.nan, "anchors contain NaN"), (table[:0], "at least one row")):
        with pytest.raises(ValueError, match=word):
            preimage("rbf(sigma=2)", anchors, np.ones((len(anchors), 1)))
    for far in (np.ones(3, dtype=bool), ["a"]):
        with pytest.raises(ValueError, match="a boolean for each of the 1 points"):
            preimage("rbf(sigma=2)", table, np.ones((200, 1)), far=far)


def test_coefficients_of_another_shape_are_refused(table):
    with pytest.raises(ValueError, match="200 anchors"):
        preimage("rbf(sigma=2)", table, np.ones((3, 2)))
    with pytest.raises(ValueError, match="2 columns of coefficients"):
        preimage("rbf(sigma=2)", table, np.ones((200, 2)), coordinates=np.ones((4, 3)))
