"""Whatever goes wrong: one line, the right exit code, nothing half written."""

import os
import re

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.cli import outputs


def only_tables(here):
    return sorted(path.name for path in here.iterdir()) == ["flowers.csv"]


MISUSE = {
    "unknown option": (["fit", "flowers.csv", "--kernle", "rbf"], "No such option"),
    "unknown command": (["fitt"], "No such command 'fitt'"),
    "no table": (["fit"], "Missing argument"),
    "unknown method": (
        ["fit", "flowers.csv", "--method", "tsne"],
        "--method tsne is not known. Known are pca, kernel-pca",
    ),
    "kernel with pca": (
        ["fit", "flowers.csv", "--kernel", "rbf"],
        "--kernel goes with --method kernel-pca, kernel-cca, kernel-ridge, kernel-svm, kernel-kmeans, kernel-knn, "
        "kernel-knn-regression or kernel-prototypes, not with pca",
    ),
    "whiten with kernel-pca": (
        ["fit", "flowers.csv", "--method", "kernel-pca", "--whiten"],
        "--whiten goes with --method pca, not with kernel-pca",
    ),
    "no kernel": (["fit", "flowers.csv", "--method", "kernel-pca", "--kernel", "rbff"], "Did you mean 'rbf'?"),
    "near method": (["fit", "flowers.csv", "--method", "kernel-smv"], "Did you mean kernel-svm?"),
    "rotation": (
        ["fit", "flowers.csv", "--rotation", "varimax"],
        "--rotation goes with --method factor-analysis, not with pca",
    ),
    "C": (["fit", "flowers.csv", "--C", "2"], "--C goes with --method kernel-svm, not with pca"),
    "auto": (
        ["fit", "flowers.csv", "--method", "ica", "-k", "auto"],
        "-k auto goes with --method pca, kernel-pca, probabilistic-pca, factor-analysis, random-projection, pls, pcr "
        "or cca, not with ica",
    ),
    "select": (["select", "flowers.csv", "--method", "ica"], "--method ica has nothing to select. Use one of pca,"),
    "select gaps": (["select", "flowers.csv", "--missing", "em"], "criteria need complete rows. Use --missing drop"),
    "select kernel": (
        ["select", "flowers.csv", "--method", "kernel-ridge", "--target", "a", "--kernel", "rbf"],
        "--kernel is what is to be selected for kernel-ridge",
    ),
    "k": (
        ["fit", "flowers.csv", "--method", "kernel-svm", "--label", "kind", "-k", "2"],
        "not with kernel-svm",
    ),
    "no target": (["fit", "flowers.csv", "--method", "pls"], "--method pls needs a column to predict: --target NAME"),
    "no view": (["fit", "flowers.csv", "--method", "cca"], "--method cca needs a second view of the rows"),
    "no label": (["fit", "flowers.csv", "--method", "kernel-svm"], "needs a text column to predict: --label NAME"),
    "target of pca": (["fit", "flowers.csv", "--target", "a"], "--target goes with --method pls, pcr,"),
    "view of pca": (
        ["fit", "flowers.csv", "--y-table", "flowers.csv"],
        "--y-table goes with --label NAME, or with --method pls, pcr,",
    ),
    "expected": (
        ["fit", "flowers.csv", "--method", "ica", "--missing", "em"],
        "--missing em goes with --method pca, probabilistic-pca,",
    ),
    "missing": (["fit", "flowers.csv", "--missing", "mean"], "--missing mean is not known. Use em"),
    "ridge": (
        ["fit", "flowers.csv", "--method", "cca", "--y-columns", "a", "--ridge", "big"],
        "--ridge big is neither",
    ),
    "read": (["fit", "flowers.csv", "--read", "colour=red"], "--read colour=red is not WHAT=HOW"),
    "header": (["fit", "flowers.csv", "--read", "header=1"], "must be --read header=yes or --read header=no"),
    "scaled Gram": (
        ["fit", "flowers.csv", "--method", "kernel-pca", "--kernel", "precomputed", "--scale"],
        "--scale would change a precomputed kernel matrix",
    ),
    "scaled multiple of a Gram matrix": (
        ["fit", "flowers.csv", "--method", "kernel-pca", "--kernel", "2*precomputed", "--scale"],
        "--scale would change a precomputed kernel matrix",
    ),
    "a Gram matrix and a kernel of rows": (
        ["fit", "flowers.csv", "--method", "kernel-pca", "--kernel", "precomputed + linear"],
        "combines a precomputed matrix with linear, for which there are no rows",
    ),
    "one file for two": (["fit", "flowers.csv", "-o", "a.csv", "--model", "./a.csv"], "name the same file"),
    "model to a pipe": (["fit", "flowers.csv", "--model", "-"], "--model needs a file"),
    "json and predictions": (["transform", "m.st", "flowers.csv", "--json"], "both write to standard output"),
    "option of no method": (
        ["compare", "flowers.csv", "--methods", "pca,ica", "--kernel", "rbf"],
        "--kernel goes with none of pca, ica",
    ),
    "no number": (["fit", "flowers.csv", "-k", "many"], "-k many is neither a whole number nor a fraction"),
    "no size": (["fit", "flowers.csv", "--memory", "big"], "--memory big is not a size"),
    "no threads": (["fit", "flowers.csv", "--threads", "0"], "--threads"),
    "json and scores": (["fit", "flowers.csv", "--json", "-o", "-"], "--json and --output - both write"),
    "overwrites the table": (
        ["fit", "flowers.csv", "-o", "./flowers.csv"],
        "--output ./flowers.csv is a file that is read",
    ),
}
FAILURE = {
    "no file": (["fit", "none.csv"], "none.csv: there is no such file"),
    "no ending": (["fit", "README"], "README: there is no such file"),
    "too many": (["fit", "flowers.csv", "-k", "9"], "-k 9 is more than min(n, d) = 4"),
    "zero": (["fit", "flowers.csv", "-k", "0"], "-k 0 must be a whole number of 1 or more"),
    "not a share": (["fit", "flowers.csv", "-k", "1.5"], "-k 1.5 must be"),
    "no solver": (["fit", "flowers.csv", "--solver", "magic"], "--solver magic is not known"),
    "no column": (["fit", "flowers.csv", "--columns", "a,z"], "there is no column 'z'"),
    "text column": (["fit", "flowers.csv", "--columns", "kind"], "column 'kind' is text"),
    "no folder": (["fit", "flowers.csv", "-o", "none/s.csv"], "none: there is no such folder"),
    "a folder": (["fit", "flowers.csv", "-o", "."], ".: it is a folder"),
    "no target column": (["fit", "flowers.csv", "--method", "pls", "--target", "z"], "there is no column 'z'"),
    "text target": (["fit", "flowers.csv", "--method", "pls", "--target", "kind"], "'kind'"),
    "nothing to predict from": (["fit", "flowers.csv", "--method", "pls", "--target", "a,b,c,d"], "has no columns"),
    "no label column": (
        ["fit", "flowers.csv", "--method", "kernel-svm", "--label", "sort"],
        "there is no column 'sort'",
    ),
    "no second file": (
        ["fit", "flowers.csv", "--method", "cca", "--y-table", "none.csv"],
        "none.csv: there is no such file",
    ),
    "no model": (["transform", "none.st", "flowers.csv"], "none.st: No such file or directory"),
    "a table for a model": (["inspect", "flowers.csv"], "flowers.csv: it is not a model file"),
    "a folder for a model": (["fit", "flowers.csv", "--model", "."], ".: it is a folder"),
    "encode": (["fit", "flowers.csv", "--columns", "kind"], "unless --encode kind encodes it"),
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
    assert python_in(line) == []


def python_in(text):
    """Parameters spelled as Python does; ``--read decimal=,`` and kernels such as ``rbf(sigma=3)`` are not."""
    text = re.sub(r"--read \S+|header=(yes|no)|\w+\([a-z_]+=[^()]*\)", "", text)
    return re.findall(r"\b[A-Za-z_]{3,}=(?=['\"\[(\d.]|[\s;,)]|$)\S*", text)


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
        (KeyError("x"), 1, "error: unexpected KeyError: 'x'. This is a bug of gramian; please report it."),
        (BrokenPipeError(), 0, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_exception_has_its_line_and_code(gramian, monkeypatch, failure, code, line):
    monkeypatch.setattr(outputs, "_leave_stdout", lambda: None)  # it would redirect the output of these tests

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


def test_landmarks_go_with_kernel_methods(gramian):
    code, out, err = gramian("fit", "flowers.csv", "--landmarks", "5")
    assert (code, out) == (2, "")
    assert err.startswith("error: --landmarks goes with --method kernel-pca, kernel-cca, kernel-ridge")
    code, out, err = gramian("fit", "flowers.csv", "--method", "kernel-pca", "--landmarks", "0")
    assert code != 0
    assert "--landmarks 0 must be 1 or more" in err
    assert len(err.splitlines()) == 1


REMARKS = {
    "gaps": ("a,b\n1,\n2,3\n4,5\n", ["fit"], "--missing drop"),
    "gaps of ica": ("a,b\n1,\n2,3\n4,5\n", ["fit", "--method", "ica"], "--missing drop"),
    "decimal": ('a,b\n"1,5",2\n"2,25",3\n3.5,4\n', ["fit"], "--read decimal="),
    "text alone": ("a,b\nx,y\nz,w\n", ["fit"], "--encode NAME"),
    "ids": ("id,a,b\nu,1,2\nu,3,5\nv,4,4\n", ["fit", "--ids", "id"], "--label id"),
    "separator": ("a,b\n1,2\n3,5\n4,4\n", ["fit", "--read", "separator=;;"], "separator=;;"),
    "few rows for clusters": ("a,b\n1,2\n3,5\n4,4\n", ["fit", "--method", "kernel-kmeans", "-k", "7"], "-k 7"),
    "neighbours": (
        "t,a,b\n1,1,2\n2,3,5\n3,4,4\n",
        ["fit", "--method", "kernel-knn-regression", "--target", "t", "-k", "7"],
        "-k 7",
    ),
    "ridge": (
        "t,a,b\n1,1,2\n2,3,5\n3,4,4\n",
        ["fit", "--method", "kernel-ridge", "--target", "t", "--ridge", "-1"],
        "--ridge -1",
    ),
    "rotation": (
        "a,b,c\n1,2,3\n2,3,5\n3,4,4\n5,1,2\n",
        ["fit", "--method", "factor-analysis", "--rotation", "up"],
        "--rotation up",
    ),
}


@pytest.mark.parametrize("name", REMARKS)
def test_messages_name_options_and_no_parameters_of_python(gramian, here, name):
    text, (command, *options), remedy = REMARKS[name]
    (here / "t.csv").write_text(text)
    _, _, err = gramian(command, "t.csv", *options)
    assert remedy in err
    assert python_in(err) == []


def test_remarks_on_columns_name_options(gramian, here):
    (here / "t.csv").write_text("day,kind,a\n2024-01-01,x,1\n2024-01-02,y,2\n2024-01-05,x,4\n")
    out = gramian("fit", "t.csv")[1].partition("Python")[0]
    assert python_in(out) == []
    assert python_in(gramian("doctor", "t.csv")[1]) == []
    assert python_in(gramian("compare", "t.csv", "--methods", "pca,ica", "-k", "9")[1]) == []
