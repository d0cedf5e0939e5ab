"""What a law is tried on, when two answers are the same, and how a test of one is made."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import gramian

from .table import ESTIMATORS, EXEMPT, LISTED

EPS = np.finfo(np.float64).eps
#: Attributes with a value for each column, whose order is that of the columns.
BY_COLUMN = ("uniquenesses_",)
#: Laws for which the power of the unit that an answer has must be known.
OF_UNITS = ("unit", "units of columns")


@dataclass(frozen=True)
class Sample:
    """Rows with heavy tails and singular values in known ratios: components are told apart whatever the seed."""

    n: int = 30
    d: int = 4
    ratio: float = 2.0
    offset: float = 1.0
    seed: int = 0

    def __post_init__(self):
        rng = np.random.default_rng(self.seed)
        rows = rng.laplace(size=(self.n + 7, self.d))
        turn = np.linalg.qr(rng.standard_normal((self.d, self.d)))[0]
        old = rows[: self.n] - rows[: self.n].mean(axis=0)
        triangle = np.linalg.qr(old)[1]
        spread = np.sqrt(self.n) * self.ratio ** -np.arange(self.d)[:, None] * turn
        X, Z = ((part @ np.linalg.inv(triangle)) @ spread + self.offset for part in (old, rows[self.n :]))
        noise = rng.standard_normal((self.n, 2))
        targets = {
            "none": None,
            "numbers": X[:, 0] + 0.1 * noise[:, 0],
            "labels": np.where(X[:, 0] + X[:, 1] > 2 * self.offset, "up", "down"),
            "view": X[:, :2] @ [[1.0, 0.5], [0.0, 1.0]] + 0.3 * noise,
        }
        for name, value in {"X": X, "Z": Z, "targets": targets, "rng": rng}.items():
            object.__setattr__(self, name, value)
        for array in (X, Z):
            array.setflags(write=False)

    def for_case(self, case):
        """Rows to fit, new rows, and the target of an estimator."""
        if not case.groups:
            return self.X, self.Z, self.targets[case.target]
        far = 20 * self.X.std()
        return *(A + far * (np.arange(len(A)) % 2)[:, None] for A in (self.X, self.Z)), self.targets[case.target]


samples = st.builds(
    Sample,
    n=st.integers(24, 40),
    d=st.integers(4, 6),
    ratio=st.sampled_from([1.5, 2.0, 3.0]),
    offset=st.sampled_from([0.0, 1.0, -20.0]),
    seed=st.integers(0, 2**16),
)


def fitted(case, X, y, verb="fit", **kwargs):
    """A fit, or what another verb makes of the same arguments."""
    do = getattr(clone(case.model), verb)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)  # what is said is tested where it belongs
        return do(X, y, **kwargs) if y is not None else do(X, **kwargs)


def answers(case, model, Z, unit=1.0):
    """What a user sees, in the unit of X."""
    found = {name: getattr(model, name)(Z) for name in case.says}
    found |= {name: np.sort(getattr(model, name)) if name in BY_COLUMN else getattr(model, name) for name in case.has}
    return {name: _in_unit(value, unit ** (case.says | case.has)[name]) for name, value in found.items()}


def _in_unit(value, unit):
    value = np.asarray(value)
    return value if value.dtype.kind in "UO" else value.astype(float) / unit


def fit_and_answer(case, X, y, Z, unit=1.0, **kwargs):
    return answers(case, fitted(case, X, y, **kwargs), Z, unit)


def same(found, expected, tolerance):
    """Labels alike; numbers alike to a part of the largest, columns of scores up to their sign."""
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        other = found[name]
        assert other.shape == value.shape, name
        if value.dtype.kind in "UO":
            assert (other == value).all(), name
            continue
        if name == "transform":
            other = other * np.where((other * value).sum(axis=0) < 0, -1.0, 1.0)
        size = np.abs(value).max()
        np.testing.assert_allclose(other, value, rtol=0, atol=tolerance * size, err_msg=name)


def law(name, examples=4, given_by=samples):
    """Make a test of a law of every estimator; of those exempt from it, that they need to be."""

    def make(check):
        tried = settings(
            max_examples=examples, derandomize=True, deadline=None, database=None, phases=[Phase.generate]
        )(given(sample=given_by)(lambda estimator, sample: check(ESTIMATORS[estimator], sample)))

        @pytest.mark.parametrize("estimator", LISTED if name in OF_UNITS else ESTIMATORS)
        def test(estimator):
            if estimator not in EXEMPT.get(name, {}):
                tried(estimator=estimator)
                return
            with pytest.raises((AssertionError, TypeError)):
                check(ESTIMATORS[estimator], Sample())

        test.__doc__ = check.__doc__
        return test

    return make
