"""Linear least squares as the limit of no ridge: NIST's certified coefficients."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import KernelRidge

CONTENT = json.loads((Path(__file__).parent / "data" / "nist_strd.json").read_text())
CASES = {case["name"]: case["outputs"] for case in CONTENT["cases"] if "coef" in case["outputs"]}


@pytest.mark.parametrize(
    ("name", "digits"),
    [("Norris", 13), ("Pontius", 12), ("Longley", 12)]
    + [("Wampler1", 8), ("Wampler2", 11), ("Wampler3", 8), ("Wampler4", 6), ("Wampler5", 5)],
)
def test_coefficients(name, digits):
    data, expected = CONTENT["data"][name], CASES[name]
    X = np.array(data["X"], dtype=float).reshape(len(data["X"]), -1)
    model = KernelRidge(0, kernel="linear", fit_intercept=True).fit(X, np.array(data["y"], dtype=float))
    assert_allclose(model.function_.weights[:, 0], expected["coef"], rtol=10.0**-digits)
    assert_allclose(model.intercept_, expected["intercept"], rtol=10.0**-digits)
