"""Every program that the command line prints or a report holds: it runs, and gives the same numbers and page."""

import dataclasses
import html
import json
import re
import shlex
import warnings

import numpy as np
import pytest

from gramian import config, load
from gramian.registry import METHODS
from gramian.reports.subject import Subject
from gramian.tables import read_table

N = 24
#: What a method needs beside the table.
NEEDS = {"": "", "target": "--target t", "view": "--y-columns t,u", "label": "--label kind"}
#: Options of one method each: method, options of ``fit``, options of ``report``.
OPTIONS = {
    "columns": ("pca", "t.csv -k 2 --columns b:d", "t.csv"),
    "columns in another order": ("pca", "t.csv -k 2 --columns d,b,a --whiten", "t.csv"),
    "ids and colour": ("pca", "t.csv -k 2 --ids id", "t.csv --ids id --label kind"),
    "colour by numbers": ("pca", "t.csv -k 2 --columns a:d", "t.csv --label level"),
    "a title": ("pca", "t.csv -k 2", "t.csv --title 'It is \"here\"'"),
    "gaps under the model": ("pca", "gaps.csv -k 2 --missing em --scale", "gaps.csv"),
    "gaps of a regression": ("pls", "gaps.csv --target t --missing em", "gaps.csv --label kind"),
    "gaps of pairs": ("cca", "gaps.csv --y-columns t,u --missing em", "gaps.csv"),
    "gaps of factors": ("factor-analysis", "gaps.csv -k 1 --missing em --rotation varimax", "gaps.csv"),
    "a share of variance": ("pca", "t.csv -k 0.8 --solver power --seed 3", "t.csv"),
    "as many as stand out": ("pls", "t.csv --target t -k auto --no-scale", "t.csv"),
    "two targets": ("pls", "t.csv --target t,u", "t.csv"),
    "targets of another file": (
        "pcr",
        "t.csv --y-table y.csv --target p --ids id -k 2",
        "t.csv --y-table y.csv --ids id",
    ),
    "a view of another file": ("cca", "t.csv --y-table y.csv --ridge 0.1,0.2", "t.csv --y-table y.csv --label kind"),
    "supplementary columns": ("pca", "t.csv -k 2 --columns a:d", "t.csv --ids id --supplementary t:u,kind,level"),
    "supplementary rows": ("pca", "t.csv -k 2 --columns a:d", "t.csv --supplementary new.csv"),
    "test rows": ("pls", "t.csv --columns a:d --target t -k 2", "t.csv --test new.csv"),
    "test rows with labels": ("kernel-svm", "t.csv --columns a:d --label kind", "t.csv --ids id --test new.csv"),
    "labels of another file": ("kernel-svm", "t.csv --y-table y.csv --label sort --C 2", "t.csv --y-table y.csv"),
    "categories and dates": ("pca", "t.csv -k 2 --encode kind --dates day --scale", "t.csv"),
    "sums of kernels": ("kernel-pca", "t.csv --kernel '2*rbf(sigma=3)[0:2] + linear**2' --preimage auto", "t.csv"),
    "kernels of two views": ("kernel-cca", "t.csv --y-columns t,u --kernel-y linear --ridge 0.1,0.3", "t.csv"),
    "landmarks": ("kernel-pca", "t.csv --kernel rbf(sigma=2) --landmarks 8 --scale", "t.csv"),
    "a scaled classifier": ("kernel-knn", "t.csv --label kind --scale -k 3", "t.csv --ids id"),
    "how a file is written": ("pca", "semi.csv -k 2 --read decimal=,", "semi.csv --read decimal=,"),
}
#: One for each thing that a program has to say; the others, and all methods with all options, take a minute.
QUICK = (
    "columns in another order",
    "ids and colour",
    "gaps of a regression",
    "targets of another file",
    "supplementary columns",
    "supplementary rows",
    "test rows",
    "test rows with labels",
    "labels of another file",
    "categories and dates",
    "landmarks",
)


@pytest.fixture
def folder(here):
    """Tables of 24 rows: with gaps, with another separator, and a second one in another order."""
    rng = np.random.default_rng(5)
    X = np.round(rng.standard_normal((N, 6)) @ rng.standard_normal((6, 6)), 6)
    text = [
        [f"r{at}", "xyz"[at % 3], str(at % 2), f"2024-01-{at + 1:02d}", *map(str, row)]
        for at, row in enumerate(X.tolist())
    ]
    head = ["id", "kind", "level", "day", *"abcdtu"]
    _write(here / "t.csv", head, text)
    new = [[f"n{at}", *row[1:4], *map(str, 0.5 + X[at])] for at, row in enumerate(text[:9])]
    _write(here / "new.csv", head, new)
    gaps = [list(row) for row in text]
    gaps[3][4], gaps[7][6] = "", ""
    _write(here / "gaps.csv", [name for name in head if name != "level"], [row[:2] + row[3:] for row in gaps])
    comma = [[cell.replace(".", ",") for cell in row] for row in text]
    (here / "semi.csv").write_text("\n".join(";".join(row) for row in [head, *comma]))
    order = rng.permutation(N)
    extra = np.round(X[:, :2] + rng.standard_normal((N, 2)), 6)
    second = [[f"r{at}", "uv"[at % 2], *map(str, extra[at])] for at in order]
    _write(here / "y.csv", ["id", "sort", "p", "q"], second)
    return here


def _write(path, head, rows):
    path.write_text("\n".join(",".join(row) for row in [head, *rows]))


@pytest.fixture
def pages(monkeypatch):
    """Pages in place of files, for a page of HTML has 5 MB."""
    found = []

    def keep(page, path):
        found.append(page)
        return 0

    monkeypatch.setattr("gramian.reports.subject.DRAWS", 20)
    monkeypatch.setattr("gramian.reports.subject.FEW_DRAWS", 20)
    monkeypatch.setattr("gramian.reports.writing.write_page", keep)
    return found


def plain(value):
    """A page as lists and text, without seconds."""
    if dataclasses.is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, str):
        return re.sub(r"[\d.e-]+ (ms|s)\b", "some time", value)
    return None if isinstance(value, float) and value != value else value


def differences(first, second, at=""):
    """Places where two pages differ."""
    if isinstance(first, dict) and isinstance(second, dict) and first.keys() == second.keys():
        return [found for key in first for found in differences(first[key], second[key], f"{at}.{key}")]
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        return [found for place, pair in pairs for found in differences(*pair, f"{at}[{place}]")]
    return [] if first == second else [(at, first, second)]


def program_of(page):
    return html.unescape(page.sections[-1].parts[0].text)


def numbers(space):
    if "x_scores" in space:
        return np.hstack([space["x_scores"], space["y_scores"]])
    found = space.get("scores", space.get("distances", space.get("predictions")))
    return np.asarray(found).reshape(N, -1)


def run(text, space):
    with config(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the command said them already
        exec(text, space)


def check(gramian, pages, method, fit, report):
    """The printed code gives what was written; the program of the report gives the model and the page."""
    code, out, err = gramian("fit", *shlex.split(fit), "--method", method, "-o", "s.csv", "--model", "m.st", "--json")
    assert code == 0, err
    printed, space = {}, {}
    run(json.loads(out)["python"], printed)
    kept = read_table("s.csv", labels=[]) if METHODS[method].needs != "label" else None
    if kept is not None:
        names = [name for name in kept.columns if name not in ("level", "cluster")]
        values = kept.values[:, [kept.columns.index(name) for name in names]]
        np.testing.assert_allclose(numbers(printed), values, rtol=0, atol=1e-12 * np.abs(values).max())
    code, out, err = gramian("report", "m.st", *shlex.split(report), "-q")
    assert (code, out) == (0, ""), err
    run(program_of(pages[0]), space)
    assert len(pages) == 2
    first, second = map(plain, pages)
    assert differences(first, second) == []
    model, again = load("m.st"), space["model"]
    assert type(model) is type(again)
    assert getattr(model, "n_features_in_", None) == getattr(again, "n_features_in_", None)


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_programs_of_options(gramian, folder, pages, monkeypatch, name):
    for asked in ("trust", "how_many"):  # most of the time, and nothing that a program decides
        monkeypatch.setattr(Subject, asked, None)
    check(gramian, pages, *OPTIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIONS)
def test_programs_of_every_option(gramian, folder, pages, name):
    check(gramian, pages, *OPTIONS[name])


@pytest.mark.slow
@pytest.mark.parametrize("how", ["", "--scale", "--missing drop", "--ids id", "--encode kind"])
@pytest.mark.parametrize("method", METHODS)
def test_programs_of_every_method_and_option(gramian, folder, pages, method, how):
    needs = METHODS[method].needs
    if how == "--encode kind" and needs == "label":
        how = "--encode day"
    size = {"n_clusters": " -k 2", "n_neighbors": " -k 3"}.get(METHODS[method].size, "")
    check(gramian, pages, method, f"t.csv {NEEDS[needs]}{size} {how}", "t.csv --ids id")
