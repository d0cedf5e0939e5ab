"""
A questionnaire
===============

Twelve questions, five answers each, 600 people. Which traits are behind the answers? The people are simulated, so that
the result can be compared with the truth.
"""

# %%
# The people
# ----------
# Three traits, two of them correlated. Each question asks for one trait, some of them negatively, and has noise of
# its own; answers are rounded to 1, ..., 5. Some answers are missing.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from gramian import PCA, FactorAnalysis

rng = np.random.default_rng(7)
n, traits = 600, ["calm", "sociable", "careful"]
correlation = np.array([[1.0, 0.4, 0.0], [0.4, 1.0, 0.0], [0.0, 0.0, 1.0]])
people = rng.multivariate_normal(np.zeros(3), correlation, size=n)
loadings = np.zeros((12, 3))
for question in range(12):
    loadings[question, question // 4] = [0.8, 0.7, -0.6, 0.5][question % 4]
noise = np.sqrt(1 - (loadings**2).sum(axis=1))
answers = np.clip(np.round(3 + 1.1 * (people @ loadings.T + noise * rng.standard_normal((n, 12)))), 1, 5)
answers[rng.random(answers.shape) < 0.03] = np.nan
names = [f"{trait[:4]}{number + 1}" for trait in traits for number in range(4)]
table = pd.DataFrame(answers, columns=names)
print(table.head(4).to_string())

# %%
# Is there anything to find?
# --------------------------
# Kaiser's measure and Bartlett's test check the correlations before any factor is fitted. How many factors? Compare
# fits: RMSEA below 0.05 is a close fit, and BIC penalises the parameters of one more factor.

for k in range(1, 5):
    model = FactorAnalysis(k, missing="em").fit(table)
    fit = model.fit_indices_
    print(f"{k} factors   RMSEA {fit['rmsea']:.3f}   TLI {fit['tli']:.3f}   BIC {fit['bic']:8.1f}   p {fit['p']:.3f}")
print(f"KMO {model.kmo_.overall:.2f}, Bartlett p = {model.sphericity_['p']:.1e}")

# %%
# Three. (Five would end in a Heywood case, with a warning: a sign of too many.) The eigenvalues of the correlations say
# the same: three stand out.

complete = table.dropna()
figure, axes = plt.subplots(figsize=(5, 3), layout="constrained")
axes.plot(range(1, 13), PCA(scale=True).fit(complete).explained_variance_, marker="o")
axes.axhline(1, color="0.6", linewidth=1)
axes.set(xlabel="component", ylabel="eigenvalue of the correlations")

# %%
# The factors
# -----------
# Traits of people correlate, so the rotation is oblique. Missing answers are imputed by the model; nobody is
# dropped.

model = FactorAnalysis(3, rotation="oblimin", missing="em").fit(table)
print(model.summary_)
print()
print(model.loadings_table(cut=0.25))

# %%
# Questions go with their traits, the third of each with the opposite sign. Rounding the answers lowers their
# correlations, so loadings are a little below the simulated 0.8, 0.7, 0.6, 0.5.

order = np.abs(model.loadings_.reshape(3, 4, 3)).sum(axis=1).argmax(axis=1)
signs = np.sign(model.loadings_[[0, 4, 8], order])
found = model.factor_correlation_[np.ix_(order, order)] * np.outer(signs, signs)
print("correlation of calm and sociable:", round(float(found[0, 1]), 2), "(0.4 was put in)")

figure, (left, right) = plt.subplots(1, 2, figsize=(6, 4), layout="constrained", sharey=True)
for axes, values, title in ((left, loadings, "put in"), (right, model.loadings_[:, order] * signs, "found")):
    axes.imshow(values, cmap="RdBu", vmin=-1, vmax=1, aspect="auto")
    axes.set(title=title, xticks=range(3), xticklabels=traits, yticks=range(12), yticklabels=names)

# %%
# Scores
# ------
# Regression scores have the least error and are shrunk towards the mean; Bartlett's are unbiased and noisier.

for method in ("regression", "bartlett"):
    scores = model.scores(table, method)[:, order] * signs
    agreement = [np.corrcoef(scores[:, j], people[:, j])[0, 1] for j in range(3)]
    print(f"{method:<11} variance {scores.var(axis=0).round(2)}   correlation with the traits {np.round(agreement, 2)}")

# %%
# What to report: the number of people and of missing answers, the estimator (maximum likelihood), the rotation,
# chi-square with its degrees of freedom, RMSEA with its interval, the loadings, the correlations of the factors.
