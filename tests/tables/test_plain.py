"""Large plain files are read block by block: what comes out is what the reader of whole texts gives, to the message."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.tables import TableError, read_table, text_blocks

CELLS = st.floats().map(repr) | st.integers(-(2**60), 2**60).map(str) | st.sampled_from(["", "NA", " 1", "x", "0x1F"])
CELLS |= st.sampled_from(["1,5", '"2"', "é", "2026-11-16", "1e999", "\0", "true", "  "])


@st.composite
def texts(draw):
    """Make text that is nearly a table of numbers."""
    width = draw(st.integers(1, 4))
    numbers = st.floats(allow_nan=False, allow_infinity=False).map(repr)
    rows = draw(st.lists(st.lists(numbers, min_size=width, max_size=width), min_size=1, max_size=6))
    for _ in range(draw(st.integers(0, 2))):  # spoil a cell or the shape of a row
        row = draw(st.sampled_from(rows))
        row[draw(st.integers(0, len(row) - 1))] = draw(CELLS)
        if draw(st.booleans()):
            row.append(draw(CELLS))
    names = draw(st.lists(st.sampled_from(["a", "größe", '"c, d"', "7", ""]), min_size=width, max_size=width))
    delimiter, end = draw(st.sampled_from(",;\t")), draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n"]))
    lines = [delimiter.join(row) for row in ([names, *rows] if draw(st.booleans()) else rows)]
    return (end.join(lines) + draw(st.sampled_from(["", end]))).encode(draw(st.sampled_from(["utf-8", "utf-8-sig"])))


def outcome(path, **options):
    try:
        table = read_table(path, **options)
    except TableError as error:
        return str(error)
    return table.values.tolist(), table.columns, table.labels, table.dropped, table.rows


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.tables.TableWarning")
@settings(max_examples=300, deadline=None)
@given(texts(), st.sampled_from(["refuse", "keep", "drop"]))
def test_both_ways_give_the_same(tmp_path_factory, content, missing):
    path = tmp_path_factory.mktemp("plain") / "t.csv"
    path.write_bytes(content)
    careful = outcome(path, missing=missing)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_blocks, "PLAIN_MIN_BYTES", 0)
        assert repr(outcome(path, missing=missing)) == repr(careful)


@pytest.mark.slow
def test_a_plain_file_is_never_in_memory_as_text(tmp_path, monkeypatch):
    X = np.random.default_rng(0).standard_normal((40_000, 20))
    path = tmp_path / "t.csv"
    np.savetxt(path, X, delimiter=",", fmt="%.17g", header=",".join(f'"c{at}"' for at in range(20)), comments="")
    assert path.stat().st_size > text_blocks.PLAIN_MIN_BYTES
    monkeypatch.setattr(text_blocks, "read_text", None)
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    table = read_table(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(table.values, X)
    assert table.columns == tuple(f"c{at}" for at in range(20))
    # The numbers, the blocks that wait to be parsed, and what finite numbers are counted with.
    assert peak < X.nbytes + 8 * 2**20 + X.size < path.stat().st_size
    assert pa.total_allocated_bytes() == before


@pytest.mark.slow
def test_a_fault_far_below_is_named_by_its_line(tmp_path, monkeypatch):
    monkeypatch.setattr(text_blocks, "PLAIN_MIN_BYTES", 0)
    path = tmp_path / "t.csv"
    lines = ["a,b", *(f"{at},{at}.5" for at in range(90_000))]
    for spoilt, told in (("7,x", "column 'b'"), ("7,", "line 80002, column 'b'"), ("7", "line 80002 has 1 cells")):
        path.write_text("\n".join([*lines[:80_001], spoilt, *lines[80_001:]]))
        with pytest.raises(TableError, match=told):
            read_table(path, ["a", "b"])
