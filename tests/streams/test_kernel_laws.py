"""Kernel methods see a stream through landmarks: with the same landmarks, what they see is the stacked rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs

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
    Landmarks,
    RandomFeatures,
    load,
    rows,
    save,
)

N = 900
X, PLACES = make_blobs(N, 4, centers=3, cluster_std=1.5, random_state=0)
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2 / 20]) + 0.1 * np.random.default_rng(1).standard_normal((N, 2))
for table in (X, Y):
    table.setflags(write=False)

HERE = Landmarks(points=X[:40])
BOTH = (Landmarks(points=X[:40]), Landmarks(points=Y[:30]))
KERNEL = "rbf(sigma=4)"
ONE = [
    KernelPCA(3, kernel=KERNEL, landmarks=HERE),
    KernelPCA(kernel="polynomial(degree=2)", landmarks=HERE),
    KernelPCA(2, kernel=KERNEL, landmarks=RandomFeatures(40)),
    KernelKMeans(3, kernel=KERNEL, landmarks=HERE),
    KernelKMeans(3, kernel=KERNEL, landmarks=RandomFeatures(40)),
    KernelKMeans(3, kernel="linear", landmarks=HERE),
]
TWO = [
    KernelRidge(0.1, kernel=KERNEL, landmarks=HERE),
    KernelRidge(0.1, kernel=KERNEL, landmarks=HERE, fit_intercept=True),
    KernelRidge(1.0, kernel=KERNEL, landmarks=RandomFeatures(40)),
    KernelCCA(2, kernel=KERNEL, landmarks=BOTH),
    KernelCCA(1, kernel="linear", landmarks=BOTH, folds=None),
]


def short(model):
    """Name, kernel and kind of landmarks."""
    first = model.landmarks[0] if isinstance(model.landmarks, tuple) else model.landmarks
    return f"{type(model).__name__}-{model.kernel}-{type(first).__name__}"


CUTS = {"one": [N], "thirds": [300, 600, N], "uneven": [100, 101, 103, 640, N]}
#: Attributes that keep the landmarks.
HOLDERS = ("projection_", "x_projection_", "function_", "means_")
WORDS = ("KernelPCA", "KernelKMeans", "KernelRidge", "KernelCCA")


def cut(table, ends):
    """A function that gives a table in pieces."""
    return lambda: (table[start:end] for start, end in zip([0, *ends], ends, strict=False))


def stream(table, ends, *, again=True):
    """The same as a stream that leaves the pieces as they are."""
    return rows(cut(table, ends) if again else cut(table, ends)(), block=1)


def given(estimator, ends, **how):
    second = (stream(Y, ends, **how),) if two(estimator) else ()
    return stream(X, ends, **how), *second


def two(estimator):
    return isinstance(estimator, (KernelRidge, KernelCCA))


def fitted(estimator, ends=None):
    """A fit to the rows in memory; to pieces of them by ``partial_fit`` if there are any."""
    model = clone(estimator)
    if ends is None:
        return model.fit(X, *((Y,) if two(model) else ()))
    for start, end in zip([0, *ends], ends, strict=False):
        model.partial_fit(X[start:end], *((Y[start:end],) if two(model) else ()))
    return model


def answers(model, table=X):
    """What a model says of new rows, the trace error, and the numbers it found."""
    said = model.predict(table) if isinstance(model, KernelRidge) else model.transform(table)
    numbers = [getattr(model, name) for name in ("eigenvalues_", "correlations_", "inertia_") if hasattr(model, name)]
    errors = np.ravel([0.0 if error is None else error for error in np.atleast_1d(model.trace_error_)])
    return [said, errors, *numbers]


def assert_same(found, expected, rtol=1e-9):
    for a, b in zip(answers(found), answers(expected), strict=True):
        assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=1e-3))


@pytest.mark.parametrize("ends", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("estimator", ONE + TWO, ids=short)
def test_a_stream_is_the_stacked_rows_if_the_landmarks_are_given(estimator, ends):
    found = clone(estimator).fit(*given(estimator, ends))
    assert_same(found, fitted(estimator))
    assert found.summary_.facts["n"] == N


@pytest.mark.parametrize("ends", CUTS.values(), ids=CUTS)
@pytest.mark.parametrize("estimator", ONE + TWO, ids=short)
def test_partial_fit_over_blocks_is_the_fit_of_their_stream(estimator, ends):
    found = clone(estimator).fit(*given(estimator, ends, again=False))
    assert_same(fitted(estimator, ends), found)


@pytest.mark.parametrize("word", WORDS)
def test_one_block_is_the_table(word):
    """Then even landmarks and widths that come from the rows are the same."""
    model = getattr(gramian, word)(landmarks=Landmarks(20), **({"n_clusters": 3} if "Means" in word else {}))
    assert_same(clone(model).fit(*given(model, [N])), fitted(model), rtol=1e-8)


@pytest.mark.parametrize("word", WORDS)
def test_first_rows_decide_and_the_summary_says_so(word):
    model = getattr(gramian, word)(landmarks=5, **({"n_clusters": 3} if "Means" in word else {}))
    ends = list(range(30, N + 1, 30))
    found = clone(model).fit(*given(model, ends))  # 20 rows for each landmark: four blocks
    facts = found.summary_.facts
    assert (facts["first_rows"], facts["n"], facts["streamed"]) == (120, N, True)
    assert "120 of 900 gave" in str(found.summary_)
    assert "widths and landmarks" in str(found.summary_)
    expected = clone(model).fit(X[:120], *((Y[:120],) if two(model) else ()))
    assert str(found.kernel_) == str(expected.kernel_)
    holder = next(name for name in HOLDERS if hasattr(found, name))
    assert_array_equal(getattr(found, holder).anchors, getattr(expected, holder).anchors)
    assert found.trace_error_ != expected.trace_error_  # that of all rows, not of the first


def test_the_trace_error_is_that_of_all_rows():
    far = np.vstack([X, X + 100])
    model = KernelPCA(2, kernel=KERNEL, landmarks=Landmarks(30)).fit(rows(cut(far, [N, 2 * N]), block=1))
    assert model.trace_error_ > 0.5  # the second half resembles no landmark
    assert KernelPCA(2, kernel=KERNEL, landmarks=Landmarks(30)).fit(X).trace_error_ < 0.1


def test_lloyd_over_a_stream_ends_where_no_row_moves_and_the_objective_falls():
    pile = np.random.default_rng(0).standard_normal((3000, 2))
    model = KernelKMeans(6, kernel="rbf(sigma=1)", landmarks=Landmarks(points=pile[:50]), n_init=1)
    model.fit(rows(cut(pile, [60, 1000, 3000]), block=1))
    assert model.n_iter_ > 2
    assert (np.diff(model.inertia_path_) < 0).all()
    assert model.summary_.facts["converged"]
    # One more step of Lloyd's iteration over the rows in memory, from the labels found, changes nothing.
    labels = model.predict(pile)
    again = clone(model).set_params(init=labels).fit(pile)
    assert_array_equal(again.labels_, labels)
    assert_allclose(again.inertia_, model.inertia_, rtol=1e-10)
    assert_allclose(-model.score(pile), model.inertia_, rtol=1e-9)
    assert not hasattr(model, "labels_")


def test_rows_that_come_once_move_the_means_and_their_inertia_is_that_at_the_time():
    model = KernelKMeans(3, kernel="linear", landmarks=Landmarks(points=np.eye(4)))
    first, second = X[:500], X[500:]
    model.fit(stream(X, [500, N], again=False))
    start = clone(model).fit(first)
    moved = -start.score(second)
    assert_allclose(model.inertia_, start.inertia_ + moved, rtol=1e-10)
    labels = np.concatenate([start.labels_, start.predict(second)])
    means = np.stack([X[labels == k].mean(axis=0) for k in range(3)])
    assert_allclose(model.transform(means).min(axis=1), 0, atol=1e-5)  # each is the mean of all rows counted for it
    batches = clone(model).set_params(batch_size=100).fit(stream(X, [500, N]))
    assert batches.summary_.facts["solver"] == "online"
    assert batches.n_iter_ == 5  # the first block, then 400 rows


def test_a_cluster_that_loses_its_rows_gets_the_farthest_one():
    head = np.repeat([[0.0], [0.1], [0.2]], 10, axis=0)
    tail = np.repeat([[0.0], [50.0]], 500, axis=0)
    model = KernelKMeans(3, kernel="linear", landmarks=Landmarks(points=[[1.0]]), n_init=1)
    model.fit(rows(cut(np.vstack([head, tail]), [30, 1030]), block=1))
    assert (model.summary_.facts["sizes"] > 0).all()
    assert len(model.summary_.facts["sizes"]) == 3
    assert model.inertia_ < 1


@pytest.mark.parametrize("estimator", ONE + TWO, ids=short)
def test_answers_stream_too(estimator):
    model = fitted(estimator)
    blocks = rows(X, block=250)
    for verb in ("transform", "predict"):
        if hasattr(model, verb):
            expected = getattr(model, verb)(X)
            found = getattr(model, verb)(blocks)
            assert isinstance(found, gramian.operators.Rows)
            assert_allclose(found.toarray(), expected.reshape(N, -1), rtol=1e-9, atol=1e-10)
    if isinstance(model, KernelCCA):
        for found, expected in zip(model.transform(blocks, rows(Y)), model.transform(X, Y), strict=True):
            assert_allclose(found.toarray(), expected, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        KernelSVC(kernel=KERNEL),
        KernelKNNClassifier(3),
        KernelPrototypeClassifier(KERNEL),
        KernelPrototypeClassifier(KERNEL, landmarks=20),
    ],
    ids=str,
)
def test_labels_stream(model):
    names = np.array(["rose", "iris", "dandelion"])[PLACES]
    model = clone(model).fit(X, names)
    found = model.predict(rows(X, block=200))
    assert found.text
    assert_array_equal(found.toarray()[:, 0], model.predict(X))
    for verb in ("decision_function", "predict_proba"):
        if hasattr(model, verb):
            assert_allclose(getattr(model, verb)(rows(X, block=200)).toarray(), getattr(model, verb)(X), atol=1e-12)


def test_neighbours_predict_numbers_of_a_stream():
    model = KernelKNNRegressor(3).fit(X, Y)
    assert_allclose(model.predict(rows(X, block=200)).toarray(), model.predict(X), atol=1e-12)


@pytest.mark.parametrize("estimator", ONE + TWO, ids=short)
def test_partial_fit_goes_on_from_a_stream_a_table_and_a_file(tmp_path, estimator):
    second = (Y,) if two(estimator) else ()
    expected = fitted(estimator, [450, N])
    part = [table[:450] for table in (X, *second)]
    rest = [table[450:] for table in (X, *second)]
    for begun in (
        clone(estimator).fit(*map(rows, part)),
        clone(estimator).fit(*part),
        clone(estimator).partial_fit(*part),
    ):
        save(begun, tmp_path / "m.safetensors")
        kept = load(tmp_path / "m.safetensors")
        for model in (begun, kept):
            assert_same(model.partial_fit(*rest), expected, rtol=1e-8)


def test_single_precision_stays_near_double():
    narrow = X.astype(np.float32)
    model = KernelPCA(2, kernel=KERNEL, landmarks=HERE)
    found = clone(model).fit(rows(cut(narrow, [300, N]), block=1))
    assert_allclose(found.eigenvalues_, clone(model).fit(X).eigenvalues_, rtol=1e-4)
    assert found.transform(rows(narrow)).toarray().dtype == np.float32


def test_weights_of_partial_fit_are_frequencies():
    model = KernelRidge(0.1, kernel=KERNEL, landmarks=HERE)
    weights = np.arange(N) % 3
    found = clone(model).partial_fit(X[:400], Y[:400], weights[:400]).partial_fit(X[400:], Y[400:], weights[400:])
    expected = clone(model).fit(np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0))
    assert_allclose(found.predict(X), expected.predict(X), atol=1e-8)


def test_one_stream_of_both_views_needs_no_y():
    names = list("abcdef")
    both = rows(cut(np.hstack([X, Y]), [300, N]), names, y_columns=["e", "f"], block=1)
    for estimator in (TWO[0], TWO[3]):
        found = clone(estimator).fit(both)
        assert list(found.feature_names_in_) == names[:4]
        said = found.predict if isinstance(found, KernelRidge) else found.transform
        expected = fitted(estimator)
        told = expected.predict(X) if isinstance(found, KernelRidge) else expected.transform(X)
        assert_allclose(said(both).toarray(), told, atol=1e-9)


def test_the_same_stream_gives_the_same_bits():
    for estimator in ONE + TWO:
        a, b = (clone(estimator).fit(*given(estimator, CUTS["uneven"])) for _ in range(2))
        for one, other in zip(answers(a), answers(b), strict=True):
            assert_array_equal(one, other)


def test_progress_counts_rows(monkeypatch):
    monkeypatch.setattr("gramian.progress.REPORT_SECONDS", 0.0)
    seen = []
    with gramian.config(progress=seen.append):
        KernelPCA(2, kernel=KERNEL, landmarks=HERE).fit(rows(X, block=300))
    assert [(p.done, p.expected, p.unit) for p in seen if p.task == "reading"] == [
        (k, N, "rows") for k in (300, 600, N)
    ]
    assert {p.task for p in seen} == {"reading"}
