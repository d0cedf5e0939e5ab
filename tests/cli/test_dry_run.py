"""``gramian fit --dry-run``: a forecast, and nothing else."""

import json
import os
import shutil

import numpy as np
import pytest

FIT = ("fit", "flowers.csv", "--dry-run")


def test_it_prints_a_forecast_and_writes_no_file(gramian, here):
    before = sorted(os.listdir(here))
    code, out, _ = gramian(*FIT, "-o", "scores.csv", "--model", "model.safetensors")
    assert code == 0
    assert out.startswith("PCA")
    assert "60 x 4" in out
    assert "memory" in out
    assert sorted(os.listdir(here)) == before


def test_it_prints_json(gramian, here):
    code, out, _ = gramian(*FIT, "--method", "kernel-svm", "--label", "kind", "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["estimator"], found["n"], found["d"], found["q"]) == ("KernelSVC", 60, 4, 3)
    assert found["fits"] is True


@pytest.mark.slow
@pytest.mark.parametrize("method", ["cca", "kernel-cca", "pls-svd"])
def test_it_counts_the_columns_of_a_second_view(gramian, here, method):
    code, out, _ = gramian(*FIT, "--method", method, "--y-columns", "c,d", "--json")
    assert code == 0
    assert (json.loads(out)["d"], json.loads(out)["q"]) == (2, 2)


def test_what_does_not_fit_fails_with_advice_in_options(gramian, here):
    code, out, err = gramian(*FIT, "--method", "ica", "-k", "4", "--memory", "1008kB")
    assert code == 1
    assert "over the budget of 1.01 MB" in out
    assert "--memory" in err.splitlines()[-1]
    assert "-k " in err.splitlines()[-1]
    assert "gramian.config" not in out + err


def test_what_a_fit_refuses_is_refused(gramian, here):
    code, _, err = gramian(*FIT, "-k", "9")
    assert code == 1
    assert "-k 9 is more than" in err


def test_scaling_counts(gramian, here):
    plain, scaled = (gramian(*FIT, "--method", "kernel-pca", "--json", *more)[1] for more in ((), ("--scale",)))
    assert json.loads(scaled)["bytes"] > json.loads(plain)["bytes"]


STREAMS = {
    "pca": ["--columns", "a:d"],
    "pls": ["--target", "d"],
    "cca": ["--y-columns", "c,d"],
    "kernel-pca": ["--landmarks", "9"],
    "kernel-pca --scale": ["--landmarks", "9", "--scale"],
    "kernel-ridge": ["--landmarks", "9", "--target", "d"],
    "kernel-cca": ["--landmarks", "9", "--y-columns", "c,d"],
    "kernel-kmeans": ["--landmarks", "9"],
}


@pytest.mark.parametrize("method", STREAMS)
def test_of_a_stream_it_reads_no_rows(gramian, here, monkeypatch, method):
    monkeypatch.setattr("gramian.tables.text_blocks.TextFile.read", None)
    options = ["--method", method.split()[0], *STREAMS[method], "--json"]
    code, out, err = gramian(*FIT, "--stream", *options)
    assert code == 0, err
    found = json.loads(out)
    assert found["stream"] is True
    assert found["n"] == 60  # all lines are among the first ones
    (here / "parts").mkdir()
    for at in range(3):
        shutil.copy("flowers.csv", f"parts/{at}.csv")
    code, out, err = gramian("fit", "parts", "--dry-run", *options)
    assert code == 0, err
    assert json.loads(out)["n"] == 180


def test_a_stream_needs_no_more_memory_for_more_rows(gramian, here):
    found = []
    for n in (400_000, 800_000):
        with open("a.npy", "wb") as file:  # a hole in the file system: the rows are never read
            np.lib.format.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (n, 10)})
            file.truncate(file.tell() + 80 * n)
        code, out, err = gramian("fit", "a.npy", "--stream", "--dry-run", "--json", "--memory", "500MB")
        assert code == 0, err
        found.append(json.loads(out))
    assert [one["n"] for one in found] == [400_000, 800_000]
    assert found[0]["bytes"] == found[1]["bytes"] < 80e6


def test_a_stream_that_does_not_fit_says_what_would(gramian, here):
    options = ["--stream", "--method", "kernel-pca", "--landmarks", "50", "--columns", "a:d", "--memory", "100kB"]
    code, out, err = gramian(*FIT, *options)
    assert code == 1
    assert "with the blocks of rows, over the budget of 100 kB" in out
    assert "--landmarks " in err or "--memory " in err
