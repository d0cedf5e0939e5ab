"""
Every picture on one page
=========================

This page draws one of each kind of plot with real data, and says how to read it. All follow scikit-learn's convention:
``SomeDisplay.from_estimator(model, X)`` draws, ``display.ax_`` and ``display.figure_`` are matplotlib's own.
"""

# %%
# Ten events of a decathlon, spectra and fat of meat, genes and fatty acids of mice.

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits, load_iris, make_moons

from gramian import CCA, PCA, FactorAnalysis, KernelPCA, KernelSVC, PLSRegression, ProbabilisticPCA
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

data = (Path(__file__).parent if "__file__" in globals() else Path()) / "data"
events = pd.read_csv(data / "decathlon.csv", index_col=0).iloc[:, :10]
meats = pd.read_csv(data / "meats.csv")
spectra = meats.iloc[:, :100].rename(columns=lambda name: f"{848 + 2 * int(name[2:])} nm")
genes, lipids, diet = (pd.read_csv(data / f"nutrimouse_{name}.csv") for name in ("gene", "lipid", "diet"))
athletes = PCA(3, scale=True).fit(events)

# %%
# **How many components?** The grey band is where random tables lie; triangles are the numbers that all criteria give.

scree = ScreeDisplay.from_estimator(athletes, events)

# %%
# **Who resembles whom?** Scores, with the ellipse into which a new athlete would fall with a probability of 95 %.

ScoresDisplay.from_estimator(athletes, events)

# %%
# **Which events go together?** Arrows are correlations with the components. An event whose arrow reaches the circle is
# fully explained by these two components; arrows that point the same way belong to events that go together.

LoadingsDisplay.from_estimator(athletes)

# %%
# **Both at once.** A name far out along an arrow has a high value there: for runs, a slow time.

BiplotDisplay.from_estimator(athletes, events)

# %%
# **Which rows contribute to a component?** Rows that contribute more than the dashed line; the share of each row that
# it explains (cos2).

ContributionsDisplay.from_estimator(athletes, events, of="rows")

# %%
# **Who is an outlier?** To the right rows that are extreme within the model, above rows that it reconstructs poorly.

OutliersDisplay.from_estimator(athletes, events)

# %%
# **How well do components reconstruct a picture?**

digits = load_digits().data
ReconstructionsDisplay.from_estimator(PCA(40).fit(digits), digits, shape=(8, 8))

# %%
# **What are kernel components as functions?** Colours are scores over the plane, blue below zero.

moons, side = make_moons(200, noise=0.15, random_state=0)
ContoursDisplay.from_estimator(KernelPCA(6, kernel="rbf(sigma=0.4)").fit(moons), moons, colour=side)

# %%
# **Where is the border?** Rings mark the support vectors, dashed lines the margin.

regions = RegionsDisplay.from_estimator(KernelSVC(10, kernel="rbf(sigma=0.5)").fit(moons, side), moons, side)

# %%
# **How many components predict best?** The star is the choice of the one-standard-error rule.

calibration = PLSRegression("auto").fit(spectra, meats["fat"])
curve = CVCurveDisplay.from_estimator(calibration)

# %%
# **How good are the predictions?** Each piece of meat is predicted by cross-validation.

fat = PredictedDisplay.from_estimator(calibration, spectra, meats["fat"], left_out=True, unit="% fat")

# %%
# **By which wavelengths?** Importance in the projection; coefficients with jackknife intervals; loadings as spectra.

ImportanceDisplay.from_estimator(calibration)
ImportanceDisplay.from_estimator(calibration, kind="coefficients")
LoadingsDisplay.from_estimator(calibration)

# %%
# **What do two tables share?** Correlations above the band are more than chance; a pair of scores, by diet.

shared = CCA(3, ridge=1.0, scale=True).fit(genes, lipids)
pairs = CorrelationsDisplay.from_estimator(shared, genes, lipids)
PairedDisplay.from_estimator(shared, genes, lipids, pair=2, colour=diet["diet"])

# %%
# **Which columns make a factor?** Columns in the order of their factor, with their communalities.

HeatDisplay.from_estimator(FactorAnalysis(2, rotation="varimax").fit(events))

# %%
# **Did it converge, and is it exact?** The likelihood of every step; residuals, gaps, and bounds on angles.

LikelihoodDisplay.from_estimator(ProbabilisticPCA(2, method="em").fit(load_iris().data))
certificate = ResidualsDisplay.from_estimator(KernelPCA(15, kernel="rbf(sigma=25)").fit(digits[:500]))

assert scree.chart.kept == 3
assert (curve.chart.errors[curve.chart.recommended] <= curve.chart.limit).all()
assert fat.chart.merit.r2 > 0.95
assert (pairs.chart.values > pairs.chart.high)[0]
assert regions.support_ is not None
assert np.nanmax(certificate.chart.angles) < 1e-4  # unknown of the last: the next eigenvalue is not kept
plt.show()
