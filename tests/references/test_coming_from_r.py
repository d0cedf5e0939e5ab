"""What the page for users of R, the guide to factor analysis and docstrings of rotations say of R, compared with R."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import CCA, FactorAnalysis, PLSRegression
from gramian.solvers.rotation import ROTATIONS, oblimin, promax, quartimax, varimax

DATA = Path(__file__).parent / "data"


def reference(name):
    kept = json.loads((DATA / f"{name}.json").read_text())
    outputs = {case["name"]: {key: np.array(value) for key, value in case["outputs"].items()} for case in kept["cases"]}
    return {key: np.array(value) for key, value in kept["data"].items() if key != "name"}, outputs


DATASETS, R = reference("coming_from_r")
UNROTATED = R["unrotated"]["loadings"]


def apart(found, theirs):
    """Largest difference of loadings, up to signs and the order of factors."""
    found, theirs = (A[:, np.argsort(-np.sum(A**2, axis=0))] for A in (found, theirs))
    return float(np.abs(np.abs(found) - np.abs(theirs)).max())


@pytest.mark.parametrize(
    ("name", "rotate", "options"),
    [
        ("varimax", varimax, {}),
        ("quartimax", quartimax, {}),
        ("quartimax_normalized", quartimax, {"normalize": True}),
        ("promax", promax, {}),
        ("oblimin", oblimin, {}),
        ("oblimin_normalized", oblimin, {"normalize": True}),
    ],
)
def test_rotations_are_those_of_r(name, rotate, options):
    assert apart(rotate(UNROTATED, **options).loadings, R[name]["loadings"]) < 2e-7


def test_defaults_differ_where_the_guide_says_so():
    """Kaiser's normalisation changes loadings; R stops early; psych's promax is another one."""
    assert apart(R["quartimax"]["loadings"], R["quartimax_normalized"]["loadings"]) > 0.3
    assert apart(R["oblimin"]["loadings"], R["oblimin_normalized"]["loadings"]) > 0.1
    assert 1e-4 < apart(promax(UNROTATED).loadings, R["factanal_promax"]["loadings"]) < 1e-3
    assert apart(promax(UNROTATED).loadings, R["psych_promax"]["loadings"]) > 0.08
    assert apart(oblimin(UNROTATED).loadings, R["psych_oblimin"]["loadings"]) < 1e-4


def test_oblimin_correlates_factors_as_r_does():
    assert_allclose(abs(oblimin(UNROTATED).correlation[0, 1]), abs(R["oblimin"]["factor_correlation"][0, 1]), atol=1e-6)


def turned(first, second):
    """How far two rotations are from each other, up to signs and the order of factors."""
    between = np.abs(np.linalg.solve(first.matrix, second.matrix))
    return min(np.abs(order - between).max() for order in (np.eye(2), np.eye(2)[::-1]))


@pytest.mark.parametrize("name", ROTATIONS)
def test_kaiser_normalisation_is_as_documented(name):
    """A normalised rotation is the same if rows of the loadings are scaled; promax starts from one."""
    scaled = UNROTATED * np.linspace(0.3, 2.0, len(UNROTATED))[:, None]
    change = turned(ROTATIONS[name](UNROTATED), ROTATIONS[name](scaled))
    assert (change < 1e-8) == (name == "varimax")
    assert "Kaiser" in ROTATIONS[name].__doc__
    said = " ".join(FactorAnalysis.__doc__.split("rotation : ")[1].split("missing : ")[0].split())
    assert f'"{name}"' in said
    assert 'Kaiser\'s normalisation in "varimax" and in the varimax that "promax" starts from' in said


def test_parameters_of_rotations_are_as_documented():
    """Promax raises to the fourth power; oblimin with gamma 0 is quartimin."""
    assert np.array_equal(promax(UNROTATED).loadings, promax(UNROTATED, power=4.0).loadings)
    squares = oblimin(UNROTATED).loadings ** 2
    assert_allclose(oblimin(UNROTATED).criterion, 0.25 * 2 * np.sum(squares[:, 0] * squares[:, 1]), rtol=1e-10)


@pytest.mark.filterwarnings("ignore::gramian.HeywoodWarning")
def test_unrotated_factors_come_in_another_order():
    model, theirs = FactorAnalysis(3).fit(DATASETS["swiss"]), R["factanal_none_3"]["loadings"]
    assert apart(model.loadings_, theirs) < 1e-6
    squares = np.sum(theirs**2, axis=0)
    assert (np.diff(squares) < 0).all()
    information = np.sum(model.loadings_**2 / model.uniquenesses_[:, None], axis=0)
    assert (np.diff(information) < 0).all()
    assert_allclose(np.sum(model.loadings_**2, axis=0), squares[[0, 2, 1]], rtol=1e-6)


def gasoline():
    data, _ = reference("pls_pcr_gasoline")
    return data["X"], data["y"]


def test_coefficients_of_plsr_with_scaled_columns_are_of_those():
    X, y = gasoline()
    model, theirs = PLSRegression(3, scale="x").fit(X, y), R["plsr_scaled"]
    assert_allclose(model.coef_[0] * model.x_scale_, theirs["coef"], rtol=1e-8)
    assert_allclose(model.predict(X), theirs["predictions"], rtol=1e-10)


def test_rmsep_without_components_and_the_one_standard_error_rule():
    X, y = gasoline()
    n, theirs = len(y), R["plsr_interleaved"]
    out = [np.arange(first, n, 10) for first in range(10)]
    path = PLSRegression(5, scale=False).cross_validate(X, y, cv=[(np.setdiff1d(np.arange(n), s), s) for s in out])
    assert_allclose(path.rmsecv[1:, 0], theirs["RMSEP_CV"][1:], rtol=1e-8)
    assert_allclose(PLSRegression(1, scale=False).cross_validate(X, y, cv=n).rmsecv[0, 0], theirs["RMSEP_CV"][0])
    assert path.rmsecv[0, 0] > theirs["RMSEP_CV"][0] + 0.005
    assert (path.recommended, int(theirs["onesigma"][0])) == (4, 3)


def test_jackknife_is_that_of_jack_test_without_the_mean():
    X, y = gasoline()
    n = len(y)
    out = [np.arange(first, n, 10) for first in range(10)]
    path = PLSRegression(2, scale=False).cross_validate(X, y, cv=[(np.setdiff1d(np.arange(n), s), s) for s in out])
    assert_allclose(path.jackknife().standard_error[0], R["jack_test"]["sd"], rtol=1e-8)


def test_kcca_of_kernlab_does_not_centre():
    """With a linear kernel and next to no ridge it is cancor without centres, each correlation with both signs."""
    kcor = R["kcca_linear"]["kcor"]
    assert_allclose(np.abs(kcor), R["cancor_uncentred"]["cor"][0], rtol=1e-6)
    assert kcor.prod() < 0
    assert R["cancor_uncentred"]["cor"][0] > R["cancor"]["cor"][0] + 0.04
    assert_allclose(CCA().fit(DATASETS["x"], DATASETS["y"]).correlations_, R["cancor"]["cor"], rtol=1e-8)
