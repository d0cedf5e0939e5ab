"""
Genes and lipids of forty mice
==============================

Forty mice ate one of five diets. In the liver of each, the activity of 120 genes and the share of 21 fatty acids were
measured; twenty mice (the first half of the table) are of the wild type, twenty lack the gene PPAR alpha, which
regulates the burning of fat. What do genes and fatty acids have in common? With 141 columns for 40 rows, canonical
correlation needs a ridge, and must be judged by the correlations of mice not used in the fit. (Data: Martin and others,
Hepatology 2007.)
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from gramian import CCA, KernelCCA
from gramian.plots.style import COLOURS, tidy
from gramian.tables import read_table

data = (Path(__file__).parent if "__file__" in globals() else Path()) / "data"
genes, lipids = (read_table(data / f"nutrimouse_{name}.csv") for name in ("gene", "lipid"))
diet = np.genfromtxt(data / "nutrimouse_diet.csv", dtype=str, skip_header=1, delimiter=",")
diet = np.char.strip(diet, '"')
deficient = np.arange(len(diet)) >= 20

# %%
# How large a ridge? Kernel CCA with the linear kernel is CCA, and includes five-fold cross-validation. Columns are
# standardised, so a ridge of 1 equals the variance of one column.

ridges = np.logspace(-4, 3, 15)
fits = [KernelCCA(3, kernel="linear", scale=True, ridge=ridge).fit(genes.values, lipids.values) for ridge in ridges]
fitted = np.array([fit.score_correlations_[0] for fit in fits])
held_out = np.array([fit.held_out_correlations_[0] for fit in fits])
chosen = held_out.argmax()
model = CCA(3, ridge=ridges[chosen], scale=True).fit(genes.values, lipids.values)
gene_scores, lipid_scores = model.transform(genes.values, lipids.values)

# %%
# Top left: with a small ridge the mice that were fitted correlate perfectly, as any 40 rows would; mice held out still
# reach 0.93, and their correlation falls for ridges beyond 10. Top right: the first pair of scores separates the
# genotypes, which were not used in the fit. Below: the next two pairs are the diet. The scores of the genes separate
# mice fed on coconut oil (saturated fat), on sunflower oil (omega-6 acids), and on the oils of fish and linseed, which
# are both rich in omega-3 acids and lie together.

figure, axes = plt.subplot_mosaic([["curve", "first"], ["rest", "rest"]], figsize=(7, 6.6), layout="constrained")
curve, first, rest = axes.values()
curve.semilogx(ridges, fitted, "--", color=COLOURS[4], label="mice that were fitted")
curve.semilogx(ridges, held_out, "o-", markersize=4, color=COLOURS[0], label="mice held out")
curve.legend(fontsize=9, frameon=False, loc="lower left")
tidy(curve, "How large a ridge", "ridge", "correlation of the first pair")
diets = {"coc": "coconut", "fish": "fish", "lin": "linseed", "ref": "reference", "sun": "sunflower"}
for colour, (code, name) in zip(COLOURS, diets.items(), strict=False):
    for rows, marker in ((~deficient, "o"), (deficient, "^")):
        at = rows & (diet == code)
        first.scatter(gene_scores[at, 0], lipid_scores[at, 0], color=colour, marker=marker, s=28)
        rest.scatter(gene_scores[at, 1], gene_scores[at, 2], color=colour, marker=marker, s=28)
    rest.scatter([], [], color=colour, marker="s", label=name)
for marker, name in (("o", "wild type"), ("^", "without PPAR alpha")):
    first.scatter([], [], color="0.4", marker=marker, label=name)
first.legend(fontsize=9, frameon=False)
tidy(first, "First pair: the genotype", "gene score 1", "lipid score 1")
tidy(rest, "Next pairs: the diet", "gene score 2", "gene score 3")
rest.legend(fontsize=9, frameon=False, loc="lower left")

assert np.allclose(fits[chosen].correlations_, model.correlations_)
assert held_out[chosen] > 0.85
assert fitted[0] > 0.99
assert held_out[-1] < 0.6
assert (fits[chosen].held_out_correlations_ > 0.6).all()
assert abs(np.corrcoef(gene_scores[:, 0], deficient)[0, 1]) > 0.9
by_diet = np.array([[gene_scores[diet == code, k].mean() for code in diet] for k in (1, 2)])
assert (by_diet.var(axis=1) > 0.8 * gene_scores[:, 1:].var(axis=0)).all()
plt.show()
