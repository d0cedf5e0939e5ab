"""Solvers: spectra of symmetric operators, linear systems, and the problems of each method.

::

    eigen(operator, k, solver)        ->  Dense | Krylov | Power | Randomized  ->  arrange (order, rank, residuals)
    solve(operator, B, shift, solver) ->  Cholesky | ConjugateGradients | MinimalResiduals  ->  residuals
"""

from gramian.solvers.conjugate import ConjugateGradients
from gramian.solvers.dense import Dense, svd
from gramian.solvers.direct import Cholesky
from gramian.solvers.eigen import choose, eigen, orient
from gramian.solvers.krylov import Krylov
from gramian.solvers.power import Power
from gramian.solvers.randomized import Randomized
from gramian.solvers.residuals import MinimalResiduals

__all__ = [
    "Cholesky",
    "ConjugateGradients",
    "Dense",
    "Krylov",
    "MinimalResiduals",
    "Power",
    "Randomized",
    "choose",
    "eigen",
    "orient",
    "svd",
]
