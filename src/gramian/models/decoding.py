"""From a tree of plain JSON and named arrays back to values. What does not fit is refused; nothing in it is called."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, getattr_static, signature
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.kernels import Kernel
from gramian.models.codec import CHARACTERS, DEEPEST, MOST_DIGITS, SPARSE
from gramian.models.container import ModelError
from gramian.models.registry import class_of, fields_of, wrong_field
from gramian.results import Array

#: Names of NumPy's numbers in a tree.
SCALARS = {
    np.dtype(code).name: np.dtype(code).type
    for code in ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}


class Decoder:
    """Builds one value from its tree and its arrays."""

    def __init__(self, arrays: Mapping[str, Array]) -> None:
        self.arrays = arrays
        self._used: set[str] = set()
        self._kinds = {
            "array": self._array,
            "dict": self._dict,
            "dtype": lambda node: np.dtype(_one_of(node["dtype"], SCALARS)),
            "float": lambda node: _one_of(node["float"], {word: float(word) for word in ("inf", "-inf", "nan")}),
            "int": lambda node: _int(node["int"]),
            "object": self._object,
            "objects": self._objects,
            "scalar": self._scalar,
            "slice": lambda node: slice(*self._listed(node["slice"], 3)),
            "sparse": self._sparse,
            "strings": self._strings,
            "text": self._text,
            "tuple": lambda node: tuple(self._listed(node["tuple"])),
        }
        self._depth = 0

    def decode(self, node: Any) -> Any:
        """Return the value of a tree."""
        if not isinstance(node, (list, dict)):
            return node
        self._depth += 1
        if self._depth > 2 * DEEPEST:
            raise ModelError("its contents are nested too deeply")
        try:
            if isinstance(node, list):
                return [self.decode(part) for part in node]
            kind = next(iter(node), "")
            if kind not in self._kinds:
                raise ModelError(f"its contents hold {kind!r}, which is not known")
            return self._kinds[kind](node)
        finally:
            self._depth -= 1

    def check_all_used(self) -> None:
        """Refuse arrays that nothing refers to."""
        if idle := sorted(set(self.arrays) - self._used):
            raise ModelError(f"array {idle[0]!r} belongs to nothing in the model")

    def _listed(self, nodes: Any, count: int | None = None) -> list[Any]:
        if not isinstance(nodes, list) or (count is not None and len(nodes) != count):
            raise ModelError("its contents have a list of the wrong length")
        return [self.decode(node) for node in nodes]

    def _taken(self, name: Any) -> Array:
        array = _one_of(name, self.arrays)
        self._used.add(name)
        return array

    def _array(self, node: Mapping[str, Any]) -> Array:
        array = self._taken(node["array"])
        if node.get("finite", True) and array.dtype.kind == "f" and not np.isfinite(array).all():
            raise ModelError(f"array {node['array']!r} holds NaN or infinity")
        axes = node.get("axes")
        if axes is None:
            return array
        if not isinstance(axes, list) or sorted(axes) != list(range(array.ndim)):
            raise ModelError(f"array {node['array']!r} has axes {axes!r}")
        return array.transpose(np.argsort(axes))

    def _text(self, node: Mapping[str, Any]) -> Array:
        codes, kind = self._taken(node["text"]), node.get("kind")
        if kind not in CHARACTERS or codes.dtype != CHARACTERS[kind] or codes.ndim < 1 or not codes.shape[-1]:
            raise ModelError(f"array {node['text']!r} is no text")
        if kind == "U" and codes.max(initial=0) > 0x10FFFF:
            raise ModelError(f"array {node['text']!r} holds numbers that are no characters")
        return codes.view(f"{kind}{codes.shape[-1]}").reshape(codes.shape[:-1])

    def _strings(self, node: Mapping[str, Any]) -> Array:
        utf8, ends = (self._taken(name) for name in _pair(node["strings"]))
        plain = utf8.dtype == np.uint8 and ends.dtype == np.int64 and utf8.ndim == ends.ndim == 1
        if not plain or len(ends) < 1 or ends[0] != 0 or ends[-1] != len(utf8) or (np.diff(ends) < 0).any():
            raise ModelError(f"the text in {node['strings']!r} is damaged")
        whole = utf8.tobytes()
        values = [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
        return _shaped(values, node.get("shape"))

    def _objects(self, node: Mapping[str, Any]) -> Array:
        return _shaped(self._listed(node["objects"]), node.get("shape"))

    def _scalar(self, node: Mapping[str, Any]) -> Any:
        name, value = self._listed(node["scalar"], 2)
        if name == "str" and isinstance(value, str):
            return np.str_(value)
        if not isinstance(value, (bool, int, float)):
            raise ModelError("its contents hold a number that is none")
        return _one_of(name, SCALARS)(value)

    def _dict(self, node: Mapping[str, Any]) -> dict[Any, Any]:
        pairs = [self._listed(pair, 2) for pair in node["dict"]]
        found = {key: value for key, value in pairs}
        if len(found) < len(pairs):
            raise ModelError("its contents give a key twice")
        return found

    def _sparse(self, node: Mapping[str, Any]) -> Any:
        cls = _one_of(node["sparse"], SPARSE)
        data, indices, indptr = (self.decode(node[key]) for key in ("data", "indices", "indptr"))
        shape = tuple(node["shape"])
        if indices.dtype not in (np.int32, np.int64) or indices.dtype != indptr.dtype or len(shape) != 2:
            raise ModelError("a sparse matrix in it has places that are no whole numbers")
        if not all(type(side) is int and 0 <= side < 2**62 for side in shape) or data.ndim != 1:
            raise ModelError("a sparse matrix in it has no shape")
        matrix = cls((data, indices, indptr), shape=shape)
        matrix.check_format(full_check=True)
        return matrix

    def _object(self, node: Mapping[str, Any]) -> Any:
        cls = class_of(node["object"])
        if cls is None:
            raise ModelError(f"its contents name the class {str(node['object'])[:60]!r}, which is not known")
        state = {key: self.decode(part) for key, part in node["state"].items()}
        value: Any = object.__new__(cls)
        fields = fields_of(cls)
        if fields is None:
            _check_attributes(cls, state)
            vars(value).update({**_parameters(cls, state), **state})
            return value
        if unknown := set(state) - set(fields):
            raise ModelError(f"{node['object']} has no field {min(unknown)!r}")
        if missing := {key for key, needed in fields.items() if needed} - set(state):
            raise ModelError(f"{node['object']} lacks its field {min(missing)!r}")
        for key, part in {**_defaults(cls, set(fields) - set(state)), **state}.items():
            object.__setattr__(value, key, part)
        if wrong := wrong_field(value):
            raise ModelError(f"{node['object']} has a field {wrong!r} of the wrong type")
        if isinstance(value, Kernel):
            value.check()
        return value


def _defaults(cls: type, names: set[str]) -> dict[str, Any]:
    """Values of fields that a file of an earlier version does not know."""
    fields = cls.__dataclass_fields__  # type: ignore[attr-defined]
    made = {name: fields[name].default_factory for name in names if callable(fields[name].default_factory)}
    return {name: made[name]() if name in made else fields[name].default for name in names}


def _check_attributes(cls: type, state: Mapping[str, Any]) -> None:
    """Refuse attributes that would hide a method or are no names."""
    for key in state:
        plain = key.isidentifier() and not key.startswith("__")
        known = getattr_static(cls, key, None) if plain else cls
        if callable(known) or hasattr(known, "__get__"):
            raise ModelError(f"{cls.__name__} has no attribute {key!r} to be kept")


def _parameters(cls: Any, state: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of parameters that a file of an earlier version does not know."""
    if not issubclass(cls, BaseEstimator):
        return {}
    known = signature(cls).parameters
    missing = [name for name in cls._get_param_names() if name not in state]
    if needed := [name for name in missing if known[name].default is Parameter.empty]:
        raise ModelError(f"{cls.__name__} lacks its parameter {needed[0]!r}")
    return {name: known[name].default for name in missing}


def _one_of(name: Any, known: Mapping[str, Any]) -> Any:
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"its contents name {str(name)[:60]!r}, which is not known")
    return known[name]


def _pair(names: Any) -> list[Any]:
    if not isinstance(names, list) or len(names) != 2:
        raise ModelError("its contents have a list of the wrong length")
    return names


def _int(digits: Any) -> int:
    if not isinstance(digits, str) or len(digits) > MOST_DIGITS or not digits.lstrip("-").isdecimal():
        raise ModelError("its contents hold a number that is none")
    return int(digits)


def _shaped(values: list[Any], shape: Any) -> Array:
    flat = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):  # at once, NumPy would take lists apart
        flat[at] = value
    return flat.reshape([int(side) for side in shape])
