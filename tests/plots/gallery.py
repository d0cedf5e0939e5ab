"""Every Display on real data, small enough to be drawn in a moment."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, load_linnerud, load_wine, make_moons

from gramian import (
    CCA,
    PCA,
    FactorAnalysis,
    KernelCCA,
    KernelKNNClassifier,
    KernelPCA,
    KernelRidge,
    KernelSVC,
    PLSRegression,
    ProbabilisticPCA,
)
from gramian.charts import Residuals
from gramian.plots import (
    BiplotDisplay,
    ContoursDisplay,
    ContributionsDisplay,
    CorrelationsDisplay,
    CVCurveDisplay,
    HeatDisplay,
    ImportanceDisplay,
    LikelihoodDisplay,
    LoadingsDisplay,
    OutliersDisplay,
    PairedDisplay,
    PredictedDisplay,
    ReconstructionsDisplay,
    RegionsDisplay,
    ResidualsDisplay,
    ScoresDisplay,
    ScreeDisplay,
)

DATA = Path(__file__).parents[2] / "examples" / "data"


@cache
def table(name):
    return pd.read_csv(DATA / f"{name}.csv", index_col=0 if name == "decathlon" else None)


def meats():
    spectra = table("meats").iloc[:, :100].rename(columns=lambda name: f"{848 + 2 * int(name[2:])} nm")
    return spectra, table("meats")["fat"]


def events():
    return table("decathlon").iloc[:, :10]


def wine():
    found = load_wine(as_frame=True)
    return found.data, found.target


def moons():
    return make_moons(150, noise=0.15, random_state=0)


def crowd(n=60_000):
    """Three groups of many rows, and one row far outside."""
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=n)
    X = rng.standard_normal((n, 3)) * [3.0, 2.0, 1.0]
    X[:, 0] += 5 * (group == 1)
    X[:, 1] += 5 * (group == 2)
    X[0] = 60, 20, 0
    return X, group


PICTURES = {}


def picture(draw):
    PICTURES[draw.__name__] = draw
    return draw


@picture
def scree(ax=None) -> ScreeDisplay:
    X, _ = wine()
    return ScreeDisplay.from_estimator(PCA(3, scale=True).fit(X), X, ax=ax)


@picture
def scree_kernel(ax=None) -> ScreeDisplay:
    X, _ = wine()
    Z = (X - X.mean()) / X.std()
    return ScreeDisplay.from_estimator(KernelPCA(12, kernel="rbf(sigma=3)").fit(Z), Z, ax=ax)


@picture
def scores(ax=None) -> ScoresDisplay:
    X, y = wine()
    return ScoresDisplay.from_estimator(PCA(2, scale=True).fit(X), X, colour=y, ax=ax)


@picture
def scores_named(ax=None) -> ScoresDisplay:
    return ScoresDisplay.from_estimator(PCA(2, scale=True).fit(events()), events(), ax=ax)


@picture
def scores_numbers(ax=None) -> ScoresDisplay:
    X, fat = meats()
    return ScoresDisplay.from_estimator(PCA(2).fit(X), X, colour=fat, ax=ax)


@picture
def scores_in_space(ax=None) -> ScoresDisplay:
    X, y = wine()
    return ScoresDisplay.from_estimator(PCA(3, scale=True).fit(X), X, components=(1, 2, 3), colour=y, ax=ax)


@picture
def scores_of_many(ax=None) -> ScoresDisplay:
    X, _ = crowd()
    return ScoresDisplay.from_estimator(PCA(2).fit(X), X, ax=ax)


@picture
def scores_of_many_in_groups(ax=None) -> ScoresDisplay:
    X, group = crowd()
    return ScoresDisplay.from_estimator(PCA(2).fit(X), X, colour=group, ax=ax)


@picture
def loadings_circle(ax=None) -> LoadingsDisplay:
    return LoadingsDisplay.from_estimator(PCA(2, scale=True).fit(wine()[0]), ax=ax)


@picture
def loadings_of_a_spectrum(ax=None) -> LoadingsDisplay:
    return LoadingsDisplay.from_estimator(PLSRegression(3).fit(*meats()), ax=ax)


@picture
def loadings_of_two_views(ax=None) -> LoadingsDisplay:
    X, Y = load_linnerud(return_X_y=True, as_frame=True)
    return LoadingsDisplay.from_estimator(CCA().fit(X, Y), names=[*X.columns, *Y.columns], ax=ax)


@picture
def biplot(ax=None) -> BiplotDisplay:
    return BiplotDisplay.from_estimator(PCA(2, scale=True).fit(events()), events(), ax=ax)


@picture
def contributions(ax=None) -> ContributionsDisplay:
    return ContributionsDisplay.from_estimator(PCA(2, scale=True).fit(events()), events(), of="rows", ax=ax)


@picture
def reconstructions(ax=None) -> ReconstructionsDisplay:
    X = load_digits().data
    return ReconstructionsDisplay.from_estimator(PCA(40).fit(X), X, shape=(8, 8), ax=ax)


@picture
def reconstructions_of_spectra(ax=None) -> ReconstructionsDisplay:
    X, _ = meats()
    return ReconstructionsDisplay.from_estimator(PCA(4).fit(X), X, counts=(1, 2, 4), ax=ax)


@picture
def contours(ax=None) -> ContoursDisplay:
    X, y = moons()
    return ContoursDisplay.from_estimator(KernelPCA(3, kernel="rbf(sigma=0.4)").fit(X), X, colour=y, grid=60, ax=ax)


@picture
def regions(ax=None) -> RegionsDisplay:
    X, y = moons()
    return RegionsDisplay.from_estimator(KernelSVC(10, kernel="rbf(sigma=0.5)").fit(X, y), X, y, grid=80, ax=ax)


@picture
def regions_of_three_classes(ax=None) -> RegionsDisplay:
    found = load_iris(as_frame=True)
    X, y = found.data.iloc[:, 2:], found.target
    return RegionsDisplay.from_estimator(KernelKNNClassifier(5).fit(X, y), X, y, grid=80, ax=ax)


@picture
def cv_curve(ax=None) -> CVCurveDisplay:
    return CVCurveDisplay.from_estimator(PLSRegression("auto").fit(*meats()), ax=ax)


@picture
def cv_curve_of_targets(ax=None) -> CVCurveDisplay:
    X, Y = meats()[0], table("meats").iloc[:, 100:]
    return CVCurveDisplay.from_estimator(PLSRegression(12).fit(X, Y), X, Y, targets=list(Y.columns), ax=ax)


@picture
def cv_curve_of_ridges(ax=None) -> CVCurveDisplay:
    X, fat = meats()
    return CVCurveDisplay.from_estimator(KernelRidge(kernel="rbf(sigma=1)").fit(X, fat), X, fat, ax=ax)


@picture
def predicted(ax=None) -> PredictedDisplay:
    X, fat = meats()
    return PredictedDisplay.from_estimator(PLSRegression(10).fit(X, fat), X, fat, left_out=True, unit="%", ax=ax)


@picture
def vip(ax=None) -> ImportanceDisplay:
    return ImportanceDisplay.from_estimator(PLSRegression(10).fit(*meats()), ax=ax)


@picture
def coefficients(ax=None) -> ImportanceDisplay:
    X = events()
    model = PLSRegression("auto").fit(X, table("decathlon")["Points"])
    return ImportanceDisplay.from_estimator(model, kind="coefficients", ax=ax)


@picture
def coefficients_of_a_spectrum(ax=None) -> ImportanceDisplay:
    return ImportanceDisplay.from_estimator(PLSRegression("auto").fit(*meats()), kind="coefficients", ax=ax)


@picture
def outliers(ax=None) -> OutliersDisplay:
    X, _ = meats()
    return OutliersDisplay.from_estimator(PCA(3).fit(X), X, ax=ax)


@picture
def correlations(ax=None) -> CorrelationsDisplay:
    X, Y = load_linnerud(return_X_y=True)
    return CorrelationsDisplay.from_estimator(CCA().fit(X, Y), X, Y, ax=ax)


@picture
def correlations_of_kernels(ax=None) -> CorrelationsDisplay:
    X, Y = table("nutrimouse_gene"), table("nutrimouse_lipid")
    model = KernelCCA(4, kernel="linear", kernel_y="linear", ridge=1.0).fit(X, Y)
    return CorrelationsDisplay.from_estimator(model, X, Y, ax=ax)


@picture
def paired(ax=None) -> PairedDisplay:
    X, Y = table("nutrimouse_gene"), table("nutrimouse_lipid")
    diet = table("nutrimouse_diet")["diet"]
    return PairedDisplay.from_estimator(CCA(2, ridge=1.0, scale=True).fit(X, Y), X, Y, colour=diet, ax=ax)


@picture
def heat(ax=None) -> HeatDisplay:
    return HeatDisplay.from_estimator(FactorAnalysis(3, rotation="varimax").fit(wine()[0]), ax=ax)


@picture
def likelihood(ax=None) -> LikelihoodDisplay:
    return LikelihoodDisplay.from_estimator(ProbabilisticPCA(2, method="em").fit(load_iris().data), ax=ax)


@picture
def residuals(ax=None) -> ResidualsDisplay:
    # Residuals near the rounding of a machine are its own: these are made up.
    numbers = np.arange(1, 9)
    found, gaps = 10.0 ** np.linspace(-14, -9, 8), np.array([0.3, 0.3, 0.5, 0.02, 0.02, 0.1, 0.2, 0.2])
    chart = Residuals(
        title="Certificate",
        xlabel="component",
        ylabel="relative size",
        numbers=numbers,
        residuals=found,
        gaps=gaps,
        angles=found / gaps,
    )
    return ResidualsDisplay(chart).plot(ax)
