"""What the page shows is what the code on it gives."""

import base64
import re
import tempfile

import numpy as np
import pytest

from gramian import CCA
from gramian.explore.choice import METHODS, Choice, code_for, kernels_listed, most_components, read_choice
from gramian.explore.control_callbacks import about, column_options
from gramian.explore.datasets import MAX_UPLOAD_BYTES, PRESETS, from_upload, open_table, preset
from gramian.explore.fitting import Glimpses, fit
from gramian.explore.model_files import open_model, save_model
from gramian.explore.notes import in_controls, listening
from gramian.explore.states import first_values, read_state, state_of
from gramian.kernels import parse
from gramian.tables import TableError


@pytest.fixture(autouse=True)
def _listening():
    with listening():
        yield


def chosen(method, **more):
    """A table that the method can see, and a choice of it."""
    needs = METHODS[method].needs
    data = preset("flowers" if needs == "label" else "exercises").opened
    target = {"target": "Waist", "label": "species"}.get(needs, "")
    return data, Choice(method, 2, second=data.half(), target=target, ridge=0.1, **more)


@pytest.mark.parametrize("scale", [False, True], ids=["as it is", "scaled"])
@pytest.mark.parametrize("method", METHODS)
def test_the_code_gives_what_is_on_the_screen(method, scale):
    data, choice = chosen(method, scale=scale)
    found = fit(data, choice)
    namespace = {}
    exec(code_for(data, choice), namespace)
    if choice.maps:
        told = namespace["clusters" if choice.row.clusters else "predictions"]
        assert np.array_equal(told, found.guesses) or np.allclose(told, found.guesses)
        return
    scores = namespace["x_scores" if choice.pair else "scores"]
    np.testing.assert_allclose(found.scores[:, :2], scores, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_has_code_that_makes_it(name):
    data = preset(name)
    namespace = {}
    exec("\n".join([*data.code(), data.classes and "import numpy as np", data.classes]), namespace)
    np.testing.assert_array_equal(namespace["X"], data.X)
    for cells in data.groups.values():
        assert namespace["y"].tolist() == cells
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
    data, choice = chosen(method, scale=scale)
    path = tmp_path / "model.safetensors"
    assert "is saved" in save_model(data, choice, path)
    seen, found, values = open_model(data, path, {})
    again = read_choice(seen, values)
    assert (again.method, again.scale, again.target) == (method, scale, choice.target)
    assert again.k == 2 or not choice.row.size
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
    assert data.X.shape == (5, 2)  # all rows: which have gaps depends on the columns that are chosen
    assert data.opened.X.shape == (4, 2)
    assert "missing='drop'" in data.opened.code()[-1]


def test_columns_are_chosen_before_rows_with_gaps_are_left_out():
    lines = ["name,a,b,rare", *(f"r{at},{at},{at % 3},{'5' if at == 5 else ''}" for at in range(9)), "r9,,4,1"]
    data = sent("gaps.csv", "\n".join(lines).encode())
    first = data.opened
    assert (first.table.columns, first.X.shape) == (("a", "b"), (9, 2))
    assert about(data, first).endswith("Not used: rare, where values are missing.")
    assert column_options(data)[2]["label"] == "rare (8 values missing)"
    both = data.only(["b", "rare"])
    assert both.names == ["r5", "r9"]
    assert data.only(["b"]).X.shape == (10, 1)


def test_rows_are_called_by_their_ids_or_by_their_numbers_in_the_file_from_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("code,a,b\n7,1,2\n8,,3\n9,3,5\n10,4,1\n")
    assert open_table(str(path), ids="code").opened.names == ["7", "9", "10"]
    found = open_table(str(path), columns=["a", "b"]).opened
    assert (found.names, found.row_word) == (["1", "3", "4"], "row ")
    assert "columns=['a', 'b'], missing='drop'" in found.code()[-1]


def test_pixels_and_channels_are_not_scaled_and_other_units_are():
    assert not preset("digits").uneven
    assert preset("wines").uneven
    channels = np.column_stack([np.arange(9.0) * 10**at for at in np.linspace(-2, 2, 30)])
    names = ",".join(f"nm{at}" for at in range(30))
    lines = [names, *(",".join(map(str, row)) for row in channels)]
    assert not sent("spectra.csv", "\n".join(lines).encode()).opened.uneven


def test_a_state_comes_back_from_its_text():
    base = preset("flowers")
    data = base.only(base.table.columns[:3])
    values = {**first_values(data), "method": "kernel-svm", "width": -1.5, "biplot": [], "x": 2}
    state = state_of(base, data, values)
    key, columns, found = read_state(state)
    assert (key, columns) == ("flowers", list(data.table.columns))
    assert first_values(data) | found == values
    assert state_of(base, base.opened, first_values(base.opened)) == "#table=%22flowers%22"


@pytest.mark.parametrize("text", ["", "#", "#x", "#table=rings", "#table=5&k=%22a%22&second=3", "%"])
def test_an_address_that_is_no_state_says_little(text):
    key, columns, values = read_state(text)
    assert isinstance(key, str)
    assert (columns, values) == (None, {})


def test_a_method_without_its_column_says_so():
    data = preset("exercises").opened
    with pytest.raises(ValueError, match="predicts a column of classes"):
        fit(data, Choice("kernel-svm"))


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
