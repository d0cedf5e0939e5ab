"""
A chemist's calibration
=======================

A calibration predicts the fat in a piece of meat from its near-infrared spectrum. It is a regression on a hundred
strongly correlated columns, fitted to pieces whose fat was measured. This page goes from the table to the sentence in
the report.
"""

# %%
# The table
# ---------
# 215 spectra, 100 channels from 850 to 1050 nm, and the fat measured in a laboratory. 22 spectra stand in the table
# twice. A copy of a calibration row is not a new piece, and its error would make the test look too good, so each
# spectrum is kept once. Of those, every fourth is a test row: it is not used in the fit.

import matplotlib.pyplot as plt
import numpy as np

from gramian import PLSRegression
from gramian.tables import read_views

folder = "../../examples/data"  # seen from this script

spectra, measured = read_views(f"{folder}/meats.csv", x_columns=["x_*"], y_columns=["fat"])
once = np.sort(np.unique(spectra.values, axis=0, return_index=True)[1])
X, fat = spectra.values[once], measured.values[once, 0]
wavelengths = np.linspace(850, 1050, X.shape[1])
test = np.arange(len(fat)) % 4 == 3
print(f"{(~test).sum()} rows to calibrate, {test.sum()} to test; fat from {fat.min():.1f} to {fat.max():.1f} %")

# %%
# First plot the spectra. They differ most by an offset from scattered light, which has nothing to do with fat. So each
# spectrum is replaced by its second differences along the wavelengths, centred and scaled (SNV).


def treated(X):
    """Second differences over 20 nm, then every spectrum with mean 0 and variance 1."""
    D = X[:, :-10] - 2 * X[:, 5:-5] + X[:, 10:]
    return (D - D.mean(axis=1, keepdims=True)) / D.std(axis=1, keepdims=True)


Z = treated(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
colours = plt.cm.viridis((fat - fat.min()) / np.ptp(fat))
for row in range(0, len(X), 4):
    left.plot(wavelengths, X[row], color=colours[row], linewidth=0.7)
    right.plot(wavelengths[5:-5], Z[row], color=colours[row], linewidth=0.7)
left.set(xlabel="wavelength, nm", ylabel="absorbance", title="as measured, coloured by fat")
right.set(xlabel="wavelength, nm", title="curvature, standardised")

# %%
# How many components
# -------------------
# Partial least squares finds directions that covary with fat. ``"auto"`` cross-validates every number of components and
# applies the one-standard-error rule. Channels share a unit, so they are not scaled.

plain = PLSRegression("auto", scale=False).fit(X[~test], fat[~test])
model = PLSRegression("auto", scale=False).fit(Z[~test], fat[~test])
for name, fitted in (("as measured", plain), ("treated", model)):
    k = fitted.n_components_
    print(f"{name:<12} {k:>2} components, RMSECV {fitted.path_.rmsecv[k, 0]:.2f} % fat")
print(model.summary_)

# %%
# The curve of errors, with their standard errors:

path, k = model.path_, model.n_components_
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.errorbar(range(1, 21), path.rmsecv[1:21, 0], path.standard_error[1:21, 0], marker="o", markersize=4)
axes.axvline(k, color="0.6")
axes.set(xlabel="components", ylabel="RMSECV, % fat", ylim=(0, None))

# %%
# The test
# --------
# RMSEP is the error of the test rows. RPD is the standard deviation of fat divided by it; above 5 is called good for
# quality control.

print(model.merit(Z[test], fat[test])[0])

# %%
# Is each test row like the calibration rows? A row beyond the limits of :math:`T^2` or Q is not, and its prediction is
# an extrapolation.

strange = (model.hotelling_t2(Z[test]) > model.t2_limit(0.01)) | (model.q_residuals(Z[test]) > model.q_limit(0.01))
print(f"{strange.sum()} of {test.sum()} test rows lie outside the calibration")

# %%
# What it sees
# ------------
# Importance of the channels (VIP), and the coefficients with jackknife intervals. The band near 930 nm is a third
# overtone of the C-H bond: fat.

intervals = path.jackknife(k)
figure, (top, bottom) = plt.subplots(2, 1, figsize=(6, 4.5), sharex=True, layout="constrained")
top.plot(wavelengths[5:-5], model.vip_)
top.axhline(1, color="0.6", linewidth=1)
top.set(ylabel="VIP")
bottom.plot(wavelengths[5:-5], intervals.coef[0])
bottom.fill_between(wavelengths[5:-5], intervals.lower[0], intervals.upper[0], alpha=0.3)
bottom.axhline(0, color="0.6", linewidth=1)
bottom.set(xlabel="wavelength, nm", ylabel="coefficient")

# %%
# The sentence in the report: *fat was predicted by partial least squares on standardised second differences of the
# spectra; the number of components was chosen by ten-fold cross-validation with the one-standard-error rule; the
# error on rows not used for either was the RMSEP above.*
