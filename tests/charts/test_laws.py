"""What chart data must satisfy, whatever the table."""

import itertools

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_diabetes, load_iris, load_linnerud, load_wine, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gramian import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomProjection,
    charts,
)
from gramian.charts.points import DENSITY_CELLS, blend, thin
from gramian.estimators.table_maker import v_tests
from gramian.selection import how_many


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


# Scree


def test_shares_sum_to_one_and_are_those_of_the_fit(wine):
    model = PCA(3, scale=True).fit(wine)
    with_rows, without = charts.scree(model, wine), charts.scree(model)
    assert_allclose(with_rows.cumulative[-1], 1)
    assert_allclose(with_rows.shares[:3], model.explained_variance_ratio_)
    assert_allclose(without.shares, model.explained_variance_ratio_)
    assert (with_rows.kept, len(with_rows.values)) == (3, 13)
    assert_array_equal(with_rows.numbers, np.arange(1, 14))


def test_the_band_is_the_one_that_parallel_analysis_decides_by(wine):
    chart = charts.scree(PCA(scale=True).fit(wine), wine)
    said = {line.criterion: line.k for line in how_many(wine, scale=True).table}
    passed = chart.values > chart.high
    assert np.argmin(passed) == said["parallel analysis"]
    assert (chart.low <= chart.middle).all()
    assert (chart.middle <= chart.high).all()
    assert {line.criterion: line.k for line in chart.suggestions} == {k: v for k, v in said.items() if v is not None}
    assert chart.recommended == said[chart.decided_by]


def test_shares_of_probabilistic_pca_are_those_of_pca(wine):
    model = ProbabilisticPCA(3).fit(wine)
    assert_allclose(charts.scree(model).shares, PCA(3).fit(wine).explained_variance_ratio_)
    assert_allclose(charts.scree(model, wine).shares[:3], charts.scree(model).shares)


def test_factors_share_the_communalities(wine):
    model = FactorAnalysis(3, rotation="promax").fit(wine)
    assert_allclose(charts.scree(model).shares.sum(), model.communalities_.mean())
    assert charts.scree(model, wine).ylabel == "eigenvalue of the correlation matrix"


def test_a_kernel_scree_has_a_band_of_shuffled_columns(wine):
    X = StandardScaler().fit_transform(wine)
    chart = charts.scree(KernelPCA(10, kernel="rbf(sigma=3)").fit(X), X)
    said = next(line for line in chart.suggestions if line.criterion == "shuffled columns")
    assert np.argmin(chart.values > chart.high) == said.k


@pytest.mark.parametrize(("n", "d"), [(4, 30), (10, 3), (8, 1100)])
def test_screes_of_odd_shapes(rng, n, d):
    X = rng.standard_normal((n, d))
    chart = charts.scree(PCA(2).fit(X), X)
    assert np.isfinite(chart.values).all()
    assert (chart.high is None) == (d > 1000)


def test_uncentred_rows_have_no_band(wine):
    chart = charts.scree(PCA(2, center=False).fit(wine), wine)
    assert chart.high is None
    assert chart.notes


def test_a_long_scree_is_cut(digits):
    chart = charts.scree(PCA().fit(digits), most=10)
    assert len(chart.values) == 10
    assert chart.notes == ("the first 10 of 64",)


# Points and ellipses


@pytest.mark.slow
@pytest.mark.parametrize("n", [8, 100])
def test_ellipses_cover_new_rows_as_often_as_they_say(rng, n):
    """A new row of the same normal source falls inside with the probability of the level, for small groups too."""
    inside = []
    for _ in range(100):
        X = rng.standard_normal((n, 2)) @ [[2.0, 1.0], [0.0, 0.5]]
        (found,) = charts.scores(PCA(2).fit(X), X, ellipses=0.9).ellipses
        new = PCA(2).fit(X).transform(rng.standard_normal((200, 2)) @ [[2.0, 1.0], [0.0, 0.5]])
        inside.append(contains(found.outline, found.centre, new).mean())
    assert abs(np.mean(inside) - 0.9) < 0.02


def contains(outline, centre, points):
    """Whether points lie in a convex outline about its centre."""
    edges = np.diff(outline, axis=0)
    side = edges[:, 0] * (points[:, None, 1] - outline[:-1, 1]) - edges[:, 1] * (points[:, None, 0] - outline[:-1, 0])
    return (side >= 0).all(axis=1)


def test_groups_have_ellipses_of_their_own():
    X, y = load_iris(return_X_y=True)
    chart = charts.scores(PCA(2).fit(X), X, colour=y)
    assert [found.group for found in chart.ellipses] == [0, 1, 2]
    for found in chart.ellipses:
        assert_allclose(found.centre, chart.points.at[y == found.group].mean(axis=0), atol=1e-12)
        assert_allclose(found.outline[0], found.outline[-1])
    assert charts.scores(PCA(2).fit(X), X, ellipses=None).ellipses == ()
    assert charts.scores(PCA(2).fit(X[:3]), X[:3]).ellipses == ()  # three points lie on many ellipses


def test_v_tests_are_those_of_factominer(decathlon):
    """``summary(PCA(decathlon, quanti.sup=11:12, quali.sup=13))`` of FactoMineR prints them with three digits."""
    X, meeting = decathlon.loc[:, "100m":"1500m"], decathlon["Competition"]
    codes = (meeting == "OlympicG").to_numpy().astype(int)
    found = v_tests(PCA(3, scale=True).fit_transform(X), codes, 2)
    assert_allclose(np.abs(found[0]), [1.430, 0.123, 1.050], atol=5e-4)
    assert_allclose(found[1], -found[0], rtol=1e-12)


def test_v_tests_are_in_standard_deviations_over_all_choices_of_rows(rng):
    values, codes = rng.standard_normal((7, 1)), np.array([0, 1, 0, 0, 1, 0, 0])
    means = [values[list(rows)].mean() for rows in itertools.combinations(range(7), 2)]
    expected = (values[codes == 1].mean() - np.mean(means)) / np.std(means)
    assert_allclose(v_tests(values, codes, 2)[1, 0], expected, rtol=1e-12)
    assert np.isnan(v_tests(values, np.zeros(7, dtype=int), 1)).all()
    assert np.isnan(v_tests(np.ones((7, 1)), codes, 2)).all()


def test_every_row_is_counted(rng):
    points = rng.standard_normal((50_000, 2))
    points[0] = 100, 100
    codes = np.arange(50_000) % 3
    found = thin(points, charts.colouring(codes, 50_000))
    counts = found.density.counts
    assert counts.shape == (3, DENSITY_CELLS, DENSITY_CELLS)
    assert counts.sum() + len(found.at) == 50_000
    assert 0 in found.rows
    assert found.note == "50,000 rows, counted in cells"
    shades = blend(found.density, ["#ff0000", "#00ff00", "#0000ff"])
    assert shades.min() >= 0
    assert shades.max() <= 1
    assert_array_equal(shades[..., 3] > 0, counts.sum(axis=0) > 0)


def test_a_density_of_numbers_holds_their_means(rng):
    points = rng.uniform(size=(30_000, 2))
    density = thin(points, charts.colouring(points[:, 0], 30_000)).density
    centres = (density.x[1:] + density.x[:-1]) / 2
    known = np.isfinite(density.means)
    assert_allclose(density.means[known], np.broadcast_to(centres, density.means.shape)[known], atol=1 / DENSITY_CELLS)


def test_few_points_stay_and_points_in_space_are_sampled(rng):
    points = rng.standard_normal((30_000, 3))
    few = thin(points[:10], charts.colouring(None, 10))
    assert_array_equal(few.at, points[:10])
    assert (few.density, few.note) == (None, None)
    found = thin(points, charts.colouring(None, 30_000))
    assert_array_equal(found.at, points[found.rows])
    assert found.note == "3,000 of 30,000 rows, drawn at random"


def test_constant_points_have_cells_too():
    assert thin(np.zeros((30_000, 2)), charts.colouring(None, 30_000)).density.counts.sum() == 30_000


# Colours


def test_groups_and_numbers():
    assert charts.colouring(pd.Series([3, 1, 3], name="class"), 3).groups == ("1", "3")
    assert charts.colouring(pd.Series([3, 1, 3], name="class"), 3).name == "class"
    assert charts.colouring([True, False], 2).groups == ("False", "True")
    assert charts.colouring(np.arange(13), 13).values is not None
    assert charts.colouring([f"row {at}" for at in range(31)], 31).groups == ()
    assert charts.colouring([2.0, 10.0, 1.0], 3).groups == ("1", "2", "10")
    with pytest.raises(ValueError, match=r"colour has shape \(2,\); one value for each of the 3 rows"):
        charts.colouring([1, 2], 3)


# Columns


@pytest.mark.parametrize("scale", [True, False])
def test_correlations_of_columns_are_correlations(wine, scale):
    model = PCA(4, scale=scale).fit(wine)
    chart = charts.loadings(model, components=(2, 4))
    T = model.transform(wine)
    expected = [[np.corrcoef(wine[name], T[:, k])[0, 1] for k in (1, 3)] for name in wine.columns]
    assert_allclose(chart.values, expected, atol=1e-10)
    assert chart.circle
    assert (np.linalg.norm(chart.values, axis=1) <= 1 + 1e-12).all()
    assert chart.labels[1].startswith("component 4 (")


def test_correlations_with_scores_of_a_regression(wine):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = PLSRegression(2).fit(X, y)
    T = model.transform(X)
    expected = [[np.corrcoef(X[name], T[:, k])[0, 1] for k in (0, 1)] for name in X.columns]
    assert_allclose(charts.loadings(model).values, expected, atol=1e-10)
    assert not charts.loadings(PLSRegression(2, scale=False).fit(X, y)).circle


@pytest.mark.parametrize(
    "model", [ProbabilisticPCA(2), FactorAnalysis(2), ICA(2), PrincipalComponentRegression(2)], ids=str
)
def test_loadings_of_other_methods(wine, model):
    y = wine["alcohol"]
    chart = charts.loadings(model.fit(wine, y))
    assert chart.values.shape == (13, 2)
    assert not chart.circle or (np.linalg.norm(chart.values, axis=1) <= 1 + 1e-9).all()
    assert charts.heat(model).values.shape == (13, 2)


def test_two_views_share_a_circle():
    X, Y = load_linnerud(return_X_y=True, as_frame=True)
    chart = charts.loadings(CCA().fit(X, Y), names=[*X.columns, *Y.columns])
    assert (chart.second, chart.circle, chart.columns[3]) == (3, True, "Weight")
    assert charts.loadings(PLSSVD(2).fit(X, Y)).values.shape == (6, 2)


def test_spectra_are_lines_over_their_channels(meats):
    chart = charts.loadings(PCA(5).fit(meats.iloc[:, :100]))
    assert (chart.kind, chart.values.shape, chart.xlabel) == ("lines", (100, 3), "column")
    assert_array_equal(chart.positions, np.arange(1, 101))
    named = meats.iloc[:, :100].rename(columns=lambda name: f"{850 + 2 * int(name[2:])} nm")
    assert charts.loadings(PCA(5).fit(named)).xlabel == "nm"
    assert charts.loadings(PCA(5).fit(named), kind="arrows").kind == "arrows"


def test_contributions_sum_to_one(decathlon):
    X = decathlon.iloc[:, :10]
    model = PCA(4, scale=True).fit(X)
    for component in range(4):
        columns = charts.contributions(model, component=component + 1)
        rows = charts.contributions(model, X, of="rows", component=component + 1, most=41)
        assert_allclose([columns.shares.sum(), rows.shares.sum()], 1)
        assert (np.diff(columns.shares) <= 0).all()
    assert "SEBRLE" in rows.names
    cut = charts.contributions(model, X, of="rows", most=5)
    assert (len(cut.names), cut.left_out, cut.notes) == (5, 36, ("the largest 5 of 41",))


def test_squared_cosines_of_all_components_sum_to_one_and_of_some_to_less(decathlon):
    X = decathlon.iloc[:, :10]
    whole, part = (PCA(k, scale=True).fit(X) for k in (10, 3))
    for of in ("rows", "columns"):
        totals = []
        for model, count in ((whole, 10), (part, 3)):
            charts_of = [charts.contributions(model, X, of=of, component=k + 1, most=99) for k in range(count)]
            tables = [dict(zip(chart.names, chart.cos2, strict=True)) for chart in charts_of]
            totals.append(np.array([sum(table[name] for table in tables) for name in tables[0]]))
        assert_allclose(totals[0], 1)
        assert (totals[1] <= 1 + 1e-12).all()


def test_a_biplot_keeps_directions_and_the_longest_arrows(wine):
    model = PCA(2, scale=True).fit(wine)
    chart = charts.biplot(model, wine, most=5)
    assert (len(chart.columns), chart.left_out) == (5, 8)
    ends = dict(zip(wine.columns, model.components_.T, strict=True))
    for name, arrow in zip(chart.columns, chart.arrows, strict=True):
        assert_allclose(arrow, chart.factor * ends[name])
    lengths = np.linalg.norm(chart.arrows, axis=1)
    assert (np.diff(lengths) <= 0).all()
    assert lengths[0] <= np.linalg.norm(chart.points.at, axis=1).max()


@pytest.mark.parametrize("model", [PCA(2), PCA(2, whiten=True), PLSRegression(2, scale=False)], ids=str)
def test_points_times_arrows_are_what_two_components_hold(wine, model):
    X = wine.iloc[:, 1:].to_numpy()
    chart = charts.biplot(model.fit(X, wine["alcohol"]), X, most=99)
    order = [int(name.split()[1]) - 1 for name in chart.columns]  # names count from one
    rebuilt = chart.points.at @ chart.arrows.T / chart.factor + X.mean(axis=0)[order]
    assert_allclose(rebuilt, model.projection_.inverse(chart.points.at)[:, order], rtol=1e-8)


def test_heat_is_sorted_by_factor(wine):
    model = FactorAnalysis(3, rotation="varimax").fit(wine)
    chart = charts.heat(model)
    strongest = np.abs(chart.values).argmax(axis=1)
    assert (np.diff(strongest) >= 0).all()
    assert_allclose(chart.communalities, (chart.values**2).sum(axis=1), rtol=1e-6)
    assert_allclose(charts.heat(model, sort=False).values, model.loadings_)


# Rows rebuilt, planes


def test_more_components_rebuild_better_and_all_rebuild_all(digits):
    chart = charts.reconstructions(PCA(61).fit(digits), digits, counts=(61, 1, 10), shape=(8, 8), rows=[4, 6])
    assert chart.counts == (1, 10, 61)
    assert (np.diff(chart.errors) < 0).all()
    assert_allclose(chart.rebuilt[-1], digits[[3, 5]], atol=1e-9)


def test_kernel_components_rebuild_through_pre_images(digits):
    model = KernelPCA(8, kernel="rbf(sigma=25)").fit(digits[:200])
    assert charts.reconstructions(model, digits[:200], counts=(8,)).rebuilt.shape == (1, 8, 64)


def test_contours_are_the_scores_of_the_grid():
    X, _ = make_moons(80, noise=0.05, random_state=0)
    model = KernelPCA(8, kernel="rbf(sigma=0.5)").fit(X)
    chart = charts.contours(model, X, components=(1, 8), grid=20)
    point = [[chart.x[3], chart.y[11]]]
    assert_allclose(chart.values[:, 11, 3], model.transform(point)[0, [0, 7]])
    assert charts.contours(model, X, grid=20).values.shape == (6, 20, 20)


def test_other_columns_are_held_at_their_medians():
    X = load_iris(as_frame=True).data
    model = KernelPCA(2, kernel="rbf(sigma=1)").fit(X)
    chart = charts.contours(model, X, columns=(3, 4), grid=15)
    row = X.median().to_frame().T
    row.iloc[0, 2:] = chart.x[4], chart.y[9]
    assert_allclose(chart.values[:, 9, 4], model.transform(row)[0])
    assert chart.notes == ("the other 2 columns are held at their medians",)
    assert chart.xlabel == "petal length (cm)"


@pytest.mark.parametrize(
    "model",
    [
        KernelSVC(10, kernel="rbf(sigma=0.5)"),
        KernelKNNClassifier(3),
        KernelPrototypeClassifier(),
        KernelKMeans(2, kernel="rbf(sigma=0.5)"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_regions_are_the_predictions_of_the_grid(model):
    X, y = make_moons(80, noise=0.1, random_state=0)
    model.fit(X, y)
    chart = charts.regions(model, X, y, grid=25)
    point = [[chart.x[20], chart.y[2]]]
    names = [f"Cluster{at + 1}" for at in range(2)] if isinstance(model, KernelKMeans) else "01"
    assert chart.classes[chart.codes[2, 20]] == names[model.predict(point)[0]]
    if chart.decision is not None:
        assert_array_equal(chart.decision > 0, chart.codes == 1)
    if isinstance(model, KernelSVC):
        assert_array_equal(chart.support, X[model.support_])


# Regressions


def test_the_curve_marks_what_the_path_recommends(meats):
    X, y = meats.iloc[:, :100], meats["fat"]
    model = PLSRegression("auto").fit(X, y)
    chart = charts.cv_curve(model)
    assert_allclose(chart.errors[:, 0], model.path_.rmsecv[:, 0])
    within = chart.errors[:, 0] <= chart.limit * (1 + 1e-12)
    assert np.argmax(within) == chart.recommended == model.path_.recommended
    assert chart.x[chart.best] == model.path_.best
    assert_allclose(charts.cv_curve(model.path_).errors, chart.errors)
    several = charts.cv_curve(PLSRegression(5).fit(X, meats.iloc[:, 100:]), X, meats.iloc[:, 100:], targets="abc")
    assert several.targets == ("a", "b", "c")
    assert_allclose(several.errors[0], 1)


def test_a_path_of_ridges_is_a_curve():
    X, y = load_diabetes(return_X_y=True)
    model = KernelRidge(kernel="rbf(sigma=1)").fit(X, y)
    chart = charts.cv_curve(model, X, y)
    assert chart.logarithmic
    assert chart.errors[chart.best] == chart.errors.min()


@pytest.mark.parametrize("model", [PLSRegression(3), KernelRidge(0.1, kernel="rbf(sigma=1)")], ids=str)
def test_rows_left_out_are_predicted_worse(model):
    X, y = load_diabetes(return_X_y=True)
    seen = charts.predicted(model.fit(X, y), X, y, unit="mm")
    left = charts.predicted(model, X, y, left_out=True)
    assert left.merit.rmse > seen.merit.rmse
    assert_allclose(seen.points.at, np.column_stack([y, model.predict(X)]))
    assert (seen.xlabel, left.ylabel) == ("measured (mm)", "predicted, row left out")
    assert seen.low < min(y.min(), model.predict(X).min())


def test_importance_of_all_kinds(meats):
    model = PLSRegression("auto").fit(meats.iloc[:, :100], meats["fat"])
    vip, coef, ratio = (charts.importance(model, kind=kind) for kind in ("vip", "coefficients", "selectivity"))
    assert_allclose((vip.values**2).mean(), 1)
    assert_allclose(coef.values, model.coef_[0])
    assert (coef.low <= coef.high).all()
    assert_allclose(ratio.values, model.selectivity_ratio_[0])
    assert_array_equal(vip.positions, np.arange(1, 101))


# Outliers, two views, certificates


@pytest.mark.parametrize("model", [PCA(3, scale=True), PLSRegression(3)], ids=str)
def test_rows_beyond_the_limits(wine, model):
    model.fit(wine.iloc[:, 1:], wine["alcohol"])
    chart = charts.outliers(model, wine.iloc[:, 1:], alpha=0.05)
    t2, q = chart.points.at.T
    assert set(chart.beyond) == set(np.flatnonzero((t2 > chart.t2_limit) | (q > chart.q_limit)))
    assert 0.01 < len(chart.beyond) / len(wine) < 0.25


def test_a_limit_that_is_not_known_is_said(digits):
    chart = charts.outliers(PCA(3, solver="krylov").fit(digits), digits)
    assert chart.q_limit is None
    assert chart.notes[0].startswith("no limit: the variances left out are not known")


def test_shuffled_rows_agree_with_the_permutation_test():
    X, Y = load_linnerud(return_X_y=True)
    model = CCA().fit(X, Y)
    chart = charts.correlations(model, X, Y, shuffles=400)
    tested = model.permutation_test(X, Y, n_permutations=400)
    assert_allclose(chart.p_values[0], tested.p_values[0], atol=0.1)  # another statistic of the same hypothesis
    assert (chart.middle <= chart.high).all()
    assert_array_equal(charts.correlations(model, X, Y, shuffles=400).high, chart.high)


def test_views_with_a_ridge_or_kernels_are_fitted_anew(mice):
    genes, lipids, _ = mice
    for model in (CCA(2, ridge=1.0, scale=True), KernelCCA(2, kernel="linear", kernel_y="linear", ridge=1.0)):
        chart = charts.correlations(model.fit(genes, lipids), genes, lipids, shuffles=5)
        assert chart.high.shape == (2,)
        assert chart.notes == ("band: 5 shufflings of the rows of Y",)


def test_pairs_of_scores_have_their_correlation():
    X, Y = load_linnerud(return_X_y=True)
    model = CCA().fit(X, Y)
    for pair in range(3):
        chart = charts.paired(model, X, Y, pair=pair + 1)
        assert_allclose(chart.correlation, model.score_correlations_[pair])
        assert_allclose(chart.points.at[:, 0], model.transform(X)[:, pair])


def test_likelihood_rises_and_residuals_certify(digits):
    chart = charts.likelihood(ProbabilisticPCA(2, method="em").fit(load_iris().data))
    assert (np.diff(chart.values) >= -1e-9).all()
    assert (chart.left > 0).all()
    for model in (PCA(5).fit(digits), KernelPCA(5, kernel="rbf(sigma=25)").fit(digits)):
        found = charts.residuals(model)
        assert_allclose(found.angles, np.minimum(found.residuals / found.gaps, 1))
        assert (found.angles[:-1] < 1e-4).all()
        assert np.isnan(found.angles[-1])
        assert found.notes[0].code == "last_gap"
    indicators = np.hstack([load_iris().data, np.eye(3)[np.arange(150) % 3]])
    assert len(charts.residuals(PCA().fit(indicators)).gaps) == 6  # of 7 columns, three of which add up to 1


@pytest.mark.parametrize("k", range(1, 7))
@pytest.mark.parametrize("make", [PCA, lambda k: KernelPCA(k, kernel="linear")], ids=["PCA", "KernelPCA"])
def test_gaps_are_those_of_all_eigenvalues_or_less(make, k, rng):
    """The eigenvalue after the last one kept counts too, though the fit does not keep it."""
    X = rng.standard_normal((50, 6)) * [9, 4, 3.9, 1, 0.5, 0.4]
    values = PCA().fit(X).explained_variance_
    apart = np.abs(values[:, None] - values) + np.diag(np.full(6, np.inf))
    chart = charts.residuals(make(k).fit(X))
    true = np.append(apart.min(axis=1)[:k] / values[:k], [])
    known = np.isfinite(chart.gaps)
    assert_allclose(chart.gaps[:-1], true[: k - 1])
    assert (chart.gaps[known] <= true[known] + 1e-9).all()
    assert known[-1] == (values[k:].sum() < values[k - 1])
    assert bool(chart.notes) != known.all()


# Surroundings


def test_pipelines_are_taken_apart(wine):
    flow = make_pipeline(StandardScaler(), PCA(2)).fit(wine)
    plain = PCA(2, scale=True).fit(wine)
    ratio = np.sqrt(len(wine) / (len(wine) - 1))  # the two differ in the divisor of the standard deviation
    assert_allclose(charts.scores(flow, wine).points.at, ratio * charts.scores(plain, wine).points.at, atol=1e-10)
    assert charts.scree(flow, wine).kept == 2


def test_random_projections_have_scores_without_shares(wine):
    assert charts.scores(RandomProjection(2).fit(wine), wine).xlabel == "direction 1"


def test_scores_kept_by_the_fit_need_no_rows():
    X, y = load_diabetes(return_X_y=True)
    model = PLSRegression(2).fit(X, y)
    assert_allclose(charts.scores(model).points.at, model.transform(X))
    assert charts.scores(model).xlabel.startswith("component 1 (38.9 % of X, ")


def test_nothing_given_is_changed(wine, rng):
    X = wine.to_numpy()
    X.setflags(write=False)
    before = X.copy()
    model = PCA(3).fit(X)
    charts.scores(model, X, colour=X[:, 0])
    charts.scree(model, X)
    charts.outliers(model, X)
    assert_array_equal(X, before)
