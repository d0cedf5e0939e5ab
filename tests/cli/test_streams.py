"""Tables that stream through the command line give what tables in memory give."""

import json
import os
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from gramian.tables import read_table, write_scores


@pytest.fixture
def many(here):
    """A folder with the rows of one table, in three files, and the table itself beside it."""
    values = np.random.default_rng(3).standard_normal((90, 6)) @ np.diag([6, 5, 4, 3, 2, 1]) + 5
    values[:, 5] += values[:, 0]
    names = list("abcdef")
    write_scores("whole.csv", values, names)
    (here / "parts").mkdir()
    for at in range(3):
        write_scores(f"parts/p{at}.csv", values[30 * at : 30 * at + 30], names)
    return here


METHODS = {
    "pca": ["-k", "2"],
    "pca --scale": ["--scale", "-k", "2"],
    "probabilistic-pca": ["-k", "2", "--scale"],
    "factor-analysis": ["-k", "2"],
    "random-projection": ["-k", "2"],
    "pls": ["--target", "f", "-k", "2"],
    "pcr": ["--target", "e,f", "-k", "2"],
    "cca": ["--y-columns", "e:f"],
    "pls-canonical": ["--y-columns", "e:f", "--x-columns", "a:c"],
    "pls-svd": ["--y-columns", "e:f"],
    "kernel-pca": ["-k", "2", "--landmarks", "20"],
    "kernel-pca --scale": ["-k", "2", "--landmarks", "20", "--scale"],
    "kernel-ridge": ["--target", "f", "--landmarks", "20", "--kernel", "rbf(sigma=5)"],
    "kernel-cca": ["--y-columns", "e:f", "-k", "1", "--landmarks", "10"],
    "kernel-kmeans": ["-k", "3", "--landmarks", "20"],
}


def predicts(options):
    return "--target" in options or "kernel-kmeans" in options


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("name", METHODS)
def test_a_folder_is_the_table_of_its_files(gramian, many, name):
    options = ["--method", name.split()[0], *METHODS[name], "-q"]
    assert gramian("fit", "whole.csv", *options, "-o", "a.csv", "--model", "a.st")[0] == 0
    for source in ("parts", "parts/p*.csv", "whole.csv --stream"):
        code, out, err = gramian("fit", *source.split(), *options, "-o", "b.csv", "--model", "b.st")
        assert (code, out) == (0, ""), err
        a, b = read_table("a.csv"), read_table("b.csv")
        assert (a.columns, a.labels) == (b.columns, b.labels)
        if name != "random-projection":
            assert_allclose(a.values, b.values, atol=1e-9)
        verbs = [*(["transform"] if "ridge" not in name else []), *(["predict"] if predicts(options) else [])]
        for verb in verbs:
            assert gramian(verb, "b.st", "whole.csv", "-q", "-o", "c.csv")[0] == 0
            assert gramian(verb, "b.st", *source.split(), "-q", "-o", "d.csv")[0] == 0
            assert_allclose(read_table("c.csv").values, read_table("d.csv").values, atol=1e-9)


def test_the_summary_says_that_it_streamed_and_its_code_runs(gramian, many):
    code, out, _ = gramian("fit", "parts", "-k", "2", "--model", "m.st")
    assert code == 0
    assert "table     parts: 90 rows, 6 columns, streamed" in out
    assert "model = PCA(n_components=2); scores = model.fit_transform(X); save(named(model, X), 'm.st')" in out
    exec("\n".join(line.removeprefix("Python").strip() for line in out.splitlines()[-3:]))
    facts = json.loads(gramian("fit", "parts", "--method", "cca", "--y-columns", "e,f", "--json")[1])
    assert (facts["n"], facts["streamed"], facts["targets"]) == (90, True, ["e", "f"])
    exec(facts["python"])
    _, out, _ = gramian("transform", "m.st", "parts", "-o", "s.csv")
    assert "parts: 90 rows, 6 numeric columns, streamed" in out
    assert "s.csv: 90 rows, columns PC1, PC2" in out


@pytest.mark.slow
def test_the_code_of_kernel_methods_runs_too(gramian, many):
    for options in (["kernel-kmeans", "-k", "2"], ["kernel-pca"], ["kernel-ridge", "--target", "f"]):
        code, out, _ = gramian("fit", "parts", "--method", *options, "--landmarks", "9", "--kernel", "rbf(sigma=9)")
        assert code == 0
        start = next(at for at, line in enumerate(out.splitlines()) if line.startswith("Python"))
        exec("\n".join(line.removeprefix("Python").strip() for line in out.splitlines()[start:]), {})


def test_labels_of_a_support_vector_machine_stream(gramian, many):
    table = read_table("whole.csv")
    kinds = ["large" if value > 5 else "small" for value in table.values[:, 0]]
    write_scores("labelled.csv", table.values, list(table.columns), {"kind": kinds})
    assert gramian("fit", "labelled.csv", "--method", "kernel-svm", "--label", "kind", "--model", "m.st", "-q")[0] == 0
    for output in ("a.csv", "a.parquet"):
        assert gramian("predict", "m.st", "whole.csv", "-o", output, "-q")[0] == 0
        assert gramian("predict", "m.st", "parts", "-o", f"b{output}", "-q")[0] == 0
    assert (many / "a.csv").read_text() == (many / "ba.csv").read_text()
    assert pq.read_table("a.parquet").equals(pq.read_table("ba.parquet"))


@pytest.mark.slow
def test_a_table_larger_than_the_budget_streams_by_itself(gramian, here):
    X = np.random.default_rng(0).standard_normal((330_000, 100))  # 264 MB; tables of 256 MB are always read
    np.save("large.npy", X)
    code, out, _ = gramian("fit", "large.npy", "-k", "1", "--memory", "100MB", "-o", "s.npy")
    assert code == 0
    assert "330,000 rows, 100 columns, streamed" in out
    os.remove("large.npy")
    assert np.load("s.npy").shape == (330_000, 1)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--method", "ica"], "goes with --method pca, kernel-pca, probabilistic-pca"),
        (["--ids", "a"], "does not go with --ids"),
        (["--missing", "drop"], "does not go with --missing"),
        (["--method", "pls", "--target", "f", "-k", "auto"], "does not go with -k auto"),
        (["--method", "kernel-pca"], "only if landmarks stand for the rows. Add --landmarks 1000"),
        (["--method", "kernel-pca", "--landmarks", "9", "-k", "auto"], "does not go with -k auto"),
        (["--method", "kernel-svm", "--label", "a", "--landmarks", "9"], "not with kernel-svm"),
    ],
)
def test_what_cannot_stream_is_misuse(gramian, many, options, told):
    for source in (["parts"], ["whole.csv", "--stream"]):
        code, out, err = gramian("fit", *source, *options)
        assert (code, out) == (2, "")
        assert told in err
        assert err.count("\n") == 1


def test_a_fault_in_the_last_file_leaves_old_scores_and_model(gramian, many):
    assert gramian("fit", "whole.csv", "-o", "s.csv", "--model", "m.st", "-q")[0] == 0
    before = [(many / name).read_bytes() for name in ("s.csv", "m.st")]
    lines = (many / "parts/p2.csv").read_text().splitlines()
    shutil.copy("parts/p2.csv", "good.csv")
    (many / "parts/p2.csv").write_text("\n".join([*lines[:20], "1,2,,4,5,6", *lines[21:]]))
    code, _, err = gramian("fit", "parts", "-o", "s.csv", "--model", "m.st")
    assert code == 1
    assert "parts/p2.csv: line 21, column 'c'" in err
    code, _, err = gramian("transform", "m.st", "parts", "-o", "s.csv")
    assert code == 1
    assert "parts/p2.csv: line 21, column 'c'" in err
    assert [(many / name).read_bytes() for name in ("s.csv", "m.st")] == before
    assert gramian("fit", "nowhere/*.csv")[2] == (
        "error: nowhere/*.csv: there are no files that end in .csv, .tsv, .txt, .parquet, .arrow, .feather, .npy, "
        ".h5, .hdf5, .zarr.\n"
    )
