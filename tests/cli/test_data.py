"""The commands on well-known data, as a new user would run them.

bfi.csv is not ours to pass on: ``GRAMIAN_DATA`` names the folder that has it.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from gramian.tables import read_table

FOLDER = Path(__file__).parents[2] / "examples" / "data"
MORE = os.environ.get("GRAMIAN_DATA")


@pytest.fixture
def data(here):
    for path in FOLDER.glob("*.csv"):
        shutil.copy(path, here)
    return here


@pytest.fixture
def facts(gramian, data):
    """Run a command and give what it says to machines."""

    def call(*arguments):
        code, out, err = gramian(*arguments, "--json")
        assert code == 0, err
        return json.loads(out)

    return call


@pytest.mark.slow
def test_spectra_of_meat_calibrated_for_fat(gramian, facts):
    fit = facts(
        "fit", "meats.csv", "--method", "pls", "--columns", "x_*", "--target", "fat", "-k", "auto", "--model", "m.st"
    )
    assert (fit["n"], fit["d"], fit["targets"]) == (215, 100, ["fat"])
    assert 5 <= fit["n_components"] <= 20
    assert gramian("predict", "m.st", "meats.csv", "-o", "p.csv", "-q") == (0, "", "")
    fat = read_table("meats.csv", ["fat"]).values[:, 0]
    assert np.corrcoef(read_table("p.csv").values[:, 0], fat)[0, 1] > 0.98
    assert facts("score", "m.st", "meats.csv")["targets"]["fat"]["r2"] > 0.96
    lines = facts("compare", "meats.csv", "--columns", "x_*", "--target", "fat", "--methods", "pls,pcr", "-k", "auto")
    assert all(line["figure"] < 3 for line in lines["methods"])


def test_decathlon_by_scaled_components(gramian, facts, data):
    fit = facts(
        "fit", "decathlon.csv", "--columns", "100m:1500m", "-k", "2", "--scale", "-o", "s.csv", "--model", "m.st"
    )
    np.testing.assert_allclose(np.array(fit["eigenvalues"]) / 40, [3.272, 1.737], atol=5e-4)  # as in every textbook
    scores = read_table("s.csv")
    assert "Competition" in scores.labels
    assert gramian("transform", "m.st", "decathlon.csv", "-o", "t.csv", "-q") == (0, "", "")
    assert (data / "t.csv").read_text() == (data / "s.csv").read_text()
    assert gramian("inverse", "m.st", "s.csv", "-o", "i.csv", "-q") == (0, "", "")
    assert len(read_table("i.csv").columns) == 10


def test_units_of_decathlon_are_warned_of(gramian, data):
    _, _, err = gramian("fit", "decathlon.csv", "-k", "2", "-q")
    assert err.startswith("warning: standard deviations of columns differ by a factor of 3,849 (from 'High.jump' to")


@pytest.mark.skipif(not MORE, reason="GRAMIAN_DATA does not name a folder with bfi.csv")
def test_personality_items_with_gaps(gramian, facts, data):
    shutil.copy(Path(MORE) / "bfi.csv", data)
    base = ["fit", "bfi.csv", "--columns", "A1:O5", "--method", "factor-analysis", "-k", "5", "--rotation", "oblimin"]
    code, _, err = gramian(*base)
    assert (code, err.count("\n")) == (1, 1)
    assert "line 10, column 'E3': the value is missing (508 such values in all)" in err
    assert "--missing drop" in err
    dropped = facts(*base, "--missing", "drop")
    assert dropped["n"] == 2436
    kept = facts(*base, "--missing", "em", "-o", "s.csv", "--model", "m.st")
    assert (kept["n"], kept["n_missing"]) == (2800, 508)
    assert len(read_table("s.csv").values) == 2800
    likelihood = facts("score", "m.st", "bfi.csv")["log_likelihood_per_row"]
    assert likelihood * 2800 == pytest.approx(kept["log_likelihood"], rel=1e-9)


def test_genes_and_lipids_of_mice(gramian, facts):
    two = ["nutrimouse_gene.csv", "--y-table", "nutrimouse_lipid.csv"]
    fit = facts("fit", *two, "--method", "cca", "--ridge", "0.1", "-k", "3", "-o", "s.csv", "--model", "m.st")
    assert (fit["n"], fit["d"], len(fit["targets"])) == (40, 120, 21)
    found = facts("score", "m.st", *two)
    np.testing.assert_allclose(found["correlations"], fit["score_correlations"], atol=1e-10)
    assert gramian("transform", "m.st", *two, "-o", "t.csv", "-q") == (0, "", "")
    np.testing.assert_array_equal(read_table("t.csv").values, read_table("s.csv").values)
    lines = facts("compare", *two, "--methods", "pls-canonical,pls-svd,kernel-cca", "-k", "2")["methods"]
    assert [line["failed"] for line in lines] == ["", "", ""]


def test_diets_of_mice_stand_in_a_table_of_their_own(gramian, facts):
    two = ["nutrimouse_gene.csv", "--y-table", "nutrimouse_diet.csv"]
    base = ["fit", *two, "--label", "diet", "--kernel", "linear"]
    fit = facts(*base, "--method", "kernel-svm", "--scale", "-o", "p.csv", "--model", "m.st")
    assert (fit["n"], fit["d"], fit["targets"]) == (40, 120, ["diet"])
    predicted = read_table("p.csv", [], labels=["diet", "predicted_diet"]).labels
    share = np.mean([a == b for a, b in zip(*predicted.values(), strict=True)])
    assert facts("score", "m.st", *two)["accuracy"] == pytest.approx(share)
    assert share > 0.9
    facts("fit", *two, "--label", "diet", "-k", "2", "--scale", "-o", "s.csv")
    assert read_table("s.csv").labels == {"diet": predicted["diet"]}
    code, _, err = gramian("fit", *two)
    assert (code, err[:44]) == (2, "error: --y-table goes with --label NAME, or ")
    code, _, err = gramian("fit", *two, "--method", "cca", "--label", "diet")
    assert (code, err[:29]) == (2, "error: --label is not needed:")


def test_what_python_code_a_second_table_of_labels_needs(facts):
    fit = facts("fit", "nutrimouse_gene.csv", "--y-table", "nutrimouse_diet.csv", "--label", "diet", "-k", "2")
    found = {}
    exec(fit["python"], found)
    assert found["scores"].shape == (40, 2)
