"""Text among numbers is refused by every estimator with the column, the cell and a remedy that works."""

import pandas as pd
import pytest

from gramian.tables import as_table

from ..cases import ESTIMATORS, X, estimator, targets  # noqa: TID252  (tests are no package with a name)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_text_in_a_data_frame_is_named(name):
    frame = pd.DataFrame(X).add_prefix("x").astype(object)
    frame.iloc[3, 1] = "n/a?"
    y = targets(name)
    with pytest.raises(ValueError, match=r"column 'x1' of X has text, first 'n/a\?' in row 3 \(counted from 0\)"):
        estimator(name).fit(frame, y)
    with pytest.raises(ValueError, match=r"column 1 of X has text, first 'n/a\?' in row 3 \(counted from 0\)"):
        estimator(name).fit(frame.to_numpy(), y)


def test_the_remedy_makes_numbers():
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": ["x", "y", "x"]})
    assert as_table(frame, categories="encode").columns == ("a", "kind=x", "kind=y")
