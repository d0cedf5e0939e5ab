"""Bytes of text files, packed or not, to UTF-8: from any encoding, at once or piece by piece."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np

from gramian.tables.table import TableError, check_ratio, check_size

#: Byte order marks; those of UTF-32 first, since one of them begins like one of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
#: How other files begin, which someone may have given the name of a text file.
SIGNATURES = {
    b"PAR1": "a Parquet file; it should end in .parquet",
    b"ARROW1": "an Arrow file; it should end in .arrow",
    b"\x93NUMPY": "a NumPy file; it should end in .npy",
    b"\x89HDF\r\n\x1a\n": "an HDF5 file; it should end in .h5",
    b"PK\x03\x04": "a zip file; it should end in .xlsx if it comes from Excel, in .npz if from NumPy",
    b"\x1f\x8b": "a gzip file; it should end in .csv.gz",
    b"\xd0\xcf\x11\xe0": "an old Excel file; save it as .xlsx",
    b"%PDF": "a PDF file; export the table as CSV",
    b"SQLite format 3": "an SQLite database; export the table as CSV",
}
#: Bytes that no text has: control characters, but for tab, line ends, form feed and the end mark of old systems.
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x19\x1b-\x1f]")
PROBE_BYTES = 4096
#: How a gzip file begins.
GZIP_START = b"\x1f\x8b"
#: Bytes 128 to 159 of Western Windows, where that says what they are.
WINDOWS = {at: text for at in range(128, 160) if (text := bytes([at]).decode("cp1252", "ignore"))}


class Decoder:
    """Bytes of a text file to UTF-8 without a mark, at once or piece by piece.

    Without ``encoding`` the ``start`` of the file says what it is, and what is not UTF-8 later on is Latin-1; ``size``
    is the number of all bytes, if that is known.
    """

    def __init__(self, start: bytes, size: int | None, source: str, encoding: str | None = None) -> None:
        other = next((what for sign, what in SIGNATURES.items() if start.startswith(sign)), None)
        if other:
            raise TableError(f"{source} looks like {other}.")
        self.source, self.remarks, self.lines, self.rest = source, list[str](), 0, b""
        self.begun = self.beyond_ascii = self.half = False
        self.single = 0  # line from which on the text is no UTF-8
        mark, found = next(((mark, name) for mark, name in MARKS if start.startswith(mark)), (b"", "utf-8"))
        if encoding is None and not mark and (wide := unmarked(start, size)):
            found, self.remarks = wide, ["the text is UTF-16 without a mark"]
        elif encoding is None and found != "utf-8":
            self.remarks = [f"the text is {found[:6].upper()}"]
        self.name = encoding or found
        self.skip = len(mark) if encoding is None else 0
        self.wide: codecs.IncrementalDecoder | None = None
        if encoding is not None or found != "utf-8":
            try:
                b"".decode(self.name)  # also refuses codecs that are not of text
                self.wide = codecs.getincrementaldecoder(self.name)()
            except LookupError:
                raise TableError(
                    f"encoding={encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'."
                ) from None

    def feed(self, data: bytes, *, last: bool) -> bytes:
        """Return the next bytes as UTF-8; those of half a character wait for the other half."""
        data, self.skip = data[self.skip :] if self.skip else data, max(self.skip - len(data), 0)
        text = self._narrow(self.rest + data, last=last) if self.wide is None else self._wide(data, last=last)
        self.lines += line_ends(text) - (self.half and text.startswith(b"\n"))
        self.half = text.endswith(b"\r") if text else self.half
        return text

    def _narrow(self, data: bytes, *, last: bool) -> bytes:
        self.rest = b""
        if b"\0" in data:
            line = self.lines + line_ends(data[: data.index(b"\0")]) + 1
            raise TableError(
                f"{self.source}: line {line} has NUL bytes: this is not a text file. Export the table as UTF-8 CSV."
            )
        if data.isascii():
            return data
        if not self.single:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                if not last and error.end == len(data) and len(data) - error.start < 4:
                    self.rest = data[error.start :]
                    data = data[: error.start]
                else:
                    self._turn(self.lines + line_ends(data[: error.start]) + 1)
        if not self.single:
            self.beyond_ascii |= not data.isascii()
            return data
        if CONTROL.search(data):
            raise TableError(
                f"{self.source}: line {self.single} is not text in any known encoding. Export the table as UTF-8 CSV."
            )
        try:
            return data.decode("cp1252").encode()
        except UnicodeDecodeError:  # bytes that Western Windows leaves open are those of Latin-1
            return data.decode("latin-1").translate(WINDOWS).encode()

    def _turn(self, line: int) -> None:
        """Take the text for that of Western Windows, a superset of Latin-1, as what is text but not UTF-8 mostly is."""
        if self.beyond_ascii:
            raise TableError(
                f"{self.source}: line {line} is not UTF-8, and characters before it are. Say encoding= of the file."
            )
        self.single = line
        told = f"the text is not UTF-8 (line {line}) and was read as Latin-1 (Windows-1252); say encoding= if it is not"
        self.remarks.append(told)

    def _wide(self, data: bytes, *, last: bool) -> bytes:
        assert self.wide is not None
        try:
            text = self.wide.decode(data, final=last)
        except (UnicodeError, ValueError) as error:
            raise TableError(
                f"{self.source} is not {self.name} text: the file is damaged, or another encoding."
            ) from error
        if text and not self.begun:
            self.begun, text = True, text.removeprefix("\ufeff")
        if "\0" in text:
            raise TableError(f"{self.source} has NUL characters: this is not {self.name} text.")
        try:
            return text.encode()
        except UnicodeEncodeError as error:
            raise TableError(f"{self.source} is not {self.name} text: it has half characters.") from error


def unmarked(data: bytes, size: int | None = None) -> str | None:
    """Tell UTF-16 without a mark by its zeros: every other byte, if most characters are Western."""
    probe = data[:PROBE_BYTES]
    if (len(data) if size is None else size) % 2 or not probe or b"\0" not in probe:
        return None
    half = len(probe) // 2
    zeros = {"utf-16-be": probe[0::2].count(0), "utf-16-le": probe[1::2].count(0)}
    name, most = max(zeros.items(), key=lambda item: item[1])
    return name if most > 0.7 * half and min(zeros.values()) < 0.05 * half else None


@contextmanager
def unpacked(file: BinaryIO, source: str) -> Iterator[io.BufferedReader]:
    """Read a gzip file, of one or more members, as what it holds."""
    try:
        yield io.BufferedReader(gzip.GzipFile(fileobj=file))
    except EOFError:
        raise TableError(f"{source} is cut short: the gzip stream has no end. Fetch or pack it again.") from None
    except (zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{source} is not a readable gzip file ({error}). Fetch or pack it again.") from error


def gunzip(packed: bytes, source: str) -> bytes:
    """Unpack a gzip file, all of it or none."""
    parts: list[bytes] = []
    with unpacked(io.BytesIO(packed), source) as stream:
        while part := stream.read(2**20):
            parts.append(part)
            check_ratio(len(packed), len(parts) * 2**20, source)
            check_size(len(parts) * 2**20, source, "the unpacked text")
    return b"".join(parts)


#: Bytes that NumPy compares at a time, so that its answers stay in the cache; of fewer bytes ``count`` is as fast.
COMPARED_BYTES = 2**17


def line_ends(data: bytes) -> int:
    """Number of lines that end in some text: by a line feed, a carriage return, or both."""
    if len(data) < COMPARED_BYTES:
        ends = data.count(b"\n")
    else:  # ``count`` takes four to ten times as long
        signs, starts = np.frombuffer(data, np.uint8), range(0, len(data), COMPARED_BYTES)
        ends = sum(int(np.count_nonzero(signs[at : at + COMPARED_BYTES] == ord("\n"))) for at in starts)
    return ends + data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else ends
