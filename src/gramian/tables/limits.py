"""How much a file may ask for: sizes are checked before memory is."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from gramian.config import format_bytes, memory_budget
from gramian.tables.table import MOST_COLUMNS, TableError

#: Tables up to this size are read whatever the budget, which is for the work beside the data.
SMALL = 256 * 10**6
#: Text of numbers shrinks three- to twentyfold; what shrinks more than this is made to fill the memory.
LARGEST_RATIO = 200
#: Up to here a high ratio does no harm: a table of zeros is small.
HARMLESS = 64 * 10**6

CHUNK = 2**20


def allowance() -> int:
    """Bytes that a table may take."""
    return max(memory_budget(), SMALL)


def check_size(size: int, source: str, what: str = "the table") -> None:
    """Refuse what would not fit into memory, before any of it is asked for."""
    if size > allowance():
        raise TableError(
            f"{source}: {what} would take {format_bytes(size)}, the memory budget is {format_bytes(allowance())}. "
            "Raise it with gramian.config(memory=...), or read fewer rows or columns."
        )


def too_wide(source: str, most: int) -> str:
    """Say that there are too many columns."""
    return f"{source} has more than {most:,} columns. Are rows and columns swapped? If not, choose some of them."


def check_shape(rows: int, columns: int, source: str, itemsize: int = 8, most: int = MOST_COLUMNS) -> None:
    """Refuse a matrix that is too large, has nothing in it, or lies on its side."""
    if columns < 1 or rows < 0:
        raise TableError(f"{source}: the array has shape ({rows}, {columns}); rows and columns, n x d, are expected.")
    if columns > most:
        raise TableError(too_wide(source, most))
    check_size(rows * columns * max(itemsize, 8), source)


def check_ratio(packed: int, unpacked: int, source: str) -> None:
    """Refuse a small file that grows into a large one."""
    if unpacked > HARMLESS and unpacked > LARGEST_RATIO * packed:
        raise TableError(
            f"{source} grows more than {LARGEST_RATIO}-fold when unpacked, as files made to fill the memory do. "
            "If you trust it, unpack it first."
        )


def gunzip(packed: bytes, source: str) -> bytes:
    """Unpack a gzip file, all of it or none."""
    parts: list[bytes] = []
    size = 0
    for part in inflate([packed], source):
        parts.append(part)
        size += len(part)
        check_ratio(len(packed), size, source)
        check_size(size, source, "the unpacked text")
    return b"".join(parts)


def inflate(pieces: Iterable[bytes], source: str) -> Iterator[bytes]:
    """Unpack a gzip file of one or more members, a megabyte at a time."""
    member, begun = None, False
    for piece in pieces:
        while piece:
            if member is None:
                piece = piece.lstrip(b"\0") if begun else piece  # tapes and some tools fill up with zeros
                if not piece:
                    break
                member, begun = zlib.decompressobj(wbits=31), True
            try:
                part = member.decompress(piece, CHUNK)
            except zlib.error as error:
                raise TableError(f"{source} is not a readable gzip file ({error}). Fetch or pack it again.") from error
            if part:
                yield part
            piece = member.unused_data if member.eof else member.unconsumed_tail
            member = None if member.eof else member
    if member is not None or not begun:
        raise TableError(f"{source} is cut short: the gzip stream has no end. Fetch or pack it again.")
