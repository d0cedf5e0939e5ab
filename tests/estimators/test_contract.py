"""scikit-learn's contract: its own checks, and what users build with it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.cases import DEFAULTS, OPTIONS

from gramian import (
    ICA,
    PCA,
    FactorAnalysis,
    KernelPCA,
    ProbabilisticPCA,
    RandomProjection,
)
from gramian.estimators.labels import component_names
from gramian.kernels import RBF
from gramian.testing import EXPECTED_FAILED_CHECKS


def checks(estimators):
    """All checks of scikit-learn for each of them."""
    known = lambda estimator: EXPECTED_FAILED_CHECKS.get(type(estimator).__name__, {})  # noqa: E731
    return parametrize_with_checks(estimators, expected_failed_checks=known)


@checks(DEFAULTS)
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@checks(OPTIONS)
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_scikit_learn_checks_of_other_parameters(estimator, check):
    check(estimator)


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize(
    "estimator",
    [
        PCA(2),
        KernelPCA(2, kernel="rbf(sigma=3)"),
        ProbabilisticPCA(2),
        FactorAnalysis(2),
        ICA(2),
        RandomProjection(2, density=0.5),
    ],
    ids=str,
)
class TestTables:
    def test_pandas_in_and_out(self, estimator, table):
        frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(10)], index=range(100, 300))
        scores = clone(estimator).set_output(transform="pandas").fit_transform(frame)
        assert list(scores.columns) == list(component_names(estimator, 2))
        assert scores.columns[0].endswith("1")
        assert (scores.index == frame.index).all()
        assert_allclose(scores.to_numpy(), clone(estimator).fit_transform(table), atol=1e-12)

    def test_polars_in_and_out(self, estimator, table):
        frame = pl.DataFrame(table, schema=[f"c{j}" for j in range(10)])
        scores = clone(estimator).set_output(transform="polars").fit(frame).transform(frame)
        assert isinstance(scores, pl.DataFrame)
        assert_allclose(scores.to_numpy(), clone(estimator).fit(table).transform(table), atol=1e-12)

    def test_columns_in_another_order_are_refused(self, estimator, table):
        frame = pd.DataFrame(table, columns=[f"c{j}" for j in range(10)])
        fitted = clone(estimator).fit(frame)
        with pytest.raises(ValueError, match="feature names"):
            fitted.transform(frame[frame.columns[::-1]])

    @pytest.mark.parametrize(
        "change",
        [
            np.asfortranarray,
            lambda X: X[::-1][::-1],
            lambda X: np.repeat(X, 2, axis=0)[::2],
            lambda X: X.astype(">f8"),
            lambda X: X.astype(object),
            lambda X: pd.DataFrame(X).convert_dtypes(),
        ],
        ids=["fortran", "negative strides", "strided", "big endian", "objects", "nullable"],
    )
    def test_storage_changes_nothing(self, estimator, table, change):
        expected = clone(estimator).fit(table).transform(table)
        X = change(table)
        assert_allclose(clone(estimator).fit(X).transform(X), expected, rtol=1e-9, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float16, np.int64, np.uint8, bool])
    def test_other_number_types_are_computed_in_double(self, estimator, digits, dtype):
        X = (digits[:100, [10, 19, 20, 21, 26, 28, 36, 42]] > 7).astype(dtype)
        expected = clone(estimator).fit(X.astype(float)).transform(X.astype(float))
        assert_allclose(clone(estimator).fit(X).transform(X), expected, atol=1e-12)

    def test_a_memory_map_is_taken(self, estimator, table, tmp_path):
        np.save(tmp_path / "X.npy", table)
        mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
        assert_allclose(
            clone(estimator).fit(mapped).transform(mapped), clone(estimator).fit_transform(table), atol=1e-12
        )

    def test_the_caller_may_change_his_array_afterwards(self, estimator, table):
        X = table.copy()
        fitted = clone(estimator).fit(X)
        before = fitted.transform(table)
        X[:] = 0
        assert np.array_equal(fitted.transform(table), before)


def test_grid_search_finds_the_width_by_its_nested_name(digits):
    from sklearn.datasets import load_digits

    y = load_digits().target[:300]
    pipeline = make_pipeline(KernelPCA(10, kernel=RBF(sigma=1.0)), LogisticRegression(max_iter=500))
    search = GridSearchCV(pipeline, {"kernelpca__kernel__sigma": [0.01, 20.0]}, cv=3).fit(digits[:300], y)
    assert search.best_params_ == {"kernelpca__kernel__sigma": 20.0}
    by_gamma = GridSearchCV(pipeline, {"kernelpca__kernel__gamma": [1e-3, 1e3]}, cv=3).fit(digits[:300], y)
    assert by_gamma.best_estimator_[0].kernel_ == RBF(gamma=1e-3)
    assert pipeline[0].kernel == RBF(sigma=1.0)


def test_the_resolved_kernel_is_kept_beside_the_parameter(table):
    model = KernelPCA(2).fit(table)
    assert model.kernel == "rbf"
    assert model.kernel_ == RBF(gamma=1 / (10 * table.var()))


def test_the_summary_reads_as_a_short_table_and_as_facts(table):
    model = KernelPCA(3, kernel="rbf(sigma=3)").fit(table)
    lines = str(model.summary_).splitlines()
    assert lines[0].startswith("KernelPCA")
    assert "rbf(sigma=3)   200 x 10   3 components" in lines[0]
    assert [line.split()[0] for line in lines[1:]] == ["route", "work", "certified"]
    facts = model.summary_.to_dict()
    assert facts["n_components"] == 3
    assert facts["solver"] == "dense"
    assert_allclose(facts["eigenvalues"], model.eigenvalues_)


@pytest.mark.parametrize("seed", [None, 3, np.random.default_rng(5), np.random.RandomState(1)], ids=type)
def test_any_seed_gives_the_same_components(table, seed):
    model = PCA(2, solver="randomized", random_state=seed).fit(table)
    assert_allclose(model.components_, PCA(2).fit(table).components_, atol=1e-6)
