"""
Collinear regressors: five ways to predict fat from spectra
===========================================================

The fat of 215 pieces of meat is predicted from the absorbance of near-infrared light at 100 neighbouring wavelengths.
Neighbours have correlations above 0.99, so there are directions in which the data hardly vary, and least squares
divides by their small variances. Principal component regression (PCR) leaves such directions out; partial least squares
(PLS) chooses directions by covariance with the fat; ridge regression shrinks all of them. Errors are from three-fold
cross-validation, so 100 channels are calibrated with about 143 rows.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone

from gramian import KernelRidge, PLSRegression, PrincipalComponentRegression
from gramian.plots.style import COLOURS, tidy
from gramian.tables import read_table

data = (Path(__file__).parent if "__file__" in globals() else Path()) / "data"
table = read_table(data / "meats.csv")
X = table.values[:, [name.startswith("x_") for name in table.columns]]
fat = table.values[:, table.columns.index("fat")]
neighbours = [np.corrcoef(X[:, j], X[:, j + 1])[0, 1] for j in range(X.shape[1] - 1)]

# %%
# One call cross-validates every number of components: the errors of 0, 1, ..., 100 of them. With all 100 PCR is least
# squares. With k folds, every k-th row is in the same fold.

folds, most = 3, 30
models = {
    "PCR, by variance": PrincipalComponentRegression(100, scale=False),
    "PCR, by contribution": PrincipalComponentRegression(100, order="contribution", scale=False),
    "PLS": PLSRegression(100, scale=False),
}
errors = {name: model.cross_validate(X, fat, cv=folds).rmsecv[:, 0] for name, model in models.items()}
least_squares = errors["PCR, by variance"][100]
with_more_rows = models["PCR, by variance"].cross_validate(X, fat, cv=10).rmsecv[100, 0]

# %%
# Ridge regression is kernel ridge with the linear kernel. Its ridge is chosen by leave-one-out errors within the
# calibration rows, which have a closed form for all ridges; the rows held out are not used in the choice.

ridge_regression = KernelRidge(kernel="linear", fit_intercept=True)
guesses = np.zeros(len(fat))
for held_out in (np.arange(len(fat)) % folds == fold for fold in range(folds)):
    path = ridge_regression.path(X[~held_out], fat[~held_out], np.logspace(-9, 1, 31))
    ridge_regression.set_params(ridge=path.best).fit(X[~held_out], fat[~held_out])
    guesses[held_out] = ridge_regression.predict(X[held_out])
ridge_error = np.sqrt(np.mean((guesses - fat) ** 2))

# %%
# Left: the error of least squares is 8 % of fat, where the standard deviation of fat is 13 %; all regularised methods
# do better. PLS and PCR by contribution need the fewest components, since they use the fat: the first three components
# of PCR by variance hold little but the overall darkness of the meat. Right: ordered by contribution, PCR always fits
# better than with as many components by variance. But beyond a dozen components it overfits the noise in the fat of the
# calibration rows, and errors of new rows grow; PLS overfits beyond twenty. The other remedy is more rows: with ten
# folds, and so 194 rows to calibrate, the error of least squares is 2.6 %.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.9), sharey=True, layout="constrained")
counts = np.arange(1, most + 1)
for colour, style, (name, error) in zip(COLOURS, ("-", "--", "-."), errors.items(), strict=False):
    left.semilogy(counts, error[counts], style, color=colour, label=name)
left.axhline(least_squares, color="0.5", linestyle=":", label="least squares")
left.axhline(ridge_error, color=COLOURS[3], linewidth=1, label="ridge regression")
fitted = {}
for colour, style, name in zip(COLOURS, ("-", "--"), list(models)[:2], strict=False):
    model = models[name]
    fits = [clone(model).set_params(n_components=int(k)).fit(X, fat) for k in counts]
    fitted[name] = np.array([np.sqrt(np.mean((fit.predict(X) - fat) ** 2)) for fit in fits])
    right.semilogy(counts, fitted[name], style, color=colour)
left.set_yticks([1, 2, 3, 5, 10], ["1", "2", "3", "5", "10"])
left.minorticks_off()
right.minorticks_off()
tidy(left, "Rows held out", "components", "error, % fat")
tidy(right, "Rows that were fitted", "components", "")
figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=3, frameon=False, fontsize=9)

variance, contribution, pls = errors.values()
assert min(neighbours) > 0.99
assert least_squares > 2 * max(e[: most + 1].min() for e in errors.values())
assert ridge_error < least_squares / 2
assert with_more_rows < least_squares / 2
assert round(with_more_rows, 1) == 2.6
assert variance[3] > 1.4 * max(pls[3], contribution[3])
assert (fitted["PCR, by contribution"] <= fitted["PCR, by variance"] + 1e-9).all()
assert contribution[25] > 1.5 * variance[25]
plt.show()
