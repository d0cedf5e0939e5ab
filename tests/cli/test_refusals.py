"""Whatever goes wrong: one line, the right exit code, nothing half written."""

import os

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.cli import errors


def only_tables(here):
    return sorted(path.name for path in here.iterdir()) == ["flowers.csv"]


MISUSE = {
    "unknown option": (["fit", "flowers.csv", "--kernle", "rbf"], "No such option"),
    "unknown command": (["fitt"], "No such command 'fitt'"),
    "no table": (["fit"], "Missing argument"),
    "unknown method": (["fit", "flowers.csv", "--method", "tsne"], "'tsne' is not one of 'pca', 'kernel-pca'"),
    "kernel with pca": (
        ["fit", "flowers.csv", "--kernel", "rbf"],
        "--kernel goes with --method kernel-pca, not with pca",
    ),
    "whiten with kernel-pca": (
        ["fit", "flowers.csv", "--method", "kernel-pca", "--whiten"],
        "--whiten goes with --method pca, not with kernel-pca",
    ),
    "no kernel": (["fit", "flowers.csv", "--method", "kernel-pca", "--kernel", "rbff"], "Did you mean 'rbf'?"),
    "no number": (["fit", "flowers.csv", "-k", "many"], "-k many is neither a whole number nor a fraction"),
    "no size": (["fit", "flowers.csv", "--memory", "big"], "memory='big' is not a size"),
    "no threads": (["fit", "flowers.csv", "--threads", "0"], "--threads"),
    "json and scores": (["fit", "flowers.csv", "--json", "-o", "-"], "--json and --output - both write"),
    "overwrites the table": (["fit", "flowers.csv", "-o", "./flowers.csv"], "is the table itself"),
}
FAILURE = {
    "no file": (["fit", "none.csv"], "none.csv: there is no such file"),
    "no ending": (["fit", "README"], "README: there is no such file"),
    "too many": (["fit", "flowers.csv", "-k", "9"], "n_components=9 is more than min(n, d) = 4"),
    "zero": (["fit", "flowers.csv", "-k", "0"], "n_components=0 must be a whole number of 1 or more"),
    "not a share": (["fit", "flowers.csv", "-k", "1.5"], "n_components=1.5"),
    "no solver": (["fit", "flowers.csv", "--solver", "magic"], "solver='magic' is not known"),
    "no column": (["fit", "flowers.csv", "--columns", "a,z"], "there is no column 'z'"),
    "text column": (["fit", "flowers.csv", "--columns", "kind"], "column 'kind' is text"),
    "no folder": (["fit", "flowers.csv", "-o", "none/s.csv"], "none: there is no such folder"),
    "a folder": (["fit", "flowers.csv", "-o", "."], ".: it is a folder"),
    "demo onto a file": (["demo", "-o", "flowers.csv"], "flowers.csv: File exists"),
}


@pytest.mark.parametrize(("arguments", "complaint"), MISUSE.values(), ids=MISUSE)
def test_misuse_exits_with_2(gramian, here, arguments, complaint):
    check(gramian(*arguments), 2, complaint)
    assert only_tables(here)


@pytest.mark.parametrize(("arguments", "complaint"), FAILURE.values(), ids=FAILURE)
def test_failure_exits_with_1(gramian, here, arguments, complaint):
    check(gramian(*arguments), 1, complaint)
    assert only_tables(here)


def check(result, code, complaint):
    assert result[:2] == (code, "")
    (line,) = result[2].splitlines()
    assert line.startswith("error: ")
    assert complaint in line


def test_a_failure_leaves_the_old_scores(gramian, here):
    (here / "s.csv").write_text("old")
    assert gramian("fit", "flowers.csv", "-k", "9", "-o", "s.csv")[0] == 1
    assert (here / "s.csv").read_text() == "old"


def test_a_bad_output_is_known_before_the_table_is_read(gramian):
    _, _, err = gramian("fit", "none.csv", "-o", "none/s.csv")
    assert "folder" in err


@pytest.mark.parametrize(
    ("failure", "code", "line"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("two\nlines"), 1, "error: two lines"),
        (TypeError("wrong"), 1, "error: wrong"),
        (OSError(28, "No space left on device", "s.csv"), 1, "error: s.csv: No space left on device"),
        (OSError("odd"), 1, "error: odd"),
        (MemoryError(), 1, "error: out of memory (the table or the result is too large). Set --memory lower."),
        (KeyError("x"), 1, "error: unexpected KeyError: 'x'. This is a fault of gramian; please report it."),
        (BrokenPipeError(), 0, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_exception_has_its_line_and_code(gramian, monkeypatch, failure, code, line):
    monkeypatch.setattr(errors, "_leave_stdout", lambda: None)  # it would redirect the output of these tests

    def fail(self, X, y=None):
        raise failure

    monkeypatch.setattr(KernelPCA, "fit_transform", fail)
    expected = "" if line is None else line + "\n"
    assert gramian("fit", "flowers.csv", "--method", "kernel-pca", "-o", "s.csv") == (code, "", expected)
    assert not os.path.exists("s.csv")


def test_settings_and_warnings_are_as_before_afterwards(gramian):
    import warnings

    from gramian import settings

    before = settings(), warnings.showwarning, list(warnings.filters)
    gramian("fit", "flowers.csv", "--memory", "1GB", "--threads", "1")
    assert (settings(), warnings.showwarning, list(warnings.filters)) == before


def test_help_lists_commands_and_options(gramian):
    code, out, _ = gramian()
    assert code == 0
    assert "fit" in out
    assert "demo" in out
    assert gramian("--help")[1] == out
    _, out, _ = gramian("fit", "--help")
    for option in ("--method", "--kernel", "-k", "-o", "--scale", "--whiten", "--solver", "--seed", "--columns"):
        assert f" {option}" in out
    for option in ("--memory", "--threads", "--quiet", "--json"):
        assert f" {option}" in out


def test_the_number_of_rows_may_be_small(gramian):
    np.save("one.npy", np.ones((1, 2)))
    check(gramian("fit", "one.npy"), 1, "at least 2 samples")
