"""Tables of fitted estimators: every estimator has them, labels are names or count from one, numbers are those kept."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris, load_linnerud
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from gramian import (
    CCA,
    PCA,
    FactorAnalysis,
    KernelCCA,
    KernelKMeans,
    KernelRidge,
    KernelSVC,
    PLSRegression,
    PrincipalComponentRegression,
    Standardizer,
    rows,
)
from gramian.estimators.result_tables import TABLES, ResultTable
from gramian.estimators.table_maker import TableMaker, tables_of

from ..cases import ESTIMATORS, X, fitted, targets  # noqa: TID252

IRIS = load_iris(as_frame=True)
every = pytest.mark.parametrize("name", ESTIMATORS)


def all_tables(name):
    y = targets(name)
    model = fitted(name)
    return {**model.tables(frames="plain"), **model.tables(X, y, frames="plain")}


@every
def test_every_estimator_has_tables_that_are_listed_and_well_formed(name):
    found = all_tables(name)
    assert set(found) <= set(TABLES)
    assert len(found) >= 2
    for key, table in found.items():
        assert table.name == key
        assert len(set(table.columns)) == len(table.columns)
        assert {len(values) for values in table.columns.values()} <= {len(table.index)}
        assert all(isinstance(label, str) and label for label in (*table.index, *table.columns))
        assert set(table.components) <= {*table.index, *table.columns}


@every
def test_labels_count_from_one(name):
    for table in all_tables(name).values():
        if table.of in ("component", "column", "row", "cluster") and table.index:
            first = table.index[0]
            assert not first.endswith("0"), (table.name, first)
            assert not first[-1].isdigit() or first.endswith("1") or table.name == "support"
        for component, number in table.components.items():
            assert component.endswith(str(number))
        assert not table.components or min(table.components.values()) == 1


@every
def test_scores_are_named_as_the_estimator_names_its_outputs(name):
    model = fitted(name)
    table = model.tables(X, frames="plain").get("scores")
    if table is not None:
        assert list(table.columns) == list(model.get_feature_names_out())


@every
def test_pandas_polars_csv_and_plain_values_are_the_same(name):
    for table in all_tables(name).values():
        frame, polar, plain = table.frame("pandas"), table.frame("polars"), table.to_dict()
        assert isinstance(frame, pd.DataFrame)
        assert isinstance(polar, pl.DataFrame)
        assert list(frame.index) == list(table.index) == plain["index"] == polar[table.head_of_names].to_list()
        assert list(frame.columns) == list(table.columns) == list(plain["columns"]) == polar.columns[1:]
        json.dumps(plain, allow_nan=False)
        for head in table.columns:
            np.testing.assert_array_equal(frame[head].to_numpy(), table[head])
        read = list(csv.reader(io.StringIO(table.to_csv())))
        assert read[0] == [table.head_of_names, *table.columns]
        for line, row in zip(read[1:], table.rows, strict=True):
            assert line == ["" if cell is None else str(cell) for cell in row]


def test_frames_are_of_pandas_where_it_is_installed():
    tables = PCA(2).fit(IRIS.data).tables()
    assert isinstance(tables["loadings"], pd.DataFrame)
    assert isinstance(PCA(2).fit(IRIS.data).tables(frames="polars")["loadings"], pl.DataFrame)
    assert isinstance(PCA(2).fit(IRIS.data).tables(frames="plain")["loadings"], ResultTable)
    with pytest.raises(ValueError, match="frames='list' must be"):
        PCA(2).fit(IRIS.data).tables(frames="list")


def test_nothing_is_computed_before_it_is_read():
    model = PCA(2).fit(IRIS.data)
    tables = model.tables(IRIS.data)
    del model.components_
    assert "scores" in tables
    assert len(tables["eigenvalues"]) == 2
    with pytest.raises(AttributeError):
        tables["loadings"]


def test_what_a_table_needs_is_said():
    tables = PCA(2).fit(IRIS.data).tables()
    with pytest.raises(KeyError, match="give them with tables\\(X\\)"):
        tables["scores"]
    with pytest.raises(KeyError, match="no table is called loading; there are eigenvalues"):
        tables["loading"]
    with pytest.raises(KeyError, match="tables\\(X, y\\)"):
        tables["errors"]
    with pytest.raises(TypeError, match="X is a stream"):
        PCA(2).fit(IRIS.data).tables(rows(IRIS.data.to_numpy()))


def test_tables_of_pca_are_what_the_estimator_says():
    model = PCA(3, scale=True).fit(IRIS.data)
    tables = model.tables(IRIS.data)
    np.testing.assert_array_equal(tables["eigenvalues"]["eigenvalue"], model.explained_variance_)
    np.testing.assert_allclose(tables["eigenvalues"]["cumulative share"], model.explained_variance_ratio_.cumsum())
    np.testing.assert_array_equal(tables["contributions"], model.column_contributions())
    np.testing.assert_array_equal(tables["cos2"], model.column_cos2())
    np.testing.assert_array_equal(tables["row-cos2"], model.row_cos2(IRIS.data))
    np.testing.assert_allclose(tables["structure"], tables["loadings"], atol=1e-14)  # of scaled columns
    correlations = np.corrcoef(IRIS.data.T, model.transform(IRIS.data).T)[:4, 4:]
    np.testing.assert_allclose(tables["structure"], correlations, atol=1e-12)
    assert list(tables["loadings"].index) == list(IRIS.data.columns)
    np.testing.assert_array_equal(tables["outliers"]["T2"], model.hotelling_t2(IRIS.data))
    beyond = model.q_residuals(IRIS.data) > model.q_limit()
    assert [("Q" in word) for word in tables["outliers"]["beyond"]] == beyond.tolist()


def test_structure_of_factors_is_the_correlation_of_columns_with_them():
    model = FactorAnalysis(2, rotation="oblimin").fit(
        np.random.default_rng(0).standard_normal((200, 2)) @ np.ones((2, 6)) * 0.3
        + np.random.default_rng(1).standard_normal((200, 6))
    )
    tables = model.tables()
    phi = tables["factor-correlations"].to_numpy()
    np.testing.assert_allclose(tables["structure"], tables["loadings"].to_numpy() @ phi)
    implied = np.einsum("ik,kl,il->i", model.loadings_, phi, model.loadings_)
    np.testing.assert_allclose(tables["communalities"]["communality"], implied)
    np.testing.assert_allclose(tables["communalities"][["communality", "uniqueness"]].sum(axis=1), 1)
    assert list(phi.shape) == [2, 2]
    assert tables["fit-indices"].loc["degrees of freedom", "value"] == model.fit_indices_["df"]


@pytest.mark.parametrize("model", [PLSRegression(4), PLSRegression(3, scale=False), PrincipalComponentRegression(4)])
def test_errors_by_number_of_components_are_those_of_fits_with_so_many(model):
    rng = np.random.default_rng(3)
    A = rng.standard_normal((60, 6))
    Y = A[:, :2] @ rng.standard_normal((2, 2)) * [1, 50] + rng.standard_normal((60, 2))
    train, test = (A[:40], Y[:40]), (A[40:], Y[40:])
    tables = model.fit(*train).tables(*test)
    for k in range(1, model.n_components + 1):
        smaller = type(model)(**{**model.get_params(), "n_components": k}).fit(*train)
        expected = np.sqrt(((smaller.predict(test[0]) - test[1]) ** 2).mean(axis=0))
        found = tables["path"].loc[str(k), ["RMSEP of y 1", "RMSEP of y 2"]]
        np.testing.assert_allclose(found.astype(float), expected)
    own = model.tables(*train)["path"]
    np.testing.assert_allclose(own["RMSECV of y 2"], model.cross_validate(*train).rmsecv[:, 1])
    errors = model.tables(*train)["errors"]
    assert list(errors["error"]) == ["RMSEC", "RMSECV"] * 2
    np.testing.assert_allclose(errors["RMSE"].iloc[1], own["RMSECV of y 1"].iloc[-1])


def test_rows_left_out_of_kernel_ridge_are_told_only_where_rows_are_in_the_order_of_the_fit():
    A = np.random.default_rng(0).standard_normal((30, 2))
    y = A[:, 0] ** 2
    model = KernelRidge(0.1).fit(A, y)
    errors = model.tables(A, y)["errors"]
    assert list(errors["error"]) == ["RMSEC", "RMSECV"]
    np.testing.assert_allclose(errors["RMSE"].iloc[1], np.sqrt((model.leave_one_out_**2).mean()))
    assert list(model.tables(A[::-1], y[::-1])["errors"]["error"]) == ["RMSEC"]


def test_classes_of_rows_left_out_are_those_of_five_folds():
    model = make_pipeline(Standardizer(), KernelSVC()).fit(IRIS.data, IRIS.target)
    tables = tables_of(model, IRIS.data, IRIS.target)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    guesses = cross_val_predict(model, IRIS.data, IRIS.target.to_numpy(), cv=folds)
    counts = np.column_stack([tables["cross-validation"][name] for name in "012"])
    assert np.trace(counts) == (guesses == IRIS.target).sum()
    np.testing.assert_array_equal(counts.sum(axis=1), [50, 50, 50])
    assert tables["accuracy"].index == ("rows of the fit", "rows left out")
    assert tables["accuracy"]["correct"][1] == np.trace(counts)
    shifted = tables_of(model, IRIS.data + 0.01, IRIS.target)
    assert "cross-validation" not in shifted
    assert shifted["accuracy"].index == ("new rows",)


def test_scores_of_two_views_stand_beside_each_other():
    x, y = load_linnerud(return_X_y=True, as_frame=True)
    model = CCA(2).fit(x, y)
    table = tables_of(model, x, y)["scores"]
    assert list(table.columns) == ["x_CC1", "x_CC2", "y_CC1", "y_CC2"]
    assert list(table.pick([2]).columns) == ["x_CC2", "y_CC2"]
    loadings = model.tables()["loadings"]
    assert list(loadings.index) == [*x.columns, *y.columns]
    assert loadings["view"].tolist() == ["X"] * 3 + ["Y"] * 3
    np.testing.assert_allclose(model.tables()["test"]["p"], model.wilks_test().p_values[:2])


def test_rows_left_out_of_kernel_cca_stand_beside_the_others():
    x, y = load_linnerud(return_X_y=True, as_frame=True)
    table = KernelCCA(2, ridge=0.1).fit(x, y).tables()["correlations"]
    assert list(table.columns) == ["correlation", "of rows left out", "regularised"]


def test_clusters_count_from_one():
    model = KernelKMeans(3, kernel="linear").fit(IRIS.data)
    assert model.tables()["labels"]["cluster"].tolist() == [f"Cluster{at + 1}" for at in model.labels_]
    assert model.tables()["clusters"]["rows"].sum() == 150
    assert list(model.get_feature_names_out()) == ["Cluster1", "Cluster2", "Cluster3"]


TABLE = ResultTable(
    "loadings",
    "column",
    ("a", "b", "c"),
    {"PC1": np.array([0.1, -0.9, 0.5]), "PC2": np.array([0.8, 0.0, -0.4])},
    components={"PC1": 1, "PC2": 2},
)


def test_sorted_by_the_component_of_the_largest_number():
    assert TABLE.sorted().index == ("b", "c", "a")


def test_small_numbers_are_left_out():
    assert str(TABLE.cut(0.3)).splitlines() == [
        "      PC1     PC2",
        "a           0.800",
        "b  -0.900",
        "c   0.500  -0.400",
    ]
    assert TABLE.cut(0.3).to_csv() == "column,PC1,PC2\na,,0.8\nb,-0.9,\nc,0.5,-0.4\n"


def test_components_are_picked_by_numbers_from_one():
    assert list(TABLE.pick([2]).columns) == ["PC2"]
    with pytest.raises(ValueError, match="components=0 is not in the table loadings: they are 1 to 2, counted from 1"):
        TABLE.pick([0])
    with pytest.raises(ValueError, match="components=3"):
        TABLE.pick([1, 3])


def test_columns_that_do_not_fit_into_a_line_come_below():
    wide = ResultTable("scores", "row", ("1",), {f"PC{at + 1}": np.array([0.25]) for at in range(30)})
    lines = wide.text(60).splitlines()
    assert max(map(len, lines)) <= 60
    assert lines.count("") == len(lines) // 3
    assert sum(line.count("0.250") for line in lines) == 30


def test_a_fit_and_its_tables_import_no_pandas():
    """Of scikit-learn's own imports apart, which take it where it is installed."""
    code = (
        "import sys; sys.modules['pandas'] = None; sys.modules['polars'] = None\n"
        "from gramian import PCA\n"
        "import numpy as np\n"
        "model = PCA(2).fit(np.eye(5)); print(model.tables(frames='plain')['loadings'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "column 1" in done.stdout


def test_words_that_name_each_row_are_no_groups():
    words = {"names": np.array(["a", "b", "c", "d"]), "sides": np.array(["left", "right", "left", "right"])}
    rows = np.random.default_rng(0).standard_normal((4, 3))
    model = PCA(2).fit(rows)
    assert TableMaker(model, rows, beside=words).tables()["groups"].index == ("left", "right")
    assert "groups" not in TableMaker(model, rows, beside={"names": words["names"]}).tables()
