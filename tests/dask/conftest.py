"""A cluster of two worker processes, one for each file of tests."""

import pytest

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit="2GB"
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as made:
        yield made


@pytest.fixture(autouse=True)
def small_chunks_stay_apart(monkeypatch):
    # Neighbouring chunks below a megabyte would share a task, and the tests are about what chunks do.
    monkeypatch.setattr("gramian.operators.dask.WORTHWHILE", 1)
