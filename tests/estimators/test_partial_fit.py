"""Every method that needs its rows once has ``partial_fit``, in any split and with weights the fit of all rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from gramian import (
    CCA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    Standardizer,
)

ONE = [PCA(3), PCA(2, scale=True), ProbabilisticPCA(2), FactorAnalysis(2), Standardizer()]
TWO = [PLSRegression(2), PrincipalComponentRegression(2), CCA(2), PLSCanonical(2), PLSSVD(2)]


@pytest.fixture
def second(table, rng):
    return table[:, :3] @ rng.standard_normal((3, 3)) + 0.3 * rng.standard_normal((200, 3))


def answers(model, table):
    return np.hstack([model.transform(table), *([model.predict(table)] if hasattr(model, "predict") else [])])


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")  # of the first few rows, which say so
@pytest.mark.parametrize("model", ONE + TWO, ids=str)
@pytest.mark.parametrize("cuts", [[100], [1, 3, 90, 91, 150], []], ids=str)
def test_in_any_split(table, second, model, cuts):
    given = (table, second) if model in TWO else (table,)
    pieces = clone(model)
    for part in np.split(np.arange(200), cuts):
        pieces.partial_fit(*(view[part] for view in given))
    whole = clone(model).fit(*given)
    assert_allclose(answers(pieces, table), answers(whole, table), atol=1e-8)
    half = clone(model).fit(*(view[:120] for view in given)).partial_fit(*(view[120:] for view in given))
    assert_allclose(answers(half, table), answers(whole, table), atol=1e-8)


@pytest.mark.parametrize("model", ONE + TWO, ids=str)
def test_weights_are_frequencies(table, second, model):
    given, w = (table, second) if model in TWO else (table,), np.arange(200) % 3 + 1
    pieces = clone(model)
    for part in (slice(0, 120), slice(120, 200)):
        pieces.partial_fit(*(view[part] for view in given), sample_weight=w[part])
    repeated = clone(model).fit(*(np.repeat(view, w, axis=0) for view in given))
    assert_allclose(answers(pieces, table), answers(repeated, table), atol=1e-8)


def test_a_standardizer_waits_for_a_second_row(table):
    model = Standardizer().partial_fit(table[:1])
    assert not hasattr(model, "scale_")
    model.partial_fit(table[1:])
    assert_allclose(model.scale_, table.std(axis=0, ddof=1), rtol=1e-12)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(table[:, :3])
    assert vars(model) == before
    with pytest.raises(ValueError, match="leave double precision"):
        model.partial_fit(table * 1e200)
    assert vars(model) == before
    huge = Standardizer().fit(table * 1e200)
    assert_allclose(huge.transform(table * 1e200), Standardizer().fit_transform(table), atol=1e-10)
    with pytest.raises(ValueError, match="partial_fit cannot go on from this fit"):
        huge.partial_fit(table)
