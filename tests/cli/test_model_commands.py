"""``gramian transform``, ``inverse``, ``predict``, ``score`` and ``inspect``: what one does with a model file."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from gramian import PCA, KernelPCA, PLSRegression, models
from gramian.tables import read_table, write_scores


@pytest.fixture
def fitted(gramian, tables):
    """A model of wines, its scores beside it."""
    assert gramian("fit", "wine.csv", "-k", "3", "--scale", "-o", "s.csv", "--model", "m.st", "-q") == (0, "", "")
    return tables


def test_transform_gives_the_scores_of_the_fit_with_the_labels(gramian, fitted):
    code, out, err = gramian("transform", "m.st", "wine.csv", "-o", "t.csv")
    assert (code, err) == (0, "")
    assert (fitted / "t.csv").read_text() == (fitted / "s.csv").read_text()
    assert out == (
        "PCA     m.st\n"
        "table   wine.csv: 178 rows, 13 numeric columns\n"
        "scores  t.csv: 178 rows, columns cultivar, PC1, PC2, PC3\n"
    )


def test_without_a_file_results_go_to_standard_output(gramian, fitted):
    code, out, err = gramian("transform", "m.st", "wine.csv")
    assert code == 0
    assert out == (fitted / "s.csv").read_text()
    assert "scores  standard output: 178 rows" in err
    assert gramian("transform", "m.st", "wine.csv", "-q")[2] == ""


def test_columns_are_found_by_name(gramian, fitted):
    wine = read_table("wine.csv")
    order = np.random.default_rng(0).permutation(13)
    write_scores("mixed.csv", wine.values[:, order], [wine.columns[at] for at in order], {"note": ["x"] * 178})
    code, _, err = gramian("transform", "m.st", "mixed.csv", "-o", "t.csv", "-q")
    assert (code, err) == (0, "note: columns of mixed.csv were put in the order of m.st.\n")
    np.testing.assert_array_equal(read_table("t.csv").values, read_table("s.csv").values)
    assert read_table("t.csv").labels == {"note": ["x"] * 178}


def test_columns_that_are_not_there_are_named(gramian, fitted):
    wine = read_table("wine.csv")
    write_scores("few.csv", wine.values[:, 2:], wine.columns[2:])
    code, out, err = gramian("transform", "m.st", "few.csv")
    assert (code, out) == (1, "")
    assert err == "error: few.csv lacks 'alcohol', 'malic_acid' of the 13 columns of m.st.\n"
    code, _, err = gramian("transform", "m.st", "flowers.csv")
    assert err == (
        "error: flowers.csv lacks 'alcohol', 'malic_acid', 'ash', 'alcalinity_of_ash', 'magnesium' and 8 more of the "
        "13 columns of m.st.\n"
    )


def test_missing_values_are_refused_with_their_place(gramian, fitted):
    lines = (fitted / "wine.csv").read_text().splitlines()
    cells = lines[3].split(",")
    lines[3] = ",".join([cells[0], "", *cells[2:]])
    (fitted / "gap.csv").write_text("\n".join(lines) + "\n")
    code, out, err = gramian("transform", "m.st", "gap.csv", "-o", "t.csv")
    assert (code, out) == (1, "")
    assert err.startswith("error: gap.csv: line 4, column 'alcohol': the value is missing (1 such")
    assert not (fitted / "t.csv").exists()


def test_a_model_from_python_knows_no_names_and_takes_columns_as_they_stand(gramian, fitted):
    models.save(PCA(2).fit(read_table("iris.csv").values), "p.st")
    assert gramian("transform", "p.st", "iris.csv", "-o", "t.csv", "-q") == (0, "", "")
    np.testing.assert_allclose(
        read_table("t.csv").values, PCA(2).fit_transform(read_table("iris.csv").values), rtol=0, atol=1e-12
    )
    code, _, err = gramian("transform", "p.st", "wine.csv")
    assert (code, err) == (1, "error: wine.csv has 13 numeric columns; p.st takes 4 and does not know their names.\n")


def test_inverse_leads_back(gramian, fitted):
    assert gramian("inverse", "m.st", "s.csv", "-o", "i.csv", "-q") == (0, "", "")
    wine, back = read_table("wine.csv"), read_table("i.csv")
    assert back.columns == wine.columns
    assert back.labels == wine.labels
    pca = PCA(3, scale=True).fit(wine.values)
    np.testing.assert_allclose(back.values, pca.inverse_transform(pca.transform(wine.values)), rtol=1e-10)


def test_inverse_of_a_scaled_pipeline_is_in_the_units_of_the_table(gramian, fitted):
    options = ["--method", "kernel-pca", "--preimage", "auto", "--scale", "-k", "5", "--kernel", "rbf(sigma=6)"]
    gramian("fit", "wine.csv", *options, "-o", "s.csv", "--model", "k.st", "-q")
    assert gramian("inverse", "k.st", "s.csv", "-o", "i.csv", "-q") == (0, "", "")
    wine, back = read_table("wine.csv").values, read_table("i.csv").values
    assert np.corrcoef(wine[:, -1], back[:, -1])[0, 1] > 0.9
    assert 0.5 < back[:, -1].mean() / wine[:, -1].mean() < 2


def test_what_a_model_cannot_do_is_said(gramian, fitted):
    code, _, err = gramian("predict", "m.st", "wine.csv")
    assert (code, err) == (
        2,
        "error: m.st holds PCA, for which there is no predict; there is gramian transform and gramian inverse.\n",
    )
    gramian("fit", "iris.csv", "--method", "kernel-pca", "--model", "k.st", "-q")
    code, _, err = gramian("score", "k.st", "iris.csv")
    assert (code, err) == (
        2,
        "error: k.st holds KernelPCA, which has no measure of its own. Compare its scores instead.\n",
    )


def test_predictions_are_those_of_python(gramian, tables):
    options = ["--method", "pls", "--target", "progression,bmi", "-k", "3"]
    gramian("fit", "diabetes.csv", *options, "--model", "m.st", "-q")
    assert gramian("predict", "m.st", "diabetes.csv", "-o", "p.csv", "-q") == (0, "", "")
    table, found = read_table("diabetes.csv"), read_table("p.csv")
    assert found.columns == ("predicted_progression", "predicted_bmi")
    places = [table.columns.index(name) for name in ("progression", "bmi")]
    X, Y = np.delete(table.values, places, axis=1), table.values[:, places]
    np.testing.assert_allclose(found.values, PLSRegression(3).fit(X, Y).predict(X), rtol=1e-9)


FIGURES = {
    "pls": (
        "diabetes.csv",
        ["--method", "pls", "--target", "progression"],
        r"progression +n = 442   RMSEC 54   bias .*",
        "targets",
    ),
    "svm": (
        "iris.csv",
        ["--method", "kernel-svm", "--label", "species"],
        r"accuracy +0\.9533: 143 of 150 rows of the fit",
        "accuracy",
    ),
    "density": (
        "iris.csv",
        ["--method", "probabilistic-pca"],
        r"log-likelihood +-2\.69975 for a row, -404\.963 in all",
        "log_likelihood_per_row",
    ),
    "pca": ("iris.csv", ["-k", "2"], r"reconstruction +mean squared distance 0\.101\d+", "reconstruction_error"),
    "kmeans": ("iris.csv", ["--method", "kernel-kmeans", "-k", "3"], r"inertia +9\.44488", "inertia"),
    "cca": (
        "linnerud.csv",
        ["--method", "cca", "--y-columns", "Weight:Pulse"],
        r"correlations +0\.7956, 0\.2006, 0\.0726",
        "correlations",
    ),
}


@pytest.mark.parametrize(("table", "options", "line", "key"), FIGURES.values(), ids=FIGURES)
def test_score_gives_the_figure_that_suits_the_model(gramian, tables, table, options, line, key):
    assert gramian("fit", table, *options, "--model", "m.st", "-q")[0] == 0
    code, out, err = gramian("score", "m.st", table)
    assert (code, err) == (0, "")
    assert re.search(f"^{line}$", out, flags=re.MULTILINE), out
    code, out, _ = gramian("score", "m.st", table, "--json")
    facts = json.loads(out)
    assert code == 0
    assert (facts["source"], facts["n"]) == (table, len(read_table(table).values))
    assert key in facts


def test_score_counts_what_was_taken_for_what(gramian, tables):
    gramian("fit", "iris.csv", "--method", "kernel-knn", "--label", "species", "--model", "m.st", "-q")
    facts = json.loads(gramian("score", "m.st", "iris.csv", "--json")[1])
    assert facts["classes"] == ["setosa", "versicolor", "virginica"]
    counts = np.array(facts["confusion"])
    assert counts.sum(axis=1).tolist() == [50, 50, 50]
    assert facts["accuracy"] == pytest.approx(np.trace(counts) / 150)
    model, table = models.load("m.st"), read_table("iris.csv")
    del model.feature_names_in_
    assert facts["accuracy"] == model.score(table.values, np.array(table.labels["species"]))


def test_transform_of_two_views_needs_only_the_first(gramian, tables):
    men = read_table("linnerud.csv")
    options = ["--method", "cca", "--y-columns", "Weight:Pulse", "-k", "2"]
    gramian("fit", "linnerud.csv", *options, "-o", "both.csv", "--model", "m.st", "-q")
    write_scores("x.csv", men.values[:, :3], men.columns[:3])
    write_scores("y.csv", men.values[:, 3:], men.columns[3:])
    code, _, err = gramian("transform", "m.st", "x.csv", "-o", "t.csv", "-q")
    assert code == 0
    assert err.startswith("note: x.csv has no second view (Weight, Waist, Pulse")
    np.testing.assert_array_equal(read_table("t.csv").values, read_table("both.csv").values[:, :2])
    assert gramian("transform", "m.st", "x.csv", "--y-table", "y.csv", "-o", "t.csv", "-q") == (0, "", "")
    np.testing.assert_array_equal(read_table("t.csv").values, read_table("both.csv").values)


def test_inspect_says_what_is_in_a_file(gramian, fitted):
    code, out, err = gramian("inspect", "m.st")
    assert (code, err) == (0, "")
    assert out.startswith(
        "PCA         m.st\nparameters  center=True, missing=None, n_components=3, random_state=None, "
    )
    assert "columns     13: alcohol, malic_acid, ..., proline\n" in out
    assert "\n\nPCA        178 x 13   3 components   66.5 % of variance\n" in out
    facts = json.loads(gramian("inspect", "m.st", "--json")[1])
    assert facts["estimator"] == "PCA"
    assert facts["parameters"]["scale"] is True
    assert facts["columns"] == list(read_table("wine.csv").columns)
    assert set(facts["versions"]) == {"gramian", "numpy", "scikit-learn"}
    assert facts["bytes"] == (fitted / "m.st").stat().st_size


def test_a_pipeline_is_one_file(gramian, fitted):
    options = ["--method", "kernel-pca", "--kernel", "rbf(sigma=2)", "--scale"]
    assert gramian("fit", "wine.csv", *options, "--model", "k.st", "-q") == (0, "", "")
    code, out, _ = gramian("inspect", "k.st")
    assert code == 0
    assert out.startswith("KernelPCA   k.st\n")
    assert "first       columns are divided by their standard deviations\n" in out
    steps = [type(step) for _, step in models.load("k.st").steps]
    assert steps[-1] is KernelPCA


@pytest.mark.parametrize("command", ["transform", "inverse", "predict"])
def test_outputs_are_not_inputs(gramian, fitted, command):
    for path in ("m.st", "wine.csv"):
        before = (fitted / path).read_bytes()
        code, out, err = gramian(command, "m.st", "wine.csv", "-o", path)
        assert (code, out) == (2, "")
        assert err == f"error: --output {path} is a file that is read. Choose another name.\n"
        assert (fitted / path).read_bytes() == before


def test_json_of_transform(gramian, fitted):
    facts = json.loads(gramian("transform", "m.st", "wine.csv", "-o", "t.csv", "--json")[1])
    assert facts == {
        "estimator": "PCA",
        "model": "m.st",
        "source": "wine.csv",
        "n": 178,
        "columns": ["cultivar", "PC1", "PC2", "PC3"],
        "dropped": ["column 'cultivar' is text, kept as a label"],
        "files": ["t.csv"],
    }


def test_score_tells_rows_of_the_fit_from_new_ones(gramian, tables):
    gramian("demo", "-o", ".")
    lines = Path("diabetes.csv").read_text().splitlines()
    head, rows = lines[0], lines[1:]
    Path("fitted.csv").write_text("\n".join([head, *rows[:300]]))
    assert gramian("fit", "fitted.csv", "--method", "pls", "--target", "progression", "--model", "m.st")[0] == 0

    def scored(some, *more):
        Path("some.csv").write_text("\n".join([head, *some]))
        code, out, err = gramian("score", "m.st", "some.csv", *more)
        assert (code, err) == (0, "")
        return out

    for some in (rows[:300], rows[250:290], rows[299:100:-1], rows[7:9] * 3):
        out = scored(some)
        assert "all of the fit" in out
        assert "RMSEC" in out
        assert "RMSEP" not in out
    out = scored(rows[300:])
    assert "none has the values of a row of the fit" in out
    assert "RMSEP" in out
    assert "RMSEC" not in out
    out = scored(rows[290:330])
    assert "10 of 40 rows have the values of a row of the fit" in out
    assert "30 of 40 rows are new" in out
    assert "RMSEC" in out
    assert "RMSEP" in out
    facts = json.loads(scored(rows[290:330], "--json"))
    assert facts["rows"] == "mixed"
    assert [facts["parts"][name]["targets"]["progression"]["n"] for name in ("fit", "new")] == [10, 30]
    assert "RPD inf" not in scored(rows[299:301])


def test_rows_that_a_fit_dropped_are_dropped_again(gramian, here):
    """Scores of complete rows stand beside the number of their row, in fit and afterwards."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    lines = [",".join(map(str, row)) for row in X.round(6)]
    for row in (4, 17):
        lines[row] = "," + lines[row].partition(",")[2]
    (here / "g.csv").write_text("\n".join(["a,b,t", *lines]) + "\n")
    fit = ("fit", "g.csv", "--columns", "a,b", "--missing", "drop", "-q", "-k", "1", "--model", "g.st", "-o", "s.csv")
    assert gramian(*fit)[0] == 0
    assert "--missing drop" in gramian("transform", "g.st", "g.csv", "-o", "t.csv")[2]
    _, out, _ = gramian("transform", "g.st", "g.csv", "--missing", "drop", "-o", "t.csv")
    assert "2 of 30 rows were dropped: values are missing" in out
    assert (here / "s.csv").read_text() == (here / "t.csv").read_text()
    numbers = [int(line.split(",")[0]) for line in (here / "t.csv").read_text().splitlines()[1:]]
    assert numbers == [row + 1 for row in range(30) if row not in (4, 17)]
    assert "28 rows" in gramian("report", "g.st", "g.csv", "--missing", "drop", "-o", "g.html")[1]
    pls = ("fit", "g.csv", "--method", "pls", "--target", "t", "--missing", "drop", "-k", "1", "--model", "p.st", "-q")
    assert gramian(*pls)[0] == 0
    assert "n = 28   RMSEC" in gramian("score", "p.st", "g.csv", "--missing", "drop")[1]
    assert "Use --missing drop" in gramian("score", "p.st", "g.csv", "--missing", "em")[2]
    assert "into one table" in gramian("score", "p.st", "g.csv", "--missing", "drop", "--y-table", "g.csv")[2]


def _with_cell(folder, source, target, line, cell):
    """A copy of a table with another value in the second cell of a line, counted from 1."""
    lines = (folder / source).read_text().splitlines()
    cells = lines[line - 1].split(",")
    lines[line - 1] = ",".join([cells[0], cell, *cells[2:]])
    (folder / target).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(("cell", "what"), [("", "missing"), ("inf", "infinite"), ("n/a?", "text")])
def test_all_commands_name_the_line_of_the_file_and_only_remedies_that_they_have(gramian, fitted, cell, what):
    _with_cell(fitted, "wine.csv", "bad.csv", 9, cell)
    for command in (
        "fit bad.csv",
        "fit bad.csv --stream",
        "select bad.csv",
        "transform m.st bad.csv",
        "transform m.st bad.csv --stream",
        "score m.st bad.csv",
        "report m.st bad.csv",
    ):
        _, out, err = gramian(*command.split())
        assert "line 9" in err, (command, err)
        assert what == "text" or f"is {what}" in err or f"contains {'NaN' if cell == '' else 'infinity'}" in err, err
        refusals = [line for line in err.splitlines() if line.startswith("error")]
        if command.split()[1] == "m.st":
            assert refusals
            assert not re.search("choose other columns|--encode|--missing em|missing=|ProbabilisticPCA", refusals[0])
    _, out, _ = gramian("doctor", "bad.csv")
    assert ("in row 8" in out) == (what == "text")  # the header is no row, and the page says so
    assert ("are counted from 1, without the header" in out) == (what == "text")
    _with_cell(fitted, "s.csv", "gap.csv", 9, "")
    assert gramian("inverse", "m.st", "gap.csv")[2] == (
        "error: gap.csv: line 9, column 'PC1': the value is missing (1 such value in all). Fill them, or take those "
        "rows out.\n"
    )


def test_the_line_is_that_of_the_file_after_rows_were_dropped_and_blank_lines(gramian, fitted):
    text = (fitted / "wine.csv").read_text().splitlines()
    (fitted / "blank.csv").write_text("\n".join([*text[:4], "", *text[4:]]) + "\n")
    _with_cell(fitted, "blank.csv", "two.csv", 10, "")
    assert "line 10, column 'alcohol'" in gramian("transform", "m.st", "two.csv")[2]
    _with_cell(fitted, "two.csv", "two.csv", 12, "-inf")
    assert (
        "line 12, column 'alcohol': the value is infinite"
        in gramian("transform", "m.st", "two.csv", "--missing", "drop")[2]
    )


def test_a_warning_about_a_table_is_given_once_however_many_methods_read_it(gramian, tables):
    _with_cell(tables, "wine.csv", "bad.csv", 9, "n/a?")
    _, _, err = gramian("compare", "bad.csv", "--methods", "pca,ica,random-projection", "-k", "2")
    assert err.count("'n/a?' in line 9") == 1
