"""Five analyses from the shell alone, with what they print, compared with what R and scikit-learn give.

Each begins as a user of that package would begin it: FactoMineR, pls, psych, mixOmics, scikit-learn. The text is kept
in ``golden/run_*.txt``; ``GRAMIAN_GOLDEN=write pytest tests/cli/test_five_runs.py`` writes it: read the difference.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from .test_golden import GOLDEN, masked

ROOT = Path(__file__).parents[2]
MORE = os.environ.get("GRAMIAN_DATA")
needs_bfi = pytest.mark.skipif(
    not MORE or not Path(MORE, "bfi.csv").exists(), reason="GRAMIAN_DATA does not name a folder with bfi.csv (GPL)"
)

#: Run -> commands.
RUNS = {
    "decathlon": [
        "fit decathlon.csv --columns 100m:1500m --scale -k 5 --ids x0 --model m.st",
        "show m.st",
        "show m.st contributions --components 1,2",
        "show m.st supplementary decathlon.csv --ids x0",
        "show m.st groups decathlon.csv --ids x0",
        "show m.st scores decathlon.csv --ids x0 --components 1-3 --top 10",
    ],
    "meats": [
        "fit train.csv --method pls --columns x_* --target fat -k 10 --model m.st",
        "show m.st path test.csv",
        "show m.st errors test.csv",
        "show m.st vip --sort --top 5",
    ],
    "bfi": [
        "fit bfi.csv --method factor-analysis --columns A1:O5 -k 5 --rotation oblimin --missing em --model m.st",
        "show m.st loadings --sort --cut 0.3",
        "show m.st communalities --top 5",
        "show m.st fit-indices",
    ],
    "nutrimouse": [
        "fit gene.csv --y-table lipid.csv --method cca --ridge 0.064,0.008 -k 3 --model m.st",
        "show m.st correlations",
        "show m.st loadings --sort --cut 0.5 --components 1,2 --top 20",
        "show m.st scores gene.csv --y-table lipid.csv --components 1 --top 5",
    ],
    "digits": [
        "fit digits.csv --method kernel-svm --label digit --kernel rbf(sigma=25) --model m.st",
        "show m.st support --top 5",
    ],
}


@pytest.fixture
def five(tables):
    """All tables; of meats the first 160 rows, and those of the others that repeat no row before them."""
    data = ROOT / "examples" / "data"
    shutil.copy(data / "decathlon.csv", tables)
    for view in ("gene", "lipid"):
        shutil.copy(data / f"nutrimouse_{view}.csv", tables / f"{view}.csv")
    head, *rows = (data / "meats.csv").read_text().splitlines()
    new = [row for at, row in enumerate(rows) if at >= 160 and row not in rows[:at]]
    (tables / "train.csv").write_text("\n".join([head, *rows[:160]]) + "\n")
    (tables / "test.csv").write_text("\n".join([head, *new]) + "\n")
    if MORE and Path(MORE, "bfi.csv").exists():
        shutil.copy(Path(MORE, "bfi.csv"), tables)
    return tables


@pytest.mark.slow
@pytest.mark.parametrize("name", [pytest.param(name, marks=needs_bfi) if name == "bfi" else name for name in RUNS])
def test_the_text_is_as_it_was_and_no_command_fills_more_than_a_screen(gramian, five, name):
    said = []
    for command in RUNS[name]:
        code, out, err = gramian(*command.split())
        assert (code, err) == (0, "")
        assert len(out.splitlines()) <= 40
        said.append(f"$ gramian {command}\n{masked(out)}")
    found, path = "\n".join(said), GOLDEN / f"run_{name}.txt"
    if os.environ.get("GRAMIAN_GOLDEN") == "write":
        path.write_text(found)
    assert found == path.read_text()


def tables_of(gramian, command):
    """The tables that a fit prints, as JSON has them: arrays by name and column."""
    code, out, err = gramian(*command.split(), "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    return {name: {**table["columns"], "index": table["index"]} for name, table in facts["tables"].items()}


def shown(gramian, command):
    """The columns of a table that ``show`` writes."""
    code, out, err = gramian("show", "m.st", *command.split(), "--json")
    assert (code, err) == (0, "")
    table = json.loads(out)
    return {**table["columns"], "index": table["index"]}


def reference(file):
    kept = json.loads((ROOT / f"tests/references/data/{file}.json").read_text())
    return {case["name"]: {key: np.array(value) for key, value in case["outputs"].items()} for case in kept["cases"]}


def across(table, names):
    return np.array([table[name] for name in names], dtype=np.float64).T


def same(found, theirs, atol=1e-8):
    """Equal up to the signs of columns."""
    assert_allclose(np.abs(found), np.abs(theirs), rtol=1e-8, atol=atol)


def components(prefix, count):
    return [f"{prefix}{at + 1}" for at in range(count)]


def test_decathlon_is_what_factominer_prints(gramian, five):
    R, names = reference("coming_from_factominer")["pca"], components("PC", 5)
    found = tables_of(gramian, RUNS["decathlon"][0])
    values = found["eigenvalues"]
    same(values["eigenvalue"], R["eig"][:5, 0])
    same(100 * np.array(values["cumulative share"]), R["eig"][:5, 2])
    same(across(found["loadings"], names), R["var_coord"])
    assert found["groups"]["index"] == ["Decastar", "OlympicG"]
    same(across(found["groups"], [f"v-test {name}" for name in names]), R["quali_vtest"])
    same(np.sqrt(41 / 40) * across(found["groups"], names), R["quali_coord"])
    same(100 * across(shown(gramian, "contributions"), names), R["var_contrib"])
    same(across(shown(gramian, "supplementary decathlon.csv --ids x0"), names), R["quanti_sup"])
    rows = shown(gramian, "scores decathlon.csv --ids x0")
    assert rows["index"][:2] == ["SEBRLE", "CLAY"]
    same(np.sqrt(41 / 40) * across(rows, names), R["ind_coord"])
    same(100 * across(shown(gramian, "row-contributions decathlon.csv --ids x0"), names), R["ind_contrib"])


def test_meats_are_what_pls_prints(gramian, five):
    R = reference("command_line")["pls"]
    found = tables_of(gramian, RUNS["meats"][0])
    same(100 * np.array(found["eigenvalues"]["cumulative share of X"]), R["xvar_cumulative"])
    same(100 * np.array(found["eigenvalues"]["cumulative share of y"]), R["yvar"])
    same(found["path"]["RMSEC"], R["rmsec"])
    # Without components R leaves out rows one by one: n/(n-1) of the errors from the mean of all.
    same(found["path"]["RMSECV"][1:], R["rmsecv"][1:])
    same(shown(gramian, "path test.csv")["RMSEP"], R["rmsep"])
    assert shown(gramian, "errors test.csv")["RMSE"] == [pytest.approx(R["rmsep"][10])]


@needs_bfi
def test_the_five_factors_are_those_of_psych(gramian, five):
    """psych drops rows with missing answers, or takes correlations of greatest likelihood, without the model."""
    R, names = reference("command_line"), components("Factor", 5)
    found = tables_of(gramian, RUNS["bfi"][0].replace("--missing em", "--missing drop"))
    whole = R["factors"]
    same(across(found["loadings"], names), whole["loadings"], atol=1e-5)
    same(across(found["factor-correlations"], names), whole["Phi"], atol=1e-5)
    same(found["eigenvalues"]["sum of squared loadings"], whole["ss"], atol=1e-5)
    same(found["communalities"]["communality"], whole["communality"], atol=1e-5)
    same(found["communalities"]["complexity"], whole["complexity"], atol=1e-4)
    indices = dict(zip(found["fit-indices"]["index"], found["fit-indices"]["value"], strict=True))
    assert indices["chi-square"] == pytest.approx(float(whole["chi"]), abs=1e-5)
    assert indices["RMSEA"] == pytest.approx(whole["rmsea"][0], abs=5e-5)
    imputed = tables_of(gramian, RUNS["bfi"][0])
    order = np.abs(across(imputed["loadings"], names).T @ R["factors_missing"]["loadings"]).argmax(axis=0)
    same(across(imputed["loadings"], names)[:, order], R["factors_missing"]["loadings"], atol=0.003)


def test_nutrimouse_is_what_mixomics_computes(gramian, five):
    R, names = reference("command_line")["cca"], components("CC", 3)
    found = tables_of(gramian, RUNS["nutrimouse"][0])
    same(found["correlations"]["regularised"], R["cor"])
    same(found["correlations"]["correlation"], R["score_cor"])
    same(across(found["loadings"], names), np.vstack([R["x_structure"], R["y_structure"]]))


def test_digits_are_what_scikit_learn_prints(gramian, five):
    found = tables_of(gramian, RUNS["digits"][0])
    X, y = load_digits(return_X_y=True)
    # One support vector machine for each class, without a bias: scikit-learn's has one, and pairs of classes.
    guesses = cross_val_predict(SVC(gamma=1 / (2 * 25**2)), X, y, cv=StratifiedKFold(5, shuffle=True, random_state=0))
    ours, theirs = across(found["cross-validation"], [f"d{digit}" for digit in range(10)]), confusion_matrix(y, guesses)
    assert ours.sum(axis=1).tolist() == theirs.sum(axis=1).tolist()
    assert abs(np.trace(ours) - np.trace(theirs)) <= 9  # half a percent of the rows
    accuracy = found["accuracy"]
    assert accuracy["correct"][1] == np.trace(ours)
    truth = np.repeat(np.arange(10), ours.sum(axis=1).astype(int))
    predicted = np.concatenate([np.repeat(np.arange(10), row.astype(int)) for row in ours])
    precision, recall, *_ = precision_recall_fscore_support(truth, predicted)
    assert_allclose(found["cross-validation"]["recall"], recall)
    assert_allclose(found["cross-validation"]["precision"], precision)
