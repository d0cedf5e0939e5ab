"""What the doctor reads, and the little it refuses."""

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.sparse as sp

from gramian.selection import doctor

N = 300  # rows of the fixture sound


@pytest.mark.parametrize("form", [pd.DataFrame, polars.DataFrame, dict], ids=["pandas", "polars", "mapping"])
def test_frames_with_text_are_read(form):
    columns = {
        "size": [float(at) ** 0.5 for at in range(40)],
        "kind": ["a", "b"] * 20,
        "grade": ["1.5", "2.5", "oops", "3.5"] * 10,
    }
    found = doctor(form(columns))
    by_code = {f.code: f for f in found}
    assert by_code["text_column"].columns == ("kind",)
    assert "2 different values: 'a', 'b'" in by_code["text_column"].message
    assert by_code["text_in_numbers"].columns == ("grade",)
    assert "'oops', in row indices 2, 6, 10 and 7 more" in by_code["text_in_numbers"].message
    assert "missing_values" not in by_code
    assert found.shape == (40, 3)


def test_frames_keep_their_names_and_gaps(sound):
    frame = pd.DataFrame(sound, columns=list("abcdef"))
    frame["b"] = frame["b"].astype("Float64")
    frame.loc[4, "b"] = pd.NA
    frame["day"] = pd.date_range("2020-01-01", periods=N)
    found = doctor(frame)
    assert [(f.code, f.columns) for f in found] == [("text_column", ("day",)), ("missing_values", ("b",))]


@pytest.mark.parametrize(
    "X", [[["a", "b"], ["c", "d"]], [[None], [None]], np.full((3, 2), np.nan), [[1.0]], [[np.inf]]]
)
def test_next_to_nothing_is_no_failure(X):
    for kernel in (None, "rbf"):
        assert doctor(X, kernel=kernel) is not None


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e-30, 1e30, 1e160, 1e300])
def test_extreme_units_do_no_harm(sound, scale):
    found = doctor(sound * scale)
    assert set(found.codes) <= {"extreme_scale"}
    assert ("extreme_scale" in found.codes) == (scale not in (1e-30, 1e30))


def test_sparse_masked_and_single_rows_are_read(sound):
    sound[np.abs(sound) < 1] = 0
    dense = doctor(sound)
    assert doctor(sp.csr_array(sound)) == dense
    masked = np.ma.masked_array(sound, mask=np.zeros(sound.shape, bool))
    masked.mask[3, 2] = True
    assert "missing_values" in doctor(masked).codes
    assert doctor(sound.astype(np.float32)).codes == dense.codes


def test_single_precision_loses_digits_sooner(sound):
    assert doctor(sound + 5000.0).codes == ()
    assert doctor((sound + 5000.0).astype(np.float32)).codes == ("large_offset",)


@pytest.mark.slow
def test_what_is_sampled_is_said(rng):
    found = doctor(rng.standard_normal((120_000, 1)), kernel="rbf")
    assert any("100,000 of 120,000 rows" in text for text in found.looked_at)
    assert any("1,000 of 120,000 rows" in text for text in found.looked_at)
    assert "looked at" in str(found)


BAD = {
    "no table": (lambda X: X[:, 0], "X.reshape(-1, 1)"),
    "no rows": (lambda X: X[:0], "nothing to look at"),
    "no columns": (lambda X: X[:, :0], "nothing to look at"),
    "complex": (lambda X: X + 1j, "Complex data not supported"),
    "ragged": (lambda X: [[1, 2], [3]], "different lengths"),
    "ragged columns": (lambda X: {"a": [1, 2], "b": [3]}, "different lengths"),
}


@pytest.mark.parametrize(("make", "complaint"), BAD.values(), ids=BAD)
def test_what_is_no_table_is_refused_in_one_line(sound, make, complaint):
    with pytest.raises(ValueError) as caught:
        doctor(make(sound))
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_kernel_is_refused(sound):
    with pytest.raises(ValueError, match="Did you mean 'rbf'"):
        doctor(sound, kernel="rbff")
