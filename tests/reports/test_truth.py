"""A page speaks of the fit, in one word for each thing and with the names that the tables have."""

import re

import numpy as np
import pytest

import gramian as g
from gramian.charts.names import noun_of
from gramian.construction import steps_of
from gramian.registry import RECORDS
from gramian.reports import subject
from gramian.reports.subject import Subject
from gramian.reports.writing import page_of, tabled
from gramian.tables import as_table

from .conftest import KINDS
from .planted import noise

#: Parameters of another fit.
OTHERWISE = {
    "scale": lambda value: not value,
    "center": lambda value: not value,
    "whiten": lambda value: not value,
    "missing": lambda value: None if value else "em",
    "ridge": lambda value: 7.0,
    "rotation": lambda value: None if value else "varimax",
    "n_components": lambda value: 1,
    "n_neighbors": lambda value: 2,
    "weights": lambda value: "distance",
    "eps": lambda value: 0.9,
    "kernel": lambda value: "laplacian",
    "C": lambda value: 50.0,
    "landmarks": lambda value: None if value else 5,
}


def words_of(page):
    """All that a page says and shows but for pictures."""
    found = [page.title, page.subtitle, *(f"{each.grade} {each.text} {each.remedy}" for each in page.checks)]
    for section in page.sections:
        found += [section.title, *section.says]
        for part in section.parts:
            found += [part.title, *getattr(part, "says", ()), getattr(part, "text", "")]
            found += [f"{label}: {text}" for label, text in getattr(part, "lines", ())]
            grid = getattr(part, "grid", part)
            if hasattr(grid, "cells"):
                found += [*grid.columns, *(" | ".join(row) for row in grid.cells), *grid.note]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_counted_has_one_name(kind):
    """Factors, pairs, sources and directions are not called components a few lines later."""
    estimator, X, y, _ = KINDS[kind]
    model = estimator.fit(X) if y is None else estimator.fit(X, y)
    noun = noun_of(steps_of(model)[-1])
    assert "n_components" not in steps_of(model)[-1].summary_.facts or any(
        re.fullmatch(rf"\d+ {noun}s?", part) for part in steps_of(model)[-1].summary_.title
    )
    if noun != "component":
        text = "\n".join(words_of(page_of(Subject(model))))
        assert not re.findall(r".*(?:\d components?\b|\bcomponents? \d).*", text)


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name)
@pytest.mark.parametrize("with_rows", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_parameters_set_after_the_fit_are_not_those_of_the_page(record, with_rows, monkeypatch):
    monkeypatch.setattr(subject, "DRAWS", 20)
    monkeypatch.setattr(subject, "FEW_DRAWS", 20)
    X = noise(40, 5) * [3, 2, 1, 1, 0.5]
    y = {
        "": None,
        "label": np.where(X[:, 0] > 0, "a", "b"),
        "target": X[:, 0] + X[:, 1],
        "view": X[:, :3] + noise(40, 3, 1),
    }
    y = y[record.needs]
    model = record.estimator(**record.example)
    model = model.fit(X) if y is None else model.fit(X, y)
    given = (X, y) if with_rows else ()
    expected = words_of(page_of(Subject(model, *given)))
    model.set_params(
        **{name: OTHERWISE[name](value) for name, value in model.get_params().items() if name in OTHERWISE}
    )
    assert words_of(page_of(Subject(model, *given))) == expected


def test_charts_go_by_the_parameters_of_the_fit():
    X = noise(40, 5) * [3, 2, 1, 1, 0.5]
    model = g.PCA(2, scale=True).fit(X)
    expected = [g.charts.scree(model, X), g.charts.loadings(model)]
    model.set_params(scale=False, center=False, whiten=True)
    found = [g.charts.scree(model, X), g.charts.loadings(model)]
    for before, after in zip(expected, found, strict=True):
        assert (after.title, after.ylabel, after.notes) == (before.title, before.ylabel, before.notes)
        np.testing.assert_array_equal(after.values, before.values)


def test_checks_of_the_second_view_have_its_names():
    X, Y = noise(60, 3), noise(60, 2, 1) + noise(60, 2)
    Y[7, 1] = 900.0
    x, y = (as_table(dict(zip(names, values.T, strict=True))) for names, values in (("abc", X), (["u", "v"], Y)))
    page = page_of(tabled(g.CCA(1).fit(X, Y), x, y))
    (said,) = [check.text for check in page.checks if check.text.startswith("Second view: ")]
    assert "'v' = 900 in row 8" in said


def test_a_method_that_shrinks_is_not_told_to_shrink():
    """The doctor's remedy for more columns than rows is a ridge, PLS or PCA."""
    X, Y = noise(20, 30), noise(20, 2, 1)
    for model, advised in ((g.CCA(1, ridge=0.5), False), (g.PCA(2), False), (g.ICA(2), True)):
        fitted = model.fit(X, Y) if isinstance(model, g.CCA) else model.fit(X)
        checks = page_of(Subject(fitted, X, Y if isinstance(model, g.CCA) else None)).checks
        (few,) = [check for check in checks if "30 columns" in check.text]
        assert ("a ridge" in few.remedy) is advised, few


def test_errors_of_several_targets_have_the_names_of_the_targets():
    X = noise(40, 4)
    Y = X[:, :2] + noise(40, 2, 1)
    x, y = (as_table(dict(zip(names, values.T, strict=True))) for names, values in (("abcd", X), (["fat", "salt"], Y)))
    page = page_of(tabled(g.PLSRegression(2).fit(X, Y), x, y))
    pictures = [part for section in page.sections for part in section.parts if part.kind == "picture"]
    grid = next(part.grid for part in pictures if part.grid.columns[0] == "components")
    assert [name.rpartition(" of ")[2] for name in grid.columns[1:3]] == ["fat", "salt"]


def test_what_a_ridge_regularises_is_called_so_in_every_table(monkeypatch):
    monkeypatch.setattr(subject, "DRAWS", 20)
    X, Y = noise(40, 3), noise(40, 3) + noise(40, 3, 1)
    for ridge, word in ((0.5, "regularised correlation"), (0.0, "correlation")):
        text = "\n".join(words_of(page_of(Subject(g.CCA(1, ridge=ridge).fit(X, Y), X, Y))))
        assert f"{word.capitalize()} of each pair, with limits" in text


def test_groups_lie_along_what_the_method_counts(monkeypatch):
    monkeypatch.setattr(subject, "FEW_DRAWS", 20)
    X = noise(60, 6)[:, [0, 0, 0, 1, 1, 1]] + noise(60, 6, 1)
    page = page_of(Subject(g.FactorAnalysis(2, rotation="varimax").fit(X), X, colour=np.repeat(["a", "b"], 30)))
    titles = [part.title for section in page.sections for part in section.parts]
    assert {"Groups along the factors", "Correlations of columns with factors"} <= set(titles)
