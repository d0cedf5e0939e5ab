"""Models to keep and send: one safetensors file, no code in it; linear ones also as ONNX graphs.

::

    estimator --> tree of JSON + arrays (codec) --> file (container)      save
    file --> checked bytes --> tree + arrays --> checked estimator        load

The classes a file may name are listed in ``registry.py``.
"""

from typing import Any

from gramian.files import PathLike
from gramian.models.container import ModelError
from gramian.models.store import ModelCard, inspect, load, save

__all__ = ["ModelCard", "ModelError", "inspect", "load", "save", "to_onnx"]


def to_onnx(estimator: Any, path: PathLike, *, dtype: str = "float32") -> None:
    """Write a fitted linear estimator as an ONNX graph; needs the extra ``gramian[onnx]``.

    The graph takes ``X`` (rows, d). It gives ``scores`` as ``transform`` does, and ``prediction`` as ``predict`` does
    if the estimator predicts.

    Parameters
    ----------
    estimator : estimator
        A fitted linear estimator.
    path : str or path
        File to write.
    dtype : {"float32", "float64"}
        Numbers the graph takes and computes with.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.models import to_onnx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pca.onnx")
    ...     to_onnx(PCA(2).fit(load_iris().data), path)
    ...     os.path.getsize(path) > 100
    True
    """
    try:
        from gramian.models.onnx import to_onnx as write  # optional, and slow to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"to_onnx needs {error.name}. Run: pip install 'gramian[onnx]'") from error
    write(estimator, path, dtype=dtype)
