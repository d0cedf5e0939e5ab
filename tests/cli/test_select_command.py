"""``gramian select``: the table of criteria, for people and machines, and the Python code that gives the same."""

import json
import re

import pytest

from gramian.selection import how_many, select_kernel
from gramian.tables import read_table, read_views

CASES = {
    "pca": (["wine.csv", "--scale"], lambda: how_many(read_table("wine.csv").values, scale=True)),
    "factors": (
        ["wine.csv", "--method", "factor-analysis"],
        lambda: how_many(read_table("wine.csv").values, "factor-analysis"),
    ),
    "kernel": (
        ["wine.csv", "--method", "kernel-pca", "--kernel", "rbf(sigma=300)", "--seed", "3"],
        lambda: how_many(read_table("wine.csv").values, "kernel-pca", kernel="rbf(sigma=300)", random_state=3),
    ),
    "pls": (
        ["diabetes.csv", "--method", "pls", "--target", "progression"],
        lambda: how_many(
            read_views("diabetes.csv", y_columns=["progression"])[0].values,
            "pls",
            y=read_table("diabetes.csv", ["progression"]).values[:, 0],
        ),
    ),
    "pairs with a ridge": (
        ["linnerud.csv", "--method", "cca", "--y-columns", "Weight:Pulse", "--ridge", "0.1,2"],
        lambda: how_many(
            read_table("linnerud.csv", ["Chins:Jumps"]).values,
            "cca",
            y=read_table("linnerud.csv", ["Weight:Pulse"]).values,
            ridge=(0.1, 2.0),
        ),
    ),
    "ridge": (
        ["flowers.csv", "--method", "kernel-ridge", "--target", "a"],
        lambda: select_kernel(
            read_table("flowers.csv", ["b", "c", "d"]).values,
            read_table("flowers.csv", ["a"]).values[:, 0],
            estimator="kernel-ridge",
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_says_what_the_library_says(gramian, tables, name):
    arguments, answer = CASES[name]
    code, out, err = gramian("select", *arguments, "--quiet")
    assert (code, err) == (0, "")
    assert out.strip() == str(answer()).strip()
    facts = json.loads(gramian("select", *arguments, "--json")[1])
    expected = json.loads(json.dumps(answer().to_dict()))
    assert {key: facts[key] for key in expected if key != "method"} == {
        key: value for key, value in expected.items() if key != "method"
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_code_it_prints_gives_the_same(gramian, tables, name, capsys):
    arguments, answer = CASES[name]
    facts = json.loads(gramian("select", *arguments, "--json")[1])
    exec(compile(facts["python"], "shown", "exec"), {"__name__": "shown"})
    assert capsys.readouterr().out.strip() == str(answer()).strip()


NOUNS = {"factor-analysis": "factor", "cca": "pair"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        ["wine.csv", "--scale"],
        ["wine.csv", "--method", "factor-analysis"],
        ["wine.csv", "--method", "probabilistic-pca", "--scale"],
        ["wine.csv", "--method", "kernel-pca", "--kernel", "rbf(sigma=300)"],
        ["linnerud.csv", "--method", "cca", "--y-columns", "Weight,Waist,Pulse"],
    ],
    ids=lambda options: options[2] if "--method" in options else "pca",
)
def test_fit_takes_what_select_decides(gramian, tables, options):
    selected = json.loads(gramian("select", *options, "--json")[1])
    fitted = json.loads(gramian("fit", *options, "-k", "auto", "--json")[1])
    assert fitted["n_components"] == max(selected["recommended"], 1)
    assert fitted["chosen_by"] == selected["decided_by"]
    k, noun = fitted["n_components"], NOUNS.get(options[-1 if len(options) < 3 else 2], "component")
    assert fitted["chosen"] == f"{k} {noun}{'s' * (k > 1)}, by {selected['decided_by']}"
    code, out, _ = gramian("fit", *options, "-k", "auto")
    assert code == 0
    fewest = "" if selected["recommended"] else "1, the fewest that can be fitted; "
    assert re.search(rf"^chosen +{fewest}{selected['recommended']} by {selected['decided_by']} \(", out, re.MULTILINE)
