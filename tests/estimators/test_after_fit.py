"""A fit owns what it keeps: nothing done later to parameters, to objects given, or to arrays changes its answers."""

import contextlib
import copy
import dataclasses
import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gramian
from gramian import KernelKNNClassifier, KernelPCA, KernelRidge, Landmarks, kernels, models, rows
from gramian.estimators.result_tables import ResultTables
from gramian.kernels import RBF, Function
from gramian.results import FitSummary
from gramian.solvers import Krylov
from gramian.solvers.conjugate import ConjugateGradients

from ..models.conftest import CONFIGURATIONS, GAPS, GRAM, WORDS, X, Y  # noqa: TID252  (tests are no package with a name)

#: Public methods that fit, that tell of the estimator and not of its fit, or that another of them calls.
NO_ANSWER = (
    "fit",
    "partial_fit",
    "set_",
    "get_params",
    "get_metadata_routing",
    "path",
    "cross_validate",
    "reconstruct",
)
#: Rows to ask about.
ASKED = 4


class OwnKernel:
    """A user's kernel with a parameter that can be changed."""

    def __init__(self, gamma=0.1):
        self.gamma = gamma

    def __call__(self, A, B):
        return np.exp(-self.gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


class OwnWeights:
    """A user's weights of neighbours with a parameter that can be changed."""

    def __init__(self, power=2.0):
        self.power = power

    def __call__(self, distances):
        return 1 / (1 + distances) ** self.power


WEIGHTS = 1.0 + np.arange(60) % 3
NESTED = 2 * RBF(sigma=3.0)[0:2] * kernels.Matern() + kernels.Polynomial(degree=2)[0, 1] ** 2
#: Parameters that are objects, and arguments of fit, which the configurations of model files do not have.
MORE = [
    ("KernelPCA", {"kernel": RBF(sigma=2.0), "n_components": 2, "preimage": "distance"}, X, None),
    ("KernelPCA", {"kernel": OwnKernel(), "n_components": 2}, X, None),
    ("KernelPCA", {"kernel": RBF(sigma=2.0) + Function(OwnKernel()), "n_components": 2}, X, None),
    ("KernelPCA", {"kernel": RBF(sigma=3.0), "n_components": 2, "solver": Krylov(tol=1e-9)}, X, None),
    ("KernelPCA", {"kernel": RBF(sigma=3.0), "n_components": 2, "landmarks": Landmarks(60)}, X, None),
    ("KernelPCA", {"kernel": RBF(sigma=3.0), "n_components": 2, "landmarks": Landmarks(points=X[:9].copy())}, X, None),
    ("KernelRidge", {"kernel": NESTED, "solver": ConjugateGradients(tol=1e-9)}, X, Y, WEIGHTS),
    ("KernelRidge", {"kernel": RBF(sigma=2.0), "ridge": 0.1, "fit_intercept": True}, X, Y[:, 0], WEIGHTS),
    ("KernelSVC", {"kernel": RBF(sigma=2.0), "bias": True, "class_weight": {"ape": 2.0}}, X, WORDS, WEIGHTS),
    ("KernelKMeans", {"kernel": RBF(sigma=2.0), "n_clusters": 3, "init": np.arange(60) % 3}, X, None, WEIGHTS),
    ("KernelKMeans", {"kernel": "precomputed", "n_clusters": 3}, GRAM, None),
    ("KernelKNNClassifier", {"kernel": RBF(sigma=2.0), "weights": OwnWeights(), "n_neighbors": 3}, X, WORDS),
    ("KernelKNNClassifier", {"kernel": NESTED, "weights": "distance", "n_neighbors": 3}, X, WORDS),
    ("KernelKNNRegressor", {"kernel": OwnKernel(), "weights": "distance"}, X, Y),
    ("KernelPrototypeClassifier", {"kernel": NESTED}, X, WORDS, WEIGHTS),
    ("KernelPrototypeClassifier", {"kernel": "precomputed"}, GRAM, WORDS),
    ("KernelCCA", {"kernel": RBF(sigma=2.0), "kernel_y": NESTED, "ridge": [0.1, 0.2], "n_components": 2}, X, Y),
    ("KernelCCA", {"kernel": RBF(sigma=2.0), "landmarks": [Landmarks(60), Landmarks(9)], "ridge": 0.1}, X, Y),
    ("CCA", {"ridge": [0.1, 0.2]}, X, Y, WEIGHTS),
    ("PCA", {"n_components": 2, "scale": True}, X, None, WEIGHTS),
    ("ProbabilisticPCA", {"n_components": 2, "random_state": 3}, X, None, WEIGHTS),
]
CASES = [(name, *case) for name, cases in CONFIGURATIONS.items() for case in cases] + MORE
law = pytest.mark.parametrize("case", CASES, ids=[f"{case[0]}-{at}" for at, case in enumerate(CASES)])


@law
def test_neither_parameters_nor_arrays_changed_afterwards_change_the_answers(case):
    model, given = fitted(case)
    rows, targets = copy.deepcopy(given[:2])
    assert not shared(model, given)
    expected = answers(copy.deepcopy(model), rows, targets)  # of a copy: what is computed when asked for is not kept
    overwrite(list(given))
    overwrite(model.get_params(deep=False))
    for reset in (to_defaults, to_nonsense):
        reset(model)
        found = answers(copy.deepcopy(model), rows, targets)
        for name, value in expected.items():
            assert found[name] == value, name


@pytest.mark.parametrize("name", [name for name in CONFIGURATIONS if hasattr(getattr(gramian, name), "partial_fit")])
def test_rows_overwritten_between_calls_of_partial_fit_do_not_matter(name):
    landmarks = {"landmarks": 9} if "landmarks" in getattr(gramian, name)().get_params() else {}
    model, other = (getattr(gramian, name)(**landmarks) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in (slice(0, 30), slice(30, 60)):
            model.partial_fit(X[part], Y[part])
            given = X[part].copy(), Y[part].copy()
            other.partial_fit(*given)
            overwrite(list(given))
    assert answers(other, X, Y) == answers(model, X, Y)


def test_a_parameter_changed_after_the_fit_counts_from_the_next_fit_on():
    model = KernelKNNClassifier(1, kernel="rbf(sigma=2)").fit(X, WORDS)
    model.set_params(n_neighbors=7, weights="distance")
    assert model.kneighbors(X[:3])[0].shape == (3, 1)
    assert model.fit(X, WORDS).kneighbors(X[:3])[0].shape == (3, 7)
    with pytest.raises(ValueError, match="n_neighbors"):
        model.set_params(n_neighbors=70).fit(X, WORDS)
    assert model.kneighbors(X[:3])[0].shape == (3, 7)  # the fit that failed left the one before


def test_a_saved_model_answers_as_it_was_fitted_whatever_its_parameters_say(tmp_path):
    model = KernelKNNClassifier(1, kernel="rbf(sigma=2)").fit(X, WORDS)
    expected = model.predict_proba(X + 0.5)
    models.save(model.set_params(n_neighbors=7, weights="distance"), tmp_path / "model")
    again = models.load(tmp_path / "model")
    assert again.n_neighbors == 7
    assert np.array_equal(again.predict_proba(X + 0.5), expected)


@pytest.mark.parametrize("name", ["PCA", "ProbabilisticPCA", "FactorAnalysis", "PLSRegression", "CCA"])
def test_streams_of_new_rows_see_the_parameters_of_the_fit(name):
    model = getattr(gramian, name)(1, missing="em")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*((GAPS, Y) if name in ("PLSRegression", "CCA") else (GAPS,)))
    expected = model.transform(rows(GAPS, block=25)).toarray()
    assert np.array_equal(model.set_params(missing=None).transform(rows(GAPS, block=25)).toarray(), expected)


def test_a_kernel_object_shared_by_two_estimators_may_be_searched_over():
    kernel = RBF(sigma=2.0)
    ridge, components = KernelRidge(0.1, kernel=kernel).fit(X, Y), KernelPCA(2, kernel=kernel).fit(X)
    before = ridge.predict(X), components.transform(X)
    ridge.set_params(kernel__sigma=9.0)
    assert np.array_equal(ridge.predict(X), before[0])
    assert np.array_equal(components.transform(X), before[1])
    assert ridge.kernel_ == components.kernel_ == RBF(sigma=2.0)


def fitted(case):
    """A fit with copies of parameters and arguments of its own, and the arguments."""
    name, parameters, *given = case
    parameters, given = copy.deepcopy(parameters), copy.deepcopy(given)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(gramian, name)(**parameters).fit(*given), given


def shared(model, given):
    """Fitted attributes with an array that belongs to the caller: whatever the route of a fit, it must copy those."""
    parameters = model.get_params(deep=False)
    theirs = [*arrays_of(list(given)), *arrays_of(parameters)]
    kept = {name: arrays_of(value) for name, value in vars(model).items() if name not in parameters}
    return [name for name, own in kept.items() if any(np.may_share_memory(a, b) for a in own for b in theirs)]


def answers(model, rows, targets):
    """Everything that a fitted estimator says: its methods, and its fitted attributes."""
    found = {}
    cut = [None if part is None else part[:ASKED] for part in (rows, targets)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = model.transform(cut[0]) if hasattr(model, "inverse_transform") else None
        for name in dir(type(model)):
            if name.startswith("_") or name.startswith(NO_ANSWER) or not hasattr(model, name):
                continue
            if name.endswith("_") or not callable(getattr(model, name)):
                found[name] = plain(getattr(model, name))
            else:
                found[name] = ask(getattr(model, name), *cut, scores)
        if hasattr(model, "kneighbors"):
            found["kneighbors of training rows"] = ask(lambda: model.kneighbors(), *cut, scores)
    parameters = model.get_params(deep=False)
    found |= {k: plain(v) for k, v in vars(model).items() if k not in parameters and not k.startswith("_")}
    return found


def ask(method, rows, targets, scores):
    """What a method says of rows, or why it says nothing."""
    named = inspect.signature(method).parameters
    given = {"X": rows, "Y": targets, "y": targets, "Z": rows, "n_permutations": 9}
    if method.__name__ in ("inverse_transform", "reconstruct"):
        given["X"] = scores
    try:
        return plain(method(**{name: value for name, value in given.items() if name in named}))
    except (ValueError, TypeError, NotImplementedError) as error:
        return f"{type(error).__name__}: {error}"


def plain(value):
    """A value as something that can be compared, to the last bit, without the seconds that a fit took."""
    if isinstance(value, ResultTables):
        return [
            (name, ask(lambda name=name: value._makers[name]().to_dict(), None, None, None))
            for name in value
            if name != "summary"
        ]
    if isinstance(value, FitSummary):
        return plain([value.title, {k: v for k, v in value.facts.items() if k != "seconds"}])
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, repr(value.tolist()) if value.dtype == object else value.tobytes()
    if sp.issparse(value):
        return plain([value.shape, value.data, value.indices, value.indptr])
    if isinstance(value, dict):
        return [(key, plain(part)) for key, part in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if dataclasses.is_dataclass(value):
        return [type(value), *((f.name, plain(getattr(value, f.name))) for f in dataclasses.fields(value))]
    if hasattr(value, "__dict__") and not inspect.isroutine(value):
        return [type(value), plain(vars(value))]
    return repr(value)


def arrays_of(value):
    """All arrays in a value."""
    if isinstance(value, np.ndarray):
        return [value]
    if sp.issparse(value):
        return [value.data, value.indices, value.indptr]
    if isinstance(value, pd.DataFrame):
        return [value.to_numpy()]
    parts = value if isinstance(value, (list, tuple)) else value.values() if isinstance(value, dict) else ()
    parts = vars(value).values() if hasattr(value, "__dict__") and not inspect.isroutine(value) else parts
    return [array for part in parts for array in arrays_of(part)]


def overwrite(value):
    """Change, in place, whatever can be: arrays, lists, dictionaries, and the numbers in objects."""
    if isinstance(value, np.ndarray):
        value[...] = value.dtype.type(1) if value.dtype.kind != "O" else "x"
    elif sp.issparse(value):
        value.data[:] = 7.0
    elif isinstance(value, pd.DataFrame):
        value.iloc[:, :] = 7.0
    elif isinstance(value, (list, tuple)):
        for part in value:
            overwrite(part)
        if isinstance(value, list):
            value.clear()
    elif isinstance(value, dict):
        for part in value.values():
            overwrite(part)
    elif hasattr(value, "__dict__") and not inspect.isroutine(value):
        for name, part in vars(value).items():
            overwrite(part)
            if isinstance(part, (int, float)) and not isinstance(part, bool):
                with contextlib.suppress(dataclasses.FrozenInstanceError):
                    setattr(value, name, part * 3)


def to_defaults(model):
    model.set_params(**type(model)().get_params(deep=False))


def to_nonsense(model):
    model.set_params(**dict.fromkeys(model.get_params(deep=False), object()))
