"""Every number that the doctor says is what NumPy gives by the words of its sentence."""

import re

import numpy as np
import pytest

from gramian.kernels import as_kernel
from gramian.selection import doctor

N = 240
#: What may be done to a column without changing what is wrong with it.
CHANGES = {
    "as it is": lambda x: x,
    "shifted": lambda x: x + 1000,
    "scaled": lambda x: 1e-6 * x,
    "turned": lambda x: -x,
    "rounded": lambda x: np.round(x, 1),
    "whole": lambda x: np.round(100 * x),
}
SHAPES = {
    "Gaussian": lambda rng: rng.standard_normal(N),
    "heavy-tailed": lambda rng: rng.standard_t(2, N),
    "skewed": lambda rng: rng.exponential(size=N),
    "tied": lambda rng: np.round(rng.standard_normal(N), 1) * (rng.random(N) < 0.7),
    "two groups": lambda rng: rng.standard_normal(N) + 30 * (rng.random(N) < 0.3),
}


def message(found, code):
    """The sentence of a finding, or nothing."""
    return next((finding.message for finding in found if finding.code == code), "")


def near(text, value, digits=4):
    """Whether a printed number is the value, to the digits that are printed."""
    return float(text) == pytest.approx(value, rel=0.6 * 10 ** (1 - digits), abs=1e-12)


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("planted", [0.0, 15.0, -60.0, 500.0])
def test_outliers_of_a_column(rng, shape, change, planted):
    x = shape(rng)
    x[7] += planted
    x = change(x)
    said = message(doctor(np.column_stack([x, rng.standard_normal(N)])), "outliers")
    pattern = (
        r"'x0' = (\S+) in row index (\d+).*?\((\d+) times as far from the median, (\S+), as the (\w+) quartile, (\S+)\)"
    )
    found = re.search(pattern, said)
    low, middle, high = np.quantile(x, (0.25, 0.5, 0.75))
    if found is None:
        reach = 1.4826 * np.log(1000 * N)
        far = np.abs(x - middle) > reach * max(middle - low, high - middle)
        assert far.sum() == 0 or far.sum() > 3
        return
    value, row, times, median, side, quartile = found.groups()
    assert near(value, x[int(row)])
    assert near(median, middle)
    assert near(quartile, low if side == "lower" else high)
    assert abs(int(times) - abs((x[int(row)] - middle) / ((low if side == "lower" else high) - middle))) <= 0.5
    assert int(times) > 15


def test_a_column_of_two_digits_has_no_outlier_by_rounding():
    """Seven of forty values equal the median: the distance of the others to it must not be that of the last digit."""
    x = [-120, -117, -115, -112, -111, -107, -107, -106, -105, -105, -105, *[-103] * 5, *[-102] * 7, -101, *[-100] * 5]
    x += [-99, -98, -98, -98, -97, -95, -95, -94, -93, -91, -90]
    assert not doctor(np.array(x, dtype=float)[:, None] / 100)


@pytest.mark.parametrize("copies", [1, 2])
def test_outliers_of_a_combination(rng, copies):
    X = rng.standard_normal((N, 3)) @ rng.standard_normal((3, 3)) + 50
    X[:, 1] = X[:, 0] + 0.05 * rng.standard_normal(N)
    low, high = np.quantile(X[:, 0], (0.1, 0.9))
    X[40 : 40 + copies, 0], X[40 : 40 + copies, 1] = low, high
    said = message(doctor(X), "outliers")
    rows = np.arange(40, 40 + copies)
    others = np.delete(X, rows, axis=0)
    inverse, mean = np.linalg.inv(np.cov(others.T)), others.mean(axis=0)
    distances = np.sqrt(np.einsum("ij,jk,ik->i", X - mean, inverse, X - mean))
    distance, row, typical = re.search(r"distance (\S+) in row index (\d+), .* 99 % are below (\S+)\)", said).groups()
    assert int(row) == int(np.argmax(distances))
    assert near(distance, distances.max(), 3)
    assert near(typical, np.quantile(np.delete(distances, rows), 0.99), 3)
    assert f"in a combination of 3 columns: row {'indices' if copies > 1 else 'index'} 40" in said


#: name -> answers of a questionnaire, codes of missing values among them
CODES = {
    "-99": ([1, 2, 3, 4, 5], [-99]),
    "999": ([1, 2, 3, 4, 5, 6, 7], [999]),
    "9": ([1, 2, 3, 4, 5], [9]),
    "-9 of yes and no": ([0, 1], [-9]),
    "three codes": ([1, 2, 3, 4], [97, 98, 99]),
    "both ends": ([0, 1, 2, 3], [-99, 999]),
    "of ten answers": ([*range(1, 11)], [99]),
}


@pytest.mark.parametrize("often", [1, 5])
@pytest.mark.parametrize(("answers", "codes"), CODES.values(), ids=CODES)
def test_codes_of_missing_values_in_items(rng, answers, codes, often):
    X = rng.choice(answers, (N, 3)).astype(float)
    for at, code in enumerate(codes):
        X[at * often : (at + 1) * often, 1] = code
    found = doctor(X)
    assert {f.code for f in found} - {"duplicate_rows"} == {"sentinel_value"}
    said = message(found, "sentinel_value")
    for code in codes:
        assert f"{code} in {often} row" in said
    assert f"the others are {min(answers)} to {max(answers)})" in said
    assert next(f for f in found if f.code == "sentinel_value").rows == tuple(range(often * len(codes)))


@pytest.mark.parametrize(
    "answers",
    [[1, 2, 3, 4, 5], [1, 2, 3, 7], [7, 8, 9], [3, 6, 9], [5, 6, 9], [0, 1], [-1, 0, 1], [*range(10)], [0, 99]],
)
def test_answers_are_no_codes_of_missing_values(rng, answers):
    assert "sentinel_value" not in doctor(rng.choice(answers, (N, 3)).astype(float)).codes


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_value_that_repeats_far_from_measurements(rng, change):
    x = rng.standard_normal(N)
    x[[3, 5, 8]] = 40
    x = change(x)
    said = message(doctor(x[:, None]), "sentinel_value")
    value, count, low, high = re.search(r"\((\S+) in (\d+) rows; the others are (\S+) to (\S+)\)", said).groups()
    others = x[x != x[3]]
    assert near(value, x[3])
    assert int(count) == 3
    assert near(low, others.min())
    assert near(high, others.max())


@pytest.mark.parametrize("least", [0, 1])
def test_skewed_counts(rng, least):
    x = rng.negative_binomial(1, 0.1, N) + least
    low, high, skewness = re.search(
        r"\((\d+) to (\d+), skewness (\S+)\)", message(doctor(x[:, None]), "counts")
    ).groups()
    assert (int(low), int(high)) == (x.min(), x.max())
    assert near(skewness, np.mean(((x - x.mean()) / x.std()) ** 3), 2)
    assert not message(doctor((x + 2)[:, None]), "counts")


@pytest.mark.parametrize("gaps", [0, 60])
def test_shares_are_of_values_that_are_there(rng, gaps):
    tail = np.exp(2 * rng.standard_normal(N))
    cut = np.minimum(rng.standard_normal(N), 0.8)
    rare = 1.5 * (np.arange(N) < 1)
    X = np.column_stack([tail, cut, rare])
    X[N - gaps :] = np.nan
    X[: N - gaps, 0].sort()
    tail, cut, rare = X[: N - gaps].T
    found = doctor(np.column_stack([X, rng.standard_normal(N)]))
    squares = np.sort((tail - np.median(tail)) ** 2)
    share = squares[-int(np.ceil(0.01 * len(tail))) :].sum() / squares.sum()
    assert f"({100 * share:.3g} % of the sum of squares about the median)" in message(found, "heavy_tail")
    assert f"({100 * np.mean(cut == cut.max()):.3g} % of its values equal the largest, 0.8)" in message(
        found, "clipped"
    )
    assert f"(0 in {100 * np.mean(rare == 0):.3g} % of its values)" in message(found, "nearly_constant")


@pytest.mark.parametrize(("sign", "verb"), [(1, "rise"), (-1, "fall")])
def test_identifiers_run_the_way_that_is_said(rng, sign, verb):
    x = sign * np.cumsum(rng.integers(1, 50, N)).astype(float)
    assert f"only {verb})" in message(doctor(x[:, None]), "id_column")
    assert not message(doctor(rng.permutation(x)[:, None]), "id_column")
    order = rng.permutation(N)
    assert f"counts from 5 to {N + 4}" in message(doctor(5.0 + order[:, None]), "id_column")


def test_columns_without_a_finite_number():
    X = np.random.default_rng(0).standard_normal((N, 3))
    X[:, 0], X[:, 1] = np.nan, np.inf
    said = message(doctor(X), "empty_column")
    assert "'x0' (every entry is missing), 'x1' (no entry is finite)" in said


def test_scales_and_offsets(rng):
    X = rng.standard_normal((N, 3)) * [1, 1e5, 1e-2] + [1e9, 0, 0]
    found = doctor(X)
    deviations = X.std(axis=0, ddof=1)
    assert f"factor of {deviations[1] / deviations[2]:,.0f}, " in message(found, "uneven_scales")
    assert f"from {deviations[2]:.3g} ('x2') to {deviations[1]:.3g} ('x1')" in message(found, "uneven_scales")
    assert f"'x0' (mean {X[:, 0].mean():.3g}, standard deviation {deviations[0]:.3g})" in message(found, "large_offset")
    assert "from" in (said := message(doctor(X * 1e200), "extreme_scale"))
    assert f"{1e200 * X[:, 0].min():.3g} to {1e200 * X[:, 0].max():.3g}" in said


@pytest.mark.parametrize("small", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("part", [0.0, 1e-2])
def test_the_columns_named_explain_what_is_said(rng, small, part):
    """A regression on the named columns leaves no more than the share that is said."""
    X = rng.standard_normal((N, 5))
    X[:, 4] = X[:, 0] - X[:, 1] + small * X[:, 2] + part * rng.standard_normal(N)
    (finding,) = doctor(X)
    names = re.search(r"combination of columns (.*?), (exactly|but for)", finding.message).group(1)
    first, *others = (int(name[1]) for name in (finding.columns[0], *re.findall(r"'(x\d)'", names)))
    A, c = X[:, others] - X[:, others].mean(axis=0), X[:, first] - X[:, first].mean()
    left = np.sum((c - A @ np.linalg.lstsq(A, c, rcond=None)[0]) ** 2) / np.sum(c**2)
    if "exactly" in finding.message:
        assert left < 1e-25
    else:
        assert near(re.search(r"but for (\S+) %", finding.message).group(1), 100 * left, 2)
    assert part or "exactly" in finding.message


def test_copies_of_rows_beside_an_empty_column(rng):
    X = rng.standard_normal((N, 5))
    X[9], X[:, 1] = X[4], np.nan
    assert "row index 9 repeats row index 4" in message(doctor(X), "duplicate_rows")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("part", [0.0, 1e-3])
def test_a_leak_has_the_sign_of_its_correlation(rng, sign, part):
    X = rng.standard_normal((N, 3))
    y = 7 + sign * (X[:, 1] + part * rng.standard_normal(N))
    said = message(doctor(X, y=y), "target_leak")
    one, less = re.search(r"^'x1' says the same as y: a correlation of (-?1)(?:, but for (\S+))?\.$", said).groups()
    r = np.corrcoef(X[:, 1], y)[0, 1]
    assert int(one) == sign
    assert less is None if part == 0 else near(less, 1 - abs(r), 1)


def test_targets_are_named_and_counted(rng):
    X = rng.standard_normal((N, 2))
    y = np.column_stack([X @ [1, 2] + 1, np.full(N, 12345.5)])
    y[3, 0], y[4, 1] = np.inf, np.nan
    found = [f.message for f in doctor(X, y=y)]
    assert "y[:, 0] has no finite value or label in 1 row: row index 3." in found
    assert "y[:, 1] is constant: every value that is known is 1.235e+04." in found
    text = np.array(["1", "2", "oops", *["3"] * (N - 3)], dtype=object)
    assert message(doctor(X, y=text[:, None]), "text_in_numbers").startswith("column 'y' has text")
    classes = np.repeat([12345.0, 12346.0], [N - 2, 2])
    assert "12346 (2)" in message(doctor(X, y=classes), "rare_class")


#: code -> kernel, and the number of its sentence by NumPy from the kernel matrix of the rows
KERNELS = {
    "kernel_near_identity": (
        "rbf(sigma=0.2)",
        r"all others is (\S+) times",
        lambda K, X: np.median(K.sum(axis=1) - 1),
        1,
    ),
    "kernel_near_constant": (
        "rbf(sigma=100)",
        r"two rows is (\S+) %",
        lambda K, X: 100 * K[np.triu_indices(len(K), 1)].mean(),
        3,
    ),
    "kernel_indefinite": (
        "sigmoid(scale=1, constant=-1)",
        r"the least (\S+) beside",
        lambda K, X: np.linalg.eigvalsh(K)[0],
        3,
    ),
    "kernel_few_rows": (
        "polynomial(degree=5)",
        r"holds (\S+) % of",
        lambda K, X: 100 * (c := np.diag(K - K.mean(0) - K.mean(1)[:, None] + K.mean())).max() / c.sum(),
        2,
    ),
}


@pytest.mark.parametrize(("code", "kernel", "pattern", "number", "digits"), [(k, *v) for k, v in KERNELS.items()])
def test_numbers_of_kernels(rng, code, kernel, pattern, number, digits):
    X = rng.standard_normal((N, 4))
    if code == "kernel_few_rows":
        X[5] *= 8
    K = as_kernel(kernel)(X)
    found = next(f for f in doctor(X, kernel=kernel) if f.code == code)
    assert near(re.search(pattern, found.message).group(1), number(K, X), digits)
    if width := re.search(r"median distance of rows (\S+):", found.remedy):
        distances = np.linalg.norm(X[:, None] - X, axis=2)[np.triu_indices(N, 1)]
        assert near(width.group(1), np.median(distances), 3)


def test_the_effective_rank_is_that_of_the_centred_kernel_matrix(rng):
    X = rng.standard_normal((N, 4))
    K = as_kernel("rbf(sigma=2)")(X)
    C = K - K.mean(0) - K.mean(1)[:, None] + K.mean()
    facts = doctor(X, kernel="rbf(sigma=2)").facts
    assert facts["effective_rank"] == pytest.approx(np.trace(C) ** 2 / np.sum(C**2))
