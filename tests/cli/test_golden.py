"""What people and machines read, word for word, with seconds, steps and residuals masked.

To write the files anew after a change that was meant: ``GRAMIAN_GOLDEN=write pytest tests/cli/test_golden.py``, and
read the difference.
"""

import json
import os
import re
import shutil
from pathlib import Path

import pytest

GOLDEN = Path(__file__).parent / "golden"
MEATS = Path(__file__).parents[2] / "examples" / "data" / "meats.csv"

#: name -> commands, of which the last is kept.
COMMANDS = {
    "meats_pca": ["fit meats.csv --columns x_* -k 3 --scale -o s.csv --model m.st"],
    "meats_pls": ["fit meats.csv --method pls --columns x_* --target fat,water -k auto -o s.csv --model m.st"],
    "meats_cca": ["fit meats.csv --method cca --x-columns x_* --y-columns water:protein --ridge 0.01 -k 2"],
    "meats_transform": ["fit meats.csv --columns x_* -k 3 --model m.st -q", "transform m.st meats.csv -o t.csv"],
    "meats_inverse": [
        "fit meats.csv --columns x_* -k 3 -o s.csv --model m.st -q",
        "inverse m.st s.csv -o i.csv",
    ],
    "meats_predict": [
        "fit meats.csv --method pcr --columns x_* --target fat -k 10 --model m.st -q",
        "predict m.st meats.csv -o p.csv",
    ],
    "meats_score": [
        "fit meats.csv --method pls --columns x_* --target fat,water -k 10 --model m.st -q",
        "score m.st meats.csv",
    ],
    "meats_compare": ["compare meats.csv --columns x_* --target fat --methods pls,pcr,kernel-ridge -k 10"],
    "meats_inspect": ["fit meats.csv --method pls --columns x_* --target fat -k 4 --model m.st -q", "inspect m.st"],
    "meats_doctor": ["doctor meats.csv --columns x_* --target fat"],
    "wine_doctor": ["doctor wine.csv --kernel rbf(sigma=1)"],
    "wine_report": ["fit wine.csv -k 3 --scale --model m.st -q", "report m.st wine.csv -o r.html"],
    "meats_report": [
        "fit meats.csv --method pls --columns x_* --target fat -k 4 --model m.st -q",
        "report m.st meats.csv",
    ],
    "iris_svm": ["fit iris.csv --method kernel-svm --label species --scale -o s.csv --model m.st"],
    "iris_kmeans": ["fit iris.csv --method kernel-kmeans -k 3 --kernel rbf(sigma=2) -o s.csv"],
    "wine_factors": ["fit wine.csv --method factor-analysis -k 3 --rotation varimax"],
}
MASKS = (
    (r"\b\d[\d.e-]* s(;|$)", r"SECONDS\1"),
    (r"\b\d[\d.e-]* s to keep", "SECONDS to keep"),
    (r"residual is above [\d.e+-]+\d", "residual is above TINY"),
    (r"(residuals?[a-z ]*|gap|KKT residual|gradient|duality gap) <= [\d.e+-]+", r"\1 <= TINY"),
    (r"bias [+-][\d.]+e-1\d", "bias TINY"),
    (r"(?<=: )[\d,]+ bytes", "BYTES"),
    (r"[\d,]+ bytes$", "BYTES"),
    (r"[\d,]+ bytes, written by .*", "BYTES, written by VERSIONS"),
    (r"[\d.e-]+ s +RMSECV", "SECONDS  RMSECV"),
    (r"\btime +measure$", "time  measure"),
    (r"\b\d+ (coordinate )?steps", r"N \1steps"),
    (r"\b\d+ products", "N products"),
    (r"[\d.]+ in parts", "SOME in parts"),
)
#: Facts that differ from run to run or from machine to machine.
UNSTEADY = {"seconds", "residuals", "bytes", "versions", "bias", "steps", "kkt_residual", "duality_gap", "arrays"}


def masked(text):
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text, flags=re.MULTILINE)
    return re.sub(r" +$", "", text, flags=re.MULTILINE)


def steady(value):
    """Facts with numbers rounded, and without those that may differ."""
    if isinstance(value, dict):
        return {key: "..." if key in UNSTEADY else steady(part) for key, part in value.items()}
    if isinstance(value, list):
        return [steady(part) for part in value]
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) > 1e-9 else 0.0
    return value


@pytest.fixture
def all_tables(tables):
    shutil.copy(MEATS, tables / "meats.csv")


@pytest.mark.slow
@pytest.mark.parametrize("form", ["txt", "json"])
@pytest.mark.parametrize("name", COMMANDS)
def test_output_is_as_it_was(gramian, all_tables, name, form):
    *before, last = COMMANDS[name]
    for command in before:
        assert gramian(*command.split())[0] == 0
    code, out, err = gramian(*last.split(), *(["--json"] if form == "json" else []))
    assert (code, err) == (0, "")
    found = json.dumps(steady(json.loads(out)), indent=1) + "\n" if form == "json" else masked(out)
    path = GOLDEN / f"{name}.{form}"
    if os.environ.get("GRAMIAN_GOLDEN") == "write":
        path.write_text(found)
    assert found == path.read_text()
