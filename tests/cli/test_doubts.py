"""What a reader leaves out by mistake is said on standard error, also with -q; what is plainly text is not."""

import warnings

import numpy as np
import openpyxl
import pytest

from gramian import rows
from gramian.tables import TableWarning, as_table, read_table

LINES = [f"{at}.5,{at * 7 % 13},{at * 5 % 11},k{at}" for at in range(40)]
TOLD = "column 'b' is not used: 'n/a?' in line 9 is no number, but 39 of 40 cells are."


def _write(path, at=7, line="1.5,n/a?,3,k"):
    lines = list(LINES)
    lines[at] = line
    path.write_text("\n".join(["a,b,c,name", *lines]) + "\n")


@pytest.mark.parametrize("stream", [(), ("--stream",)])
def test_a_column_that_a_word_makes_text_of_is_said_even_when_quiet(here, gramian, stream):
    _write(here / "t.csv")
    code, out, err = gramian("fit", "t.csv", "-k", 1, "-q", "--model", "m.safetensors", *stream)
    assert (code, out) == (0, "")
    assert err == f"warning: t.csv: {TOLD} Correct or empty the cell, or choose other columns.\n"
    code, _, err = gramian("fit", "t.csv", "-k", 1, "-q", "--columns", "a,c", *stream)
    assert (code, err) == (0, "")
    np.save("x.npy", np.random.default_rng(0).standard_normal((20, 2)))
    assert gramian("fit", "x.npy", "-k", 1, "-q", "--model", "nameless.safetensors")[0] == 0
    code, _, err = gramian("transform", "nameless.safetensors", "t.csv", "-q", "-o", "s.csv", *stream[:0])
    assert TOLD in err


@pytest.mark.parametrize("command", [("select", "t.csv", "-q"), ("compare", "t.csv", "-q")])
def test_other_commands_say_so_too(here, gramian, command):
    _write(here / "t.csv")
    assert TOLD in gramian(*command)[2]


def test_the_doctor_has_it_among_its_findings_alone(here, gramian):
    _write(here / "t.csv")
    code, out, err = gramian("doctor", "t.csv")
    assert (code, err) == (0, "")
    assert "'n/a?'" in out


def test_python_hears_it_as_a_warning_of_the_library(tmp_path):
    _write(tmp_path / "t.csv")
    for read in (read_table, rows):
        with pytest.warns(TableWarning, match="column 'b' is not used: 'n/a\\?' in line 9 is no number") as heard:
            read(tmp_path / "t.csv")
        assert len(heard) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_table(tmp_path / "t.csv", labels=["b"])
        read_table(tmp_path / "t.csv", ["a", "c"])
        rows(tmp_path / "t.csv", ["a", "c"])
    book = openpyxl.Workbook()
    for row in [["a", "b"], [1, 2], [3, "n/a?"], [5, 6]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.warns(TableWarning, match="column 'b' is not used: 'n/a\\?' in row 3 is no number, but 2 of 3 cells"):
        read_table(tmp_path / "t.xlsx")


@pytest.mark.parametrize("word", ["kind", "A12", "2020-01-02", "yes", "7 mm"])
def test_plain_text_is_no_accident(tmp_path, word):
    lines = [f"{at}.5,{word if at % 3 else at}" for at in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(tmp_path / "t.csv").columns == ("a",)
        assert rows(tmp_path / "t.csv").columns == ("a",)


def test_errors_of_a_spreadsheet_that_become_gaps_are_said(tmp_path, here, gramian):
    _write(tmp_path / "t.csv", line="1.5,#DIV/0!,3,k")
    for missing in ("drop", "keep"):
        with pytest.warns(TableWarning, match="'#DIV/0!' in line 9, an error of a spreadsheet, is read as missing"):
            read_table(tmp_path / "t.csv", missing=missing)
    code, _, err = gramian("fit", tmp_path / "t.csv", "-k", 1, "-q", "--missing", "drop")
    assert code == 0
    assert "'#DIV/0!' in line 9" in err


def test_most_rows_dropped_is_said(tmp_path):
    lines = [f"{at}.5,{'' if at % 4 else at}" for at in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]))
    with pytest.warns(TableWarning, match="30 of 40 rows were dropped: values are missing in 'b' "):
        read_table(tmp_path / "t.csv", missing="drop")
    frame = {"a": [1.0, None, None], "b": [1.0, 2.0, 3.0]}
    with pytest.warns(TableWarning, match="2 of 3 rows were dropped"):
        as_table(frame, missing="drop")
