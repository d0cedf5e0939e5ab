"""What must not matter: the order of rows and columns, units, the origin."""

import numpy as np

from gramian import ICA, Standardizer

from .laws import EPS, fit_and_answer, law, same


def taken(y, order):
    return None if y is None else y[order]


@law("row order")
def test_row_order(case, sample):
    """Sums in another order differ by roundings."""
    X, Z, y = sample.for_case(case)
    order = sample.rng.permutation(sample.n)
    same(fit_and_answer(case, X[order], taken(y, order), Z), fit_and_answer(case, X, y, Z), case.exact)


@law("column order")
def test_column_order(case, sample):
    X, Z, y = sample.for_case(case)
    order = sample.rng.permutation(sample.d)
    order = order[::-1] if (order == np.arange(sample.d)).all() else order
    expected = fit_and_answer(case, X, y, Z)
    if isinstance(case.model, Standardizer):  # a score for each column
        expected["transform"] = expected["transform"][:, order]
    same(fit_and_answer(case, X[:, order], y, Z[:, order]), expected, case.exact)


@law("unit")
def test_unit(case, sample):
    """All columns times a constant."""
    X, Z, y = sample.for_case(case)
    unit = 10.0 ** sample.rng.integers(-6, 7) * 3
    same(fit_and_answer(case, X * unit, y, Z * unit, unit), fit_and_answer(case, X, y, Z), case.exact)


@law("units of columns")
def test_units_of_columns(case, sample):
    """Each column times a constant of its own."""
    X, Z, y = sample.for_case(case)
    units = 10.0 ** sample.rng.uniform(-3, 3, sample.d)
    found, expected = fit_and_answer(case, X * units, y, Z * units), fit_and_answer(case, X, y, Z)
    if isinstance(case.model, ICA):  # sources are the same, their order is that of the variance they explain
        for answer in (found, expected):
            answer["transform"] = answer["transform"][:, np.argsort(np.abs(answer["transform"]).sum(axis=0))]
    same(found, expected, case.exact)


@law("origin")
def test_origin(case, sample):
    """A shift by 1e8 rounds each entry to 1e8 eps: the rows themselves change by that part of their spread."""
    X, Z, y = sample.for_case(case)
    lost = 1e8 * EPS / X.std(axis=0).min()
    same(fit_and_answer(case, X + 1e8, y, Z + 1e8), fit_and_answer(case, X, y, Z), case.exact + 100 * lost)
