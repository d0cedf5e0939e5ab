"""Values to a tree of plain JSON and named arrays, and back.

Numbers, text, lists and None stand for themselves; everything else is an object whose first key says what it is:
``{"array": "projection_.weights"}``, ``{"tuple": [...]}``, ``{"object": "kernels.RBF", "state": {...}}``.
"""

from __future__ import annotations

from functools import cached_property
from inspect import getattr_static
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.kernels import Function
from gramian.models.container import NAMES, ModelError
from gramian.models.registry import fields_of, known_as
from gramian.results import Array

#: Deeper than any estimator; a value that holds itself would never end.
DEEPEST = 40
#: Whole numbers beyond doubles are written as text: other readers of JSON would round them.
LARGEST_INT, MOST_DIGITS = 2**53, 1000
SPARSE = {cls.__name__: cls for cls in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)}
#: Text of fixed width is kept as numbers of this type, one for each character.
CHARACTERS: dict[str, np.dtype] = {"U": np.dtype("<u4"), "S": np.dtype("|u1")}


class Encoder:
    """Puts one value into a tree; the arrays it meets are in ``arrays``, each once, in C order."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[Any, str] = {}
        self._alive: list[Any] = []  # arrays are known by their address, which must not be given to another

    def encode(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """Return the tree of a value found at ``path``."""
        if len(path) > DEEPEST:
            raise ModelError(f"{'.'.join(path[:6])}... is nested too deeply to be kept")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) <= LARGEST_INT else {"int": _digits(value, path)}
        if type(value) is float:
            return value if np.isfinite(value) else {"float": repr(value)}
        if type(value) is list:
            return self._each(value, path)
        if type(value) is tuple:
            return {"tuple": self._each(value, path)}
        if type(value) is dict:
            pairs = [[self.encode(k, (*path, "key")), self.encode(v, (*path, str(k)))] for k, v in value.items()]
            return {"dict": pairs}
        if type(value) is slice:
            return {"slice": self._each([value.start, value.stop, value.step], path)}
        if isinstance(value, np.str_) or (isinstance(value, np.generic) and value.dtype.str in NAMES):
            name = "str" if isinstance(value, np.str_) else value.dtype.name
            return {"scalar": [name, self.encode(value.item(), path)]}
        if isinstance(value, np.dtype) and value.kind in "biuf" and value.str.replace(">", "<") in NAMES:
            return {"dtype": value.name}
        if type(value) in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), path)
        if type(value) in SPARSE.values():
            return self._sparse(value, path)
        return self._object(value, path)

    def _each(self, values: Any, path: tuple[str, ...]) -> list[Any]:
        return [self.encode(value, (*path, str(at))) for at, value in enumerate(values)]

    def _object(self, value: Any, path: tuple[str, ...]) -> Any:
        name = known_as(type(value))
        if name is None:
            raise ModelError(_refusal(value, path))
        state = {key: self.encode(part, (*path, key)) for key, part in state_of(value).items()}
        return {"object": name, "state": state}

    def _array(self, array: Array, path: tuple[str, ...]) -> Any:
        kind = array.dtype.kind
        if kind == "O":
            return self._objects(array, path)
        if kind in CHARACTERS and array.dtype.itemsize:
            letters = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
            width = array.dtype.itemsize // CHARACTERS[kind].itemsize
            codes = letters.reshape(-1).view(CHARACTERS[kind]).reshape(*array.shape, width)
            return {"text": self._name(codes, path), "kind": kind}
        if array.dtype.newbyteorder("<").str not in NAMES:
            raise ModelError(f"{'.'.join(path)} is an array of {array.dtype}, which a model file does not take")
        # The order in memory decides which routine multiplies, and with it the last bit of the scores.
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        found: dict[str, Any] = {"array": self._name(array.transpose(axes), path)}
        if axes != sorted(axes):
            found["axes"] = axes
        if kind == "f" and not np.isfinite(array).all():
            found["finite"] = False
        return found

    def _objects(self, array: Array, path: tuple[str, ...]) -> Any:
        values = array.ravel().tolist()
        if values and all(type(value) is str for value in values):  # column names and labels: too many for a header
            encoded = [value.encode("utf-8", "surrogatepass") for value in values]
            ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
            names = [
                self._name(np.frombuffer(b"".join(encoded), np.uint8), (*path, "utf8")),
                self._name(ends, (*path, "ends")),
            ]
            return {"strings": names, "shape": list(array.shape)}
        return {"objects": self._each(values, path), "shape": list(array.shape)}

    def _sparse(self, value: Any, path: tuple[str, ...]) -> Any:
        parts = {key: self._array(getattr(value, key), (*path, key)) for key in ("data", "indices", "indptr")}
        return {"sparse": type(value).__name__, "shape": [int(side) for side in value.shape], **parts}

    def _name(self, array: Array, path: tuple[str, ...]) -> str:
        """Name under which an array is kept; one that was met before keeps its first name."""
        key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
        if key not in self._names:
            name = ".".join(path)
            while name in self.arrays:
                name += "+"
            self._names[key] = name
            self._alive.append(array)
            self.arrays[name] = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<")).reshape(array.shape)
        return self._names[key]


def state_of(value: Any) -> dict[str, Any]:
    """What is kept of an object: the fields of a dataclass, else its attributes without what can be computed again."""
    fields = fields_of(type(value))
    if fields is not None:
        return {key: getattr(value, key) for key in fields}
    state = vars(value)
    computed = {key for key in state if isinstance(getattr_static(type(value), key, None), cached_property)}
    passing = {"_skl_callbacks"}  # who watches a fit is no part of it
    return {key: part for key, part in state.items() if key not in computed | passing}


def _digits(value: int, path: tuple[str, ...]) -> str:
    if value.bit_length() > 3 * MOST_DIGITS:
        raise ModelError(f"{'.'.join(path)} is a number of more than {MOST_DIGITS} digits")
    return str(value)


def _refusal(value: Any, path: tuple[str, ...]) -> str:
    """Say why a value cannot be kept, and what to do."""
    place, what = ".".join(path) or "the model", type(value).__name__
    if path[:1] == ("_fitted_with",):
        return f"{path[1]} was a {what} at the fit, and answers depend on it. Fit again with a word for {path[1]}"
    if isinstance(value, Function) or (callable(value) and not isinstance(value, type) and hasattr(value, "__code__")):
        what = "a function, and a model file holds no code"
        if "kernel" in place:
            return f"{place} is {what}. Use a kernel of gramian.kernels, or keep the rows and fit again"
        return f"{place} is {what}. Fit again with a word for {path[-1]}, or keep the rows"
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return f"{place} is a random generator, not a seed. Use set_params({place}=...) with a whole number"
    if len(path) == 1 and not place.endswith("_") and not place.startswith("_"):
        return (
            f"{place} is an object of the class {what}, which a model file does not take. Use set_params({place}=...) "
            "with plain words or numbers; what was fitted stays"
        )
    return f"{place} is an object of the class {what}, which a model file does not take"
