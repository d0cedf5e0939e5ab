"""Solvers: spectra of symmetric operators, linear systems, and the problems of each method.

::

    eigen(operator, k, solver)        ->  Dense | Krylov | Power | Randomized  ->  arrange (order, rank, residuals)
    solve(operator, B, shift, solver) ->  Cholesky | ConjugateGradients | MinimalResiduals  ->  residuals
"""

from gramian.lapack import orient
from gramian.solvers.conjugate import ConjugateGradients
from gramian.solvers.eigen import Dense, Krylov, Power, Randomized, Raw, choose_eigen_solver, eigen
from gramian.solvers.linear_methods import Cholesky, MinimalResiduals

__all__ = [
    "Cholesky",
    "ConjugateGradients",
    "Dense",
    "Krylov",
    "MinimalResiduals",
    "Power",
    "Randomized",
    "Raw",
    "choose_eigen_solver",
    "eigen",
    "orient",
]
