"""
Explicit features or a kernel
=============================

The polynomial kernel :math:`(u'v + 1)^p` is the dot product of all monomials up to degree p. PCA of the monomials, by
their covariance matrix, and kernel PCA, by the n x n matrix of dot products, therefore give the same scores. But eight
columns have 45 monomials of degree 2 or less, and 43,758 of degree 10 or less. The kernel needs one matrix product and
a power, whatever the degree.
"""

# %%
# Both ways for 300 rows of eight columns; the explicit way stops at degree 6.

from math import comb
from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramian import PCA, KernelPCA
from gramian.kernels import Polynomial
from gramian.plots.style import colour, tidy

rng = np.random.default_rng(0)
n, d, k = 300, 8, 3
X = rng.standard_normal((n, d)) * np.linspace(0.6, 0.2, d)
degrees, written = np.arange(1, 11), 6
seconds = {"by features": [], "by the kernel": []}
features, disagreements = [], []
for degree in degrees:
    kernel = Polynomial(degree=int(degree))
    start = perf_counter()
    by_kernel = KernelPCA(k, kernel=kernel).fit_transform(X)
    seconds["by the kernel"].append(perf_counter() - start)
    if degree <= written:
        start = perf_counter()
        monomials = kernel.feature_map(X)
        by_features = PCA(k, solver="covariance").fit_transform(monomials)
        seconds["by features"].append(perf_counter() - start)
        features.append(monomials.shape[1])
        signs = np.sign(np.sum(by_features * by_kernel, axis=0))
        disagreements.append(np.abs(by_features * signs - by_kernel).max() / np.abs(by_kernel).max())

# %%
# Multiplications are counted, times are measured.

count = np.array([comb(d + degree, degree) for degree in degrees])
multiplications = {"by features": n * count**2, "by the kernel": n**2 * (d + np.ceil(np.log2(degrees)))}
figure, (counted, measured) = plt.subplots(1, 2, figsize=(7, 3.8), layout="constrained")
for at, (way, marker) in enumerate(zip(seconds, "os", strict=True)):
    counted.semilogy(degrees, multiplications[way], marker + "-", color=colour(at), label=way)
    measured.semilogy(degrees[: len(seconds[way])], seconds[way], marker + "-", color=colour(at), label=way)
tidy(counted, "multiplications to fill the matrix", "degree p", "multiplications")
tidy(measured, "time for three components", "degree p", "seconds")
counted.legend(frameon=False, fontsize=9)
for ax in (counted, measured):
    ax.set_xticks(degrees[1::2])

# %%
# The covariance matrix of the monomials costs :math:`n D^2` multiplications for :math:`D = \binom{d + p}{p}` monomials,
# which grows like :math:`d^{2p}`; the matrix of dot products costs :math:`n^2 d` and a few squarings for the power. Up
# to degree 2 the covariance matrix is cheaper, from degree 3 on it is more expensive, at degree 10 by a factor of more
# than 500,000. As long as both can be computed the scores agree to rounding.

print(f"monomials up to degree {written}: {features}; largest relative disagreement {max(disagreements):.1e}")
assert features == list(count[:written])
assert max(disagreements) < 1e-10
ratio = multiplications["by features"] / multiplications["by the kernel"]
assert ratio[1] < 1 < ratio[2]
assert ratio[-1] > 500_000
plt.show()
