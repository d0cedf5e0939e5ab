"""Solvers: spectra of symmetric operators, reached by the front door :func:`~gramian.solvers.eigen.eigen`.

::

    eigen(operator, k, solver)  ->  Dense | Krylov | Power | Randomized  ->  arrange (order, rank, residuals)
"""

from gramian.solvers.dense import Dense, svd
from gramian.solvers.eigen import choose, eigen, orient
from gramian.solvers.krylov import Krylov
from gramian.solvers.power import Power
from gramian.solvers.randomized import Randomized

__all__ = ["Dense", "Krylov", "Power", "Randomized", "choose", "eigen", "orient", "svd"]
