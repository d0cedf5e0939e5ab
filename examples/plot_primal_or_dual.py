"""
Primal or dual: ridge regression as columns pass rows
=====================================================

Ridge regression can be solved for d weights, one for each column, or for n coefficients, one for each row. Both are the
same function: with the identity :math:`(X'X + r I)^{-1} X' = X' (XX' + r I)^{-1}` one is turned into the other. The
primal solves a d x d system, the dual an n x n one, so the smaller one is cheaper. In the dual, rows enter only by
their dot products, which a kernel can replace. Here 200 rows have more and more columns.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from gramian import KernelRidge
from gramian.plots.style import COLOURS, tidy

rng = np.random.default_rng(0)
n, widths = 200, [20, 40, 80, 130, 200, 300, 420, 560]
solvers = {"primal: d weights": "primal", "dual: n coefficients": "cholesky"}


def made(d):
    """Return rows, targets that depend on ten of the columns, and new rows."""
    X, new = rng.standard_normal((n, d)), rng.standard_normal((200, d))
    return X, X[:, :10].sum(axis=1) + rng.standard_normal(n), new


# %%
# Each is timed three times, turn by turn, and the best time counts. ``solver="auto"`` takes the smaller system by
# itself.

seconds = {name: [] for name in solvers}
apart = []
KernelRidge(kernel="linear").fit(*made(5)[:2])
for d in widths:
    X, y, new = made(d)
    guesses, times = {}, {name: [] for name in solvers}
    for _ in range(3):
        for name, solver in solvers.items():
            model = KernelRidge(1.0, kernel="linear", solver=solver)
            start = perf_counter()
            model.fit(X, y)
            times[name].append(perf_counter() - start)
            guesses[name] = model.predict(new)
    primal, dual = guesses.values()
    apart.append(np.abs(primal - dual).max() / np.abs(dual).max())
    for name, spent in times.items():
        seconds[name].append(min(spent))

# %%
# Left: the cost of the primal grows with the cube of d, that of the dual hardly at all, since d appears only in the dot
# products; they cross where d is of the order of n. (Times are of this machine.) Right: the predictions for new rows
# are the same to rounding for every d, as the identity says.

figure, (left, right) = plt.subplots(1, 2, figsize=(7, 3.4), layout="constrained")
for colour, style, (name, spent) in zip(COLOURS, ("o-", "s--"), seconds.items(), strict=False):
    left.loglog(widths, 1000 * np.array(spent), style, markersize=4, color=colour, label=name)
right.loglog(widths, apart, "o-", markersize=4, color=COLOURS[3])
for ax in (left, right):
    ax.axvline(n, color="0.7", linewidth=1)
    ax.set_xticks([20, 60, 200, 500], ["20", "60", "200 = n", "500"])
    ax.minorticks_off()
left.set_yticks([1, 3, 10, 30, 100], ["1", "3", "10", "30", "100"])
left.legend(fontsize=9, frameon=False)
right.set_ylim(1e-17, 1e-8)
tidy(left, "Time of a fit", "columns d", "milliseconds")
tidy(right, "Disagreement of predictions", "columns d", "relative difference")

assert max(apart) < 1e-10
plt.show()
