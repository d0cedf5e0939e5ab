"""Models to keep and send: one safetensors file, no code in it; linear ones also as ONNX graphs.

::

    estimator --> tree of JSON + arrays (codec) --> file                  save
    file --> checked bytes --> tree + arrays --> checked estimator        load

The classes a file may name are listed in ``classes.py``.
"""

from gramian.models.classes import ModelError
from gramian.models.onnx import to_onnx
from gramian.models.store import ModelCard, inspect, load, save

__all__ = ["ModelCard", "ModelError", "inspect", "load", "save", "to_onnx"]
