"""Numbers from R: kernlab::ipop and quadprog::solve.QP on the dual without offset; the source is in the JSON file."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.estimators.kernel_svm import KernelSVC
from gramian.kernels import RBF, Laplacian, Polynomial

CONTENT = json.loads((Path(__file__).parent / "data" / "svm_nobias_iris.json").read_text())
X, y = np.array(CONTENT["data"]["X"]), np.array(CONTENT["data"]["y"])
TRAIN, TEST = (np.array(CONTENT["data"][f"{part}_rows_1based"]) - 1 for part in ("train", "test"))
CASES = {case["name"]: case for case in CONTENT["cases"]}
KERNELS = {
    "rbf_0.5_C1": RBF(gamma=0.5),
    "rbf_0.5_C10": RBF(gamma=0.5),
    "rbf_2_C1": RBF(gamma=2.0),
    "poly2_C1": Polynomial(degree=2),
    "laplacian_L2_C1": Laplacian(gamma=0.5, norm="l2"),
}


def test_every_case_has_its_kernel():
    assert set(KERNELS) == set(CASES)


@pytest.mark.parametrize("name", KERNELS)
def test_dual_without_offset(name):
    out = CASES[name]["outputs"]
    model = KernelSVC(out["C"], kernel=KERNELS[name], tol=1e-4).fit(X[TRAIN], y[TRAIN])
    assert model.kkt_residual_ <= 1e-4
    assert_allclose(model.dual_objective_, out["dual_objective_quadprog"], rtol=1e-6)
    assert_allclose(model.dual_objective_, out["dual_objective_ipop"], rtol=1e-6)
    # quadprog adds 1e-10 to the diagonal; for the kernel of rank 15 that moves its decision values by 3e-3, not ipop's.
    a = np.array(out["alpha_ipop"])
    for part, given in ((TRAIN, "decision_train"), (TEST, "decision_test")):
        values = model.decision_function(X[part])
        assert_allclose(values, KERNELS[name](X[part], X[TRAIN]) @ (a * y[TRAIN]), atol=1e-5)
        if name != "poly2_C1":
            assert_allclose(values, out[given], atol=1e-6)
    found = np.zeros(len(TRAIN))
    found[model.support_] = model.dual_coef_[0] * y[TRAIN][model.support_]
    assert_allclose(found, a, atol=1e-5)
