"""Linear estimators as ONNX graphs: the runtime gives the scores and predictions of the estimator."""

import os
import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError

from gramian import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    KernelPCA,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    models,
)

LINEAR = [
    PCA(3),
    PCA(3, scale=True, whiten=True),
    PCA(2, center=False),
    ProbabilisticPCA(2),
    FactorAnalysis(2),
    FactorAnalysis(2, rotation="oblimin"),
    ICA(2),
    RandomProjection(4),
    RandomProjection(4, density=0.4),
    PLSRegression(2),
    PrincipalComponentRegression(3),
    PLSCanonical(2),
    PLSSVD(2),
    CCA(2),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def answers(path, X):
    session = onnxruntime.InferenceSession(path)
    return dict(zip([out.name for out in session.get_outputs()], session.run(None, {"X": X}), strict=True))


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("single", [True, False], ids=["one target", "two targets"])
@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_the_runtime_gives_the_same_scores(model, single, dtype, table, path):
    X, Y = table[:, :7], table[:, 7:9]
    model.fit(X, Y[:, 0] if single and not isinstance(model, (PLSCanonical, PLSSVD, CCA)) else Y)
    models.to_onnx(model, path, dtype=dtype)
    found = answers(path, X[:50].astype(dtype))
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    expected = {"scores": model.transform(X[:50])}
    if hasattr(model, "predict"):
        expected["prediction"] = model.predict(X[:50])
    assert set(found) == set(expected)
    for name, values in expected.items():
        assert found[name].dtype == dtype
        assert found[name].shape == values.shape
        scale = max(1.0, float(np.abs(values).max()))
        np.testing.assert_allclose(found[name], values, rtol=0, atol=tolerance * scale, err_msg=name)


def test_columns_far_from_the_origin_keep_their_digits_in_double_precision(table, path):
    X = table + 1e7
    model = PCA(2).fit(X)
    models.to_onnx(model, path, dtype="float64")
    np.testing.assert_allclose(answers(path, X)["scores"], model.transform(X), rtol=0, atol=1e-5)


def test_the_file_says_what_it_is(table, path):
    model = PCA(2).fit(table)
    models.to_onnx(model, path)
    graph = onnx.load(path)
    assert graph.producer_name == "gramian"
    facts = {entry.key: entry.value for entry in graph.metadata_props}
    assert facts == {"summary": str(model.summary_), "scores": "PC1,PC2"}
    assert {node.op_type for node in graph.graph.node} <= {"Sub", "MatMul", "Add", "Squeeze"}


def test_refusals(table, path):
    with pytest.raises(ValueError, match=r"KernelPCA is not linear.*gramian.save"):
        models.to_onnx(KernelPCA(1).fit(table), path)
    with pytest.raises(ValueError, match="dtype='int8' is not known"):
        models.to_onnx(PCA(1).fit(table), path, dtype="int8")
    with pytest.raises(NotFittedError):
        models.to_onnx(PCA(1), path)
    with pytest.raises(ValueError, match=r"overflows in float32.*float64"):
        models.to_onnx(PCA(1).fit(table * 1e60), path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        models.to_onnx(PCA(1).fit(table), path.parent / "none" / "m")
    assert os.listdir(path.parent) == []


def test_a_missing_package_is_named(table, path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "onnx"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'gramian\[onnx\]'"):
        models.to_onnx(PCA(1).fit(table), path)
