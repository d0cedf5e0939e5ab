"""A cluster of two worker processes, one for each file of tests."""

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0", memory_limit="2GB"
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as made:
        yield made


@pytest.fixture(autouse=True)
def small_chunks_stay_apart(monkeypatch):
    # Neighbouring chunks below a megabyte would share a task, and the tests are about what chunks do.
    monkeypatch.setattr("gramian.operators.dask_rows.MIN_BLOCK_BYTES", 1)


@pytest.fixture
def same():
    """All fitted numbers agree, next to the largest of each attribute, and are NumPy's."""

    def check(found, expected, rtol=1e-9):
        names = [name for name, value in vars(expected).items() if name.endswith("_") and isinstance(value, np.ndarray)]
        assert names
        for name in names:
            a, b = getattr(found, name, None), getattr(expected, name)
            if name in ("x_scores_", "distortion_") or b.dtype.kind not in "fi":
                continue
            assert type(a) is np.ndarray, name
            np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(b).max(initial=1e-3), err_msg=name)

    return check
