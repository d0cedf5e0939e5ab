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

    See :func:`gramian.models.onnx.to_onnx` for what the graph takes and gives.

    Parameters
    ----------
    estimator : estimator
        A fitted linear estimator.
    path : str or path
        File to write.
    dtype : {"float32", "float64"}
        Numbers the graph takes and computes with.
    """
    try:
        from gramian.models.onnx import to_onnx as write  # optional, and slow to import
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"to_onnx needs {error.name}. Run: pip install 'gramian[onnx]'") from error
    write(estimator, path, dtype=dtype)
