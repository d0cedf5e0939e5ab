"""``gramian doctor``: tables that no other command would take, findings for people and machines."""

import json

import numpy as np
import pytest

from gramian.tables import write_scores


@pytest.fixture
def sick(here, rng):
    """A table with a gap, an infinity, text among numbers, a stand-in, a constant and a copy."""
    values = rng.standard_normal((100, 5)) * [1, 2, 3, 1, 1]
    values[:, 3] = 4.0
    values[:, 4] = values[:, 0]
    cells = values.round(6).astype(str)
    cells[3, 1], cells[7, 1], cells[5, 2] = "", "inf", "3.5 mg"
    cells[[10, 20, 30], 0] = "-999"
    cells[[10, 20, 30], 4] = "-999"
    rows = [",".join([*row, f"k{at % 2}"]) for at, row in enumerate(cells)]
    (here / "sick.csv").write_text("\n".join(["a,b,c,d,e,kind", *rows]))
    return here


def test_findings_are_named_by_column(gramian, sick):
    code, out, err = gramian("doctor", "sick.csv", "--json")
    assert (code, err) == (0, "")
    facts = json.loads(out)
    found = {finding["code"]: finding for finding in facts["findings"]}
    assert set(found) == {
        "text_in_numbers",
        "missing_values",
        "infinite_values",
        "sentinel_value",
        "constant_column",
        "duplicate_columns",
    }
    assert found["text_in_numbers"]["columns"] == ["c"]
    assert found["infinite_values"]["rows"] == [8]  # as the text counts them
    assert found["sentinel_value"]["columns"] == ["a", "e"]
    assert any("kind" in remark for remark in facts["dropped"])


def test_text_says_the_same(gramian, sick):
    code, out, err = gramian("doctor", "sick.csv", "--columns", "b,d")
    assert (code, err) == (0, "")
    assert "Diagnosis  100 x 2   2 errors, 1 warning" in out
    assert "error      1 column misses values: 'b' (1 of 100)." in out


def test_a_sound_table_has_nothing_to_report(gramian, here):
    code, out, _ = gramian("doctor", "flowers.csv", "--kernel", "rbf", "--label", "kind")
    assert code == 0
    assert "nothing to report" in out
    assert "kernel     rbf(gamma=" in out


def test_targets_and_labels_are_looked_at(gramian, here):
    values = np.random.default_rng(0).standard_normal((60, 3))
    values[:, 2] = 3 * values[:, 0] + 1
    write_scores("leak.csv", values, list("abc"), {"kind": ["k"] * 60})
    found = json.loads(gramian("doctor", "leak.csv", "--target", "c", "--json")[1])["findings"]
    assert [(f["code"], f["columns"]) for f in found] == [("target_leak", ["a"])]
    found = json.loads(gramian("doctor", "leak.csv", "--columns", "a,b", "--label", "kind", "--json")[1])["findings"]
    assert [f["code"] for f in found] == ["constant_target"]


BAD = {
    "no file": (["doctor", "none.csv"], 1, "none.csv: there is no such file"),
    "no column": (["doctor", "flowers.csv", "--columns", "a,z"], 1, "there is no column 'z'"),
    "no target": (["doctor", "flowers.csv", "--target", "z"], 1, "there is no column 'z'"),
    "no label": (["doctor", "flowers.csv", "--label", "z"], 1, "there is no column 'z'"),
    "nothing left": (["doctor", "flowers.csv", "--columns", "a", "--target", "a"], 1, "no column is left"),
    "no kernel": (["doctor", "flowers.csv", "--kernel", "rbff"], 2, "Did you mean 'rbf'?"),
    "not square": (["doctor", "flowers.csv", "--kernel", "precomputed"], 1, "square"),
    "no size": (["doctor", "flowers.csv", "--memory", "big"], 2, "--memory big is not a size"),
    "no table": (["doctor"], 2, "Missing argument"),
}


@pytest.mark.parametrize(("arguments", "code", "complaint"), BAD.values(), ids=BAD)
def test_bad_input_is_one_line(gramian, arguments, code, complaint):
    found, out, err = gramian(*arguments)
    assert (found, out) == (code, "")
    (line,) = err.splitlines()
    assert line.startswith("error: ")
    assert complaint in line
