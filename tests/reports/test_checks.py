"""What a report says first is graded by what was planted."""

import numpy as np
import pytest

import gramian as g
from gramian.reports.checks import checks_of
from gramian.reports.subject import Subject

pytestmark = pytest.mark.filterwarnings("ignore::gramian.GramianWarning")


def told(model, words, X=None, y=None):
    """The grade and the remedy of the one check that has these words."""
    (check,) = [check for check in checks_of(Subject(model, X, y)) if words in check.text]
    return check.grade, check.remedy


def factors(rng, number, noise=0.5):
    """Rows of twelve columns that few factors explain."""
    return rng.standard_normal((400, number)) @ rng.uniform(-1, 1, (number, 12)) + noise * rng.standard_normal(
        (400, 12)
    )


def test_factors_are_judged_by_the_correlations_they_reproduce(rng):
    X = factors(rng, 3)
    assert told(g.FactorAnalysis(3).fit(X), "The factors") == ("good", "")
    assert told(g.FactorAnalysis(1).fit(X), "The factors") == ("warning", "More factors may be needed.")


def test_columns_that_share_nothing_are_no_matter_for_factors(rng):
    assert told(g.FactorAnalysis(1).fit(factors(rng, 2)), "KMO") == ("good", "")
    alone = g.FactorAnalysis(1).fit(rng.standard_normal((60, 12)))
    assert told(alone, "KMO") == ("warning", "Leave out columns that correlate with no other.")


def test_projections_are_judged_by_the_distances_they_keep(rng):
    X = rng.standard_normal((100, 400))
    assert told(g.RandomProjection(300, eps=0.5).fit(X), "kept distances") == ("good", "")
    assert told(g.RandomProjection(1).fit(X), "changed distances")[0] == "warning"


@pytest.mark.parametrize(("landmarks", "grade"), [(150, "good"), (3, "warning")])
def test_landmarks_are_judged_by_the_kernel_they_leave_out(rng, landmarks, grade):
    model = g.KernelPCA(2, kernel="rbf(sigma=2)", landmarks=landmarks).fit(rng.standard_normal((300, 3)))
    assert told(model, "Landmarks stand in for all rows")[0] == grade


@pytest.mark.parametrize(("noise", "grade"), [(0.1, "good"), (2.0, "note"), (1e6, "warning")])
def test_predictions_are_judged_by_rows_left_out(rng, noise, grade):
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + noise * rng.standard_normal(200)
    assert told(g.PLSRegression(1).fit(X, y), "Rows left out: the predictions", X, y)[0] == grade


def test_a_computation_that_stopped_early_is_said(rng):
    model = g.ProbabilisticPCA(2, method="em", max_iter=2).fit(factors(rng, 3))
    assert told(model, "stopped before it converged")[0] == "warning"


def test_what_a_method_does_not_mind_is_a_note(rng):
    X = factors(rng, 5)
    X[:, 3] = X[:, 0] + X[:, 1]
    assert told(g.PCA(2).fit(X), "linear combination", X) == ("note", "This method is not affected.")
    X[7, 2] = np.nan
    assert told(g.PCA(2, missing="em").fit(X), "misses values", X) == ("note", "The model imputed them.")
