"""The doctor finds what was planted, names it, and leaves clean data alone."""

import json

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine, make_blobs

import gramian
from gramian.selection import Diagnosis, doctor
from gramian.selection.doctor_findings import GRAVITY, SEVERITIES

N, D = 300, 6  # of the fixture sound


def column(at, values):
    """Put values, or what a function makes of the column, in the place of a column."""

    def plant(X, rng):
        X[:, at] = values(X, rng)

    return plant


def entries(rows, at, value):
    def plant(X, rng):
        X[rows, at] = value

    return plant


def in_concert(X, rng):
    """A row with no far value, against the strongest correlation of the table."""
    X[:, 1] = X[:, 0] + 0.1 * rng.standard_normal(N)
    low, high = np.quantile(X[:, 0], [0.05, 0.95])
    X[42, 0], X[42, 1] = low, high


def repeated(X, rng):
    X[250] = X[10]


#: name -> (code, what it names, columns, rows, how it is planted)
FAULTS = {
    "constant": ("constant_column", "always 7", ["x3"], [], column(3, lambda X, rng: 7.0)),
    "copy": ("duplicate_columns", "'x5' repeats 'x1'", ["x5", "x1"], [], column(5, lambda X, rng: X[:, 1])),
    "sum": (
        "collinear_columns",
        "exactly",
        ["x2", "x0", "x4"],
        [],
        column(2, lambda X, rng: 0.7 * X[:, 0] - 1.3 * X[:, 4]),
    ),
    "nearly a sum": (
        "collinear_columns",
        "but for",
        ["x2", "x0", "x4"],
        [],
        column(2, lambda X, rng: X[:, 0] + X[:, 4] + 0.01 * rng.standard_normal(N)),
    ),
    "unit": ("uneven_scales", "'x1'", ["x1"], [], column(1, lambda X, rng: 1e5 * X[:, 1])),
    "missing": ("missing_values", "2 of 300", ["x4"], [3, 9], entries([3, 9], 4, np.nan)),
    "empty": ("empty_column", "'x4'", ["x4"], [], column(4, lambda X, rng: np.nan)),
    "infinity": ("infinite_values", "1 of 300", ["x0"], [17], entries([17], 0, -np.inf)),
    "stand-in": ("sentinel_value", "-999 in 5 rows", ["x2"], [1, 2, 3, 5, 8], entries([1, 2, 3, 5, 8], 2, -999.0)),
    "outlier": ("outliers", "500 in row index 8", ["x1"], [8], entries([8], 1, 500.0)),
    "outlier of a combination": ("outliers", "row index 42", [], [42], in_concert),
    "copied row": ("duplicate_rows", "row index 250 repeats row index 10", [], [250], repeated),
    "row number": ("id_column", "counts from 1 to 300", ["x0"], [], column(0, lambda X, rng: np.arange(1, N + 1))),
    "identifier": (
        "id_column",
        "only rise",
        ["x5"],
        [],
        column(5, lambda X, rng: 10_000 + np.cumsum(rng.integers(1, 50, N))),
    ),
    "codes": ("category_codes", "4 values", ["x3"], [], column(3, lambda X, rng: rng.choice([1, 2, 3, 7], N))),
    "counts": ("counts", "'x3'", ["x3"], [], column(3, lambda X, rng: rng.negative_binomial(1, 0.1, N))),
    "tail": ("heavy_tail", "'x0'", ["x0"], [], column(0, lambda X, rng: np.exp(2 * rng.standard_normal(N)))),
    "limit": (
        "clipped",
        "equal the largest, 3.5",
        ["x1"],
        [],
        column(1, lambda X, rng: np.minimum(X[:, 1], 3.5)),
    ),
    "rare": (
        "nearly_constant",
        "of its values",
        ["x2"],
        [],
        column(2, lambda X, rng: 1.5 * (np.arange(N) < 2)),
    ),
    "offset": ("large_offset", "mean 1e+08", ["x2"], [], column(2, lambda X, rng: X[:, 2] + 1e8)),
    "huge": ("extreme_scale", "'x2'", ["x2"], [], column(2, lambda X, rng: X[:, 2] * 1e200)),
    "blank rows": ("empty_rows", "row indices 298, 299", [], [298, 299], entries([298, 299], slice(None), np.nan)),
}


@pytest.mark.parametrize(("code", "said", "columns", "rows", "plant"), FAULTS.values(), ids=FAULTS)
def test_planted_faults_are_found_and_named(sound, rng, code, said, columns, rows, plant):
    assert not doctor(sound)
    X = sound.copy()
    plant(X, rng)
    before = X.copy()
    found = doctor(X)
    assert set(found.codes) - {"missing_values"} == {code} - {"missing_values"}  # rows without numbers miss them too
    finding = next(f for f in found if f.code == code)
    assert said in finding.message
    assert set(columns) <= set(finding.columns)
    assert list(finding.rows) == rows
    assert finding.remedy.endswith(".")
    np.testing.assert_array_equal(X, before)


#: name -> (code, what it says, kernel, how the rows are changed)
KERNELS = {
    "identity": ("kernel_near_identity", "try rbf(sigma=", "rbf(sigma=0.01)", lambda X: X),
    "identity of a Laplacian": ("kernel_near_identity", "resemble no other", "laplacian(gamma=1000)", lambda X: X),
    "constant": ("kernel_near_constant", "try rbf(sigma=", "rbf(sigma=1000)", lambda X: X),
    "narrow": ("kernel_width", "try matern(length_scale=", "matern(length_scale=0.05)", lambda X: X[:, :1]),
    "indefinite": ("kernel_indefinite", "negative eigenvalue", "sigmoid(scale=1, constant=-1)", lambda X: X),
    "overflow": ("kernel_fails", "overflows at degree=200", "polynomial(degree=200)", lambda X: 100 * X),
    "infinite": ("kernel_fails", "double precision", "linear*linear", lambda X: X * 1e90),
}


@pytest.mark.parametrize(("code", "said", "kernel", "change"), KERNELS.values(), ids=KERNELS)
def test_unfit_kernels_are_found(sound, code, said, kernel, change):
    assert not doctor(sound, kernel="rbf")
    found = doctor(change(sound), kernel=kernel)
    assert said in " ".join((f := next(f for f in found if f.code == code)).message.split() + f.remedy.split())


def test_a_row_that_holds_most_of_a_kernel_is_named(sound):
    sound[5] *= 8
    found = doctor(sound, kernel="polynomial(degree=5)")
    assert next(f for f in found if f.code == "kernel_few_rows").rows == (5,)


def test_a_kernel_matrix_above_the_budget_is_told(sound):
    with gramian.config(memory="100kB"):
        (finding,) = doctor(sound, kernel="rbf")
    assert finding.code == "gram_memory"
    assert "720 kB" in finding.message


def test_a_kernel_matrix_is_looked_at_as_such(sound):
    K = gramian.kernels.RBF(sigma=3.0)(sound)
    assert not doctor(K, kernel="precomputed")
    K[3, 4] += 0.1
    assert "gram_asymmetric" in doctor(K, kernel="precomputed").codes
    K[3, 4] = np.nan
    assert "missing_values" in doctor(K, kernel="precomputed").codes
    with pytest.raises(ValueError, match="square"):
        doctor(sound, kernel="precomputed")


#: name -> (code, what it says, target of rows X)
TARGETS = {
    "length": ("target_length", "299 entries", lambda X: X[:-1, 0]),
    "missing": ("target_missing", "row index 4", lambda X: np.where(np.arange(N) == 4, np.nan, X.sum(axis=1))),
    "constant": ("constant_target", "3", lambda X: np.full(N, 3.0)),
    "one label": ("constant_target", "'a'", lambda X: np.full(N, "a")),
    "leak": ("target_leak", "'x2'", lambda X: 5 - 2 * X[:, 2]),
    "rare label": ("rare_class", "'b' (2)", lambda X: np.where(np.arange(N) < 2, "b", "a")),
    "rare number": ("rare_class", "7 (1)", lambda X: np.where(np.arange(N) < 1, 7, np.arange(N) % 3)),
    "missing label": (
        "target_missing",
        "row index 0",
        lambda X: np.array([None] + ["a", "b"] * 149 + ["a"], dtype=object),
    ),
}


@pytest.mark.parametrize(("code", "said", "make"), TARGETS.values(), ids=TARGETS)
def test_faults_of_targets_are_found(sound, rng, code, said, make):
    assert not doctor(sound, y=sound @ rng.standard_normal(D) + rng.standard_normal(N))
    assert said in next(f for f in doctor(sound, y=make(sound)) if f.code == code).message


CLEAN = {
    "iris": lambda: load_iris(return_X_y=True),
    "standardised wine": lambda: (gramian.Standardizer().fit_transform(load_wine().data), load_wine().target),
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "Gaussian": lambda: (
        np.random.default_rng(1).multivariate_normal(np.arange(8.0), np.eye(8) + 0.5, 1000),
        None,
    ),
    "clusters": lambda: make_blobs(400, n_features=5, centers=4, random_state=3),
}


@pytest.mark.parametrize("kernel", [None, "rbf", "linear", "matern(length_scale=median)"])
@pytest.mark.parametrize("make", CLEAN.values(), ids=CLEAN)
def test_clean_data_are_left_alone(make, kernel):
    X, y = make()
    found = doctor(X, kernel=kernel, y=y)
    assert found.codes == ()
    assert "nothing to report" in str(found)


@pytest.mark.parametrize("seed", range(20))
def test_gaussian_tables_of_any_shape_are_clean(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 2000)), int(rng.integers(1, 15))
    assert not doctor(rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d))


SHAPES = {
    "uniform": lambda rng, n: rng.random(n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "Laplace": lambda rng, n: rng.laplace(size=n),
    "two groups": lambda rng, n: rng.standard_normal(n) + 8 * (rng.random(n) < 0.3),
    "Poisson": lambda rng, n: rng.poisson(20, n).astype(float),
    "binary": lambda rng, n: (rng.random(n) < 0.4).astype(float),
    "rounded": lambda rng, n: np.round(rng.standard_normal(n), 1),
    "years": lambda rng, n: rng.integers(1950, 2020, n).astype(float),
    "shares": lambda rng, n: rng.beta(0.5, 0.5, n),
    "gamma": lambda rng, n: rng.gamma(2, size=n),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_columns_need_not_be_gaussian_to_be_clean(shape):
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        found += doctor(np.column_stack([shape(rng, 500) for _ in range(4)])).codes
    assert len(found) <= 1


def test_many_columns_share_a_finding(sound):
    found = doctor(np.hstack([sound, np.ones((N, 20))]))
    (finding,) = found
    assert "20 columns are constant: 'x6' (always 1), 'x7' (always 1), 'x8' (always 1) and 17 more" in finding.message
    assert len(finding.columns) == 20


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_rows_does_not_choose_the_columns_that_are_named(rng, seed):
    """Curves of which any column nearly follows from a few: what is said first must not hang on rounding."""
    places = np.linspace(0, 1, 40)
    X = sum(rng.standard_normal((100, 1)) * np.cos(k * np.pi * places) / (k + 1) ** 2 for k in range(5))
    found = doctor(X), doctor(X[np.random.default_rng(seed).permutation(100)])
    said, again = ([f for f in diagnosis.findings if f.code == "collinear_columns"] for diagnosis in found)
    assert len(said) == 1
    assert said == again


def test_more_columns_than_rows_are_told(rng):
    found = doctor(rng.standard_normal((20, 50)))
    assert found.codes == ("few_rows",)


def test_findings_come_gravest_first_and_in_one_order(sound):
    sound[3, 0], sound[:, 1], sound[:, 4] = np.nan, 4.0, np.round(sound[:, 4] / 4)
    found = doctor(sound)
    grades = [GRAVITY.index(f.severity) for f in found]
    assert grades == sorted(grades)
    assert len(set(grades)) == 3
    assert found == doctor(sound)


def test_a_diagnosis_is_text_and_plain_values(sound):
    sound[3, 0] = np.nan
    found = doctor(sound, kernel="rbf")
    assert isinstance(found, Diagnosis)
    assert bool(found)
    facts = json.loads(json.dumps(found.to_dict()))
    assert (facts["n"], facts["d"]) == (N, D)
    assert facts["findings"][0]["code"] == "missing_values"
    assert facts["findings"][0]["severity"] == "error"
    assert facts["facts"]["effective_rank"] > 1
    assert str(found).startswith("Diagnosis  300 x 6   1 error\nerror ")


def test_every_code_is_planted_somewhere():
    planted = {case[0] for case in [*FAULTS.values(), *KERNELS.values(), *TARGETS.values()]}
    elsewhere = {"few_rows", "text_column", "text_in_numbers", "gram_memory", "gram_asymmetric", "kernel_few_rows"}
    assert planted | elsewhere == set(SEVERITIES)


def test_the_remedy_speaks_of_as_many_columns_as_are_named():
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[:, 0] = 7.0
    remedies = []
    for at in (0, 1):
        X[:, at] = 7.0
        remedies += [found.remedy for found in doctor(X).findings if found.code == "constant_column"]
    assert remedies == ["Leave it out: it can explain nothing.", "Leave them out: they can explain nothing."]


def relation(X):
    """What is said of a column that others explain."""
    return next((f.message for f in doctor(X).findings if f.code == "collinear_columns"), None)


@pytest.mark.parametrize("offset", [0.0, 1e3])
@pytest.mark.parametrize("unit", [1e-3, 1e5])
@pytest.mark.parametrize("others", [1, 3])
def test_exactly_means_to_rounding(rng, offset, unit, others):
    """A combination but for a part is not said to be exact, however small the part, unless entries round as much."""
    S = unit * (rng.standard_normal((150, 4)) + offset)
    combined, off = S[:, :others] @ np.array([1.7, -2.0, 0.5])[:others], rng.standard_normal(150)
    for part in 10.0 ** np.arange(-2, -16, -1):
        said = relation(np.column_stack([S, combined + part * combined.std() * off]))
        rounding = np.finfo(float).eps * (1 + offset)
        if part > 30 * rounding:
            assert "exactly" not in said
            told = said.split("to within ")[-1].split(" of its standard")[0] if "to within" in said else None
            assert told is None or part / 2 < float(told) < 2 * part
        elif part < rounding:
            assert "exactly" in said
    assert "exactly" in relation(np.column_stack([S, combined + unit]))


def test_exactly_in_the_precision_that_was_read(rng):
    S = rng.standard_normal((150, 3)).astype(np.float32)
    combined = S[:, 0] + S[:, 1]
    assert "exactly" in relation(np.column_stack([S, combined]))
    wide = np.column_stack([S.astype(float), combined])  # of the same numbers: their sums are rounded to 1e-7
    assert "to within" in relation(wide)
    counts = rng.integers(0, 1000, (150, 3))
    assert "exactly" in relation(np.column_stack([counts, counts.sum(axis=1)]))
    once = counts.sum(axis=1) + (np.arange(150) == 7)
    assert "to within" in relation(np.column_stack([counts, once]))


def test_a_far_row_hides_no_difference(rng):
    S = rng.standard_normal((150, 3))
    S[0] = 1e9
    assert "exactly" not in relation(np.column_stack([S, S[:, 0] + S[:, 1] + 1e-5 * rng.standard_normal(150)]))


@pytest.mark.parametrize("part", [1e-6, 1e-10, 1e-14])
def test_nearly_a_copy_is_no_copy(rng, part):
    """Neither columns, rows nor constants are said to be equal if a digit differs."""
    X = 1 + rng.random((150, 3))
    X[:, 1] = X[:, 0] * (1 + part * (np.arange(150) == 3))
    X[20] = X[10] * (1 + part)
    X[:, 2] = 7 + 7 * part * (np.arange(150) == 3)
    codes = {f.code for f in doctor(X).findings}
    assert not codes & {"duplicate_columns", "duplicate_rows", "constant_column"}


def test_a_target_given_away_but_for_a_part(rng):
    X = rng.standard_normal((150, 3))
    for off, said in ((0.0, "a correlation of 1."), (1e-3, "a correlation of 1, but for ")):
        found = doctor(X, y=X[:, 0] + off * rng.standard_normal(150)).findings
        assert said in next(f.message for f in found if f.code == "target_leak")
