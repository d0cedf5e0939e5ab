"""Planted data: small tables for which a report must say a sentence, or must not."""

import warnings
from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd

import gramian as g
from gramian import charts
from gramian.reports import subject
from gramian.reports.contents import Page
from gramian.reports.subject import Beside, Subject
from gramian.reports.writing import page_of
from gramian.solvers import Power

GROUPS = np.repeat(["left", "middle", "right"], 20)


def noise(n=60, d=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def blocks(d=8, n=200, factors=2, noisy=0.6, seed=0):
    """Columns that belong to factors by turns."""
    F = noise(n, factors, seed)
    return F[:, np.arange(d) % factors] + noisy * noise(n, d, seed + 1)


def shifted(by):
    X = noise() * [3, 1, 0.5, 0.2]
    X[:, 0] += by * np.repeat([-1, 0, 1], 20)
    return X


def regression(noisy, n=60, q=1):
    X = noise(n, 3, 3) * [2, 1, 0.5]
    Y = X[:, :q] + noisy * noise(n, q, 4)
    return X, Y[:, 0] if q == 1 else Y


def views(strength, n=60):
    u = noise(n, 1, 5)
    return tuple(strength * u * [1, 0, 0] + noise(n, 3, seed) for seed in (6, 7))


def curve(n=60):
    t = np.linspace(0, 3, n)
    return np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * noise(n, 2)


def fitted(model, X, y=None, *, rows=True, **more):
    model.fit(*(X,) if y is None else (X, y))
    return Subject(model, X, y, **more) if rows else Subject(model)


def near():
    return g.KernelKNNClassifier(3)


def three_factors():
    """Two factors, and a weak third one that two columns share."""
    F = noise(250, 3)
    return F[:, np.arange(8) % 2] + 0.3 * F[:, [2]] * (np.arange(8) < 2) + 0.8 * noise(250, 8, 1)


def named(X):
    """Columns whose names have no order, so that they are no spectrum."""
    return pd.DataFrame(X, columns=[f"{chr(97 + at % 26)}{'x' * (at // 26)}" for at in range(X.shape[1])])


GAPS = blocks(4, 60)
GAPS[::9, 3] = np.nan
ONE_GAP = blocks(6)
ONE_GAP[0, 0] = np.nan
SPREAD = noise() * [9, 3, 0.7, 0.3]
FEW = np.column_stack([noise(12, 2), np.eye(12)[:, 0]])
SIGMOID = "sigmoid(scale=1, constant=-1)"

#: name -> a subject of a report, or a chart. Rows are given where a sentence needs them: without, a page is quick.
CASES = {
    # Rows and components
    "apart": lambda: fitted(g.PCA(2), SPREAD),
    "without rows": lambda: fitted(g.PCA(2, scale=True), SPREAD, rows=False),
    "new rows": lambda: Subject(g.PCA(2).fit(SPREAD), SPREAD[:9]),
    "noise": lambda: fitted(g.PCA(2, scale=True), noise(60, 6)),
    "one component of noise": lambda: fitted(g.PCA(1, scale=True), noise(60, 6), rows=False),
    "wide noise": lambda: fitted(g.PCA(2), noise(40, 30)),
    "one component": lambda: fitted(g.PCA(1), SPREAD, rows=False),
    "equal variances": lambda: fitted(g.PCA(3), noise(200, 5, 4) * [6, 2, 2, 0.5, 0.2]),
    "groups apart": lambda: fitted(g.PCA(2), shifted(4), colour=GROUPS),
    "groups alike": lambda: fitted(g.PCA(2), shifted(0), colour=GROUPS),
    "groups of a spectrum": lambda: fitted(g.PCA(2), blocks(25, 60, 3), colour=GROUPS),
    "rows with names": lambda: fitted(g.PCA(2), SPREAD, names=[f"row {at}" for at in range(len(SPREAD))]),
    "supplementary": lambda: fitted(
        g.PCA(2, scale=True),
        SPREAD,
        supplementary={"sum": SPREAD.sum(axis=1), "side": GROUPS.astype(str)},
        further=Beside(SPREAD[:3] + 0.1),
    ),
    "supplementary rows of a kernel": lambda: fitted(
        g.KernelPCA(2, kernel="linear"), SPREAD, further=Beside(SPREAD[:3] + 0.1)
    ),
    "many components": lambda: fitted(g.PCA(9), blocks(10)),
    "uneven": lambda: fitted(g.PCA(2), noise() * [500, 3, 2, 1]),
    "not centred": lambda: fitted(g.PCA(2, center=False), SPREAD + 5),
    "two scaled columns": lambda: fitted(g.PCA(2, scale=True), noise(60, 1) + 0.5 * noise(60, 2, 1)),
    "sum of columns": lambda: fitted(g.PCA(2), np.column_stack([SPREAD, SPREAD[:, 0] + SPREAD[:, 1]])),
    "many named columns": lambda: fitted(g.PCA(2), named(blocks(25, 60, 3))),
    "pixels": lambda: fitted(g.PCA(2), blocks(16, 60, 3)),
    "many rows": lambda: fitted(g.PCA(2), noise(5_100, 2) * [3, 1]),
    "rough solver": lambda: fitted(g.PCA(2, solver=Power(tol=1e-2)), SPREAD, rows=False),
    "gaps": lambda: fitted(g.PCA(2, missing="em"), GAPS),
    "box": lambda: fitted(g.PCA(2), np.random.default_rng(0).uniform(-1, 1, (40, 3)) * [3, 2, 1]),
    "em": lambda: fitted(g.ProbabilisticPCA(2, method="em"), blocks(), rows=False),
    "em stopped": lambda: fitted(g.ProbabilisticPCA(2, method="em", max_iter=2), blocks(), rows=False),
    "few rows": lambda: fitted(g.ProbabilisticPCA(2), FEW),
    # Factors
    "two factors": lambda: fitted(g.FactorAnalysis(2, rotation="oblimin"), blocks(6)),
    "nearly two factors": lambda: fitted(g.FactorAnalysis(2), three_factors(), rows=False),
    "one factor of two": lambda: fitted(g.FactorAnalysis(1), blocks(6, 60)),
    "factors of noise": lambda: fitted(g.FactorAnalysis(1), noise(60, 10), rows=False),
    "one gap": lambda: fitted(g.FactorAnalysis(1, missing="em"), ONE_GAP, rows=False),
    "Heywood case": lambda: fitted(g.FactorAnalysis(1), np.column_stack([SPREAD, SPREAD[:, 0] + 1e-3]), rows=False),
    # Projections and kernels
    "projection": lambda: fitted(g.RandomProjection(60, eps=0.6), noise(40, 80), rows=False),
    "rough projection": lambda: fitted(g.RandomProjection(1), noise(40, 80), rows=False),
    "kernel": lambda: fitted(g.KernelPCA(1, kernel="linear"), SPREAD),
    "kernel of equal variances": lambda: fitted(g.KernelPCA(3, kernel="linear"), noise(100, 4, 3) * [6, 2, 2, 0.5]),
    "kernel of a plane": lambda: fitted(g.KernelPCA(2, kernel="rbf(sigma=1)"), curve()),
    "kernel matrix": lambda: fitted(g.KernelPCA(2, kernel="precomputed"), g.kernels.RBF(sigma=2.0)(SPREAD)),
    "kernel of a function": lambda: fitted(g.KernelPCA(1, kernel=lambda A, B: A @ B.T), SPREAD),
    "many landmarks": lambda: fitted(g.KernelPCA(2, kernel="rbf(sigma=4)", landmarks=50), SPREAD, rows=False),
    "some landmarks": lambda: fitted(g.KernelPCA(2, kernel="rbf(sigma=4)", landmarks=20), SPREAD, rows=False),
    "few landmarks": lambda: fitted(g.KernelPCA(2, kernel="rbf(sigma=2)", landmarks=3), SPREAD, rows=False),
    "indefinite": lambda: fitted(g.KernelPCA(1, kernel=SIGMOID, solver="krylov"), SPREAD, rows=False),
    # Predictions
    "regression": lambda: fitted(g.PLSRegression("auto"), *regression(0.05)),
    "rough regression": lambda: fitted(g.PLSRegression(2), *regression(2.5)),
    "weak regression": lambda: fitted(g.PLSRegression(1), *regression(8.0, 200)),
    "random target": lambda: fitted(g.PLSRegression(1), *regression(1e6)),
    "two targets": lambda: fitted(g.PrincipalComponentRegression(2), *regression(0.3, q=2)),
    "regression of new rows": lambda: Subject(
        g.PLSRegression(1).fit(*regression(0.05)), *(part + 0.01 for part in regression(0.05, 30))
    ),
    "regression with test rows": lambda: fitted(
        g.PLSRegression(1), *regression(0.3), test=Beside(*(part + 0.01 for part in regression(0.3, 30)))
    ),
    "regression with rows of the fit as test": lambda: fitted(
        g.PLSRegression(1), *regression(0.3), test=Beside(*(part[:9] for part in regression(0.3)))
    ),
    "classes with test rows": lambda: fitted(
        near(), shifted(6), GROUPS, test=Beside(shifted(6)[::2] + 0.01, GROUPS[::2])
    ),
    "regression of many columns": lambda: fitted(g.PLSRegression(2), named(noise(60, 40)), noise(60, 40)[:, 0]),
    "ridge": lambda: fitted(g.KernelRidge(0.1), *regression(0.3)),
    "views": lambda: fitted(g.CCA(2), *views(3.0)),
    "views with ridge": lambda: fitted(g.CCA(1, ridge=0.5), *views(3.0)),
    "views of noise": lambda: fitted(g.CCA(1), *views(0.0)),
    "classes": lambda: fitted(g.KernelSVC(kernel="rbf(sigma=1)"), shifted(6)[:, :3], GROUPS),
    "classes of a plane": lambda: fitted(g.KernelSVC(kernel="rbf(sigma=1)"), curve(), np.repeat(["a", "b"], 30)),
    "classes of new rows": lambda: Subject(near().fit(shifted(6), GROUPS), shifted(6)[::2] + 0.01, GROUPS[::2]),
    "classes of some new rows": lambda: Subject(near().fit(shifted(6)[::2], GROUPS[::2]), shifted(6), GROUPS),
    "classes that overlap": lambda: fitted(near(), shifted(2.5), GROUPS),
    "classes that hardly differ": lambda: fitted(near(), shifted(0.6), GROUPS),
    "random classes": lambda: fitted(near(), noise(60, 3, 8), np.repeat(["many", "few"], [50, 10])),
    "clusters": lambda: fitted(g.KernelKMeans(2), np.concatenate([noise(20, 3), noise(30, 3) + 20])),
    "even clusters": lambda: fitted(g.KernelKMeans(2), np.concatenate([noise(20, 3), noise(20, 3) + 20])),
    # Notes of charts that no report draws in this form
    "points in space": lambda: charts.scores(g.PCA(3).fit(noise(5_000)), noise(5_000), components=(1, 2, 3), many=100),
    "plane of three": lambda: charts.regions(g.KernelKMeans(2).fit(noise(40, 3)), noise(40, 3), grid=5),
    "plane of four": lambda: charts.regions(g.KernelKMeans(2).fit(noise(40)), noise(40), grid=5),
    "short scree": lambda: charts.scree(g.PCA(2).fit(SPREAD), most=1),
    "wide table": lambda: charts.scree(g.PCA(2).fit(noise(8, 1_001)), noise(8, 1_001)),
    "unknown limit": lambda: charts.outliers(g.PCA(2, solver="randomized").fit(noise(60, 9)), noise(60, 9)),
}

#: code -> the case that must say it, the case that must not
LAW = {
    # Rows
    "no_rows": ("without rows", "apart"),
    "new_rows": ("new rows", "apart"),
    "test_seen": ("regression with rows of the fit as test", "regression with test rows"),
    "no_finding": ("noise", "sum of columns"),
    "gaps_imputed": ("gaps", "apart"),
    "repetition_harmless": ("sum of columns", "apart"),
    # Computation
    "fit_note": ("Heywood case", "two factors"),
    "not_converged": ("em stopped", "em"),
    "accurate": ("apart", "rough solver"),
    "inaccurate": ("rough solver", "apart"),
    "optimal": ("classes", "regression"),
    "converged": ("em", "em stopped"),
    "landmarks_close": ("many landmarks", "some landmarks"),
    "landmarks_near": ("some landmarks", "few landmarks"),
    "landmarks_far": ("few landmarks", "many landmarks"),
    "distances_kept": ("projection", "rough projection"),
    "distances_changed": ("rough projection", "projection"),
    # Factors
    "factors_good": ("two factors", "nearly two factors"),
    "factors_fair": ("nearly two factors", "two factors"),
    "factors_poor": ("one factor of two", "two factors"),
    "kmo_enough": ("two factors", "factors of noise"),
    "kmo_low": ("factors of noise", "two factors"),
    # Predictions
    "predicts_well": ("regression", "rough regression"),
    "predicts_partly": ("rough regression", "weak regression"),
    "predicts_little": ("weak regression", "random target"),
    "predicts_nothing": ("random target", "weak regression"),
    "classes_well": ("classes", "classes that overlap"),
    "classes_partly": ("classes that overlap", "classes"),
    "classes_little": ("classes that hardly differ", "random classes"),
    "classes_nothing": ("random classes", "classes that hardly differ"),
    # Other samples
    "recovered": ("apart", "noise"),
    "similar": ("equal variances", "apart"),
    "lost": ("noise", "apart"),
    "mixed": ("equal variances", "apart"),
    "close_gaps": ("kernel of equal variances", "kernel of a plane"),
    "next_is_close": ("noise", "apart"),
    "span_steady": ("apart", "noise"),
    "span_turns": ("noise", "apart"),
    "draws_refused": ("few rows", "apart"),
    # Tables
    "rows_shown": ("apart", "new rows"),
    "columns_shown": ("many components", "apart"),
    "rows_kept": ("many rows", "apart"),
    # How many
    "as_recommended": ("two factors", "apart"),
    "not_as_recommended": ("apart", "two factors"),
    "criteria_agree": ("regression", "apart"),
    "criteria_differ": ("apart", "regression"),
    "purpose": ("apart", "without rows"),
    "criteria_note": ("uneven", "box"),
    "ridge": ("ridge", "regression"),
    "held": ("apart", "two factors"),
    "held_together": ("apart", "one component"),
    "eigenvalues": ("two factors", "apart"),
    "eigenvalue": ("one factor of two", "two factors"),
    "first_value": ("indefinite", "one component"),
    "stand_out": ("two factors", "noise"),
    "none_stands_out": ("noise", "two factors"),
    "plain_parallel": ("noise", "two factors"),
    "least_error": ("regression", "two targets"),
    "least_errors": ("two targets", "regression"),
    "errors_at": ("rough regression", "two targets"),
    "one_standard_error": ("rough regression", "regression"),
    "first_pair": ("views", "views with ridge"),
    "first_pair_ridge": ("views with ridge", "views"),
    "above_chance": ("views", "views of noise"),
    "none_above_chance": ("views of noise", "views"),
    # Components
    "largest": ("apart", "kernel"),
    "circle": ("without rows", "two factors"),
    "arrows_show": ("apart", "one component"),
    "supplementary_arrows": ("supplementary", "without rows"),
    "supplementary_columns": ("supplementary", "apart"),
    "supplementary_rows": ("supplementary", "supplementary rows of a kernel"),
    "supplementary_scores": ("supplementary rows of a kernel", "supplementary"),
    "contributions": ("apart", "kernel"),
    "factors_correlate": ("two factors", "nearly two factors"),
    "some_named": ("many named columns", "apart"),
    "contributors": ("apart", "two scaled columns"),
    "contribute_alike": ("two scaled columns", "apart"),
    "above_limit": ("regression", "apart"),
    "largest_columns": ("regression", "apart"),
    "excludes_zero": ("regression", "weak regression"),
    "bars_drawn": ("regression of many columns", "regression"),
    "limits_by_draws": ("apart", "kernel"),
    "limits_by_rows": ("kernel", "apart"),
    "bias_corrected": ("wide noise", "apart"),
    "depends_on": ("kernel", "kernel matrix"),
    # Planes
    "contour": ("kernel of a plane", "kernel"),
    "regions": ("classes of a plane", "classes"),
    "support": ("classes of a plane", "classes"),
    "rebuilt": ("pixels", "apart"),
    "rebuilt_lines": ("many named columns", "pixels"),
    # Scores
    "points": ("apart", "without rows"),
    "groups_differ": ("groups apart", "groups alike"),
    "groups_alike": ("groups alike", "groups apart"),
    "v_tests": ("groups apart", "apart"),
    "marks": ("supplementary", "apart"),
    "rows_named": ("rows with names", "apart"),
    "arrows": ("apart", "many named columns"),
    "ellipse": ("many named columns", "groups of a spectrum"),
    "ellipses": ("groups of a spectrum", "many named columns"),
    "map": ("classes", "classes of a plane"),
    "paired": ("views", "apart"),
    "paired_ridge": ("views with ridge", "views"),
    # Predictions, row by row
    "predicted": ("regression", "classes"),
    "largest_errors": ("regression", "classes"),
    "merit_of_test": ("regression with test rows", "regression"),
    "right_of_test": ("classes with test rows", "classes"),
    "merit_of_fit": ("regression", "regression of new rows"),
    "merit_of_new": ("regression of new rows", "regression"),
    "right_of_fit": ("classes", "classes of new rows"),
    "right_of_new": ("classes of new rows", "classes"),
    "right_of_some": ("classes of some new rows", "classes"),
    "partly_optimistic": ("classes of some new rows", "classes"),
    "optimistic": ("regression", "regression of new rows"),
    "judge_by_left_out": ("regression", "classes of new rows"),
    "merit": ("regression", "classes"),
    "confusion": ("classes", "regression"),
    "clusters": ("clusters", "even clusters"),
    "clusters_alike": ("even clusters", "clusters"),
    # Diagnostics
    "beyond": ("apart", "box"),
    "none_beyond": ("box", "apart"),
    "limits": ("apart", "box"),
    "kmo": ("two factors", "apart"),
    "residuals": ("apart", "regression"),
    "angles": ("apart", "one component of noise"),
    "likelihood_rose": ("em", "one gap"),
    "likelihood_flat": ("one gap", "em"),
    # Code
    "program": ("apart", "new rows"),
    "seeds": ("apart", "kernel of a function"),
    "program_of_other_rows": ("new rows", "apart"),
    "program_of_model": ("without rows", "new rows"),
    # Notes of charts
    "last_gap": ("noise", "apart"),
    "largest_only": ("many named columns", "apart"),
    "first_only": ("short scree", "apart"),
    "folds": ("regression", "ridge"),
    "jackknife": ("regression", "weak regression"),
    "no_limit": ("unknown limit", "apart"),
    "drawn": ("points in space", "many rows"),
    "counted": ("many rows", "apart"),
    "median": ("plane of three", "plane of four"),
    "medians": ("plane of four", "plane of three"),
    "not_centred": ("not centred", "apart"),
    "no_columns": ("kernel matrix", "kernel"),
    "wide": ("wide table", "apart"),
    "shuffled": ("views", "apart"),
}


def sentences_of(page: Page) -> list:
    """Every sentence of a page, from every place where one may stand."""
    found = [check.text for check in page.checks]
    for section in page.sections:
        found += section.says
        for part in section.parts:
            grid = part.grid if part.kind == "picture" else part if part.kind == "grid" else None
            found += part.says if part.kind == "picture" else []
            found += [*grid.note, *grid.said] if grid is not None else []
    return found


#: Cases whose sentences come from bootstrap draws or standard errors; the others go without, which halves the time.
JUDGED = {"apart", "noise", "wide noise", "equal variances", "few rows", "kernel", "kernel of a plane"} | {
    "kernel of equal variances"
}


@cache
def told(name):
    """Sentences of a case, with few bootstrap draws."""
    quick = {"DRAWS": 20, "FEW_DRAWS": 20, **({} if name in JUDGED else {"BOOTSTRAP_MAX_WORK": 0})}
    with warnings.catch_warnings(), patch.multiple(subject, **quick):
        warnings.simplefilter("ignore")
        made = CASES[name]()
        return tuple(sentences_of(page_of(made)) if isinstance(made, Subject) else made.notes)
