"""Bytes of a text file to UTF-8: which encoding it is, and whether it is text at all."""

from __future__ import annotations

import codecs
import re

from gramian.tables.table import TableError

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
PROBE = 4096


def to_utf8(data: bytes, source: str, encoding: str | None = None) -> tuple[bytes, tuple[str, ...]]:
    """Return text as UTF-8 without a mark, and a remark if the encoding had to be guessed."""
    other = next((what for start, what in SIGNATURES.items() if data.startswith(start)), None)
    if other:
        raise TableError(f"{source} looks like {other}.")
    if encoding is not None:
        return _recode(data, encoding, source), ()
    for mark, name in MARKS:
        if data.startswith(mark):
            text = data[len(mark) :]
            if name == "utf-8":
                return _checked(text, source)
            return _recode(text, name, source), (f"the text is {name[:6].upper()}",)
    wide = unmarked(data)
    if wide:
        return _recode(data, wide, source), ("the text is UTF-16 without a mark",)
    return _checked(data, source)


def _checked(data: bytes, source: str) -> tuple[bytes, tuple[str, ...]]:
    if b"\0" in data:
        place = data.index(b"\0")
        line = len(re.findall(rb"\r\n|\r|\n", data[:place])) + 1
        raise TableError(
            f"{source}: line {line} has NUL bytes: this is not a text file. Export the table as UTF-8 CSV."
        )
    if data.isascii():
        return data, ()
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _single_bytes(data, error, source)
    return data, ()


def _single_bytes(data: bytes, error: UnicodeDecodeError, source: str) -> tuple[bytes, tuple[str, ...]]:
    """Read as the encoding of Western Windows, a superset of Latin-1, what is text but not UTF-8."""
    line = len(re.findall(rb"\r\n|\r|\n", data[: error.start])) + 1
    if CONTROL.search(data):
        raise TableError(f"{source}: line {line} is not text in any known encoding. Export the table as UTF-8 CSV.")
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    remark = f"the text is not UTF-8 (line {line}) and was read as Latin-1 (Windows-1252); say encoding= if it is not"
    return text.encode(), (remark,)


def _recode(data: bytes, encoding: str, source: str) -> bytes:
    try:
        text = data.decode(encoding)
    except LookupError:
        raise TableError(f"encoding={encoding!r} is not known. Use a name such as 'utf-8' or 'latin-1'.") from None
    except (UnicodeError, ValueError) as error:
        raise TableError(f"{source} is not {encoding} text: the file is damaged, or another encoding.") from error
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise TableError(f"{source} has NUL characters: this is not {encoding} text.")
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise TableError(f"{source} is not {encoding} text: it has half characters.") from error


def unmarked(data: bytes) -> str | None:
    """Tell UTF-16 without a mark by its zeros: every other byte, if most characters are Western."""
    probe = data[:PROBE]
    if len(data) % 2 or not probe or b"\0" not in probe:
        return None
    half = len(probe) // 2
    zeros = {"utf-16-be": probe[0::2].count(0), "utf-16-le": probe[1::2].count(0)}
    name, most = max(zeros.items(), key=lambda item: item[1])
    return name if most > 0.7 * half and min(zeros.values()) < 0.05 * half else None
