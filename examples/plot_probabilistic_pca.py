"""
Probabilistic PCA: how many components, and what is missing
===========================================================

Probabilistic PCA is a model of the rows: K latent variables are multiplied by a matrix W, and noise of equal variance
is added to every column. Its likelihood answers two questions that PCA leaves open. How many latent variables are
there? The number with the highest likelihood of new rows. What is the value of an empty cell? The model imputes it from
the rest of its row. Here twenty columns depend on four latent variables.
"""

import matplotlib.pyplot as plt
import numpy as np

from gramian import ProbabilisticPCA
from gramian.plots.style import COLOURS, tidy

rng = np.random.default_rng(0)
n, d, causes = 400, 20, 4
W = rng.standard_normal((d, causes))
rows = rng.standard_normal((n, causes)) @ W.T + rng.standard_normal((n, d))
train, test = rows[: n // 2], rows[n // 2 :]

# %%
# First the number of latent variables. A larger model always has a higher likelihood of the rows fitted, but not of
# others.

counts = np.arange(1, 13)
models = [ProbabilisticPCA(int(k)).fit(train) for k in counts]
fitted = np.array([model.score(train) for model in models])
held_out = np.array([model.score(test) for model in models])

# %%
# Then two ways to the same maximum: the closed form, from eigenvalues, and EM, which alternates between estimating the
# latent variables of each row and fitting W to them. Its likelihood never falls.

closed = ProbabilisticPCA(causes).fit(train)
em = ProbabilisticPCA(causes, method="em", tol=1e-14).fit(train)
gap = (closed.log_likelihood_ - em.log_likelihood_path_) / len(train)

# %%
# Last, missing values. EM needs no complete rows: missing cells are imputed, and their uncertainty is kept.

shares = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5])
errors = []
for share in shares:
    empty = rng.random(rows.shape) < share
    holed = np.where(empty, np.nan, rows)
    filled = ProbabilisticPCA(causes, missing="em", tol=1e-7).fit(holed).fill(holed)
    by_mean = np.where(empty, np.nanmean(holed, axis=0), rows)
    errors.append([np.sqrt(np.mean((guess - rows)[empty] ** 2)) for guess in (by_mean, filled)])
errors = np.array(errors)

# %%
# Left: the likelihood of the rows fitted goes on rising, that of new rows is highest at four latent variables, the true
# number. Middle: EM converges to the closed form, quickly at first and then by a constant factor a step. Right:
# imputation by the column mean has the standard deviation of the column as its error; imputation by the model errs by
# not much more than the noise, which is 1 and cannot be predicted, even if every second cell is empty.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(8.4, 3.3), layout="constrained")
left.plot(counts, fitted, "--", color=COLOURS[4], label="rows fitted")
left.plot(counts, held_out, "o-", markersize=4, color=COLOURS[0], label="new rows")
left.axvline(causes, color="0.7", linewidth=1)
left.legend(fontsize=9, frameon=False, loc="lower right")
tidy(left, "How many causes", "components", "log-likelihood of a row")
middle.semilogy(np.arange(1, len(gap) + 1), np.maximum(gap, 1e-13), color=COLOURS[0])
tidy(middle, "EM climbs to the closed form", "steps", "log-likelihood still to gain")
right.plot(100 * shares, errors[:, 0], "s--", markersize=4, color=COLOURS[4], label="mean of the column")
right.plot(100 * shares, errors[:, 1], "o-", markersize=4, color=COLOURS[0], label="probabilistic PCA")
right.axhline(1, color="0.7", linewidth=1, label="noise")
right.set_ylim(0, 1.25 * errors.max())
right.legend(fontsize=9, frameon=False)
tidy(right, "Filling gaps", "cells missing, %", "error in the gaps")

assert counts[held_out.argmax()] == causes
assert (np.diff(fitted) > 0).all()
assert (np.diff(em.log_likelihood_path_) >= -1e-9 * abs(em.log_likelihood_)).all()
assert abs(gap[-1]) < 1e-8
assert (errors[:, 1] < 0.75 * errors[:, 0]).all()
assert errors[0, 1] < 1.2
plt.show()
