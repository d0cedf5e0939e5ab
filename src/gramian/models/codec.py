"""Values to a tree of plain JSON and named arrays, and back.

Numbers, text, lists and None stand for themselves; everything else is an object whose first key says what it is:
``{"array": "projection_.weights"}``, ``{"tuple": [...]}``, ``{"object": "kernels.RBF", "state": {...}}``.
On the way back what does not fit is refused, and nothing in the tree is called.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import Parameter, getattr_static, signature
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from gramian.estimators.base import OnRead
from gramian.kernels import Function, Kernel
from gramian.models.classes import ModelError, class_of, fields_of, known_as, state_of, wrong_field
from gramian.results import Array

#: Names of number types in the header. Names, not codes: a file means the same on every machine.
NUMBERS = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"},
}
NUMBER_NAMES = {code: name for name, code in NUMBERS.items()}
#: Deeper than any estimator; a value that holds itself would never end.
MAX_DEPTH = 40
#: Whole numbers beyond doubles are written as text: other readers of JSON would round them.
MAX_EXACT_INT, MAX_DIGITS = 2**53, 1000
SPARSE_CLASSES = {cls.__name__: cls for cls in (sp.csr_array, sp.csr_matrix, sp.csc_array, sp.csc_matrix)}
#: Text of fixed width is kept as numbers of this type, one for each character.
CHARACTERS: dict[str, np.dtype] = {"U": np.dtype("<u4"), "S": np.dtype("|u1")}


class Encoder:
    """Puts one value into a tree; the arrays it meets are in ``arrays``, each once, in C order."""

    def __init__(self) -> None:
        self.arrays: dict[str, Array] = {}
        self._names: dict[Any, str] = {}
        self._alive: list[Any] = []  # arrays are known by their address, which must not be given to another

    def encode(self, value: object, path: tuple[str, ...] = ()) -> Any:
        if len(path) > MAX_DEPTH:
            raise ModelError(f"{'.'.join(path[:6])}... is nested too deeply to be kept")
        if value is None or type(value) in (bool, str):
            return value
        if type(value) is int:
            return value if abs(value) <= MAX_EXACT_INT else {"int": _digits(value, path)}
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
        if isinstance(value, np.str_) or (isinstance(value, np.generic) and value.dtype.str in NUMBER_NAMES):
            name = "str" if isinstance(value, np.str_) else value.dtype.name
            return {"scalar": [name, self.encode(value.item(), path)]}
        if isinstance(value, np.dtype) and value.kind in "biuf" and value.str.replace(">", "<") in NUMBER_NAMES:
            return {"dtype": value.name}
        if type(value) in (np.ndarray, np.memmap):
            return self._array(np.asarray(value), path)
        if type(value) in SPARSE_CLASSES.values():
            return self._sparse(value, path)
        return self._object(value, path)

    def _each(self, values: Sequence[object], path: tuple[str, ...]) -> list[Any]:
        return [self.encode(value, (*path, str(at))) for at, value in enumerate(values)]

    def _object(self, value: object, path: tuple[str, ...]) -> Any:
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
        if array.dtype.newbyteorder("<").str not in NUMBER_NAMES:
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


def _digits(value: int, path: tuple[str, ...]) -> str:
    if value.bit_length() > 3 * MAX_DIGITS:
        raise ModelError(f"{'.'.join(path)} is a number of more than {MAX_DIGITS} digits")
    return str(value)


def _refusal(value: object, path: tuple[str, ...]) -> str:
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

    def decode(self, node: object) -> Any:
        if not isinstance(node, (list, dict)):
            return node
        self._depth += 1
        if self._depth > 2 * MAX_DEPTH:
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
        if idle := sorted(set(self.arrays) - self._used):
            raise ModelError(f"array {idle[0]!r} belongs to nothing in the model")

    def _listed(self, nodes: object, count: int | None = None) -> list[Any]:
        if not isinstance(nodes, list) or (count is not None and len(nodes) != count):
            raise ModelError("its contents have a list of the wrong length")
        return [self.decode(node) for node in nodes]

    def _taken(self, name: object) -> Array:
        array = _one_of(name, self.arrays)
        self._used.add(str(name))
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
        utf8, ends = (self._taken(name) for name in self._listed(node["strings"], 2))
        plain = utf8.dtype == np.uint8 and ends.dtype == np.int64 and utf8.ndim == ends.ndim == 1
        if not plain or len(ends) < 1 or ends[0] != 0 or ends[-1] != len(utf8) or (np.diff(ends) < 0).any():
            raise ModelError(f"the text in {node['strings']!r} is damaged")
        whole = utf8.tobytes()
        values = [whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ends.tolist())]
        return _shaped(values, node["shape"])

    def _objects(self, node: Mapping[str, Any]) -> Array:
        return _shaped(self._listed(node["objects"]), node["shape"])

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
        cls = _one_of(node["sparse"], SPARSE_CLASSES)
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
            defaults = _parameters(cls, state) if issubclass(cls, BaseEstimator) else {}
            vars(value).update({**defaults, **state})
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
        if callable(known) or (hasattr(known, "__get__") and not isinstance(known, OnRead)):
            raise ModelError(f"{cls.__name__} has no attribute {key!r} to be kept")


def _parameters(cls: type[BaseEstimator], state: Mapping[str, Any]) -> dict[str, Any]:
    """Defaults of parameters that a file of an earlier version does not know."""
    known = signature(cls).parameters
    missing = [name for name in cls._get_param_names() if name not in state]
    if needed := [name for name in missing if known[name].default is Parameter.empty]:
        raise ModelError(f"{cls.__name__} lacks its parameter {needed[0]!r}")
    return {name: known[name].default for name in missing}


def _one_of(name: object, known: Mapping[str, Any]) -> Any:
    if not isinstance(name, str) or name not in known:
        raise ModelError(f"its contents name {str(name)[:60]!r}, which is not known")
    return known[name]


def _int(digits: object) -> int:
    if not isinstance(digits, str) or len(digits) > MAX_DIGITS or not digits.lstrip("-").isdecimal():
        raise ModelError("its contents hold a number that is none")
    return int(digits)


def _shaped(values: list[Any], shape: Sequence[int]) -> Array:
    flat = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):  # at once, NumPy would take lists apart
        flat[at] = value
    return flat.reshape([int(side) for side in shape])
