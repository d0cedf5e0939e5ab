"""The reader of whole files and that of streams: the same values or the same refusal, for any text whatever."""

import gzip
import random
import re

import numpy as np
import pytest

from gramian import rows
from gramian.tables import TableError, read_table

pytestmark = pytest.mark.filterwarnings("ignore::gramian.tables.TableWarning")

#: What the first block cannot know: a stream may refuse for these what the reader of whole files takes.
LATE = re.compile(
    r"in the lines before\. Correct it|"  # a word below numbers: that reader drops the column
    r"Choose columns with columns=|"  # numbers below an empty column, or an index that stops counting
    r"say (decimal|thousands)=|"  # a decimal comma below numbers that have none
    r"Say encoding= of the file|"  # Latin-1 below UTF-8
    r"there are no rows|there is no numeric column|is empty, left out; it cannot be"
)
WORDS = ["x", "n/a?", "yes", '5" pipe', "a b", "Müller", "ключ", "2020-01-02", "12:30", "true", "false", "=A1", "0x1F"]
ABSENT = ["", "NA", "nan", "?", "-", "NULL", "#N/A", " "]
ODD = ["1e999", "-inf", "+5", "007", ".5", "5.", "1_000", "1e5", "1E-3", " 7 ", "123456789012345678901234567890"]


def _cell(draw, kind, decimal):
    """One cell of a column of some kind, with a few that do not belong there."""
    if draw.random() < 0.03:
        return draw.choice([*WORDS, *ABSENT, *ODD, '"', '""', "\0", "\x01", "1,234", "1.234,5", "1'234"])
    if kind == "word":
        return draw.choice(WORDS)
    if kind == "gaps":
        return draw.choice(ABSENT)
    if kind == "truth":
        return draw.choice(["true", "false", "True"])
    if kind == "whole":
        return str(draw.randint(-50, 5000))
    if kind == "odd":
        return draw.choice(ODD)
    if kind == "groups":
        return f"{draw.randint(1, 999)},{draw.randint(100, 999)}"
    return repr(round(draw.uniform(-9, 9), draw.randint(0, 6))).replace(".", decimal)


def _quoted(draw, cell, separator, chance):
    if draw.random() < 0.01:
        return '"' + cell  # never ends, or ends in another cell
    if draw.random() < chance or (separator in cell and draw.random() < 0.95):
        cell = cell if draw.random() < 0.9 else draw.choice(["", "\n", "\r\n", separator, "\n\n "]).join(("a", cell))
        return '"' + cell.replace('"', '""') + '"'
    return cell


def make(draw):
    """Bytes of a table, well-formed or not, and how to read it."""
    width, n = draw.choice([1, 2, 3, 3, 4, 7]), draw.choice([0, 1, 1, 2, 3, 5, 8, 20, 60])
    decimal = draw.choice("....,")
    separator = draw.choice(",,,,;;\t|" if decimal == "." else ";;\t|") if draw.random() < 0.93 else " "
    kinds = [
        draw.choice(["float"] * 6 + ["whole", "whole", "word", "gaps", "truth", "odd", "groups"]) for _ in range(width)
    ]
    chance = draw.choice([0, 0, 0, 0.1, 1])
    ragged, blank = draw.choice([0, 0, 0, 0, 0.02]), draw.choice([0, 0, 0, 0.1])
    lines = []
    if draw.random() < 0.8:
        names = [
            draw.choice(["a", "b", "c", "wert ä", "", "x 1", "é", f"c{at}", f"c{at}", f"c{at}"]) for at in range(width)
        ]
        if draw.random() < 0.7:
            names = [f"c{at}" for at in range(width)]
        if draw.random() < 0.15:  # as pandas writes its index
            names[0], kinds[0] = "", "index"
        lines.append(names)
    start = draw.choice([0, 1])
    for row in range(n):
        cells = [str(start + row) if kind == "index" else _cell(draw, kind, decimal) for kind in kinds]
        if draw.random() < ragged:
            cells = cells[:-1] or ["", ""] if draw.random() < 0.5 else [*cells, "1"]
        lines.append(cells)
    text, ends = [], draw.choice([["\n"], ["\n"], ["\r\n"], ["\r"], ["\n", "\r\n", "\r"]])
    trailing = separator if draw.random() < 0.05 else ""
    for cells in lines:
        if draw.random() < blank:
            text.append(draw.choice(["", " ", "   ", "\t", "# note"]) + draw.choice(ends))
        text.append(separator.join(_quoted(draw, cell, separator, chance) for cell in cells) + trailing)
        text.append(draw.choice(ends))
    if text and draw.random() < 0.3:
        text.pop()
    whole = "".join(text)
    encoding = draw.choice(["utf-8"] * 5 + ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"])
    data = whole.encode(encoding, errors="replace")
    if draw.random() < 0.03 and data:  # a damaged byte, or some that are lost
        at = draw.randrange(len(data))
        data = data[:at] + draw.choice([b"", b"\xe9", b"\xff", b"\0", b"\x81"]) + data[at + 1 :]
    options = {}
    if draw.random() < 0.15:
        options = draw.choice([{"separator": separator}, {"header": True}, {"header": False}, {"thousands": ","}])
    if draw.random() < 0.05:
        options = {**options, "encoding": draw.choice([encoding, "latin-1", "nonsense"])}
    if draw.random() < 0.05:
        options = {**options, "decimal": decimal}
    return data, options


def _whole(path, options):
    try:
        table = read_table(path, missing="as found", **options)
    except TableError as refusal:
        return str(refusal)
    return table.columns, table.values


def _stream(path, options, block):
    try:
        stream = rows(path, block=block, **options)
        return stream.names, stream.toarray()
    except TableError as refusal:
        return str(refusal)


def _assert_same(data, options, whole, stream, late):
    told = f"{data!r}, {options}\nwhole: {whole}\nstream: {stream}"
    if isinstance(whole, str) or isinstance(stream, str):
        if late:  # faults are met in another order; a stream may refuse more, never less
            assert isinstance(stream, str), told
            assert isinstance(whole, str) or LATE.search(stream), told
        else:
            assert whole == stream, told
        return
    assert whole[0] == stream[0], told
    np.testing.assert_array_equal(stream[1], whole[1], err_msg=told)


def _fuzz(path, seeds, monkeypatch, packed=0.1):
    for seed in seeds:
        draw = random.Random(seed)
        data, options = make(draw)
        target = path / ("t.csv.gz" if draw.random() < packed else draw.choice(["t.csv", "t.csv", "t.csv", "t.tsv"]))
        target.write_bytes(gzip.compress(data) if target.suffix == ".gz" else data)
        whole = _whole(target, options)
        for late in (False, True):
            with monkeypatch.context() as small:
                if late:
                    small.setattr("gramian.tables.text_blocks.FIRST_BLOCK_BYTES", draw.choice([1, 9, 30, 100, 300]))
                    small.setattr("gramian.tables.text_blocks.TEXT_BLOCK_BYTES", draw.choice([1, 2, 3, 7, 20, 64, 200]))
                stream = _stream(target, options, draw.choice([None, 1, 5]))
            _assert_same(data, options, whole, stream, late)


def test_random_tables_are_the_same_to_both_readers(tmp_path, monkeypatch):
    _fuzz(tmp_path, range(150), monkeypatch)


@pytest.mark.slow
def test_thousands_of_random_tables_are_the_same_to_both_readers(tmp_path, monkeypatch):
    _fuzz(tmp_path, range(1000, 4000), monkeypatch)


def test_arrow_gets_memory_of_its_own(tmp_path, monkeypatch):
    """Its threads let go of a text after the call; of memory of Python's they abort a process that ends meanwhile."""
    monkeypatch.delattr("pyarrow.py_buffer")
    wide = ",".join(f"c{at}" for at in range(5000)) + "\n" + ",".join(["1"] * 5000) + "\n"
    for text, width in (("a,b\n1,x\n2,y\n", 1), (wide, 5000)):
        (tmp_path / "t.csv").write_text(text)
        assert _whole(tmp_path / "t.csv", {})[1].shape[1] == width
        assert _stream(tmp_path / "t.csv", {}, None)[1].shape[1] == width


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ('3,1,5" pipe', ""),  # a quote within a cell is a sign like others
        ('3,1,"pipe', "line 60002 has a quote that never ends. Close or remove it."),
        ("3,1,M\xfcller", ""),  # Latin-1 below ASCII
    ],
)
@pytest.mark.parametrize("at", [0, 60_000])
def test_one_odd_line_of_a_larger_file(tmp_path, content, complaint, at):
    lines = [f"{row}.5,{row % 7},word" for row in range(100_000)]  # 1.4 MB, more than the first block
    lines[at] = content
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *lines]) + "\n", encoding="latin-1")
    whole, stream = _whole(tmp_path / "t.csv", {}), _stream(tmp_path / "t.csv", {}, None)
    if complaint:
        assert whole == stream
        assert complaint.replace("60002", str(at + 2)) in whole
    else:
        assert whole[0] == stream[0] == ("a", "b")
        np.testing.assert_array_equal(stream[1], whole[1])


def test_the_index_of_a_data_frame_is_left_out_of_a_stream(tmp_path):
    index = np.arange(100_000)
    lines = [f"{row},{row % 5}.5,{row % 3}" for row in index]
    (tmp_path / "t.csv").write_text("\n".join([",a,b", *lines]))
    assert rows(tmp_path / "t.csv").columns == ("a", "b")
    assert _stream(tmp_path / "t.csv", {}, None)[1].shape == (100_000, 2)
    lines[70_000] = "7,1,1"
    (tmp_path / "t.csv").write_text("\n".join([",a,b", *lines]))
    refusal = _stream(tmp_path / "t.csv", {}, None)
    assert "line 70002: column 'row' stops counting rows" in refusal
    assert "Choose columns with columns=" in refusal
    np.testing.assert_array_equal(rows(tmp_path / "t.csv", ["b"]).toarray()[:, 0][70_000], 1)


def test_what_the_first_block_cannot_know_is_refused_with_its_line_and_the_remedy(tmp_path):
    base = [f"{row}.5,{row % 7},,{'true' if row % 2 else 'false'}" for row in range(80_000)]
    for line, told in {
        "1.5,x,,true": "column 'b' has text ('x' in line 70002), and is numbers in the lines before.",
        "1.5,1,3,true": "line 70002: column 'c' has a number, and is empty in the first ",
        "1.5,1,,3": "column 'd' has text (",
    }.items():
        lines = list(base)
        lines[70_000] = line
        (tmp_path / "t.csv").write_text("\n".join(["a,b,c,d", *lines]))
        refusal = _stream(tmp_path / "t.csv", {}, None)
        assert told in refusal or "column 'd' is text" in refusal
        assert "columns=" in refusal
        np.testing.assert_array_equal(rows(tmp_path / "t.csv", ["a"]).toarray()[:2, 0], [0.5, 1.5])
