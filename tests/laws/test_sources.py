"""A source gives the same sums and rows wherever its rows are: in memory, sparse, in a stream, or in dask."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from gramian.estimators.validation import from_dask
from gramian.operators import InMemory, Source, moments_of
from gramian.operators.compressed import from_rows
from gramian.operators.matrix import column_sums
from gramian.operators.rows import ArrayRows, BlockRows, ColumnSlice

RNG = np.random.default_rng(3)
X = RNG.standard_normal((301, 5)) * [1, 10, 0.1, 3, 2] + [0, 5, -3, 0, 100]
X[np.abs(X) < 0.05] = 0.0
Y = RNG.standard_normal((301, 2))
WEIGHTS = RNG.integers(0, 4, 301).astype(float)


def once():
    return BlockRows(iter(np.split(X, [100, 180])), None)


SOURCES = {
    "array": lambda: InMemory(X),
    "CSR": lambda: InMemory(sp.csr_array(X)),
    "stream": lambda: ArrayRows(X, block=64),
    "iterator": once,
    "columns of a stream": lambda: ColumnSlice(ArrayRows(np.hstack([X, Y]), block=64), slice(0, 5)),
    "dask": lambda: from_dask(da.from_array(X, chunks=(70, 3))),
}
BLOCKS = {name: make for name, make in SOURCES.items() if name not in ("array", "CSR")}
ALL = pytest.mark.parametrize("make", SOURCES.values(), ids=SOURCES.keys())
OF_BLOCKS = pytest.mark.parametrize("make", BLOCKS.values(), ids=BLOCKS.keys())


@ALL
def test_shape_blocks_and_rows(make):
    source = make()
    assert isinstance(source, Source)
    assert source.n_features == 5
    assert source.n_rows in (301, None)
    assert source.shape == (source.n_rows, 5)
    assert (source.array is not None) == isinstance(source, InMemory)
    assert_array_equal(np.concatenate(list(make().blocks())), X)
    head = make().first(90)
    head = head.toarray() if sp.issparse(head) else head
    assert len(head) >= 90
    assert_array_equal(head, X[: len(head)])


@OF_BLOCKS
def test_all_rows_and_some(make):
    assert_array_equal(make().toarray(), X)
    chosen = np.array([7, 300, 7, 0, 150])
    assert_array_equal(make().take(chosen), X[chosen])


@ALL
@pytest.mark.parametrize("beside", [False, True], ids=["one view", "two views"])
def test_moments_and_triangle(make, beside):
    second = Y if beside else None
    expected = moments_of(X, beside=second)
    found = make().moments(beside=second)
    assert_allclose(found.mean, expected.mean, rtol=1e-12)
    assert_allclose(found.scatter, expected.scatter, rtol=1e-10, atol=1e-9)
    source = make()
    if not source.again:
        source.moments(beside=second, loses=lambda moments: True)
    triangle, reference = source.triangle(beside=second), from_rows(X, second)
    assert_allclose(triangle.mean, reference.mean, rtol=1e-12)
    assert_allclose(triangle.rows.T @ triangle.rows, expected.scatter, rtol=1e-10, atol=1e-9)


@ALL
def test_weights(make):
    source = make()
    if not source.weighted:
        for ask in (source.moments, source.triangle, source.column_sums):
            with pytest.raises(ValueError, match="sample_weight goes with rows in memory"):
                ask(WEIGHTS)
        return
    expected, sums = moments_of(X, WEIGHTS), column_sums(X, WEIGHTS)
    assert_allclose(source.moments(WEIGHTS).scatter, expected.scatter, rtol=1e-10, atol=1e-9)
    triangle = source.triangle(WEIGHTS)
    assert_allclose(triangle.rows.T @ triangle.rows, expected.scatter, rtol=1e-10, atol=1e-9)
    if not isinstance(source, InMemory):
        assert_allclose(source.column_sums(WEIGHTS).squares, sums.squares, rtol=1e-10)


@OF_BLOCKS
def test_column_sums(make):
    expected, found = column_sums(X), make().column_sums()
    assert found.weight == 301
    assert_allclose(found.mean, expected.mean, rtol=1e-12)
    assert_allclose(found.squares, expected.squares, rtol=1e-10)


@OF_BLOCKS
def test_answers(make):
    seen = []
    found = make().answers(
        lambda block: 2 * block[:, :3], ("a", "b", "c"), gate=lambda piece: seen.append(piece.place(0))
    )
    found = found.toarray() if isinstance(found, (Source, sp.csr_array)) else np.asarray(found)
    assert_array_equal(found, 2 * X[:, :3])
    assert seen


@ALL
def test_what_is_not_finite_is_refused(make, monkeypatch):
    bad = X.copy()
    bad[200, 1] = np.inf
    monkeypatch.setitem(globals(), "X", bad)

    def refuse(piece, second=None, weights=None):
        if not np.isfinite(piece.values).all():
            raise ValueError("not finite")

    for ask in ("moments",) if isinstance(make(), InMemory) else ("moments", "column_sums"):
        with pytest.raises(ValueError, match="not finite"):
            getattr(make(), ask)(refuse=refuse)


def test_what_came_once_has_no_second_pass():
    source = once()
    source.moments()
    with pytest.raises(ValueError, match="digits are lost, which one pass over the rows cannot resolve"):
        source.triangle(why="digits are lost")
