"""NIST's data sets: variances against exact rational arithmetic on the stored doubles, spectra against 80 digits."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from gramian import PCA
from gramian.operators import moments_of

CONTENT = json.loads((Path(__file__).parent / "data" / "nist_strd.json").read_text())
CASES = {case["name"]: case["outputs"] for case in CONTENT["cases"]}
UNIVARIATE = [name for name, out in CASES.items() if "variance" in out]
LINEAR = [name for name, out in CASES.items() if "covariance_eigenvalues_exact" in out]


def rows(name):
    return np.array(CONTENT["data"][name]["X"], dtype=float).reshape(len(CONTENT["data"][name]["X"]), -1)


def exact(values):
    numbers = [Fraction(float(v)) for v in values]
    mean = sum(numbers) / len(numbers)
    return mean, sum((v - mean) ** 2 for v in numbers) / (len(numbers) - 1)


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", "dual", "power", "krylov"])
@pytest.mark.parametrize("name", UNIVARIATE)
def test_variance_of_the_stored_doubles(name, solver):
    X = rows(name)
    if solver == "dual" and len(X) > 2000:
        pytest.skip("the dual route would factorise a 5,000 x 5,000 matrix for one column")
    mean, variance = exact(X[:, 0])
    found = PCA(1, solver=solver).fit(X)
    assert abs(Fraction(float(found.mean_[0])) - mean) <= abs(mean) * Fraction(1, 10**15)
    assert abs(Fraction(float(found.explained_variance_[0])) - variance) <= variance * Fraction(1, 10**12)
    assert found.explained_variance_[0] == pytest.approx(CASES[name]["variance"], rel=1e-6)


@pytest.mark.parametrize("name", UNIVARIATE)
def test_moments_of_the_stored_doubles(name):
    X = rows(name)
    _, variance = exact(X[:, 0])
    halves = moments_of(X[: len(X) // 2]) + moments_of(X[len(X) // 2 :])
    for found in (moments_of(X), halves, moments_of(X, np.ones(len(X)))):
        error = Fraction(float(found.scatter[0, 0])) / (len(X) - 1) - variance
        assert abs(error) <= variance * Fraction(1, 10**12)


@pytest.mark.parametrize("name", LINEAR)
def test_spectra_of_the_regressors(name):
    X = rows(name)
    values = np.array(CASES[name]["covariance_eigenvalues_exact"])
    found = PCA(solver="svd").fit(X).explained_variance_
    gate = 50 * np.finfo(float).eps * np.sqrt(values.max()) * max(1, np.abs(X.mean(axis=0) / X.std(axis=0)).max())
    np.testing.assert_allclose(np.sqrt(found), np.sqrt(np.maximum(values, 0)), rtol=0, atol=gate)
