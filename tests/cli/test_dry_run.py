"""``gramian fit --dry-run``: a forecast, and nothing else."""

import json
import os

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


@pytest.mark.parametrize("method", ["cca", "kernel-cca", "pls-svd"])
def test_it_counts_the_columns_of_a_second_view(gramian, here, method):
    code, out, _ = gramian(*FIT, "--method", method, "--y-columns", "c,d", "--json")
    assert code == 0
    assert (json.loads(out)["d"], json.loads(out)["q"]) == (2, 2)


def test_what_does_not_fit_fails_with_advice_in_options(gramian, here):
    code, out, err = gramian(*FIT, "--method", "ica", "-k", "4", "--memory", "8kB")
    assert code == 1
    assert "over the budget of 8 kB" in out
    assert "--memory" in err.splitlines()[-1]
    assert "-k " in err.splitlines()[-1]
    assert "gramian.config" not in out + err


def test_what_a_fit_refuses_is_refused(gramian, here):
    code, _, err = gramian(*FIT, "-k", "9")
    assert code == 1
    assert "n_components=9 is more than" in err


def test_scaling_counts(gramian, here):
    plain, scaled = (gramian(*FIT, "--method", "kernel-pca", "--json", *more)[1] for more in ((), ("--scale",)))
    assert json.loads(scaled)["bytes"] > json.loads(plain)["bytes"]
