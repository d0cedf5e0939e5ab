"""What counts as an answer or as a refusal of the estimators in ``tests/cases.py``."""

import re

import numpy as np
import pytest
from tests.cases import answer, fitted


def finite(name, X, y=None, **parameters):
    """The answer for the rows of the fit, which must be finite."""
    found = answer(fitted(name, X, y, **parameters), X)
    assert np.isfinite(found).all(), name
    return found


def refusal(kinds, function, *args, **kwargs):
    """The message of an error of these kinds, which must be one line and no error of linear algebra."""
    with pytest.raises(kinds) as caught:
        function(*args, **kwargs)
    return one_line(caught.value)


def one_line(error):
    assert not isinstance(error, np.linalg.LinAlgError), error
    assert str(error)
    assert "\n" not in str(error), error
    return str(error)


def finite_or_refused(name, X, words, **parameters):
    """The finite answer, or None where the rows are refused in these words."""
    try:
        return finite(name, X, **parameters)
    except ValueError as error:
        refused = error
    assert re.search(words, one_line(refused)), refused
    return None


def same_up_to_sign(found, expected, tolerance):
    """Compare scores column by column: a sign may hang on which entry is the largest."""
    found, expected = (np.asarray(A, dtype=float).reshape(len(A), -1) for A in (found, expected))
    signs = np.where((found * expected).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(found * signs, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1e-300))
