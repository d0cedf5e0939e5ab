"""A stream is the stacked rows: the same answer to 1e-10, however it is cut, whatever it comes from."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import gramian
from gramian import (
    CCA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    GramianWarning,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    Standardizer,
    rows,
)

ONE = [
    PCA(3),
    PCA(scale=True),
    PCA(3, whiten=True, center=False),
    PCA(4, solver="svd"),
    PCA(4, solver="svd", scale=True),
    PCA(4, solver="svd", center=False),
    PCA(0.9),
    ProbabilisticPCA(3),
    ProbabilisticPCA(2, method="em", tol=1e-14),
    FactorAnalysis(2, rotation="varimax"),
    Standardizer(),
    make_pipeline(Standardizer(), PCA(3)),
]
TWO = [
    PLSRegression(3),
    PLSRegression(2, scale="x"),
    PrincipalComponentRegression(3),
    PrincipalComponentRegression(2, order="contribution"),
    CCA(2),
    CCA(2, ridge=0.1, scale=True),
    PLSCanonical(2),
    PLSSVD(2),
]
CUTS = {"one": [200], "halves": [100, 200], "uneven": [1, 3, 120, 121, 200], "row by row": list(range(1, 201))}


def cut(X, ends):
    """A function that gives X in pieces."""
    return lambda: (X[start:end] for start, end in zip([0, *ends], ends, strict=False))


def assert_same(found, expected, rtol=1e-10):
    """All fitted numbers agree, as numbers next to the largest of each attribute."""
    names = [name for name, value in vars(expected).items() if name.endswith("_") and isinstance(value, np.ndarray)]
    assert names
    for name in names:
        if name == "x_scores_" or getattr(expected, name).dtype.kind not in "fi":
            continue
        a, b = getattr(found, name), getattr(expected, name)
        # Rows are of the order of one: what is far smaller next to that is rounding.
        assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=1e-3), err_msg=name)


def last(model):
    return model[-1] if hasattr(model, "steps") else model


@pytest.fixture
def second(table, rng):
    Y = table[:, :3] @ rng.standard_normal((3, 4)) + 0.3 * rng.standard_normal((200, 4))
    Y.setflags(write=False)
    return Y


@pytest.mark.parametrize("ends", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("estimator", ONE, ids=str)
def test_a_stream_is_the_stacked_rows(table, estimator, ends):
    expected = clone(estimator).fit(table)
    found = clone(estimator).fit(rows(cut(table, ends)))
    assert_same(last(found), last(expected))
    assert_allclose(found.transform(rows(cut(table, ends))).toarray(), expected.transform(table), atol=1e-10)


@pytest.mark.parametrize("ends", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("estimator", TWO, ids=str)
def test_two_streams_in_step_are_the_stacked_rows(table, second, estimator, ends):
    expected = clone(estimator).fit(table, second)
    found = clone(estimator).fit(rows(cut(table, ends)), rows(cut(second, [70, 71, 200])))
    assert_same(found, expected)
    if hasattr(estimator, "predict"):
        assert_allclose(found.predict(rows(cut(table, ends))).toarray(), expected.predict(table), atol=1e-10)


@pytest.mark.parametrize("estimator", TWO, ids=str)
def test_one_stream_of_both_blocks_needs_no_y(table, second, estimator):
    names = [f"c{at}" for at in range(14)]
    both = rows(cut(np.hstack([table, second]), [33, 200]), names, y_columns=names[10:])
    assert (both.n_features, both.columns) == (10, tuple(names[:10]))
    found = clone(estimator).fit(both)
    assert_same(found, clone(estimator).fit(table, second))
    assert list(found.feature_names_in_) == names[:10]
    frame = pd.DataFrame(table, columns=names[:10])
    assert_allclose(found.transform(both).toarray(), found.transform(frame), atol=1e-12)


def test_scores_of_two_views_are_a_pair_of_streams(table, second):
    model = CCA(2).fit(table, second)
    x, y = model.transform(rows(cut(table, [50, 200])), rows(cut(second, [200])))
    expected = model.transform(table, second)
    assert_allclose(x.toarray(), expected[0], atol=1e-12)
    assert_allclose(y.toarray(), expected[1], atol=1e-12)


@pytest.mark.parametrize("estimator", [PCA(), PCA(3, scale=True), CCA(2), PLSRegression(2)], ids=str)
def test_rows_that_come_once_and_depend_on_each_other_are_factored_on_their_way(table, second, estimator):
    X = np.column_stack([table, table[:, 0] + table[:, 1], np.full(200, 3.0)])
    given = (rows(second),) if "PCA" not in str(estimator) else ()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GramianWarning)
        expected = clone(estimator).fit(X, *(second,) * len(given))
        found = clone(estimator).fit(rows(cut(X, [30, 200])()), *given)
    for name in ("explained_variance_", "correlations_", "coef_"):
        if hasattr(expected, name):
            assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-9)


def test_random_projection_draws_the_same_directions(table):
    found = RandomProjection(3, random_state=1).fit(rows(cut(table, [100, 200])))
    expected = RandomProjection(3, random_state=1).fit(table)
    np.testing.assert_array_equal(found.components_, expected.components_)
    assert_allclose(found.transform(rows(table)).toarray(), expected.transform(table), atol=1e-12)


def test_partial_fit_goes_on_from_a_stream(table):
    model = PCA(2).fit(rows(cut(table[:150], [10, 150]))).partial_fit(table[150:])
    assert_allclose(model.explained_variance_, PCA(2).fit(table).explained_variance_, rtol=1e-10)


def test_the_same_stream_gives_the_same_bits(table):
    fits = [PCA(3).fit(rows(cut(table, [7, 90, 200]))) for _ in range(2)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)


def test_progress_counts_rows(table, monkeypatch):
    monkeypatch.setattr("gramian.progress.REPORT_SECONDS", 0.0)
    seen = []
    with gramian.config(progress=seen.append):
        PCA(2).fit(rows(table, block=50))
    assert [(p.task, p.done, p.expected, p.unit) for p in seen] == [
        ("reading", done, 200, "rows") for done in (50, 100, 150, 200)
    ]
    assert all(p.rate > 0 and p.seconds_left >= 0 for p in seen)


def test_an_interrupt_leaves_a_fitted_model_as_it_was(table):
    """F6."""
    model = PCA(2).fit(table)
    before = dict(vars(model))

    def blocks():
        yield table
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(rows(blocks, block=200))
    assert vars(model) == before
