"""Fitted estimators to safetensors files and back: a short JSON header, then the bytes of the arrays.

The layout is that of safetensors, so other tools can read the arrays. This reader is stricter than the format: names
may not repeat, arrays fill the file without gaps, and a checksum covers every byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, NoReturn

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

import gramian
from gramian.files import atomic, check_writable
from gramian.models import classes
from gramian.models.classes import ModelError
from gramian.models.codec import NUMBER_NAMES, NUMBERS, Decoder, Encoder
from gramian.results import Array

#: What the files are called in their header, and the version of their layout. Files of every earlier version load.
FORMAT, VERSION = "gramian-model", 1
#: Column names are repeated in the header for other readers, unless they are very many.
MAX_NAMES_LENGTH = 100_000
#: The checksum comes first and has a fixed length: it is found without a search, and left out of itself.
HEADER_START = b'{"__metadata__":{"sha256":"'
CHECKSUM_DIGITS = 64
#: A header holds what is not an array. Python needs up to a hundred bytes for each part of it: so few are read.
MAX_HEADER_BYTES, MAX_HEADER_PARTS, MAX_ARRAYS = 8 * 2**20, 200_000, 4096
MAX_NUMBER_LENGTH, MAX_DIMENSION = 30, 2**48

PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@dataclass(frozen=True)
class ModelCard:
    """What the header of a model file says.

    Attributes
    ----------
    estimator : str
        Name of the class.
    versions : dict of str to str
        Of gramian, NumPy and scikit-learn when it was saved.
    columns : tuple of str or None
        Names of the columns of X, if it had names (and fewer than about ten thousand).
    summary : str
        Text of ``summary_``.
    arrays : dict of str to tuple
        Shapes of the arrays.
    bytes : int
        Size of the file.

    Examples
    --------
    See :func:`inspect`.

    >>> ModelCard("PCA", {}, None, "", {"mean_": (4,)}, 1000).arrays
    {'mean_': (4,)}
    """

    estimator: str
    versions: dict[str, str]
    columns: tuple[str, ...] | None
    summary: str
    arrays: dict[str, tuple[int, ...]]
    bytes: int


def save(estimator: BaseEstimator, path: PathLike) -> None:
    """Write a fitted estimator to one file.

    The file is in the safetensors format: arrays, and a header of JSON with class, parameters, versions, column names
    and summary. It holds no code. It is written to a temporary file first and then renamed: ``path`` holds the old
    model or the new one, never a part.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this library, or a scikit-learn pipeline of them.
    path : str or path
        File to write; ``.safetensors`` is the usual ending. A link is followed.

    Raises
    ------
    ValueError
        If the estimator is not fitted, or holds what a file cannot keep: a function, a random generator.
    OSError
        If the file cannot be written; an older file is then as it was.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from gramian import PCA, models
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> pca = PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pca.safetensors")
    ...     models.save(pca, path)
    ...     again = models.load(path)
    >>> np.array_equal(again.transform(X), pca.transform(X))
    True
    """
    name = os.fsdecode(path)
    if not classes.is_estimator(estimator):
        raise TypeError(f"estimator={type(estimator).__name__} is not an estimator of gramian; only those are saved.")
    encoder = Encoder()
    try:
        tree = encoder.encode(estimator)
        answers = classes.answered(estimator)
        _build(tree, encoder.arrays, answers)  # what is written can be read again
        _write(name, _metadata(estimator, tree, answers), encoder.arrays)
    except ModelError as error:
        raise ModelError(f"{type(estimator).__name__} cannot be saved: {error}.") from error


def load(path: PathLike) -> Any:
    """Read an estimator that :func:`save` wrote.

    Everything in the file is checked before it is used, nothing in it is executed, and no more memory is taken than
    twice its size.

    Parameters
    ----------
    path : str or path
        A model file.

    Returns
    -------
    estimator
        It answers as the one that was saved, bit for bit.

    Raises
    ------
    ValueError
        If the file is not a model file, is damaged, or was written by a newer version; one line says which.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> X = load_iris().data
    >>> pca = PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.safetensors")
    ...     save(pca, path)
    ...     again = load(path)
    >>> bool((again.transform(X) == pca.transform(X)).all())
    True
    """
    metadata, arrays = _read(path)
    try:
        header = _parse(metadata["model"])
        answers = _parse(metadata["answers"]).get("answers")
        estimator = _build(header, arrays, answers)
        if type(estimator).__name__ != metadata["class"]:
            raise ModelError(f"its header says {metadata['class'][:60]!r}, it holds {type(estimator).__name__}")
        return estimator
    except ModelError as error:
        raise ModelError(f"{_shown(path)}: {error}.") from error
    except Exception as error:  # a damaged model may fail anywhere; the message names the file
        raise ModelError(f"{_shown(path)}: its contents make no model ({classes.one_line(error)}).") from error


def inspect(path: PathLike) -> ModelCard:
    """Read what the header of a model file says, without making a model of it.

    Parameters
    ----------
    path : str or path
        A model file.

    Returns
    -------
    ModelCard

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.safetensors")
    ...     save(PCA(2).fit(load_iris().data), path)
    ...     card = inspect(path)
    >>> card.estimator, card.arrays["mean_"]
    ('PCA', (4,))
    """
    metadata, arrays = _read(path)
    names = _parse(metadata["columns"]).get("columns") if "columns" in metadata else None
    return ModelCard(
        estimator=metadata["class"],
        versions={key: metadata.get(key, "unknown") for key in ("gramian", "numpy", "scikit-learn")},
        columns=None if names is None else tuple(map(str, names)),
        summary=metadata.get("summary", ""),
        arrays={name: array.shape for name, array in arrays.items()},
        bytes=os.stat(path).st_size,
    )


def _read(path: PathLike) -> tuple[dict[str, str], dict[str, Array]]:
    """Read the text and the arrays of a file; OSError if there is none, ModelError if it is not what it should be."""
    try:
        # A pipe without a writer would block for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ModelError("it is not a regular file")
            metadata, arrays = _read_bytes(file, found.st_size)
        _check_format(metadata)
        return metadata, arrays
    except ModelError as error:
        raise ModelError(f"{_shown(path)}: {error}.") from error
    except (ValueError, MemoryError) as error:
        raise ModelError(f"{_shown(path)}: it cannot be read ({classes.one_line(error)}).") from error


def _check_format(metadata: dict[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelError("it is not a model file written by gramian.save")
    version = metadata.get("format_version", "")
    if not (version.isascii() and version.isdecimal() and len(version) < 9):
        raise ModelError(f"its format version {version[:20]!r} is no number")
    if int(version) > VERSION:
        raise ModelError(
            f"it was written by a newer gramian ({metadata.get('gramian', 'unknown')[:20]}; format {int(version)}, "
            f"this one reads up to {VERSION}). Install a newer gramian"
        )
    if int(version) < 1 or not {"class", "model", "answers"} <= set(metadata):
        raise ModelError("its header is damaged: it lacks what every model file has")


def _build(tree: object, arrays: dict[str, Array], answers: object) -> BaseEstimator:
    decoder = Decoder(arrays)
    estimator = decoder.decode(tree)
    decoder.check_all_used()
    if not classes.is_estimator(estimator):
        raise ModelError("it does not hold an estimator")
    classes.check(estimator, answers)
    return estimator


def _metadata(estimator: BaseEstimator, tree: object, answers: list[str]) -> dict[str, str]:
    found = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "class": type(estimator).__name__,
        "gramian": gramian.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "summary": str(getattr(classes.steps_of(estimator)[-1], "summary_", "")),
        "answers": json.dumps({"answers": answers}),
    }
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(text := json.dumps({"columns": [str(name) for name in names]})) <= MAX_NAMES_LENGTH:
        found["columns"] = text
    return {**found, "model": json.dumps(tree, separators=(",", ":"), allow_nan=False)}


def _shown(path: PathLike) -> str:
    """A path on one line, also one that is not UTF-8."""
    text = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def _write(path: str, metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
    """Write arrays (C order) and text; the file is there as a whole, or as it was before."""
    check_writable(path)  # before the checksum, which takes a while
    # Wide numbers first: then every array starts at a multiple of its width.
    order = sorted(arrays, key=lambda name: -arrays[name].dtype.itemsize)
    table, end = {}, 0
    for name in order:
        array = arrays[name]
        start, end = end, end + array.nbytes
        code = array.dtype.newbyteorder("<").str
        table[name] = {"dtype": NUMBER_NAMES[code], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(
        {"__metadata__": {"sha256": "0" * CHECKSUM_DIGITS, **metadata}, **table}, separators=(",", ":")
    ).encode()
    text += b" " * (-len(text) % 8)
    if len(text) > MAX_HEADER_BYTES or _parts(text) > MAX_HEADER_PARTS or len(table) > MAX_ARRAYS:
        raise ModelError(
            f"what is not in arrays fills {len(text):,} bytes and {len(table):,} arrays are to be kept: "
            "more than a model file takes. Keep long lists as arrays, and long parameters out of the model."
        )
    parts: list[bytes | memoryview] = [struct.pack("<Q", len(text)), text, *(_bytes(arrays[name]) for name in order)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    parts[1] = text.replace(HEADER_START + b"0" * CHECKSUM_DIGITS, HEADER_START + digest.hexdigest().encode(), 1)
    with atomic(path) as file:
        for part in parts:
            file.write(part)


def _read_bytes(file: BinaryIO, size: int) -> tuple[dict[str, str], dict[str, Array]]:
    start = _take(file, min(size, 8))
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    if not len(HEADER_START) + CHECKSUM_DIGITS < length <= min(size - 8, MAX_HEADER_BYTES):
        raise ModelError("it is not a model file: it does not begin with a header of a plausible length")
    text = _take(file, length)
    if not text.startswith(HEADER_START):
        raise ModelError("it is not a model file written by gramian.save")
    header = _parse(text)
    metadata = header.pop("__metadata__")
    if not all(isinstance(value, str) for value in metadata.values()):
        raise ModelError("its header is damaged: metadata must be text")
    places = _places(header, size - 8 - length)
    after = len(HEADER_START) + CHECKSUM_DIGITS
    claimed, digest = text[len(HEADER_START) : after], hashlib.sha256(start)
    digest.update(HEADER_START + b"0" * CHECKSUM_DIGITS + text[after:])
    arrays = {}
    for name, dtype, shape in places:
        arrays[name] = array = np.empty(shape, dtype)
        view = _bytes(array)
        if _fill(file, view) != view.nbytes:
            raise ModelError("it ends before its last array; was it changed while it was read?")
        digest.update(view)
    if digest.hexdigest().encode() != claimed:
        raise ModelError("its checksum does not match: the file is damaged. Save the model again")
    return metadata, arrays


def _places(header: Mapping[str, Any], room: int) -> list[tuple[str, np.dtype, tuple[int, ...]]]:
    """Names, types and shapes of the arrays in the order of their bytes, which they fill exactly."""
    found = []
    if len(header) > MAX_ARRAYS:
        raise ModelError(f"its header names {len(header):,} arrays; a model has far fewer")
    for name, entry in header.items():
        if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
            raise ModelError(f"its header is damaged at array {name!r}")
        code, shape, offsets = entry["dtype"], entry["shape"], entry["data_offsets"]
        if not isinstance(code, str) or code not in NUMBERS:
            raise ModelError(f"array {name!r} has the unknown type {code!r}")
        if not _whole(shape) or not _whole(offsets) or len(offsets) != 2 or len(shape) > 8:
            raise ModelError(f"array {name!r} has shape {shape!r} at {offsets!r}: not whole numbers of 0 or more")
        dtype = np.dtype(NUMBERS[code])
        if offsets[1] - offsets[0] != math.prod(shape) * dtype.itemsize:  # Python's numbers do not overflow
            raise ModelError(f"array {name!r} of shape {shape} does not fit into its bytes {offsets}")
        found.append((offsets, name, dtype, tuple(shape)))
    found.sort(key=lambda item: item[0])
    end = 0
    for (start, stop), name, _, _ in found:
        if start != end:
            raise ModelError(f"the bytes of array {name!r} overlap others, or leave a gap before them")
        end = stop
    if end != room:
        raise ModelError(f"its arrays need {end:,} bytes, the file has {room:,} for them")
    return [(name, dtype, shape) for _, name, dtype, shape in found]


def _parse(text: bytes | str) -> dict[str, Any]:
    """Read a JSON object that repeats no key, holds no NaN and no endless number, and is not too much to hold."""
    if _parts(text) > MAX_HEADER_PARTS:
        raise ModelError("its header has too many parts")
    try:
        found = json.loads(
            text if isinstance(text, str) else text.decode("utf-8"),
            object_pairs_hook=_unique,
            parse_constant=_refuse,
            parse_int=_int,
            parse_float=_float,
        )
    except ModelError:
        raise
    except (ValueError, RecursionError) as error:
        raise ModelError(f"its header is no JSON that can be read ({type(error).__name__})") from error
    if not isinstance(found, dict):
        raise ModelError("its header is not a JSON object")
    return found


def _parts(text: bytes | str) -> int:
    """Bound on the number of values of a JSON text: each but the first comes after one of these."""
    words = text if isinstance(text, str) else text.decode("latin-1")
    return sum(words.count(mark) for mark in ",[{:")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ModelError("its header gives a key twice")
    return found


def _refuse(word: str) -> NoReturn:
    raise ModelError(f"its header holds {word}, which is no JSON")


def _int(digits: str) -> int:
    if len(digits) > MAX_NUMBER_LENGTH:
        raise ModelError(f"its header holds a number of {len(digits)} digits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits) if len(digits) <= MAX_NUMBER_LENGTH else float("inf")
    if not np.isfinite(number):
        raise ModelError(f"its header holds the number {digits[:MAX_NUMBER_LENGTH]}, which is out of range")
    return number


def _whole(numbers: object) -> bool:
    return isinstance(numbers, list) and all(type(number) is int and 0 <= number <= MAX_DIMENSION for number in numbers)


def _bytes(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _take(file: BinaryIO, count: int) -> bytes:
    buffer = bytearray(count)
    if _fill(file, memoryview(buffer)) != count:
        raise ModelError("it ends within its header")
    return bytes(buffer)


def _fill(file: BinaryIO, view: memoryview) -> int:
    """Read until the buffer is full or the file ends; one call of the system may bring less."""
    done = 0
    while done < len(view):
        got = file.readinto(view[done:])  # type: ignore[attr-defined]
        if not got:
            break
        done += got
    return done
