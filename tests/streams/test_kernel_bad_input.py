"""What is wrong with a stream for a kernel method is said in one line, and leaves the estimator as it was."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import gramian
from gramian import (
    ICA,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    Landmarks,
    RankWarning,
    load,
    rows,
    save,
)
from gramian.models import ModelError

X = np.random.default_rng(0).standard_normal((1000, 3))
X.setflags(write=False)
MODELS = [
    KernelPCA(2, landmarks=10),
    KernelRidge(landmarks=10),
    KernelCCA(1, landmarks=10),
    KernelKMeans(2, landmarks=10),
]


def two(model):
    return isinstance(model, (KernelRidge, KernelCCA))


def arguments(model, table=X, **how):
    """Blocks of a hundred rows, the last column being the target or the second view if there is one."""
    if not two(model):
        return (blocks(table, **how),)
    return blocks(table[:, :2], **how), blocks(table[:, 2:], **how)


def blocks(table, once=False):
    def cut():
        return (table[at : at + 100] for at in range(0, len(table), 100))

    return rows(cut() if once else cut, block=1)


def refusal(call, kind=ValueError):
    with pytest.raises(kind) as failure:
        call()
    message = str(failure.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_gap_in_the_last_block_is_named_and_nothing_changes(model):
    fitted = clone(model).fit(*arguments(model))
    before = dict(vars(fitted))
    broken = X.copy()
    broken[950, 0] = np.nan
    message = refusal(lambda: fitted.fit(*arguments(model, broken)))
    assert message.startswith(
        "Input X contains NaN: the function of blocks: block 9, row 50 (counted from 0), column 0"
    )
    assert vars(fitted) == before
    fresh = clone(model)
    refusal(lambda: fresh.fit(*arguments(model, broken)))
    assert vars(fresh) == vars(clone(model))
    part = [broken[900:, :2], X[900:, 2:]] if two(model) else [broken[900:]]
    assert "contains NaN" in refusal(lambda: fitted.partial_fit(*part))
    assert vars(fitted) == before


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_gap_in_the_second_stream_is_named(model):
    if not two(model):
        return
    broken = X.copy()
    broken[950, 2] = np.inf
    name = "Y" if isinstance(model, KernelCCA) else "y"
    assert refusal(lambda: clone(model).fit(*arguments(model, broken))).startswith(f"Input {name} contains infinity: ")


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_block_of_another_width_is_refused(model):
    second = (rows(X[:, 2:]),) if two(model) else ()
    odd = rows(iter([X[:500, :2], X[500:]]), block=1)
    assert "block 1 has 3 columns, those before it have 2." in refusal(lambda: clone(model).fit(odd, *second))
    part = (X[:500, 2:],) if two(model) else ()
    begun = clone(model).partial_fit(X[:500, :2], *part)
    before = dict(vars(begun))
    assert "3 features" in refusal(lambda: begun.partial_fit(X[:500], *part))
    assert vars(begun) == before


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_reader_that_fails_half_way_leaves_the_estimator(model):
    fitted = clone(model).fit(*arguments(model))
    before = dict(vars(fitted))

    def failing():
        yield X[:500, :2]
        raise KeyboardInterrupt

    second = (rows(X[:, 2:]),) if two(model) else ()
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(rows(failing, block=1), *second)
    assert vars(fitted) == before


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_an_iterator_is_read_once(model):
    given = arguments(model, once=True)
    fitted = clone(model).fit(*given)
    assert "only once" in refusal(lambda: fitted.fit(*given))
    verb = fitted.predict if isinstance(model, KernelRidge) else fitted.transform
    assert "only once" in refusal(lambda: verb(given[0]).toarray())


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_without_landmarks_a_stream_is_refused_and_there_is_no_partial_fit(model):
    exact = clone(model).set_params(landmarks=None)
    name = type(model).__name__
    assert refusal(lambda: exact.fit(*arguments(model))) == (
        f"X is a stream, which {name} takes through landmarks. Set landmarks=1000, say, or give rows.toarray() if the "
        "rows fit into memory."
    )
    assert not hasattr(exact, "partial_fit")
    assert "Set landmarks=1000" in str(getattr(refusal_of(lambda: exact.partial_fit), "__cause__", ""))


def refusal_of(call):
    with pytest.raises(AttributeError) as failure:
        call()
    return failure.value


def test_what_goes_with_rows_in_memory_says_so():
    table = rows(X)
    assert "sample_weight goes with rows in memory" in refusal(
        lambda: KernelRidge(landmarks=5).fit(table, X[:, 0], np.ones(1000))
    )
    assert "n_components='auto' needs the rows in memory" in refusal(lambda: KernelPCA("auto", landmarks=5).fit(table))
    assert "init holds labels" in refusal(lambda: KernelKMeans(2, landmarks=5, init=np.arange(1000) % 2).fit(table))
    assert "kernel='precomputed' goes with a matrix in memory" in refusal(
        lambda: KernelPCA(2, kernel="precomputed", landmarks=5).fit(table)
    )
    assert "give a second stream, or y_columns=" in refusal(lambda: KernelRidge(landmarks=5).fit(table))
    assert "give a second stream, or y_columns=" in refusal(lambda: KernelCCA(landmarks=5).fit(table))
    assert "needs its rows in memory" in refusal(lambda: KernelSVC(landmarks=5).fit(table, X[:, 0] > 0))
    assert "needs its rows in memory" in refusal(lambda: KernelKNNClassifier().fit(table, X[:, 0] > 0))
    assert "solver='cg' is for the exact problem" in refusal(
        lambda: KernelRidge(landmarks=5, solver="cg").fit(table, X[:, 0])
    )
    assert "cannot fit a stream" in refusal(lambda: gramian.forecast(KernelSVC(), 1000, 3, stream=True))
    assert "takes through landmarks" in refusal(lambda: gramian.forecast(KernelPCA(2), 1000, 3, stream=True))
    assert "cannot fit a stream" in refusal(lambda: gramian.forecast(ICA(2), 1000, 3, stream=True))


def test_counts_that_do_not_go_with_the_rows():
    assert "X has 1 sample" in refusal(lambda: KernelPCA(1, landmarks=5).fit(rows(X[:1])))
    assert "n_components=2000 is more than" in refusal(lambda: KernelPCA(2000, landmarks=5).fit(rows(X)))
    assert "n_clusters=200 is more than" in refusal(lambda: KernelKMeans(200, landmarks=2).fit(blocks(X)))
    assert "n_components=5 is more than" in refusal(lambda: KernelPCA(5, landmarks=2).partial_fit(X[:3]))
    with pytest.warns(RankWarning, match="n_landmarks=50 is more than the 20 rows"):
        KernelPCA(2, landmarks=50).partial_fit(X[:20])
    with pytest.warns(RankWarning, match="tol=0.001, but"):  # the first rows promised less than all of them take
        KernelPCA(1, kernel="rbf(sigma=1)", landmarks=Landmarks(20, tol=1e-3)).fit(
            rows(lambda: iter([X[:500] / 1e2, X]), block=1)
        )


def test_partial_fit_cannot_go_on_from_many_features_in_memory():
    model = KernelPCA(2, landmarks=Landmarks(300, method="uniform")).fit(X)
    assert "partial_fit cannot go on from this fit" in refusal(lambda: model.partial_fit(X))
    assert "y has 2 columns; the rows before had 1." in refusal(
        lambda: KernelRidge(landmarks=5).partial_fit(X, X[:, 0]).partial_fit(X, X[:, :2])
    )
    assert "Y has 1 columns, but KernelCCA was fitted with 2" in refusal(
        lambda: KernelCCA(1, landmarks=5).partial_fit(X, X[:, :2]).partial_fit(X, X[:, :1])
    )


def test_streams_out_of_step():
    message = refusal(lambda: KernelRidge(landmarks=5).fit(rows(X), rows(X[:900, 0])))
    assert message.endswith("the array ends after 900, the array goes on.")


def test_values_that_overflow_are_refused():
    huge = X[:, 0] * 1e200
    assert "overflow" in refusal(lambda: KernelRidge(landmarks=5).fit(rows(X), rows(huge)))
    model = KernelRidge(landmarks=5).fit(X, huge)  # in memory units are taken out
    assert not hasattr(model, "seen_")


@pytest.mark.parametrize("model", [KernelPCA(2, landmarks=5), KernelKMeans(2, landmarks=5)], ids=str)
def test_a_model_whose_sums_are_not_those_of_its_landmarks_is_refused(tmp_path, model):
    good, narrow = (clone(model).fit(rows(table)) for table in (X, X[:, :2]))
    more = clone(model).set_params(landmarks=6).fit(rows(X))
    save(good, tmp_path / "good.st")
    assert load(tmp_path / "good.st").partial_fit(X).summary_.facts["n"] == 2000
    field = "maps" if isinstance(model, KernelPCA) else "features"
    for seen, told in (
        (narrow.seen_, "seen_ keeps landmarks of shape"),
        (replace(good.seen_, **{field: getattr(more.seen_, field)}), "seen_ keeps sums that are not those"),
    ):
        good.seen_ = seen
        with pytest.raises(ModelError, match=told):
            save(good, tmp_path / "bad.st")
