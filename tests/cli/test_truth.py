"""Sentences of commands that name rows, numbers of components and columns: each is true of its table."""

import json

import numpy as np
import pandas as pd

from gramian import PCA, PLSRegression, doctor
from gramian.selection import how_many


def table_with_an_outlier():
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[5, 1] = 1000.0
    return X


def test_doctor_counts_rows_from_1_and_in_python_by_index(gramian, here):
    X = table_with_an_outlier()
    pd.DataFrame(X, columns=["a", "b", "c"]).to_csv("far.csv", index=False)
    assert "in row 6 " in gramian("doctor", "far.csv")[1]
    assert "in row index 5 " in str(doctor(X))


def test_doctor_names_rows_by_their_ids(gramian, here):
    frame = pd.DataFrame(table_with_an_outlier(), columns=["a", "b", "c"])
    frame.insert(0, "who", [f"id{at}" for at in range(60)])
    frame.to_csv("far.csv", index=False)
    assert "in row id5 " in gramian("doctor", "far.csv", "--ids", "who")[1]


def test_the_checks_of_a_report_name_rows_as_its_tables_do(gramian, here):
    pd.DataFrame(table_with_an_outlier(), columns=["a", "b", "c"]).to_csv("far.csv", index=False)
    gramian("fit", "far.csv", "-k", "1", "--model", "m.safetensors")
    facts = json.loads(gramian("report", "m.safetensors", "far.csv", "-o", "r.html", "--json")[1])
    assert any("in row 6 " in check["text"] for check in facts["checks"])


def test_a_row_that_holds_the_kernel_is_named_by_its_place_among_all_rows():
    X = table_with_an_outlier()
    X[0, 0] = np.nan
    said = [finding for finding in doctor(X, "linear") if finding.code == "kernel_few_rows"]
    assert said[0].rows == (5,)
    assert said[0].message.startswith("row index 5 alone")


def test_one_criterion_does_not_agree_with_itself():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((40, 3)), rng.standard_normal((40, 2))
    found = how_many(X, "cca", y=Y, ridge=0.1)
    assert found.answers == 1
    assert "agree" not in str(found)


def test_the_chosen_number_comes_first():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    model = PLSRegression("auto").fit(X, X[:, 0] + 0.1 * rng.standard_normal(60))
    lines = dict(model.summary_.lines)
    assert lines["chosen"].startswith(f"{model.n_components_} component")


def test_numbers_written_as_text_are_still_taken():
    assert PCA(1).fit(np.array([["1", "2"], ["3", "5"], ["4", "4"]], dtype=object)).n_features_in_ == 2
