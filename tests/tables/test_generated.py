"""Tables that a machine made up: written in any dialect they are read back equal, or refused in one line."""

import csv
import io
import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gramian.tables import TableError, read_table

QUICK = settings(max_examples=150, deadline=None)
WORDS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")) | st.sampled_from(' ,;|\t"\n'), max_size=8
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**53), 2**53).map(float)


def read(content, **options):
    """Read bytes as a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(content)
        return read_table(path, **options)


def try_read(content, **options):
    """Read bytes as a file, or return the one line that refuses them."""
    try:
        return read(content, **options), ""
    except TableError as error:
        message = str(error)
    assert "t.csv" in message
    assert len(message.splitlines()) == 1
    return None, message


@st.composite
def tables(draw):
    """Make a header, rows of a word and numbers, and how to write them."""
    width, rows = draw(st.integers(1, 4)), draw(st.integers(1, 6))
    names = [f"c{at} {draw(WORDS)}".strip() for at in range(width)]
    numbers = draw(st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=rows, max_size=rows))
    words = draw(st.lists(WORDS.map(lambda word: "w" + word), min_size=rows, max_size=rows))
    decimal = draw(st.sampled_from(".,"))
    dialect = {
        "delimiter": draw(st.sampled_from(",;\t|" if decimal == "." else ";\t|")),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC])),
        "lineterminator": draw(st.sampled_from(["\n", "\r\n", "\r"])),
    }
    return names, numbers, words, decimal, dialect, draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]))


def write(names, numbers, words, decimal, dialect, encoding):
    stream = io.StringIO(newline="")
    # A line end in a cell must be quoted whatever ends the rows, which the csv module does not know.
    risky = any(sign in cell for cell in (*names, *words) for sign in "\r\n")
    writer = csv.writer(stream, **{**dialect, **({"quoting": csv.QUOTE_ALL} if risky else {})})
    writer.writerow(["w", *names])
    for word, row in zip(words, numbers, strict=True):
        writer.writerow([word, *(repr(number).replace(".", decimal) for number in row)])
    return stream.getvalue().encode(encoding)


@pytest.mark.slow
@QUICK
@given(tables())
def test_any_dialect_reads_back_equal_when_it_is_said(case):
    names, numbers, words, decimal, dialect, _ = case
    table = read(write(*case), separator=dialect["delimiter"], decimal=decimal)
    assert table.columns == tuple(names)
    assert table.labels == {"w": words}
    np.testing.assert_array_equal(table.values, numbers)


@pytest.mark.slow
@QUICK
@given(tables())
def test_what_is_found_out_is_right_or_refused(case):
    names, numbers, words, *_ = case
    table, _ = try_read(write(*case))
    assume(table is not None and table.columns == tuple(names))  # signs in two lines may suggest another separator
    assert table.labels == {"w": words}
    np.testing.assert_array_equal(table.values, numbers)


@pytest.mark.slow
@QUICK
@given(tables())
def test_plain_names_and_words_are_always_found_out(case):
    names, numbers, words, decimal, dialect, encoding = case
    names, words = [f"c{at}" for at in range(len(names))], [f"w{at}" for at in range(len(words))]
    table, message = try_read(write(names, numbers, words, decimal, dialect, encoding))
    if table is None:  # "1,234" may be a thousand, if nothing else in the file says that it is not
        assert decimal == ","
        assert "may be a decimal comma" in message
        return
    assert table.columns == tuple(names)
    assert table.labels == {"w": words}
    np.testing.assert_array_equal(table.values, numbers)


SIGNS = st.text(st.sampled_from("0123456789.,;|\t\r\n \"'abNA-+eE=x\x00é"), max_size=120)


@pytest.mark.slow
@QUICK
@given(st.binary(max_size=200) | SIGNS.map(str.encode))
def test_any_bytes_are_a_table_or_one_line(content):
    for rule in ("refuse", "keep"):
        table, _ = try_read(content, missing=rule)
        if table is None:
            continue
        assert table.values.shape[1] == len(table.columns) > 0
        assert not np.isinf(table.values).any()
        assert rule == "keep" or np.isfinite(table.values).all()
        assert all(len(cells) == len(table.values) for cells in table.labels.values())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.tables.TableWarning")
@QUICK
@given(st.lists(st.lists(NUMBERS | st.none(), min_size=2, max_size=2), min_size=1, max_size=8))
def test_gaps_are_dropped_kept_or_refused(rows):
    content = "a,b\n" + "".join(",".join("" if cell is None else repr(cell) for cell in row) + "\n" for row in rows)
    expected = np.array([[math.nan if cell is None else cell for cell in row] for row in rows])
    whole = np.isfinite(expected).all(axis=1)
    assume(np.isfinite(expected).any(axis=0).all())
    np.testing.assert_array_equal(read(content.encode(), missing="keep").values, expected)
    if whole.any():
        table = read(content.encode(), missing="drop")
        np.testing.assert_array_equal(table.values, expected[whole])
        assert table.rows == (None if whole.all() else tuple(np.flatnonzero(whole)))
    if not whole.all():
        with pytest.raises(TableError, match="line"):
            read(content.encode())
