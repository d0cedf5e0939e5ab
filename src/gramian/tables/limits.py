"""How much a file may ask for: sizes are checked before memory is."""

from __future__ import annotations

import zlib

from gramian.config import format_bytes, memory_budget
from gramian.tables.table import TableError

#: Tables up to this size are read whatever the budget, which is for the work beside the data.
SMALL = 256 * 10**6
#: Text of numbers shrinks three- to twentyfold; what shrinks more than this is made to fill the memory.
LARGEST_RATIO = 200
#: Up to here a high ratio does no harm: a table of zeros is small.
HARMLESS = 64 * 10**6
#: More columns than this are rows that lie on their side.
MOST_COLUMNS = 10**6

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


def check_shape(rows: int, columns: int, source: str, itemsize: int = 8) -> None:
    """Refuse a matrix that is too large, has nothing in it, or lies on its side."""
    if columns < 1 or rows < 0:
        raise TableError(f"{source}: the array has shape ({rows}, {columns}); rows and columns, n x d, are expected.")
    if columns > MOST_COLUMNS:
        raise TableError(f"{source} has {columns:,} columns, more than {MOST_COLUMNS:,}. Are rows and columns swapped?")
    check_size(rows * columns * max(itemsize, 8), source)


def check_ratio(packed: int, unpacked: int, source: str) -> None:
    """Refuse a small file that grows into a large one."""
    if unpacked > HARMLESS and unpacked > LARGEST_RATIO * packed:
        raise TableError(
            f"{source} grows more than {LARGEST_RATIO}-fold when unpacked, as files made to fill the memory do. "
            "If you trust it, unpack it first."
        )


def gunzip(packed: bytes, source: str) -> bytes:
    """Unpack a gzip file of one or more members, all of it or none."""
    parts: list[bytes] = []
    size, rest = 0, packed
    while rest:
        member = zlib.decompressobj(wbits=31)
        try:
            while not member.eof:
                part = member.decompress(rest, CHUNK)
                rest = member.unconsumed_tail
                if not part and not rest and not member.eof:
                    raise TableError(f"{source} is cut short: the gzip stream has no end. Fetch or pack it again.")
                parts.append(part)
                size += len(part)
                check_ratio(len(packed), size, source)
                check_size(size, source, "the unpacked text")
        except zlib.error as error:
            raise TableError(f"{source} is not a readable gzip file ({error}). Fetch or pack it again.") from error
        rest = member.unused_data.lstrip(b"\0")  # tapes and some tools fill up with zeros
    return b"".join(parts)
