"""Every method: the numbers of Python, printed code that does the same, and models that answer alike."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from gramian import Standardizer, config, models
from gramian.cli.findings import SCREEN_LINES
from gramian.registry import METHODS
from gramian.tables import read_table, read_views

from . import cases

CASES = pytest.mark.parametrize("method", cases.METHODS)


def rows(table, y):
    """What Python reads for a case."""
    if y is None:
        return (read_table(table).values,)
    if isinstance(y, str):
        read = read_table(table, labels=[y])
        return read.values, np.array(read.labels[y])
    x, y = read_views(table, y_columns=y)
    return x.values, y.values[:, 0] if len(y.columns) == 1 else y.values


def expected(model, method, inputs):
    """Columns that the command should write, text and numbers apart."""
    kind = METHODS[method]
    if kind.needs == "view":
        return np.hstack(model.fit(*inputs).transform(*inputs))
    if kind.size == "n_clusters":
        return np.column_stack([model.fit(*inputs)[-1].labels_, model.transform(*inputs)])
    if hasattr(kind.estimator, "transform"):
        return model.fit_transform(*inputs)
    return model.fit(*inputs).predict(inputs[0])


def written(path, method):
    table = read_table(path) if METHODS[method].needs != "label" else None
    if table is not None:
        return table.values
    cells = [line.split(",") for line in Path(path).read_text().splitlines()]
    assert cells[0] == ["species", "predicted_species"]
    return np.array([row[1] for row in cells[1:]])


@pytest.mark.slow
@CASES
def test_a_method_gives_what_python_gives(gramian, tables, method):
    table, options, estimator, y = cases.METHODS[method]
    scale = [] if METHODS[method].needs == "view" else ["--scale"]
    code, out, err = gramian("fit", table, "--method", method, *options, *scale, "-o", "s.csv", "--model", "m.st")
    assert (code, err) == (0, "")
    inputs = rows(table, y)
    own = "scale" in estimator.get_params()
    model = clone(estimator).set_params(**({"scale": True} if own and scale else {}))
    model = model if own or not scale else make_pipeline(Standardizer(), model)
    answer, found = expected(model, method, inputs), written("s.csv", method)
    if answer.dtype.kind in "fi":
        np.testing.assert_allclose(found, answer.reshape(len(answer), -1), rtol=0, atol=1e-12 * np.abs(answer).max())
    else:
        np.testing.assert_array_equal(found, answer)
    assert len(out.splitlines()) <= SCREEN_LINES + 2
    again = models.load("m.st")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the model knows names, the array has none
        call = "transform" if hasattr(again, "transform") else "predict"
        np.testing.assert_array_equal(getattr(again, call)(inputs[0]), getattr(model, call)(inputs[0]))


@pytest.mark.slow
@CASES
def test_the_printed_code_does_the_same(gramian, tables, method):
    table, options, *_ = cases.METHODS[method]
    _, out, err = gramian(
        "fit", table, "--method", method, *options, "-o", "s.csv", "--model", "m.st", "--threads", "1"
    )
    assert "error" not in err
    lines = out.splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("Python"))
    code = "\n".join(line.removeprefix("Python").strip() for line in lines[start:])
    names = {}
    with config():  # takes back what the printed code sets
        exec(code, names)
    assert models.load("m.st").get_params().keys() == names["model"].get_params().keys()
    if METHODS[method].needs == "view":
        answer = np.hstack([names["x_scores"], names["y_scores"]])
    elif METHODS[method].size == "n_clusters":
        answer = np.column_stack([names["clusters"], names["distances"]])
    else:
        answer = names.get("scores", names.get("predictions"))
    found = written("s.csv", method)
    if answer.dtype.kind in "fi":
        np.testing.assert_allclose(found, answer.reshape(len(answer), -1), rtol=0, atol=1e-12 * np.abs(answer).max())
    else:
        np.testing.assert_array_equal(found, answer)


@CASES
def test_a_saved_model_answers_as_the_fit_did(gramian, tables, method):
    table, options, *_ = cases.METHODS[method]
    gramian("fit", table, "--method", method, *options, "-o", "s.csv", "--model", "m.st", "-q")
    card = models.inspect("m.st")
    assert card.columns
    kind = METHODS[method]
    verb = "transform" if hasattr(kind.estimator, "transform") else "predict"
    code, _, err = gramian(verb, "m.st", table, "-o", "t.csv", "-q")
    assert (code, err) == (0, "")
    fitted, applied = written("s.csv", method), written("t.csv", method)
    if kind.size == "n_clusters":  # a fit writes the clusters first, then what transform writes
        gramian("predict", "m.st", table, "-o", "p.csv", "-q")
        applied = np.column_stack([written("p.csv", method), applied])
    if fitted.dtype.kind == "f":
        np.testing.assert_allclose(applied, fitted, rtol=0, atol=1e-9 * np.abs(fitted).max())
    else:
        np.testing.assert_array_equal(applied, fitted)
