"""A kernel made of precomputed ones is the precomputed kernel of the matrix that it makes, refusals included."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils import get_tags

import gramian
from gramian import (
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    forecast,
    models,
    rows,
)
from gramian.kernels import RBF, Function, Linear, Precomputed, parse
from gramian.registry import RECORDS
from gramian.selection import doctor, how_many, select_kernel, trust

RNG = np.random.default_rng(5)
X = RNG.standard_normal((36, 3))
Y = X[:, :2] + 0.1 * RNG.standard_normal((36, 2))
LABELS = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
SIMILARITY = RBF(sigma=2.0) + 0.3 * Linear()  # k(x, x) differs from row to row: a factor counted twice shows
K = SIMILARITY(X[:30])
NEW = SIMILARITY(X[30:], X[:30])
#: A kernel, and the same of a matrix.
EXPRESSIONS = [
    ("2*precomputed", lambda K: 2 * K),
    ("precomputed**2", lambda K: K * K),
    ("precomputed + precomputed", lambda K: K + K),
    ("precomputed*precomputed + 0.5*precomputed", lambda K: K * K + 0.5 * K),
    (" Precomputed ", lambda K: K),
    ("1.e1*precomputed", lambda K: 10 * K),
    (3 * Precomputed(), lambda K: 3 * K),
    (Precomputed(), lambda K: K),
]
ESTIMATORS = {
    KernelPCA(2): None,
    KernelRidge(0.1): Y,
    KernelRidge(0.1, fit_intercept=True, solver="cg"): Y[:, 0],
    KernelSVC(bias=True): LABELS,
    KernelKMeans(3): None,
    KernelKMeans(2, batch_size=10): None,
    KernelKNNClassifier(3): LABELS,
    KernelKNNRegressor(3, weights="distance"): Y,
    KernelPrototypeClassifier(): LABELS,
    KernelCCA(1, ridge=0.1, kernel_y="linear"): Y,
}
_BY_NEED = {"": None, "target": Y, "view": Y, "label": LABELS}
_LISTED = {type(estimator) for estimator in ESTIMATORS}
ESTIMATORS |= {
    record.estimator(**record.example): _BY_NEED[record.needs]
    for record in RECORDS
    if record.has("kernel") and record.estimator not in _LISTED
}
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "distances", "kneighbors", "score")
every = pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
expressions = pytest.mark.parametrize(("kernel", "of"), EXPRESSIONS, ids=[str(kernel) for kernel, _ in EXPRESSIONS])
pytestmark = pytest.mark.filterwarnings("ignore::gramian.GramianWarning")


def fit(estimator, kernel, K, **more):
    y = ESTIMATORS[estimator]
    model = clone(estimator).set_params(kernel=kernel, **more)
    return model.fit(K) if y is None else model.fit(K, y[: K.shape[0]])


def said(make):
    """An answer, or the words of a refusal."""
    try:
        found = make()
    except (ValueError, TypeError) as error:
        return str(error)
    return found


def ask(model, K):
    """What a model says of rows of similarities."""
    beside = {} if not hasattr(model, "classes_") else {"y": LABELS[: K.shape[0]]}
    beside |= {"y": Y[: K.shape[0]]} if isinstance(model, (KernelRidge, KernelKNNRegressor)) else {}
    beside |= {"y": Y[: K.shape[0], 0]} if np.ndim(getattr(model, "dual_coef_", Y)) == 1 else {}
    return {
        name: said(lambda name=name: getattr(model, name)(K, **(beside if name == "score" else {})))
        for name in QUESTIONS
        if hasattr(model, name)
    }


def same(found, expected):
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        if isinstance(value, str):
            assert found[name] == value, name
        else:
            np.testing.assert_array_equal(found[name], value, err_msg=name)


@every
@expressions
def test_it_answers_as_the_precomputed_kernel_of_its_matrix(estimator, kernel, of):
    found, expected = fit(estimator, kernel, K), fit(estimator, "precomputed", of(K))
    for rows_of in (NEW, K, K[:, :5], np.where(NEW > 0.9, np.nan, NEW)):
        same(ask(found, rows_of), ask(expected, of(rows_of)))
    if hasattr(estimator, "kneighbors"):
        assert said(found.kneighbors) == said(expected.kneighbors)
    assert get_tags(clone(estimator).set_params(kernel=kernel)).input_tags.pairwise


@every
@pytest.mark.parametrize(
    "wrong",
    [K + np.triu(0.1 * K, 1), K[:, :9], np.where(K > 0.9, np.nan, K), K * 1e200, K - K.mean(), np.ones((1, 1))],
    ids=["asymmetric", "not square", "gaps", "overflow", "indefinite", "one row"],
)
def test_it_is_refused_as_the_precomputed_kernel_of_its_matrix(estimator, wrong):
    for kernel, of in EXPRESSIONS[:4]:
        with np.errstate(over="ignore"):
            matrix = of(wrong)
        found = said(lambda: fit(estimator, kernel, wrong))  # noqa: B023  (called at once)
        expected = said(lambda: fit(estimator, "precomputed", matrix))  # noqa: B023
        assert isinstance(found, str) == isinstance(expected, str)
        if isinstance(expected, str):
            assert found.replace(kernel, "precomputed") == expected


@every
def test_sparse_matrices_keep_their_zeros(estimator):
    kernel, of = "precomputed**2 + 2*precomputed", lambda K: K * K + 2 * K
    thin, new = (sp.csr_array(np.where(A > 0.5, A, 0.0)) for A in (K, NEW))
    found = said(lambda: ask(fit(estimator, kernel, thin), new))
    expected = said(lambda: ask(fit(estimator, "precomputed", sp.csr_array(of(thin.toarray()))), of(new.toarray())))
    assert type(found) is type(expected)
    for name, value in expected.items() if isinstance(expected, dict) else ():
        if isinstance(value, str):
            assert found[name].split(":")[0] == value.split(":")[0]
        elif np.asarray(value).dtype.kind == "U":
            assert (found[name] == value).all()
        else:
            np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12)


@every
@pytest.mark.parametrize(
    "kernel",
    ["precomputed + linear", "rbf*precomputed", "2*(rbf + precomputed)", "(precomputed*linear)**2"],
)
def test_a_matrix_and_a_kernel_of_rows_are_no_kernel(estimator, kernel):
    with pytest.raises(ValueError, match=r"no rows.*Compute both matrices.*kernel='precomputed'"):
        fit(estimator, kernel, K)
    assert not get_tags(clone(estimator).set_params(kernel=kernel)).input_tags.pairwise


def test_objects_are_refused_as_text_is():
    for make in (
        lambda: Precomputed() + Linear(),
        lambda: Function(np.dot) * Precomputed(),
        lambda: (2 * Precomputed() + Precomputed()).set_params(left__kernel="rbf"),
    ):
        with pytest.raises(ValueError, match="no rows"):
            make()
    for make in (lambda: Precomputed()[0:3], lambda: parse("(2*precomputed)[1, 2]")):
        with pytest.raises(ValueError, match="columns of a precomputed matrix are training rows"):
            make()


def test_cross_validation_takes_rows_and_columns():
    for kernel, of in EXPRESSIONS:
        found = cross_val_predict(KernelRidge(0.1, kernel=kernel), K, Y[:30], cv=3)
        expected = cross_val_predict(KernelRidge(0.1, kernel="precomputed"), of(K), Y[:30], cv=3)
        np.testing.assert_array_equal(found, expected)
    search = GridSearchCV(KernelSVC(kernel="2*precomputed"), {"kernel__weight": [1.0, 30.0]}, cv=3, error_score="raise")
    assert search.fit(K, LABELS[:30]).best_estimator_.kernel.weight in (1.0, 30.0)


def test_a_second_view_may_be_one():
    Ky, new = RBF(sigma=1.0)(Y[:30]), RBF(sigma=1.0)(Y[30:], Y[:30])
    found = KernelCCA(1, ridge=0.1, kernel="2*precomputed", kernel_y="precomputed**2").fit(K, Ky)
    expected = KernelCCA(1, ridge=0.1, kernel="precomputed", kernel_y="precomputed").fit(2 * K, Ky**2)
    for one, other in zip(found.transform(NEW, new), expected.transform(2 * NEW, new**2), strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.held_out_correlations_, expected.held_out_correlations_)
    with pytest.raises(ValueError, match="scale=True divides columns"):
        KernelCCA(1, scale=True, kernel_y="2*precomputed").fit(X[:30], Ky)
    with pytest.raises(ValueError, match="kernel_y='precomputed' needs a symmetric matrix"):
        KernelCCA(1, kernel_y="2*precomputed").fit(X[:30], Ky + np.triu(Ky, 1))


def test_what_needs_rows_refuses_a_matrix():
    with pytest.raises(ValueError, match="needs rows; kernel='precomputed' has none"):
        KernelPCA(1, kernel="2*precomputed", landmarks=5).fit(K)
    with pytest.raises(ValueError, match="needs rows; kernel='precomputed' has none"):
        KernelPCA(1, kernel="2*precomputed", landmarks=5).partial_fit(K)
    with pytest.raises(ValueError, match="goes with a matrix in memory"):
        KernelPCA(1, kernel="2*precomputed", landmarks=5).fit(rows(K))
    with pytest.raises(ValueError, match="no columns that a component could depend on"):
        gramian.selection.column_importance(KernelPCA(1, kernel="2*precomputed").fit(K), K)
    for candidate in ("2*precomputed", Precomputed(), "precomputed"):
        with pytest.raises(ValueError, match="a given matrix cannot be compared"):
            select_kernel(X, Y, ["linear", candidate])


def test_the_fit_is_kept_in_a_file_and_survives_changes_of_its_kernel(tmp_path):
    kernel = 2 * Precomputed()
    model = KernelPrototypeClassifier(kernel=kernel).fit(K, LABELS[:30])
    expected = model.decision_function(NEW)
    models.save(model, tmp_path / "model")
    kernel.weight = 7.0
    for again in (model, models.load(tmp_path / "model")):
        np.testing.assert_array_equal(again.decision_function(NEW), expected)
        assert str(again.kernel_) == "2*precomputed"
    refitted = KernelPrototypeClassifier(kernel=model.kernel_).fit(K, LABELS[:30])
    np.testing.assert_array_equal(refitted.decision_function(NEW), expected)


def test_streams_of_new_rows_go_through_it():
    model = KernelRidge(0.1, kernel="precomputed**2").fit(K, Y[:30])
    found = model.predict(rows(NEW, block=2)).toarray()
    np.testing.assert_allclose(found, model.predict(NEW), rtol=1e-12)


def test_help_with_choosing_sees_the_matrix_that_it_makes():
    expected = how_many(K**2, "kernel-pca", kernel="precomputed")
    found = how_many(K, "kernel-pca", kernel="precomputed**2")
    assert [line.k for line in found.table] == [line.k for line in expected.table]
    with pytest.raises(ValueError, match="symmetric"):
        how_many(K + np.triu(K, 1), "kernel-pca", kernel="2*precomputed")
    asymmetric = {finding.code for finding in doctor(K + np.triu(K, 1), "2*precomputed").findings}
    assert "gram_asymmetric" in asymmetric
    facts = doctor(K, "precomputed**2").facts
    assert facts["effective_rank"] == doctor(K**2, "precomputed").facts["effective_rank"]
    assert facts["kernel"] == "precomputed**2"
    with pytest.raises(ValueError, match="needs a square matrix"):
        doctor(K[:, :9], "2*precomputed")
    model, plain = KernelPCA(2, kernel="precomputed**2").fit(K), KernelPCA(2, kernel="precomputed").fit(K**2)
    np.testing.assert_array_equal(trust(model, K).values.low, trust(plain, K**2).values.low)


def test_the_forecast_counts_the_matrix_that_it_makes():
    plain, made = (forecast(KernelPCA(2, kernel=kernel), 500, 500) for kernel in ("precomputed", "2*precomputed"))
    assert made.bytes - plain.bytes == 8 * 500**2
    with pytest.raises(ValueError, match="needs a square Gram matrix"):
        forecast(KernelPCA(2, kernel="2*precomputed"), 500, 400)
