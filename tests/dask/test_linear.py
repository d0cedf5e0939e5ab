"""The linear family on a cluster: the numbers of one machine, whatever the chunks."""

import dask.array as da
import numpy as np
import pytest

from gramian import PCA

CHUNKS = {
    "one": (600, 7),
    "rows": (100, 7),
    "uneven": ((1, 299, 0, 250, 50), (7,)),
    "columns": (170, (3, 4)),
    "grid": ((200, 400), (1, 5, 1)),
}


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return rng.standard_normal((600, 7)) @ rng.standard_normal((7, 7)) + 10 * np.arange(7)


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_pca_does_not_depend_on_the_chunks(client, X, chunks):
    far = da.from_array(X, chunks=chunks)
    here, there = PCA(4).fit(X), PCA(4).fit(far)
    for name in ("components_", "mean_", "explained_variance_", "singular_values_"):
        found = getattr(there, name)
        assert type(found) is np.ndarray
        np.testing.assert_allclose(found, getattr(here, name), rtol=1e-9, atol=1e-11)
    scores = there.transform(far)
    assert isinstance(scores, da.Array)
    assert scores.chunks == (far.chunks[0], (4,))
    np.testing.assert_allclose(scores.compute(), here.transform(X), rtol=1e-9, atol=1e-9)
