"""A cluster for the time of a command: one that is there, or one of this machine's processors."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, LocalCluster

from gramian.config import thread_count

#: Seconds that a scheduler may take to answer.
PATIENCE = 10


@contextmanager
def connected(scheduler: str) -> Iterator[str]:
    """Connect to a scheduler and give the address of its dashboard; "local" starts a worker for each processor."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters comes back as an error of the fit
    if scheduler != "local":
        try:
            client = Client(scheduler, timeout=PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            raise ValueError(
                f"no scheduler answers at {scheduler}. Give the address that `dask scheduler` prints, such as "
                "tcp://10.0.0.1:8786, or local."
            ) from error
        with client:
            yield client.dashboard_link
        return
    with (
        LocalCluster(n_workers=thread_count(), threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        Client(cluster) as client,
    ):
        yield client.dashboard_link
