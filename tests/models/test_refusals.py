"""What is not a model is refused in one line that names the file; nothing in it is executed."""

import io
import json
import os
import pickle
import re
import struct
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA as TheirPCA
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramian import PCA, KernelKNNRegressor, KernelPCA, PLSRegression, RandomProjection, kernels, models
from gramian.models.classes import CLASSES, fits
from gramian.registry import RECORDS


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


@pytest.fixture
def written(table, path):
    models.save(KernelPCA(2, kernel="laplacian(gamma=0.1)").fit(table), path)
    return path.read_bytes()


def refused(path, data=None):
    """Load must refuse the file quickly, in one line that begins with its name."""
    if data is not None:
        path.write_bytes(data)
    start = time.perf_counter()
    with pytest.raises(models.ModelError) as failure:
        models.load(path)
    message = str(failure.value)
    assert time.perf_counter() - start < 5
    assert message.startswith(f"{path}: ")
    assert message.endswith(".")
    assert "\n" not in message
    return message


class Payload:
    def __reduce__(self):
        return os.mkdir, ("EXECUTED",)


def zipped(name, data, *, count=1):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for at in range(count):
            # An entry with a date of its own: names of tests must not depend on the time of day.
            archive.writestr(zipfile.ZipInfo(f"{at or ''}{name}", (2026, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def tarred(name):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 7
        archive.addfile(entry, io.BytesIO(b"written"))
    return buffer.getvalue()


def saved_objects():
    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload()], dtype=object), allow_pickle=True)
    return buffer.getvalue()


@pytest.mark.parametrize("ending", [".pkl", ".pickle", ".joblib", ".npy", ".npz", ".model", ".safetensors"])
def test_a_pickle_is_not_run(tmp_path, ending, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(tmp_path / f"m{ending}", pickle.dumps(Payload()))
    refused(tmp_path / f"m{ending}", saved_objects())
    assert not os.path.exists("EXECUTED")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"\0" * 8,
        struct.pack("<Q", 2**40) + b"{}",
        struct.pack("<Q", 2**63) + b"{}",
        struct.pack("<Q", 2) + b"{}",
        np.random.default_rng(0).bytes(5000),
        zipped("model.npy", bytes(50_000_000)),
        zipped("../../up.npy", b"x"),
        zipped("/absolute.npy", b"x", count=1),
        zipped("m.npy", b"x", count=20_000),
        tarred("../../up"),
        tarred("/tmp/absolute"),
        b"[" * 100_000,
        struct.pack("<Q", 200_000) + b'{"__metadata__":{"sha256":"' + b"[" * 200_000,
    ],
    ids=lambda data: f"{len(data)} bytes, {data[8:14]!r}",
)
def test_what_is_not_a_model_file(path, data):
    refused(path, data)
    assert os.listdir(path.parent) == [path.name]


def first(header):
    return next(name for name in header if name != "__metadata__")


def entry(**changes):
    def edit(header):
        header[first(header)].update(changes)

    return edit


def metadata(**changes):
    return lambda header: header["__metadata__"].update(changes)


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (entry(shape=[10**11]), "does not fit into its bytes"),
        (entry(shape=[2**48, 2**48]), "does not fit into its bytes"),
        (entry(shape=[-200, -10]), "not whole numbers"),
        (entry(shape=[2**63, 2]), "not whole numbers"),
        (entry(shape=[200.0, 10]), "not whole numbers"),
        (entry(shape=[True, 10]), "not whole numbers"),
        (entry(shape="many"), "not whole numbers"),
        (entry(shape=[0, 2**47, 2**47]), "does not fit"),
        (entry(data_offsets=[0, 2**40]), "does not fit into its bytes"),
        (entry(data_offsets=[8, 16008]), "overlap|does not fit"),
        (entry(data_offsets=[16000, 0]), "does not fit|not whole"),
        (entry(data_offsets=[0]), "not whole numbers"),
        (entry(dtype="OBJECT"), "unknown type"),
        (entry(dtype=["F64"]), "unknown type"),
        (entry(dtype="F32"), "does not fit into its bytes"),
        (entry(extra=1), "header is damaged at"),
        (lambda h: {**h, "more": h[first(h)]}, "overlap"),
        (lambda h: {**h, "more": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}, "belongs to nothing"),
        (lambda h: {**h, **{f"{at}": h[first(h)] for at in range(20_000)}}, "arrays; a model|too many parts"),
        (lambda h: {**h, "n": [1] * 300_000}, "too many parts|header of a plausible length"),
        (metadata(format="other"), "not a model file"),
        (metadata(format_version="2"), "newer gramian.*Install"),
        (metadata(format_version="0"), "lacks"),
        (metadata(format_version="-1"), "no number"),
        (metadata(format_version="9" * 5000), "no number"),
        (metadata(format_version="²"), "no number"),
        (metadata(class_="x"), None),
        (metadata(**{"class": "PCA"}), "says 'PCA', it holds KernelPCA"),
        (metadata(model="{}"), "not known"),
        (metadata(model="[1]"), "not a JSON object"),
        (metadata(model="null"), "not a JSON object"),
        (metadata(model="[" * 50_000), "no JSON that can be read|too many parts"),
        (metadata(model='{"a":' * 30_000), "no JSON that can be read|too many parts"),
        (metadata(model='{"object":"estimators.KernelPCA","object":"x"}'), "gives a key twice"),
        (metadata(model='{"x":NaN}'), "holds NaN"),
        (metadata(model='{"x":-Infinity}'), "holds -Infinity"),
        (metadata(model='{"x":1e999}'), "out of range"),
        (metadata(model='{"x":%s}' % ("9" * 5000)), "number of 5000 digits"),
        (metadata(answers='{"answers":[]}'), "which questions"),
        (metadata(answers='{"answers":["fit"]}'), "which questions"),
        (metadata(answers='{"answers":[["transform"]]}'), ""),
        (metadata(answers="{}"), "which questions"),
        (lambda h: h["__metadata__"].pop("model") and None, "lacks what every model file has"),
        (metadata(model=3), "metadata must be text"),
    ],
)
def test_edited_headers(path, written, forge, edit, complaint):
    path.write_bytes(forge(written, header=edit))
    if complaint is None:  # a word nobody asks about
        models.load(path)
        return
    message = refused(path)
    assert re.search(complaint, message), message


def test_a_key_given_twice_in_the_header(path, written, forge):
    """The reference reader of safetensors takes the last."""

    def twice(header):
        name = first(header)
        more = json.dumps({name: header[name]}, separators=(",", ":"))
        return (json.dumps(header, separators=(",", ":"))[:-1] + "," + more[1:]).encode()

    assert "gives a key twice" in refused(path, forge(written, header=twice))


def state(**changes):
    return lambda tree: tree["state"].update(changes)


def inside(key, **changes):
    return lambda tree: tree["state"][key]["state"].update(changes)


RBF = {"object": "kernels.RBF", "state": {"sigma": 1.0, "gamma": None}}


@pytest.mark.parametrize(
    ("edit", "complaint"),
    [
        (lambda t: t.update(object="os.system"), "class 'os.system', which is not known"),
        (lambda t: t.update(object="builtins.eval"), "not known"),
        (lambda t: t.update(object="gramian.estimators.KernelPCA"), "not known"),
        (lambda t: t.update(object=["estimators.KernelPCA"]), "not known"),
        (lambda t: t.update(object="kernels.Function", state={"function": "print"}), "not known"),
        (lambda t: t.update(object="estimators.PCA"), "lacks|says|fails|is not|makes no model"),
        (lambda t: RBF, "belongs to nothing|does not hold an estimator"),
        (lambda t: t.update(state=[]), "make no model"),
        (lambda t: t.pop("state") and None, "make no model"),
        (state(transform="x"), "no attribute 'transform'"),
        (state(fit=None), "no attribute 'fit'"),
        (state(__class__="x"), "no attribute '__class__'"),
        (state(__dict__={"dict": []}), "no attribute '__dict__'"),
        (state(explained_variance_ratio_=1), "no attribute 'explained_variance_ratio_'"),
        (state(**{"not a name": 1}), "no attribute 'not a name'"),
        (state(n_features_in_=11), "n_features_in_ is 11"),
        (state(n_features_in_=10**12), "n_features_in_ is"),
        (state(n_features_in_="10"), "n_features_in_ is .10."),
        (state(projection_=None), "belongs to nothing"),
        (lambda t: t["state"].update(extra_=t["state"].pop("projection_")), "transform fails for one row"),
        (lambda t: t["state"].update(extra_=t["state"]["projection_"], projection_="x"), "transform fails for one row"),
        (state(projection_={"dict": [[[], 1]]}), "make no model"),
        (state(extra_={"code": "import os"}), "'code', which is not known"),
        (state(extra_={}), "not known"),
        (state(extra_={"array": "nowhere"}), "'nowhere', which is not known"),
        (state(extra_={"array": ["x"]}), "not known"),
        (state(extra_={"int": "1" * 2000}), "number that is none"),
        (state(extra_={"int": "1e5"}), "number that is none"),
        (state(extra_={"float": "1e5"}), "not known"),
        (state(extra_={"scalar": ["object", 1]}), "not known"),
        (state(extra_={"dtype": "O"}), "not known"),
        (state(extra_={"dict": [["a", 1], ["a", 2]]}), "gives a key twice|give a key twice"),
        (state(extra_={"objects": [1, 2], "shape": [10**12]}), "make no model"),
        (state(extra_={"strings": ["projection_.offset", "projection_.offset"], "shape": [1]}), "is damaged"),
        (state(extra_={"text": "projection_.offset", "kind": "U"}), "is no text"),
        (
            state(
                extra_={
                    "sparse": "csr_array",
                    "shape": [2, 2],
                    "data": {"array": "projection_.offset"},
                    "indices": {"array": "projection_.offset"},
                    "indptr": {"array": "projection_.offset"},
                }
            ),
            "no whole numbers",
        ),
        (inside("projection_", anchors=None), "fails|make no model|belongs"),
        (inside("projection_", offset=1.0), "wrong type"),
        (inside("projection_", kernel="rbf"), "wrong type"),
        (inside("projection_", more=1), "no field 'more'"),
        (lambda t: t["state"]["projection_"]["state"].pop("kernel") and None, "lacks its field 'kernel'"),
        (inside("kernel_", gamma=-1.0), "must be a positive number"),
        (inside("kernel_", gamma={"float": "nan"}), "must be a positive number"),
        (inside("kernel_", norm="l3"), "norm"),
        (lambda t: t["state"].pop("summary_") and None, "is not fitted|belongs to nothing"),
    ],
)
def test_edited_models(path, written, forge, edit, complaint):
    message = refused(path, forge(written, tree=edit))
    assert re.search(complaint, message), message


def test_a_number_of_columns_that_nothing_bears_out(path, table, forge):
    models.save(RandomProjection(3, density=0.5).fit(table), path)
    for edit in (state(n_features_in_=2**31), inside("projection_", weights=1)):
        refused(path, forge(path.read_bytes(), tree=edit))
        models.save(RandomProjection(3, density=0.5).fit(table), path)

    def widen(tree):
        tree["state"]["projection_"]["state"]["weights"]["shape"][1] = 2**31

    assert "next to nothing" in refused(path, forge(path.read_bytes(), tree=widen))


def test_pipelines_hold_estimators_and_no_cache(path, table, forge, tmp_path):
    pipeline = make_pipeline(PCA(3), KernelPCA(2)).fit(table)
    models.save(pipeline, path)
    data = path.read_bytes()
    assert "can have no memory" in refused(path, forge(data, tree=state(memory=str(tmp_path))))
    refused(path, forge(data, tree=state(steps=[])))
    wrong = {"tuple": ["a", "passthrough"]}
    refused(path, forge(data, tree=lambda tree: tree["state"]["steps"].append(wrong)))
    with pytest.raises(ValueError, match="can have no memory"):
        models.save(pipeline.set_params(memory=str(tmp_path)), path)
    with pytest.raises(ValueError, match="StandardScaler"):
        models.save(make_pipeline(StandardScaler(), PCA(1)).fit(table), path)


def test_a_deep_tree(path, written, forge):
    def nest(tree):
        node = 1
        for _ in range(300):
            node = [node]
        tree["state"]["extra_"] = node

    assert "nested too deeply" in refused(path, forge(written, tree=nest))


def test_shapes_that_do_not_belong_together(path, written, forge):
    """Bytes and checksum are right, but one dimension moved from rows to columns."""

    def turn(header):
        entry = header["projection_.coefficients"]
        entry["shape"] = entry["shape"][::-1]

    assert "which does not fit the others" in refused(path, forge(written, header=turn))


def test_numbers_that_are_none(path, written, forge):
    def spoil(body):
        return body[:-8] + np.full(1, np.nan).tobytes()  # the first are hashes of rows

    assert "holds NaN or infinity" in refused(path, forge(written, body=spoil))


def test_every_flipped_byte_of_a_small_model_is_noticed(path, table):
    models.save(PCA(1).fit(table[:, :2]), path)
    data = path.read_bytes()
    for at in range(0, len(data), 7):
        spoiled = bytearray(data)
        spoiled[at] ^= 1 << (at % 8)
        path.write_bytes(bytes(spoiled))
        with pytest.raises(models.ModelError):
            models.load(path)


def test_what_is_not_there_or_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        models.load(tmp_path / "nowhere")
    with pytest.raises((IsADirectoryError, models.ModelError)):
        models.load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    assert "not a regular file" in refused(tmp_path / "pipe")
    with pytest.raises(models.ModelError, match="not a regular file"):
        models.load("/dev/zero")


def test_names_that_are_no_text(tmp_path, table):
    name = os.fsencode(tmp_path) + b"/\xff\nmodel"
    model = PCA(1).fit(table)
    models.save(model, name)
    assert np.array_equal(models.load(name).transform(table), model.transform(table))
    with open(name, "wb") as file:
        file.write(b"broken")
    with pytest.raises(models.ModelError) as failure:
        models.load(name)
    assert str(failure.value).encode()
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (lambda X: KernelPCA(1, kernel=lambda A, B: A @ B.T).fit(X), "kernel is a function.*Use a kernel of gramian"),
        (lambda X: PCA(1, random_state=np.random.default_rng(0)).fit(X), "random generator, not a seed.*set_params"),
        (lambda X: PCA(1), "is not fitted"),
        (
            lambda X: KernelKNNRegressor(weights=lambda distances: distances + 1).fit(X, X[:, 0]),
            "weights is a function.*Fit again with a word for weights",
        ),
        (
            lambda X: KernelKNNRegressor(weights=np.exp).fit(X, X[:, 0]).set_params(weights="uniform"),
            "weights was a ufunc at the fit.*Fit again with a word for weights",
        ),
        (
            lambda X: PLSRegression(1, cv=KFold(3)).fit(X, X[:, 0]),
            r"cv is an object of the class KFold.*set_params\(cv=",
        ),
    ],
)
def test_what_cannot_be_saved(tmp_path, table, model, complaint):
    with pytest.raises(ValueError, match=complaint) as failure:
        models.save(model(table), tmp_path / "m")
    assert "\n" not in str(failure.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "value", [print, {1, 2}, b"bytes", 1j, object(), np.array([1j]), np.array([print]), np.datetime64("2020-01-01")]
)
def test_values_that_have_no_place(tmp_path, table, value):
    model = PCA(1).fit(table)
    model.extra_ = value
    with pytest.raises(ValueError, match=r"extra_"):
        models.save(model, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_a_value_that_holds_itself(tmp_path, table):
    model = PCA(1).fit(table)
    model.extra_ = [1]
    model.extra_.append(model.extra_)
    with pytest.raises(ValueError, match="nested too deeply"):
        models.save(model, tmp_path / "m")


def test_a_kernel_of_ones_own_is_code(tmp_path, table):
    @dataclass(repr=False)
    class Own(kernels.RBF):
        name = "ones_own"

    model = KernelPCA(1, kernel=Own(sigma=1.0)).fit(table)
    with pytest.raises(ValueError, match="class Own"):
        models.save(model, tmp_path / "m")


def test_estimators_of_others(tmp_path, table):
    with pytest.raises(TypeError, match="not an estimator of gramian"):
        models.save(TheirPCA(1).fit(table), tmp_path / "m")

    class Derived(PCA):
        pass

    with pytest.raises(TypeError, match="Derived"):
        models.save(Derived(1).fit(table), tmp_path / "m")


@pytest.mark.slow
def test_nothing_is_imported_for_a_file(tmp_path, written, forge):
    """The modules that load needs are there before it is called, whatever the file says."""
    path = tmp_path / "m"
    path.write_bytes(forge(written, tree=lambda tree: tree.update(object="antigravity.fly")))
    code = f"""
import sys
from gramian import models
before = set(sys.modules)
try:
    models.load({str(path)!r})
except ValueError:
    pass
print(sorted(set(sys.modules) - before))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


def test_no_pickle_anywhere():
    for source in Path(models.__file__).parent.glob("*.py"):
        words = source.read_text()
        assert not any(word in words for word in ("pickle", "import_module", "__import__", "eval(", "exec(")), source


def test_public_estimators_are_registered():
    assert {record.estimator for record in RECORDS} <= set(CLASSES.values())
    assert kernels.Function not in CLASSES.values()


def test_values_fit_their_declared_types():
    assert fits(2, float) and fits((1, "a"), tuple[int, str]) and fits(None, int | None)  # noqa: PT018
    assert not fits("2", float)
    assert not fits(True, int)
