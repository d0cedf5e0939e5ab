"""Sums of squares are the same in panels and as a whole, in any number of parts."""

import numpy as np
import pytest

from gramian.engine import scatter, vector_loops
from gramian.engine.scatter import PanelScatter, Scatter, scatter_for, total_of

every_precision = pytest.mark.parametrize("dtype", [np.dtype(np.float32), np.dtype(np.float64)], ids=str)
every_register = pytest.mark.usefixtures(*(["bits"] if vector_loops.vector_loops(np.dtype(np.float32)) else []))


def added(parts, blocks):
    """Blocks dealt to sums in turn, through their own room."""
    for at, block in enumerate(blocks):
        part = parts[at % len(parts)]
        A = part.room(len(block) + 3)[: len(block)]
        A[:, : block.shape[1]] = block
        part.add(A)
    return total_of(parts)


@every_register
@every_precision
@pytest.mark.parametrize("width", [1, 23, 24, 48, 49, 130])
@pytest.mark.parametrize("hands", [1, 3])
def test_blocks_add_up_to_the_whole(width, hands, dtype, monkeypatch):
    monkeypatch.setattr(scatter, "FLOAT32_SUM_ROWS", 500)  # so that some sums are settled on the way
    A = np.random.default_rng(0).standard_normal((1700, width)).astype(dtype)
    exact, blocks = A.T.astype(np.longdouble) @ A, np.split(A, [3, 700, 701, 1300])
    bound = 8 * np.finfo(dtype).eps * (np.abs(A.T).astype(float) @ np.abs(A))
    found = [added([Scatter(width, dtype) for _ in range(hands)], blocks)]
    loops = vector_loops.vector_loops(dtype)
    if loops:
        found.append(added([PanelScatter(width, dtype, loops) for _ in range(hands)], blocks))
    for total in found:
        assert (np.abs(total - exact) <= bound).all()
        assert np.array_equal(total, total.T)


@every_register
@every_precision
@pytest.mark.parametrize("kind", ["whole", "panels"])
def test_sums_go_on_after_a_total_was_taken(kind, dtype):
    loops = vector_loops.vector_loops(dtype)
    if kind == "panels" and loops is None:
        pytest.skip("this processor has no registers of 64 bytes")
    sums = Scatter(5, dtype) if kind == "whole" else PanelScatter(5, dtype, loops)
    A = np.arange(20.0).reshape(4, 5).astype(dtype)
    first = added([sums], [A])
    kept = first.copy()
    assert np.array_equal(added([sums], [A]), 2 * kept)
    assert np.array_equal(first, kept)


@every_precision
def test_a_few_numbers_do_not_wait_for_a_compiler(dtype):
    assert type(scatter_for(50, dtype, 1000)) is Scatter
    if vector_loops.vector_loops(dtype):
        assert type(scatter_for(1000, dtype, 10**6)) is PanelScatter
