"""Sound measurements, to plant faults in."""

import pytest


@pytest.fixture
def sound(rng):
    """Measurements that nobody would complain of."""
    return rng.standard_normal((300, 6)) @ rng.standard_normal((6, 6)) + 2.0
