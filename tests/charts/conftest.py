"""Real tables for pictures."""

from pathlib import Path

import pandas as pd
import pytest

DATA = Path(__file__).parents[2] / "examples" / "data"


@pytest.fixture(scope="session")
def decathlon():
    return pd.read_csv(DATA / "decathlon.csv", index_col=0)


@pytest.fixture(scope="session")
def meats():
    return pd.read_csv(DATA / "meats.csv")


@pytest.fixture(scope="session")
def mice():
    return tuple(pd.read_csv(DATA / f"nutrimouse_{name}.csv") for name in ("gene", "lipid", "diet"))
