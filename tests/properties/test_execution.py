"""How it was computed must not matter: again, in one call or two, with other memory, blocks, threads or workers."""

import numpy as np
import pytest
from hypothesis import strategies as st

import gramian
from gramian.engine import tiles

from .laws import Sample, answers, fit_and_answer, fitted, law, same

#: Enough rows for several tiles of 512.
LARGE = st.builds(Sample, n=st.integers(520, 700), seed=st.integers(0, 2**16))


@law("same bits")
def test_same_bits(case, sample):
    X, Z, y = sample.for_case(case)
    first, second = (fit_and_answer(case, X.copy(), y, Z.copy()) for _ in range(2))
    for name, value in first.items():
        assert np.array_equal(value, second[name]), name


@law("one call")
def test_one_call(case, sample):
    """fit_transform, or fit_predict, is fit and then transform or predict."""
    X, _, y = sample.for_case(case)
    verbs = [verb for verb in ("transform", "predict") if hasattr(case.model, f"fit_{verb}")]
    if not verbs:
        raise TypeError(f"{case.model} has neither fit_transform nor fit_predict")
    model = fitted(case, X, y)
    for verb in verbs:
        found = fitted(case, X, y, f"fit_{verb}")
        if isinstance(found, tuple):  # of both views
            found, expected = np.hstack(found), np.hstack(model.transform(X, y))
        else:
            expected = getattr(model, verb)(X)
        same({verb: found}, {verb: expected}, case.exact)


@law("memory", examples=1, given_by=LARGE)
def test_memory(case, sample):
    """The matrix of all pairs takes 2 MB and more: with less the exact kernel methods go without it."""
    X, Z, y = sample.for_case(case)
    with gramian.config(memory="2MB"):
        frugal = fitted(case, X, y)
        found = answers(case, frugal, Z)
    with gramian.config(memory="1GB"):
        lavish = fitted(case, X, y)
        same(found, answers(case, lavish, Z), case.by_products or case.exact)
    if case.by_products:
        assert frugal.summary_.facts["products"] != lavish.summary_.facts["products"]


@law("blocks", examples=1, given_by=LARGE)
def test_blocks(case, sample):
    """Tiles and blocks of rows of another size: sums are in another order."""
    X, Z, y = sample.for_case(case)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tiles, "SIDE", 96)
        patch.setattr(tiles, "rows_of_a_block", lambda d: 75)
        found = fit_and_answer(case, X, y, Z)
    same(found, fit_and_answer(case, X, y, Z), case.by_products or case.exact)


@law("workers", examples=1, given_by=LARGE)
def test_workers(case, sample):
    """Rows in chunks that others hold and work on; with a cluster around it, see tests/dask."""
    array = pytest.importorskip("dask.array")
    X, Z, y = sample.for_case(case)
    chunks = (sample.n // 4, sample.n // 2, sample.n - sample.n // 4 - sample.n // 2)
    found = fit_and_answer(case, array.from_array(np.array(X), chunks=(chunks, X.shape[1])), y, Z)
    same(found, fit_and_answer(case, X, y, Z), case.by_products or case.exact)


@law("threads", examples=1, given_by=LARGE)
def test_threads(case, sample):
    X, Z, y = sample.for_case(case)
    with gramian.config(threads=1):
        found = fit_and_answer(case, X, y, Z)
    with gramian.config(threads=2):
        same(found, fit_and_answer(case, X, y, Z), case.exact)
