"""A report of every kind of estimator: well formed, complete, in plain words, whatever names the data have."""

import importlib.resources
import itertools
import json
import re
import sys
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go
import polars
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import gramian as g
from gramian.reports.contents import CHECK_GRADES, Grid
from gramian.reports.page import render, spec
from gramian.reports.subject import Subject
from gramian.reports.writing import page_of

from .conftest import IRIS, KINDS, MOONS, NASTY, SIDES, SPECIES, WINE


@lru_cache
def fitted(name):
    estimator, X, y, _ = KINDS[name]
    return estimator.fit(X) if y is None else estimator.fit(X, y)


def pictures(page):
    return [part for section in page.sections for part in section.parts if part.kind == "picture"]


def grids(page):
    own = [part for section in page.sections for part in section.parts if part.kind == "grid"]
    return own + [picture.grid for picture in pictures(page)]


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("rows", ["with rows", pytest.param("without", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (at % 4 > 0)) for at, name in enumerate(KINDS)]
)
def test_every_kind_of_estimator_has_a_sound_report(name, rows, read_page):
    _, X, y, wanted = KINDS[name]
    page = page_of(Subject(fitted(name), X, y) if rows == "with rows" else Subject(fitted(name)))
    text = render(page)
    found = read_page(text.replace(_plotly(text), ""))

    titles = [section.title for section in page.sections]
    assert titles[0] == "What was done"
    assert titles[-1] == "Code"
    assert {check.grade for check in page.checks} <= set(CHECK_GRADES)
    if rows == "with rows":
        assert wanted <= {picture.title for picture in pictures(page)}
    check_pictures(page)
    check_tables(page)

    words = " ".join(found.words)
    assert not re.search(r"\b(nan|inf|None)\b|<built-in|object at 0x|\bnp\.", words), words
    ids = [have["id"] for _, have in found.elements if "id" in have]
    assert len(ids) == len(set(ids))
    for plot in found.all("div", role="img"):
        assert plot["aria-labelledby"] in ids
    assert len(found.all("div", role="img")) == len(pictures(page)) == len(found.all("script", type="application/json"))
    levels = [int(tag[1]) for tag, _ in found.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def _plotly(text):
    """The longest script, which is plotly's and no HTML."""
    return max(re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL), key=len)


def check_pictures(page):
    """Plotly knows every word of every picture, and each says what it shows."""
    for picture in pictures(page):
        drawn = json.loads(re.sub(r"var\(--[a-z]+\)", "#123456", spec(picture.figure)))
        go.Figure({"data": drawn["data"], "layout": drawn["layout"]})  # raises for a word or a value it does not know
        go.Figure({"data": [], "layout": drawn.get("narrow", {})})
        assert len(picture.says) > 0
        assert all(sentence.endswith(".") and sentence[0] == sentence[0].upper() for sentence in picture.says)
        assert len(picture.grid.rows) > 0


def check_tables(page):
    """Tables are rectangular, and no two have one name."""
    for grid in grids(page):
        assert {len(row) for row in grid.rows} == {len(grid.columns)}, grid.title
    titles = [grid.title for grid in grids(page)]
    assert len(titles) == len(set(titles)), titles


def test_a_biplot_names_rows_where_they_are_and_draws_an_ellipse_for_each_group():
    X = IRIS.data.iloc[::3]
    names, kinds = [f"flower {at}" for at in range(len(X))], SPECIES[::3]
    page = page_of(Subject(g.PCA(3, scale=True).fit(X), X, None, kinds, names))
    plane = next(picture for picture in pictures(page) if picture.title == "Rows and columns")
    scores = dict(zip(names, g.PCA(3, scale=True).fit_transform(X)[:, :2], strict=True))
    written = {note["text"]: (note["x"], note["y"]) for note in plane.figure.layout["annotations"] if note["text"]}
    assert set(IRIS.data.columns) <= set(written)
    shown = [name for name in names if name in written]
    assert len(shown) > 5
    for name in shown:
        np.testing.assert_allclose(written[name], scores[name], rtol=1e-6)
    assert len([trace for trace in plane.figure.data if trace["mode"] == "lines"]) == 3
    (groups,) = [grid for grid in grids(page) if grid.title == "Groups along the components"]
    assert [row[:2] for row in groups.rows] == [[name, 17 - (name == "virginica")] for name in sorted(set(kinds))]
    assert groups.columns[2:4] == ["mean of PC1", "v-test of PC1"]
    np.testing.assert_allclose(sum(row[1] * row[2] for row in groups.rows), 0, atol=1e-10)


def test_a_csv_file_has_every_digit_and_nothing_where_nothing_is():
    import base64

    grid = Grid("A table", ["name", "value"], [["a,b", 1 / 3], ["c", float("nan")], ["d", np.float64(2.5)]])
    text = base64.b64decode(grid.address.partition("base64,")[2]).decode()
    assert text.split("\r\n") == ["name,value", '"a,b",0.3333333333333333', "c,", "d,2.5", ""]
    assert grid.file == "a-table.csv"
    assert grid.cells == [["a,b", "0.333"], ["c", "–"], ["d", "2.500"]]


@pytest.mark.parametrize("make", [lambda: g.PCA(2), lambda: g.KernelSVC()], ids=["PCA", "KernelSVC"])
def test_names_cannot_become_markup_or_programs(make, read_page):
    labels = np.array(["</script><script>alert(2)</script>", "<b>bold</b> & %{x}"])[np.arange(len(NASTY)) % 2]
    page = page_of(Subject(make().fit(NASTY, labels), NASTY, labels, None, list(NASTY.index)), "<script>title</script>")
    text = render(page)
    plain = text.replace(_plotly(text), "")
    found = read_page(plain)
    assert len(re.findall("<script", plain)) == 2 + len(pictures(page))
    assert not found.all("img")
    assert not found.all("b")
    assert "<script>title</script>" in found.words
    for script in found.scripts[: len(pictures(page))]:
        assert "<" not in script
        json.loads(script)
    for picture in pictures(page):
        shown = json.loads(spec(picture.figure))
        assert "<script" not in json.dumps(shown)
        assert "<img" not in json.dumps(shown)


@pytest.mark.slow
def test_the_digits_fit_into_seven_megabytes(tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    g.report(g.PCA(10).fit(X), tmp_path / "digits.html", X, y)
    assert (tmp_path / "digits.html").stat().st_size < 7_000_000


def test_nothing_is_fetched_from_anywhere(tmp_path):
    g.report(g.PCA(2).fit(WINE), tmp_path / "wine.html", WINE)
    text = (tmp_path / "wine.html").read_text(encoding="utf-8")
    rest = text.replace(_plotly(text), "")
    assert not re.search(r"""(src|href)=["']?(https?:)?//|@import|url\(""", rest)


@pytest.mark.slow
def test_many_rows_are_counted_in_cells():
    X = np.random.default_rng(0).standard_normal((30_000, 3)) * [3, 2, 1]
    page = page_of(Subject(g.PCA(2).fit(X), X))
    scores = next(picture for picture in pictures(page) if picture.title == "Rows and columns")
    assert scores.figure.layout["images"][0]["source"].startswith("data:image/png")
    assert list(scores.grid.rows[0][:2]) == ["all rows", pytest.approx(30_000, rel=0.02)]
    assert len(render(page)) < 6_500_000


def test_rows_that_are_not_those_of_the_fit_are_taken_for_new_ones():
    model = g.PLSRegression(2).fit(IRIS.data.iloc[:100, :3], IRIS.data.iloc[:100, 3])
    page = page_of(Subject(model, IRIS.data.iloc[100:, :3], IRIS.data.iloc[100:, 3]))
    assert any("The 50 rows of this report are new." in check.text for check in page.checks)
    titles = {picture.title for picture in pictures(page)}
    assert "New rows" in titles
    assert not any(title.startswith("Cross-validation") for title in titles)
    for start, said, title in ((90, "are partly among them", "Rows of the fit and new rows"), (0, "are among", "Rows")):
        rows = IRIS.data.iloc[start : start + 50]
        page = page_of(Subject(model, rows.iloc[:, :3], rows.iloc[:, 3]))
        assert any(f"The 50 rows of this report {said}" in check.text for check in page.checks)
        assert any(picture.title.startswith(title) for picture in pictures(page))
        assert not any(picture.title == "New rows" for picture in pictures(page))


def test_checks_say_what_is_wrong_first():
    X = IRIS.data.assign(flat=3.0)
    grades = [check.grade for check in page_of(Subject(g.PCA(2).fit(X), X)).checks]
    assert grades == sorted(grades, key=CHECK_GRADES.index)
    assert grades[0] == "warning"


def test_classes_are_judged_on_rows_left_out():
    labels = np.random.default_rng(0).choice(["heads", "tails"], len(MOONS))
    told = {}
    for name, y in (("sides", SIDES), ("coins", labels)):
        page = page_of(Subject(g.KernelKNNClassifier(1).fit(MOONS, y), MOONS, y))
        told[name] = next(check for check in page.checks if "cross-validation" in check.text.lower())
        assert "Cross-validation in five folds" in [grid.title for grid in grids(page)]
    assert told["sides"].grade == "good"
    assert told["coins"].grade == "warning"


@pytest.mark.slow
def test_the_program_of_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = page_of(Subject(g.KernelSVC(3, kernel=g.kernels.RBF(sigma=2.0)).fit(MOONS, SIDES), MOONS, SIDES))
    exec(page.sections[-1].parts[0].text, {"X": MOONS, "y": SIDES})
    assert (tmp_path / "report.html").stat().st_size > 1_000_000


def test_arrays_may_follow_a_fit_to_a_data_frame():
    page = page_of(Subject(g.PCA(2).fit(WINE), WINE.to_numpy()))
    said = " ".join(sentence for picture in pictures(page) for sentence in picture.says)
    assert "alcohol" in said or "proline" in said


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sparse", "polars", "list", "float32"])
def test_rows_may_come_in_any_form(kind, tmp_path):
    rows = IRIS.data.to_numpy()
    forms = {
        "sparse": lambda: sp.csr_array(np.where(rows > 2, rows, 0.0)),
        "polars": lambda: polars.DataFrame(rows, schema=["a", "b", "c", "d"]),
        "list": rows.tolist,
        "float32": lambda: rows.astype(np.float32),
    }
    X = forms[kind]()
    g.report(g.PCA(2).fit(X), tmp_path / "r.html", X, SPECIES.tolist())
    assert "versicolor" in (tmp_path / "r.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_would_take_long_is_left_out():
    X = np.random.default_rng(0).standard_normal((2_100, 3))
    page = page_of(Subject(g.KernelRidge(0.1).fit(X, X[:, 0]), X, X[:, 0]))
    assert "How large a ridge" not in [section.title for section in page.sections]
    assert "Cross-validation" not in {picture.title for picture in pictures(page)}
    assert "Rows of the fit" in {picture.title for picture in pictures(page)}


def test_what_is_no_fit_is_refused(tmp_path):
    from sklearn.decomposition import PCA as Other

    with pytest.raises(NotFittedError):
        g.report(g.PCA(2), tmp_path / "r.html")
    with pytest.raises(TypeError, match="report does not know PCA"):
        g.report(Other(2).fit(IRIS.data), tmp_path / "r.html")
    with pytest.raises(FileNotFoundError):
        g.report(g.PCA(2).fit(IRIS.data), tmp_path / "none" / "r.html")
    with pytest.raises(ValueError, match="names has 3 entries"):
        g.report(g.PCA(2).fit(IRIS.data), tmp_path / "r.html", IRIS.data, names=["a", "b", "c"])
    with pytest.raises(ValueError, match="y has 3 entries"):
        g.report(g.KernelSVC().fit(IRIS.data, SPECIES), tmp_path / "r.html", IRIS.data, SPECIES[:3])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    with pytest.raises(ModuleNotFoundError, match=r"needs plotly.*gramian\[report\]"):
        g.report(g.PCA(2).fit(IRIS.data), tmp_path / "r.html")
    assert list(tmp_path.iterdir()) == []


def test_templates_are_in_the_package():
    names = {entry.name for entry in (importlib.resources.files("gramian.reports") / "templates").iterdir()}
    assert {"page.html.jinja", "parts.html.jinja", "style.css", "script.js"} <= names


@pytest.mark.parametrize("fault", [TypeError, ValueError])
@pytest.mark.parametrize("chart", ["scree", "loadings", "biplot", "outliers", "residuals"])
def test_a_fault_inside_a_chart_is_not_hidden(chart, fault, monkeypatch):
    def broken(*args, **kwargs):
        raise fault("a mistake in the chart")

    monkeypatch.setattr(g.charts, chart, broken)
    with pytest.raises(fault, match="a mistake in the chart"):
        page_of(Subject(fitted("PCA"), WINE))


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("X", [IRIS.data[:3], sp.csr_matrix(MOONS)], ids=["few", "sparse"])
@pytest.mark.parametrize("estimator", [g.PCA(1), g.KernelPCA(1, kernel="rbf(sigma=1)")], ids=str)
def test_rows_that_give_few_charts_have_a_report(estimator, X):
    titles = [section.title for section in page_of(Subject(clone(estimator).fit(X), X)).sections]
    assert titles[0] == "What was done"
    assert "Diagnostics" in titles
