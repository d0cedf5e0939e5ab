"""Columns against each other: uneven spreads, and scaling by the rule of PCA."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from gramian import PCA
from gramian.tables import Standardizer, Table, uneven_columns


def as_table(values):
    return Table(values, tuple(f"c{at}" for at in range(values.shape[1])), {}, (), "t.csv")


@pytest.mark.parametrize("unit", [1.0, 1e200, 1e-200])
def test_uneven_columns_are_named(rng, unit):
    values = rng.standard_normal((100, 3)) * [1, 5000, 10] * unit
    message = uneven_columns(as_table(values))
    assert "(from 'c0' to 'c1')" in message
    ratio = np.std(values[:, 1] / unit) / np.std(values[:, 0] / unit)
    assert f"a factor of {ratio:,.0f} " in message


def test_even_and_constant_columns_say_nothing(rng):
    values = np.column_stack([rng.standard_normal((100, 2)) * [1, 500], np.full(100, 1e9), np.zeros(100)])
    assert uneven_columns(as_table(values)) == ""
    assert uneven_columns(as_table(values), factor=100) != ""
    assert uneven_columns(as_table(np.ones((3, 2)))) == ""
    assert uneven_columns(as_table(values[:1])) == ""


def test_standardizer_follows_pca(table):
    pca = PCA(scale=True).fit(table)
    standardizer = Standardizer().fit(table)
    np.testing.assert_allclose(standardizer.mean_, pca.mean_, rtol=1e-14)
    np.testing.assert_allclose(standardizer.scale_, pca.scale_, rtol=1e-14)


def test_standardizer_is_the_usual_one_but_for_the_divisor(table):
    n = len(table)
    usual = StandardScaler().fit_transform(table)
    np.testing.assert_allclose(Standardizer().fit_transform(table), usual * np.sqrt((n - 1) / n), atol=1e-12)


def test_standardizer_only_centres_constant_columns_and_names_its_output():
    standardizer = Standardizer().fit([[1.0, 7.0], [2.0, 7.0], [3.0, 7.0]])
    np.testing.assert_array_equal(standardizer.transform([[2.0, 8.0]]), [[0, 1]])
    assert standardizer.get_feature_names_out(["a", "b"]).tolist() == ["a", "b"]
