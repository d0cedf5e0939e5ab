"""Numbers from cca-zoo; source and conventions are in the JSON file.

Its constraint is ``a'((1 - c) K^2/(n-1) + c K)a = 1``; divided by 1 - c that is ours with ridge = c/(1-c). The factor
n - 1 belongs to the variance on both sides and needs no conversion; scores are sqrt(1 - c) times as large here as
there. It also centres the columns of both views at their training means before it applies a kernel, which changes
the polynomial one.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import KernelCCA
from gramian.estimators.cca import CCA

CONTENT = json.loads((Path(__file__).parent / "data" / "kcca_centred_iris.json").read_text())
CASES = {case["name"]: case for case in CONTENT["cases"]}
X, Y = (np.array(CONTENT["data"][view]) for view in "XY")
X, Y = X - X[0::2].mean(axis=0), Y - Y[0::2].mean(axis=0)
KERNELS = {
    "rbf_0.5_shrink_0.1": ("rbf(gamma=0.5)", 0.1),
    "rbf_0.5_shrink_0.5": ("rbf(gamma=0.5)", 0.5),
    "poly2_shrink_0.2": ("polynomial(degree=2, scale=1, constant=1)", 0.2),
    "linear_shrink_0.1": ("linear", 0.1),
}


def score_correlations(T, S):
    return np.array([np.corrcoef(t, s)[0, 1] for t, s in zip(T.T, S.T, strict=True)])


@pytest.mark.parametrize("solver", ["dense", "krylov"])
@pytest.mark.parametrize("name", KERNELS)
def test_scores_and_correlations_of_training_and_new_rows(name, solver):
    kernel, shrinkage = KERNELS[name]
    out, rtol = CASES[name]["outputs"], CASES[name]["suggested_rtol"]
    model = KernelCCA(2, kernel=kernel, ridge=shrinkage / (1 - shrinkage), solver=solver).fit(X[0::2], Y[0::2])
    assert_allclose(model.score_correlations_, out["train_corr"], rtol=rtol)
    for part, rows in (("train", slice(0, None, 2)), ("test", slice(1, None, 2))):
        found = model.transform(X[rows], Y[rows])
        assert_allclose(score_correlations(*found), out[f"{part}_corr"], rtol=rtol, atol=rtol)
        for scores, view in zip(found, "xy", strict=True):
            theirs = np.array(out[f"{part}_scores_{view}"]) * np.sqrt(1 - shrinkage)
            signs = np.sign(np.sum(scores * theirs, axis=0))
            assert_allclose(scores * signs, theirs, rtol=rtol, atol=rtol * np.abs(theirs).max())


@pytest.mark.parametrize("name", ["ridge_cca_0.1", "ridge_cca_0.9"])
def test_the_linear_kernel_is_ridge_cca(name):
    out, shrinkage = CASES[name]["outputs"], float(name[-3:])
    ridge = shrinkage / (1 - shrinkage)
    kernel = KernelCCA(2, kernel="linear", ridge=ridge).fit(X[0::2], Y[0::2])
    assert_allclose(kernel.score_correlations_, out["train_corr"], rtol=CASES[name]["suggested_rtol"])
    assert_allclose(kernel.correlations_, CCA(2, ridge=ridge).fit(X[0::2], Y[0::2]).correlations_, rtol=1e-10)


def test_the_linear_kernel_without_a_ridge():
    out = CASES["ridge_cca_0.0"]["outputs"]
    model = KernelCCA(2, kernel="linear", ridge=0).fit(X[0::2], Y[0::2])
    assert_allclose(model.correlations_, out["train_corr"], rtol=CASES["ridge_cca_0.0"]["suggested_rtol"])
