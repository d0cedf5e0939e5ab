"""Linear estimators as ONNX graphs, for programs that have neither Python nor this library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

import gramian
from gramian.estimators.random_projection import RandomMap
from gramian.files import PathLike, atomic
from gramian.models.classes import ModelError
from gramian.projection import LinearProjection
from gramian.results import Array

if TYPE_CHECKING:
    from onnx import ModelProto

Shapes = Mapping[str, Sequence[str | int]]
#: Old enough for every runtime in use; subtraction and products have not changed since.
OPSET, IR_VERSION = 13, 8
#: Names of the two types in ONNX.
PRECISIONS = {"float32": "FLOAT", "float64": "DOUBLE"}


def to_onnx(estimator: BaseEstimator, path: PathLike, *, dtype: str = "float32") -> None:
    """Write a fitted linear estimator as an ONNX graph; needs the extra ``gramian[onnx]``.

    The graph takes ``X`` (rows, d). It gives ``scores`` as ``transform`` does, and ``prediction`` as ``predict`` does
    if the estimator predicts. Rows with missing entries are not filled.

    Parameters
    ----------
    estimator : estimator
        PCA, ProbabilisticPCA, FactorAnalysis, ICA, RandomProjection, PLSRegression, PrincipalComponentRegression,
        PLSCanonical, PLSSVD or CCA (scores of the first view).
    path : str or path
        File to write, whole or not at all.
    dtype : {"float32", "float64"}
        Numbers the graph takes and computes with. Columns whose means are far larger than their deviations need
        ``"float64"``.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, onnxruntime
    >>> from gramian import PCA
    >>> from gramian.models import to_onnx
    >>> X = np.random.default_rng(0).standard_normal((50, 4)).astype(np.float32)
    >>> pca = PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pca.onnx")
    ...     to_onnx(pca, path)
    ...     scores, = onnxruntime.InferenceSession(path).run(["scores"], {"X": X})
    >>> bool(np.abs(scores - pca.transform(X)).max() < 1e-5)
    True
    """
    try:
        import onnx  # optional, and slow to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"to_onnx needs {error.name}. Run: pip install 'gramian[onnx]'") from error
    if dtype not in PRECISIONS:
        raise ValueError(f"dtype={dtype!r} is not known. Use 'float32' or 'float64'.")
    check_is_fitted(estimator)
    graph = _Graph(np.dtype(dtype))
    mean, weights = _projection(estimator)
    graph.affine("X", mean, weights, None, "scores")
    outputs = {"scores": ["rows", weights.shape[1]]}
    if hasattr(estimator, "predict"):
        single, to = bool(estimator._single), "prediction_column" if estimator._single else "prediction"
        q = len(estimator.y_mean_)
        if isinstance(getattr(estimator, "predictor_", None), LinearProjection):
            graph.affine("X", estimator.predictor_.mean, estimator.predictor_.weights, estimator.y_mean_, to)
        else:
            graph.affine("scores", None, estimator.y_from_x_, estimator.y_mean_, to)
        if single:
            graph.add("Squeeze", [to, graph.constant("last", np.array([1]))], "prediction")
        outputs["prediction"] = ["rows"] if single else ["rows", q]
    model = graph.model(type(estimator).__name__, {"X": ["rows", len(weights)]}, outputs)
    facts = {"summary": str(estimator.summary_), "scores": ",".join(map(str, estimator.get_feature_names_out()))}
    if hasattr(estimator, "feature_names_in_"):
        facts["columns"] = ",".join(map(str, estimator.feature_names_in_))
    onnx.helper.set_model_props(model, facts)
    onnx.checker.check_model(model, full_check=True)
    with atomic(path) as file:
        file.write(model.SerializeToString())


def _projection(estimator: BaseEstimator) -> tuple[Array | None, Array]:
    """Mean (or None) and weights of the scores."""
    found = getattr(estimator, "projection_", getattr(estimator, "x_projection_", None))
    if isinstance(found, LinearProjection):
        return found.mean, found.weights
    if isinstance(found, RandomMap):
        return None, found.weights.toarray() if sp.issparse(found.weights) else found.weights
    raise ModelError(
        f"{type(estimator).__name__} is not linear in the columns of X, and only linear estimators have an ONNX form. "
        "Use gramian.save for the others."
    )


class _Graph:
    def __init__(self, dtype: np.dtype) -> None:
        self.dtype, self.nodes, self.constants = dtype, [], []  # type: ignore[var-annotated]

    def affine(self, X: str, mean: Array | None, weights: Array, offset: Array | None, to: str) -> None:
        """Add ``(X - mean) weights + offset``; the difference first, for the digits it keeps."""
        if mean is not None:
            X = self.add("Sub", [X, self.constant(f"{to}_mean", mean)], f"{to}_centred")
        product = to if offset is None else f"{to}_product"
        self.add("MatMul", [X, self.constant(f"{to}_weights", weights)], product)
        if offset is not None:
            self.add("Add", [product, self.constant(f"{to}_offset", offset)], to)

    def add(self, operation: str, inputs: list[str], output: str) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(operation, inputs, [output], name=f"{output}_{operation.lower()}"))
        return output

    def constant(self, name: str, values: Array) -> str:
        from onnx import numpy_helper

        with np.errstate(over="ignore"):  # an infinite constant is refused below
            kept = values if values.dtype.kind == "i" else values.astype(self.dtype)
        if kept.dtype.kind == "f" and not np.isfinite(kept).all():
            raise ModelError(f"{name} overflows in {self.dtype}. Use dtype='float64'.")
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(kept), name))
        return name

    def model(self, name: str, inputs: Shapes, outputs: Shapes) -> ModelProto:
        from onnx import TensorProto, helper

        kind = getattr(TensorProto, PRECISIONS[self.dtype.name])
        takes, gives = (
            [helper.make_tensor_value_info(key, kind, shape) for key, shape in named.items()]
            for named in (inputs, outputs)
        )
        graph = helper.make_graph(self.nodes, name, takes, gives, initializer=self.constants)
        return helper.make_model(
            graph,
            producer_name="gramian",
            producer_version=gramian.__version__,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
        )
