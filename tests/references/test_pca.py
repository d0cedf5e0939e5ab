"""Numbers from R's prcomp and from 80-digit arithmetic; sources and conventions are in the JSON files."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import PCA

DATA = Path(__file__).parent / "data"


def reference(name):
    content = json.loads((DATA / f"{name}.json").read_text())
    return content["data"], {case["name"]: case for case in content["cases"]}


ARRESTS, CASES = reference("pca_usarrests")
X = np.array(ARRESTS["X"], dtype=float)
SETTINGS = {"unscaled": {}, "scaled": {"scale": True}, "uncentered": {"center": False}}


@pytest.mark.parametrize("solver", ["auto", "covariance", "svd", "dual"])
@pytest.mark.parametrize("name", SETTINGS)
def test_prcomp(name, solver):
    out, rtol = CASES[name]["outputs"], CASES[name]["suggested_rtol"]
    pca = PCA(solver=solver, **SETTINGS[name]).fit(X)
    rotation = np.array(out["rotation"])
    signs = np.sign(np.sum(rotation * pca.components_.T, axis=0))
    assert_allclose(np.sqrt(pca.explained_variance_), out["sdev"], rtol=rtol)
    assert_allclose(pca.explained_variance_ratio_, out["proportion"], rtol=rtol)
    assert_allclose(pca.components_.T * signs, rotation, rtol=rtol, atol=rtol)
    assert_allclose(pca.transform(X) * signs, out["x"], rtol=rtol, atol=rtol * np.abs(out["x"]).max())
    if out["center"] is not None:
        assert_allclose(pca.mean_, out["center"], rtol=rtol)
    if out["scale"] is not None:
        assert_allclose(pca.scale_, out["scale"], rtol=rtol)


def test_princomp_divides_by_n():
    out = CASES["princomp_cov"]["outputs"]
    assert_allclose(np.sqrt(PCA().fit(X).explained_variance_ * 49 / 50), out["sdev"], rtol=1e-9)


def test_new_rows_are_centred_and_scaled_as_the_training_rows():
    out = CASES["train_test_scaled"]["outputs"]
    train, test = (np.array(ARRESTS[f"{part}_rows_1based"]) - 1 for part in ("train", "test"))
    pca = PCA(scale=True).fit(X[train])
    signs = np.sign(np.sum(np.array(out["rotation"]) * pca.components_.T, axis=0))
    assert_allclose(pca.transform(X[test]) * signs, out["test_scores"], rtol=1e-9, atol=1e-9)


HARD, EXACT = reference("pca_illconditioned")


@pytest.mark.parametrize("solver", ["auto", "svd"])
@pytest.mark.parametrize("name", HARD)
def test_ill_conditioned_matrices_within_their_gate(name, solver):
    A = np.array(HARD[name], dtype=float)
    exact = np.array(EXACT[name]["outputs"]["explained_variance"])
    found = PCA(solver=solver).fit(A).explained_variance_
    spread = A.std(axis=0).max()
    gate = 50 * np.finfo(float).eps * np.sqrt(exact.max()) * max(1, np.abs(A.mean(axis=0)).max() / spread)
    k = min(len(found), len(exact))
    assert_allclose(np.sqrt(found[:k]), np.sqrt(np.maximum(exact[:k], 0)), rtol=0, atol=gate)
