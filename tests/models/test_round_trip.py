"""What is saved comes back: the same answers bit for bit, and an estimator one can go on with."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from safetensors import safe_open
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

from gramian import PCA, KernelPCA, PLSRegression, ProbabilisticPCA, kernels, models
from gramian.models.classes import CLASSES, hints_of

DATA = Path(__file__).with_name("data")
QUESTIONS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")


def ask(model, question, *rows):
    """Answer, or the words of the refusal: both must survive."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return getattr(model, question)(*rows)
        except (ValueError, NotImplementedError) as error:
            return str(error)


def same(one, other):
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype == object:
        return one.shape == other.shape and one.tolist() == other.tolist()
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


def kept(value):
    """Attributes of an object, without what is computed again from others: caches, and search trees."""
    names = getattr(value, "__dataclass_fields__", vars(value))
    return {key: getattr(value, key) for key in names if key not in ("_tree", "_mapped", "_prepared")}


def equal(one, other):
    """Whether two values are the same in type and content, to the last bit."""
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        if one.dtype == object:
            return one.shape == other.shape and all(map(equal, one.ravel(), other.ravel()))
        return same(one, other) and (one.flags.c_contiguous, one.flags.f_contiguous) == (
            other.flags.c_contiguous,
            other.flags.f_contiguous,
        )
    if sp.issparse(one):
        return one.shape == other.shape and all(
            equal(getattr(one, part), getattr(other, part)) for part in ("data", "indices", "indptr")
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(equal, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(equal(one[key], other[key]) for key in one)
    if type(one) in CLASSES.values():
        return equal(kept(one), kept(other))
    return one == other or (one != one and other != other)


def test_answers_are_equal_bit_for_bit(fitted, tmp_path):
    model, rows, targets = fitted
    models.save(model, tmp_path / "m.safetensors")
    again = models.load(tmp_path / "m.safetensors")
    asked = [question for question in QUESTIONS if hasattr(model, question)]
    assert asked
    for question in asked:
        assert same(ask(model, question, rows), ask(again, question, rows)), question
        one_row = rows.iloc[:1] if hasattr(rows, "iloc") else rows[:1]
        assert same(ask(model, question, one_row), ask(again, question, one_row)), question
    if hasattr(model, "inverse_transform"):
        scores = ask(model, "transform", rows)[:5]
        assert same(ask(model, "inverse_transform", scores), ask(again, "inverse_transform", scores))
    if targets is not None and hasattr(model, "y_projection_"):
        assert same(ask(model, "transform", rows, targets), ask(again, "transform", rows, targets))


def test_everything_else_is_equal_too(fitted, tmp_path):
    model, _, _ = fitted
    models.save(model, tmp_path / "m.safetensors")
    again = models.load(tmp_path / "m.safetensors")
    assert type(again) is type(model)
    assert set(kept(again)) == set(kept(model))
    for key, value in kept(model).items():
        assert equal(value, vars(again)[key]), key
    assert repr(again) == repr(model)
    assert str(again.summary_) == str(model.summary_)
    assert equal(again.get_params(deep=False), model.get_params(deep=False))
    assert repr(clone(again)) == repr(clone(model))
    if hasattr(model, "feature_names_in_"):
        assert list(again.feature_names_in_) == list(model.feature_names_in_)


def test_a_second_save_writes_the_same_bytes(fitted, tmp_path):
    models.save(fitted[0], tmp_path / "one")
    models.save(models.load(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_other_readers_of_safetensors_can_read_it(fitted, tmp_path):
    models.save(fitted[0], tmp_path / "m.safetensors")
    card = models.inspect(tmp_path / "m.safetensors")
    with safe_open(tmp_path / "m.safetensors", "np") as file:
        assert {name: file.get_tensor(name).shape for name in file.keys()} == card.arrays  # noqa: SIM118
        metadata = file.metadata()
    assert metadata["class"] == card.estimator == type(fitted[0]).__name__
    assert metadata["summary"] == card.summary == str(fitted[0].summary_)
    tree = json.loads(metadata["model"])
    assert set(fitted[0].get_params(deep=False)) <= set(tree["state"])
    names = getattr(fitted[0], "feature_names_in_", None)
    assert card.columns == (None if names is None else tuple(names))


@pytest.mark.parametrize(
    ("model", "more"),
    [(PCA(2), ()), (ProbabilisticPCA(2), ()), (PLSRegression(2), (0,))],
    ids=lambda value: type(value).__name__,
)
def test_partial_fit_goes_on_with_the_same_bits(model, more, table, tmp_path):
    X, Y = table[:, :6], tuple(table[:, 6:8] for _ in more)
    model = clone(model).fit(X[:120], *(y[:120] for y in Y))
    models.save(model, tmp_path / "m")
    again = models.load(tmp_path / "m")
    for either in (model, again):
        either.partial_fit(X[120:], *(y[120:] for y in Y))
    assert same(model.transform(X), again.transform(X))


def test_a_model_that_has_not_seen_enough_rows_is_kept(table, tmp_path):
    few = PCA(2).partial_fit(table[:1])
    models.save(few, tmp_path / "m")
    again = models.load(tmp_path / "m").partial_fit(table[1:])
    assert same(again.transform(table), few.partial_fit(table[1:]).transform(table))


def test_loaded_parameters_can_be_set(table, tmp_path):
    models.save(KernelPCA(2, kernel=kernels.RBF(sigma=2.0)).fit(table), tmp_path / "m")
    again = models.load(tmp_path / "m").set_params(kernel__sigma=3.0, n_components=1)
    assert again.kernel == kernels.RBF(sigma=3.0)
    assert again.kernel_ == kernels.RBF(sigma=2.0)
    expected = KernelPCA(1, kernel=kernels.RBF(sigma=3.0)).fit_transform(table)
    assert same(again.fit_transform(table), expected)


def test_pipelines_are_kept(named_rows, tmp_path):
    pipeline = make_pipeline(PCA(4, whiten=True), KernelPCA(2, kernel="rbf(sigma=3)")).fit(named_rows)
    models.save(pipeline, tmp_path / "m")
    again = models.load(tmp_path / "m")
    assert same(again.transform(named_rows), pipeline.transform(named_rows))
    assert list(again.named_steps) == ["pca", "kernelpca"]
    card = models.inspect(tmp_path / "m")
    assert (card.estimator, card.columns) == ("Pipeline", tuple(named_rows.columns))
    assert card.summary == str(pipeline[-1].summary_)


def test_the_output_container_is_kept(named_rows, tmp_path):
    model = PCA(2).set_output(transform="pandas").fit(named_rows)
    models.save(model, tmp_path / "m")
    scores = models.load(tmp_path / "m").transform(named_rows)
    assert list(scores.columns) == ["PC1", "PC2"]


def test_column_names_are_still_checked(named_rows, tmp_path):
    models.save(PCA(2).fit(named_rows), tmp_path / "m")
    with pytest.raises(ValueError, match="feature names"):
        models.load(tmp_path / "m").transform(named_rows[named_rows.columns[::-1]])


def test_ten_thousand_column_names(rng, tmp_path):
    frame = pd.DataFrame(rng.standard_normal((3, 10_000)), columns=[f"gene {j} µ" for j in range(10_000)])
    models.save(KernelPCA(1, kernel="linear").fit(frame), tmp_path / "m")
    assert list(models.load(tmp_path / "m").feature_names_in_) == list(frame.columns)


def test_every_kernel_has_a_place(table, tmp_path):
    for name in kernels.__all__:
        cls = getattr(kernels, name)
        if not isinstance(cls, type) or cls in (kernels.Kernel, kernels.MappedKernel, kernels.Function):
            continue
        assert cls in CLASSES.values(), name


def test_every_class_says_the_types_of_its_fields():
    """Names of types that are only imported for a type checker could not be looked up when a file is read."""
    for cls in CLASSES.values():
        assert {*getattr(cls, "__dataclass_fields__", ())} <= {*hints_of(cls)}, cls.__name__


def test_a_shared_array_is_kept_once(table, tmp_path):
    model = PCA(3).fit(table)
    model.first_ = model.second_ = np.arange(10_000.0)
    model.third_ = model.first_.reshape(100, 100).T
    models.save(model, tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 2 * 80_000 + 20_000
    again = models.load(tmp_path / "m")
    assert again.first_ is again.second_
    assert again.third_.flags.f_contiguous


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        2**200,
        -(2**70),
        -0.0,
        float("inf"),
        float("nan"),
        "ü\ud800\0",
        [1, [2.5, "x"], ()],
        {"a": (1, None), 3: [np.float32(0.1)], (1, "b"): {}},
        slice(1, None, -2),
        np.int16(-3),
        np.bool_(True),
        np.str_("word"),
        np.float64("nan"),
        np.dtype("float32"),
        np.array(5.0),
        np.array([[1, 2], [3, 4]], dtype=np.uint8, order="F"),
        np.array([], dtype="U3"),
        np.array([["a", "bçd"]]),
        np.array([b"ab", b"c"]),
        np.array(["a", 1, None, 2.5, "ü"], dtype=object),
        np.array([["x"], ["longer than that"]], dtype=object),
        np.array([True, False]),
        np.array([1.0, np.nan, np.inf]),
        np.zeros((0, 3), dtype=np.float16),
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 1, 0),
        np.arange(3, dtype=">i4").astype("<i4"),
        sp.csr_array(np.eye(3)),
        sp.csc_matrix(np.eye(3, dtype=np.float32)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_kind_of_value_comes_back(value, table, tmp_path):
    model = PCA(1).fit(table)
    model.extra_ = value
    models.save(model, tmp_path / "m")
    assert equal(models.load(tmp_path / "m").extra_, value)


def test_extreme_rows_do_not_stand_in_the_way(rng, tmp_path):
    """One row is asked about when a model is saved; it must be a row the model could have seen."""
    X = rng.standard_normal((30, 3)) + 1e9
    for model, rows in ((KernelPCA(1, kernel="rbf(sigma=1)"), X), (PCA(1), X * 1e100), (PCA(1), X * 1e-140)):
        models.save(model.fit(rows), tmp_path / "m")
        np.testing.assert_array_equal(models.load(tmp_path / "m").transform(rows), model.transform(rows))


@pytest.mark.parametrize("path", sorted(DATA.glob("*.safetensors")), ids=lambda path: path.stem)
def test_models_of_earlier_versions_load_for_ever(path):
    """The files in data/ are never written anew; answers that were stored beside them are still given."""
    model = models.load(path)
    stored = np.load(path.with_suffix(".npz"))
    for question in set(stored.files) - {"rows"}:
        answer, expected = np.asarray(ask(model, question, stored["rows"])), stored[question]
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(answer, expected, rtol=1e-9, atol=1e-9)
        else:
            assert (answer == expected).all()
    assert len(stored.files) > 1


def test_there_is_a_file_of_every_public_estimator(configurations):
    kept = {path.stem.split("-")[0] for path in DATA.glob("*.safetensors")}
    assert set(configurations) <= kept, "run tests/models/make_data.py, and keep the new files"
