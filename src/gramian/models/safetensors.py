"""Named arrays and text in a safetensors file: a short JSON header, then the bytes of the arrays.

Other tools can read the arrays. This reader is stricter than the format: names may not repeat, arrays fill the file
without gaps, and a checksum covers every byte.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping
from typing import Any, BinaryIO, NoReturn

import numpy as np

from gramian.files import atomic, check_writable
from gramian.models.classes import ModelError
from gramian.models.codec import NUMBER_NAMES, NUMBERS
from gramian.results import Array

#: The checksum comes first and has a fixed length: it is found without a search, and left out of itself.
HEADER_START = b'{"__metadata__":{"sha256":"'
CHECKSUM_DIGITS = 64
#: A header holds what is not an array. Python needs up to a hundred bytes for each part of it: so few are read.
MAX_HEADER_BYTES, MAX_HEADER_PARTS, MAX_ARRAYS = 8 * 2**20, 200_000, 4096
MAX_NUMBER_LENGTH, MAX_DIMENSION = 30, 2**48


def write_arrays(path: str, metadata: Mapping[str, str], arrays: Mapping[str, Array]) -> None:
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


def read_arrays(file: BinaryIO, size: int) -> tuple[dict[str, str], dict[str, Array]]:
    """Read text and arrays, whose checksum must match."""
    start = _take(file, min(size, 8))
    length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
    if not len(HEADER_START) + CHECKSUM_DIGITS < length <= min(size - 8, MAX_HEADER_BYTES):
        raise ModelError("it is not a model file: it does not begin with a header of a plausible length")
    text = _take(file, length)
    if not text.startswith(HEADER_START):
        raise ModelError("it is not a model file written by gramian.save")
    header = parse(text)
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


def parse(text: bytes | str) -> dict[str, Any]:
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
