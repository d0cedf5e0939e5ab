"""Widths and kernels: known answers, honest figures, bad input."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_circles

from gramian import KernelPCA, KernelRidge, KernelSVC
from gramian.kernels.pairwise import median_width
from gramian.selection import bandwidth, select_kernel


@pytest.fixture
def waves(rng):
    X = rng.uniform(0, 6, (150, 1))
    return X, np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(150)


class TestBandwidth:
    def test_without_targets_the_median_decides(self, table):
        found = bandwidth(table)
        assert (found.sigma, found.decided_by) == (median_width(table), "median distance")
        sizes = {line.criterion: line.sigma for line in found.table}
        assert sizes["low quantile"] < sizes["median distance"] < sizes["high quantile"]
        distances = np.sqrt(((table[:, None] - table) ** 2).sum(axis=2))[np.triu_indices(200, 1)]
        np.testing.assert_allclose(sizes["low quantile"], np.quantile(distances, 0.1))

    def test_rows_left_out_decide_with_targets(self, waves):
        X, y = waves
        found = bandwidth(X, y)
        assert found.decided_by == "rows left out"
        best = min(found.path, key=lambda line: line["error"])
        assert (found.sigma, found.ridge) == (best["sigma"], best["ridge"])
        assert 0.15 < found.sigma < 1.5  # the wave turns once in two units
        direct = KernelRidge(found.ridge, kernel=found.kernel, fit_intercept=True).fit(X, y).leave_one_out_
        np.testing.assert_allclose(np.mean(direct**2), best["error"], rtol=1e-6)

    def test_width_goes_with_the_units(self, waves):
        X, y = waves
        np.testing.assert_allclose(bandwidth(1000 * X, y).sigma, 1000 * bandwidth(X, y).sigma, rtol=1e-6)

    def test_labels_are_indicators(self):
        X, y = load_iris(return_X_y=True)
        words = bandwidth(X, load_iris().target_names[y])
        numbers = bandwidth(X, np.eye(3)[y])
        assert words == numbers
        assert json.loads(json.dumps(words.to_dict()))["sigma"] == words.sigma

    def test_text(self, waves):
        assert str(bandwidth(*waves)).splitlines()[-1].startswith("* rows left out")

    def test_bad_input(self, waves):
        X, y = waves
        with pytest.raises(ValueError, match="all rows of X are equal"):
            bandwidth(np.ones((10, 2)))
        with pytest.raises(ValueError, match="same number"):
            bandwidth(X, y[:-1])
        with pytest.raises(ValueError, match="contains NaN"):
            bandwidth(np.where(X > 5, np.nan, X))


class TestSelectKernel:
    @pytest.mark.slow
    def test_circles_want_a_curved_boundary(self):
        X, y = make_circles(150, factor=0.4, noise=0.1, random_state=0)
        found = select_kernel(X, y, ["linear", "rbf(sigma=0.5)"], estimator="kernel-svm")
        assert found.kernel == "rbf(sigma=0.5)"
        assert found.table[0].outer < 0.8 < found.outer
        assert [line.chosen for line in found.table] == [0, 5]

    def test_waves_want_the_width_of_a_wave(self, waves):
        found = select_kernel(*waves, ["linear", "rbf(sigma=0.5)", "rbf(sigma=50)"])
        assert found.kernel == "rbf(sigma=0.5)"
        model = KernelRidge(fit_intercept=True, kernel=found.kernel)
        np.testing.assert_allclose(found.parameters["ridge"], model.path(*shuffled(*waves)).best)
        assert found.outer > 0.9

    @pytest.mark.slow
    def test_choosing_among_noise_flatters_inside_and_not_outside(self, rng):
        X, y = rng.standard_normal((80, 5)), rng.standard_normal(80)
        kernels = [f"rbf(sigma={sigma})" for sigma in np.geomspace(0.3, 10, 12)]
        found = select_kernel(X, y, kernels)
        assert found.outer < 0.1
        assert found.outer < found.inner
        assert found.inner >= max(line.inner for line in found.table)

    @pytest.mark.slow
    def test_a_plane_is_rebuilt_by_the_linear_kernel(self, rng):
        X = rng.standard_normal((90, 2)) @ rng.standard_normal((2, 5)) + 0.01 * rng.standard_normal((90, 5))
        found = select_kernel(X, candidates=["rbf(sigma=1)", "linear"], estimator=KernelPCA(2))
        assert found.kernel == "linear"
        assert found.outer > 0.99

    @pytest.mark.slow
    def test_default_candidates_and_text(self):
        X, y = load_iris(return_X_y=True)
        found = select_kernel(X, y, estimator=KernelSVC(2.0), cv=3)
        assert len(found.table) == 6
        assert sum(line.chosen for line in found.table) == found.folds == 3
        assert str(found).count("\n") == 7
        assert "on rows that had no part in it" in str(found)
        assert json.loads(json.dumps(found.to_dict()))["kernel"] == found.kernel

    @pytest.mark.slow
    def test_the_same_data_give_the_same_choice(self, waves):
        assert select_kernel(*waves, cv=3) == select_kernel(*waves, cv=3)

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"estimator": "ridge"}, "estimator='ridge' is not known. Use one of: 'kernel-ridge'"),
            ({"cv": 1}, "cv=1 must be a number of folds"),
            ({"cv": 500}, "cv=500 must be a number of folds"),
            ({"candidates": []}, "candidates=[] must be a list of kernels"),
            ({"candidates": "rbf"}, "candidates='rbf' must be a list"),
            ({"candidates": ["rbff"]}, "Did you mean 'rbf'?"),
            ({"candidates": ["precomputed"]}, "a given matrix cannot be compared"),
            ({"estimator": "kernel-pca"}, "takes no y"),
        ],
    )
    def test_bad_input(self, waves, options, message):
        with pytest.raises(ValueError) as caught:
            select_kernel(*waves, **options)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_kernels_without_pre_images_are_refused_for_kernel_pca(self, table):
        with pytest.raises(ValueError, match="sigmoid"):
            select_kernel(table, candidates=["sigmoid"], estimator="kernel-pca")


def shuffled(X, y):
    order = np.random.default_rng(0).permutation(len(X))
    return X[order], y[order]
