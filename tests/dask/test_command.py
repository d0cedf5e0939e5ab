"""``gramian fit --scheduler``: what the command line says on one machine, said by a cluster."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian.cli.app import run
from gramian.cli.outputs import finish
from gramian.operators.remote import ClusterError
from gramian.tables import read_table, write_scores

METHODS = {
    "pca": ["-k", "2"],
    "pca --scale": ["--scale", "-k", "2"],
    "ica": ["-k", "2"],
    "pls": ["--target", "f", "-k", "2"],
    "cca": ["--y-columns", "e:f", "-k", "1"],
    "kernel-pca": ["--landmarks", "20", "--kernel", "rbf(sigma=9)", "-k", "2"],
    "kernel-ridge": ["--target", "f", "--landmarks", "20", "--kernel", "rbf(sigma=9)"],
    "kernel-kmeans": ["-k", "3", "--landmarks", "20", "--kernel", "rbf(sigma=9)"],
}


@pytest.fixture
def gramian(tmp_path, monkeypatch, capsys):
    """Run a command in this process, in a folder with a table whole and in three parts."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    values = rng.laplace(size=(90, 6)) @ np.diag([6, 5, 4, 3, 2, 1]) + 5
    values[:, 5] += values[:, 0]
    (tmp_path / "parts").mkdir()
    for name, rows in {
        "whole": slice(0, 90),
        **{f"parts/p{at}": slice(30 * at, 30 * at + 30) for at in range(3)},
    }.items():
        write_scores(f"{name}.parquet", values[rows], list("abcdef"))

    def call(*arguments):
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_a_cluster_writes_what_one_machine_writes(cluster, gramian, name):
    options = ["--method", name.split()[0], *METHODS[name], "-q"]
    assert gramian("fit", "whole.parquet", *options, "-o", "a.csv", "--model", "a.st")[0] == 0
    far = ["--scheduler", cluster.scheduler_address]
    code, out, err = gramian("fit", "parts/*.parquet", *far, *options, "-o", "b.csv", "--model", "b.st")
    assert (code, out, err) == (0, "", "")
    a, b = read_table("a.csv"), read_table("b.csv")
    assert (a.columns, a.labels) == (b.columns, b.labels)
    assert_allclose(b.values, a.values, rtol=1e-8, atol=1e-7)
    assert gramian("inspect", "b.st")[0] == 0


@pytest.mark.slow
def test_the_dashboard_and_the_workers_are_named_and_the_code_runs(cluster, gramian):
    address = cluster.scheduler_address
    code, out, err = gramian("fit", "parts", "--scheduler", address, "-k", "2")
    assert code == 0
    assert err.startswith("dashboard: http://")
    assert f"90 rows, 6 columns, read by the workers of {address}" in out
    code, out, err = gramian("fit", "parts", "--scheduler", address, "-k", "2", "--json")
    assert (code, err) == (0, "")
    said = json.loads(out)
    assert said["n"] == 90
    found = {}
    exec(said["python"], found)
    found["client"].close()
    assert found["scores"].shape == (90, 2)


@pytest.mark.slow
def test_local_is_a_cluster_of_this_machine(gramian):
    assert gramian("fit", "whole.parquet", "-k", "2", "-q", "-o", "a.csv")[0] == 0
    code, _, err = gramian("fit", "parts", "--scheduler", "local", "-k", "2", "-o", "b.csv")
    assert code == 0
    assert "dashboard: http://127.0.0.1" in err
    assert_allclose(read_table("b.csv").values, read_table("a.csv").values, atol=1e-9)


def test_a_cluster_that_fails_is_one_line(capsys):
    def job():
        raise ClusterError("moments: the connection to the scheduler was lost.")

    assert finish(job) == 1
    assert capsys.readouterr() == ("", "error: moments: the connection to the scheduler was lost.\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scheduler", "tcp://127.0.0.1:9"], "no scheduler answers at tcp://127.0.0.1:9"),
        (["--scheduler", "local", "--missing", "drop"], "--scheduler does not go with --missing"),
        (["--scheduler", "local", "--label", "a"], "--scheduler does not go with --label"),
    ],
)
def test_refusals_are_one_line(gramian, monkeypatch, options, message):
    monkeypatch.setattr("gramian.operators.dask_tasks.SCHEDULER_TIMEOUT_SECONDS", 1)
    code, out, err = gramian("fit", "parts", "-q", *options)
    assert code in (1, 2)
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
