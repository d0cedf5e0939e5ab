"""What sums of weights mean: rows counted, down to the two rows of a variance; any unit where there is no variance."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from .laws import Sample, fit_and_answer, fitted, same
from .table import ESTIMATORS, EXEMPT

WEIGHTED = [name for name in ESTIMATORS if name not in EXEMPT["weights"]]
#: Estimators whose answer divides by the sum of weights less one, or counts rows in a likelihood.
COUNTING = [name for name in WEIGHTED if not name.startswith("Kernel")]
SENTENCE = (
    "; weights are frequencies: their sum counts rows, and a variance needs at least 2. "
    "If these are shares, multiply them by the number of rows."
)


def shares(n):
    """Weights that sum to 1: exactly, by rounding, in few digits, in single precision, and far below."""
    random = np.random.default_rng(n).random(n)
    yield from (random / random.sum(), np.full(n, 1 / n), np.full(n, 1 / n, np.float32), np.full(n, np.float16(1 / n)))
    random32 = random.astype(np.float32)
    yield random32 / random32.sum()
    yield np.round(random / random.sum(), 4)
    for total in (1 + 1e-12, 1.0000001, 1.002, 1.5, 1.99, 0.5, 1e-300):
        yield np.full(n, total / n)


@pytest.mark.parametrize("estimator", COUNTING)
def test_shares_are_refused(estimator):
    case, sample = ESTIMATORS[estimator], Sample(n=39)
    X, _, y = sample.for_case(case)
    for w in shares(39):
        with pytest.raises(ValueError, match="sample_weight sums to") as refusal:
            fitted(case, X, y, sample_weight=w)
        assert str(refusal.value).endswith(SENTENCE)


def test_no_rounding_of_shares_is_a_divisor():
    """One third of the vectors 1/n sum to more than 1 in double precision, by 1e-16."""
    case = ESTIMATORS["PCA"]
    for n in range(3, 300, 7):
        X = np.random.default_rng(n).standard_normal((n, 2))
        with pytest.raises(ValueError, match="sums to 1;"):
            fitted(case, X, None, sample_weight=np.full(n, 1 / n))


@pytest.mark.parametrize("estimator", WEIGHTED)
@pytest.mark.parametrize("total", [2.0, 2.7, 39.0])
def test_a_row_may_be_split(estimator, total):
    """A row of weight w is three rows of weight w/3, also where the sum of all is that of two rows, by rounding."""
    case, sample = ESTIMATORS[estimator], Sample(n=39)
    X, Z, y = sample.for_case(case)
    w = 1.0 + np.arange(39) % 4
    w *= total / w.sum()
    often = np.repeat(np.arange(39), 3)
    expected = fit_and_answer(case, X, y, Z, sample_weight=w)
    split = fit_and_answer(case, X[often], None if y is None else y[often], Z, sample_weight=w[often] / 3)
    same(split, expected, case.exact)
    single = fit_and_answer(case, X, y, Z, sample_weight=w.astype(np.float32))
    same(single, expected, max(case.exact, 1e-5))


@pytest.mark.parametrize("estimator", WEIGHTED)
@pytest.mark.parametrize(
    ("weights", "remedy"),
    [
        (np.full(39, 1e307), "Divide them by a constant"),
        (np.zeros(39), "Give a positive weight"),
        (np.full(39, -1.0), "0 or more"),
        (np.full(39, np.nan), "0 or more"),
    ],
    ids=["overflow", "zero", "negative", "nan"],
)
def test_what_counts_no_rows(estimator, weights, remedy):
    case = ESTIMATORS[estimator]
    X, _, y = Sample(n=39).for_case(case)
    with pytest.raises(ValueError, match=f"sample_weight.*{remedy}"):
        fitted(case, X, y, sample_weight=weights)


@pytest.mark.parametrize("estimator", [name for name in WEIGHTED if name not in COUNTING])
def test_any_unit_without_a_variance(estimator):
    """Shares are as good as counts: the penalty, if there is one, is in their unit."""
    case = ESTIMATORS[estimator]
    X, Z, y = Sample(n=39).for_case(case)
    for size in (1e-300, 1 / 39, 1e3):
        model = fitted(case, X, y, sample_weight=np.full(39, size))
        assert all(np.isfinite(getattr(model, name)(Z)).all() for name in case.says if name != "predict")


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")  # of the first few rows, which say so
@pytest.mark.parametrize("estimator", COUNTING)
def test_batches_that_weigh_less_than_a_row(estimator):
    """Only the sum over all batches is a number of rows; until it is 2, nothing is fitted."""
    case = ESTIMATORS[estimator]
    X, Z, y = Sample(n=39).for_case(case)
    w, model = np.full(39, 0.2), clone(case.model)
    for rows in np.array_split(np.arange(39), 13):
        given = [X[rows]] if y is None else [X[rows], y[rows]]
        model.partial_fit(*given, sample_weight=w[rows])
        assert hasattr(model, "summary_") <= (w[: rows[-1] + 1].sum() > 1.99)
    expected = fit_and_answer(case, X, y, Z, sample_weight=w)
    same({name: np.asarray(getattr(model, name)(Z)) for name in case.says}, {n: expected[n] for n in case.says}, 1e-8)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_count_of_rows_is_rounding_proof(storage):
    """Sixty weights of 1/10 are six rows, not seven: the noise variance is a mean over the dimensions they can have."""
    case, X = ESTIMATORS["PCA"], np.random.default_rng(0).standard_normal((60, 9))
    tenths, sixth = np.full(60, 0.1), np.full(60, 6 / 60 * (1 + 2e-16))
    assert tenths.sum() != sixth.sum()
    models = [fitted(case, storage(X), None, sample_weight=w) for w in (tenths, sixth, tenths.astype(np.float32))]
    for model in models[1:]:
        np.testing.assert_allclose(model.noise_variance_, models[0].noise_variance_, rtol=1e-6)
    with pytest.raises(ValueError, match="n_components=7 is more than"):
        clone(case.model).set_params(n_components=7).fit(storage(X), sample_weight=tenths)
