"""What the page shows is what the code on it gives."""

import base64
import re
import tempfile

import numpy as np
import pytest

from gramian import CCA
from gramian.explore.choice import METHODS, Choice, code_for, kernels_listed, most_components, read_choice
from gramian.explore.datasets import MAX_UPLOAD_BYTES, PRESETS, from_upload, open_table, preset
from gramian.explore.fitting import Glimpses, fit
from gramian.explore.model_files import open_model, save_model
from gramian.explore.notes import in_controls, listening
from gramian.kernels import parse
from gramian.tables import TableError


@pytest.fixture(autouse=True)
def _listening():
    with listening():
        yield


@pytest.mark.parametrize("scale", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("method", METHODS)
def test_the_code_gives_what_is_on_the_screen(method, scale):
    data = preset("exercises")
    choice = Choice(method, 2, scale=scale, second=data.half(), ridge=0.1)
    found = fit(data, choice)
    namespace = {}
    exec(code_for(data, choice), namespace)
    scores = namespace["x_scores" if choice.pair else "scores"]
    np.testing.assert_allclose(found.scores[:, :2], scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_code_that_makes_it(name):
    data = preset(name)
    namespace = {}
    exec("\n".join(data.code), namespace)
    np.testing.assert_array_equal(namespace["X"], data.X)
    assert fit(data, Choice(second=data.half())).size == most_components(data, Choice())


@pytest.mark.parametrize("kernel", [name for name in kernels_listed() if name != "sigmoid"])
def test_a_preview_of_all_rows_is_the_exact_picture(kernel):
    data = preset("rings").only(("x", "y"))
    X = data.X[:100]  # fewer rows than landmarks: nothing is lost but digits
    text = Choice("kernel-pca", kernel=kernel, width=-0.5).kernels(data)[0]
    found = Glimpses(X).glimpse(parse(text))
    K = parse(text)(X, X)
    K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
    values = np.linalg.eigvalsh(K)[::-1][:2]
    np.testing.assert_allclose((found.scores[:, :2] ** 2).sum(axis=0), values, rtol=1e-3)
    np.testing.assert_allclose(found.shares[:2], 100 * values / np.trace(K), rtol=1e-3)


@pytest.mark.slow
def test_a_preview_is_near_the_exact_picture_and_its_rows():
    data = preset("digits")
    exact = fit(data, Choice("kernel-pca", 10, text="rbf(sigma=30)"))
    seen = Glimpses(data.X).glimpse(parse("rbf(sigma=30)"))
    for at in range(2):
        assert abs(np.corrcoef(seen.scores[:, at], exact.scores[:, at])[0, 1]) > 0.97
    rows = np.arange(5)
    error = np.abs(seen.rebuilt(rows, 10) - exact.rebuilt(data, rows, 10)).mean()
    assert error < 1.0  # of 16 shades


def test_rows_are_rebuilt_from_the_components_kept():
    data = preset("digits")
    found = fit(data, Choice("pca", 5))
    rows = np.arange(20)
    V, mean = found.estimator.components_, data.X.mean(axis=0)
    for k in (1, 5, 20):
        wanted = mean + (data.X[rows] - mean) @ V[:k].T @ V[:k]
        np.testing.assert_allclose(found.rebuilt(data, rows, k), wanted, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [False, True], ids=["as it is", "scaled"])
def test_a_saved_model_comes_back_with_its_controls(method, scale, tmp_path):
    data = preset("exercises")
    path = tmp_path / "model.safetensors"
    choice = Choice(method, 2, scale=scale, second=data.half(), ridge=0.1)
    assert "is saved" in save_model(data, choice, path)
    seen, found, values = open_model(data, path, {})
    again = read_choice(seen, values)
    assert (again.method, again.k, again.scale) == (method, 2, scale)
    np.testing.assert_allclose(found.scores[:, :2], fit(data, choice).scores[:, :2], rtol=1e-3, atol=1e-4)
    assert f"load({path.name!r})" in code_for(seen, found.choice, found.source)


def test_a_model_of_some_columns_finds_them(tmp_path):
    data = open_table("examples/data/decathlon.csv")
    some = data.only(data.table.columns[:10])
    save_model(some, Choice("pca", 2), tmp_path / "model.safetensors")
    seen, found, _ = open_model(data, tmp_path / "model.safetensors", {})
    assert seen.table.columns == some.table.columns
    assert found.scores.shape == (41, 2)
    with pytest.raises(ValueError, match="which Two rings does not have"):
        open_model(preset("rings"), tmp_path / "model.safetensors", {})


def test_whatever_the_page_sends_is_a_choice():
    data = preset("digits")
    nonsense = {"method": "os.system", "kernel": ["rbf"], "width": float("nan"), "degree": 1e9, "k": -4, "ridge": "x"}
    nonsense |= {"second": ["no such column", 3, None], "text": 17, "scale": "yes", "exact": None}
    choice = read_choice(data, nonsense)
    assert choice.method == "pca"
    assert (choice.degree, choice.k, choice.width) == (20, 1, 0.0)
    assert set(choice.second) < set(data.table.columns)
    assert read_choice(data, {}).method == "pca"


def sent(name, content):
    return from_upload(name, "data:text/csv;base64," + base64.b64encode(content).decode())


def test_a_table_that_is_sent_is_read():
    data = sent("a/b/../flowers.csv", b"kind,x,y\niris,1,2\nrose,3,5\nrose,4,\niris,2,2\nrose,9,1\n")
    assert data.title == "flowers.csv"
    assert data.X.shape == (4, 2)
    assert "missing='drop'" in data.code[-1]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b""),
        ("a.csv", b"only,header\n"),
        ("a.csv", b"a,b\n1,2\n"),
        ("a.csv", b"a,b\n1,2\n1,2\n1,2\n"),
        ("a.csv", bytes(range(256))),
        ("a.csv", b"kind\nx\ny\nz\n"),
        ("a.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"),
        ("a.pkl", b"\x80\x04."),
        ("a.py", b"print(1)"),
        ("a", b"1,2\n"),
        ("", b"1,2\n"),
        ("a.parquet", b"PAR1"),
        ("a.xlsx", b"PK\x03\x04"),
        ("a.h5", b"\x89HDF\r\n"),
    ],
    ids=lambda part: repr(part)[:30],
)
def test_a_wrong_file_is_refused_in_one_line(name, content):
    with pytest.raises(TableError) as caught:
        sent(name, content)
    assert "\n" not in str(caught.value)
    assert tempfile.gettempdir() not in str(caught.value)


@pytest.mark.parametrize("contents", ["", "data:text/csv;base64", "http://evil.example/,x", "data:,a b", "data:,€"])
def test_what_is_no_upload_is_refused(contents):
    with pytest.raises((TableError, ValueError)):
        from_upload("a.csv", contents)


def test_an_upload_is_bounded():
    with pytest.raises(TableError, match="larger than"):
        from_upload("a.csv", "data:," + "A" * (MAX_UPLOAD_BYTES * 4 // 3 + 10))


def test_the_summary_speaks_of_the_components_that_are_kept():
    found = fit(preset("rings"), Choice("kernel-pca", 2, width=-1.6))
    head, fitted = found.summary(2).splitlines()[:2]
    assert "2 components" in head
    assert f"{found.spectrum[:2].sum():.1f} % of variance" in head
    assert "20 components at once" in fitted
    assert found.summary(found.size) == str(found.estimator.summary_)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_the_second_view_is_told_from_the_pairs_that_are_kept(ridge):
    data, rows = preset("exercises"), np.arange(5)
    choice = Choice("cca", 1, ridge=ridge, second=data.half())
    x, y = (view.values for view in data.views(choice.second))
    own = CCA(1, ridge=ridge).fit(x, y).predict(x[rows])
    np.testing.assert_allclose(fit(data, choice).rebuilt(data, rows, 1), own, rtol=1e-5)


@pytest.mark.parametrize("text", ["a,b\nx,y\nz,w\nu,v\n", 'a,b\n"1,5",2\n"2,25",3\n3.5,4\n', "day,a\n2024-01-01,1\n"])
def test_refusals_of_tables_speak_the_words_of_the_page(text):
    with pytest.raises(TableError) as caught:
        from_upload("t.csv", "data:text/csv;base64," + base64.b64encode(text.encode()).decode())
    assert re.findall(r"\b[a-z_]{3,}=", in_controls(str(caught.value))) == []


def test_notes_of_fits_speak_the_words_of_the_page():
    data = preset("exercises")
    with pytest.raises(ValueError, match="n_components=9") as caught:
        Choice("pca", 9).row.estimator(9).fit(data.X)
    assert "Use 6 components or fewer" in in_controls(str(caught.value))
