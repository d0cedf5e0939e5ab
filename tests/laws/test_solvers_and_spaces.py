import pytest
import scipy.sparse as sp

from gramian.kernels import parse
from gramian.solvers import Krylov, Power
from gramian.spaces import KernelSpace, LinearSpace
from gramian.testing import check_solver, check_space, sample_rows

SOLVERS = ["auto", "dense", "krylov", "power", "randomized", Krylov(tol=1e-9, extra=2, blocks=3)]


@pytest.mark.parametrize("solver", SOLVERS, ids=str)
def test_every_solver_obeys_the_laws(solver):
    check_solver(solver)


def test_the_law_catches_a_solver_that_gives_up():
    with pytest.raises(AssertionError, match="largest values"):
        check_solver(Power(max_iter=2))


X = sample_rows(150)


@pytest.mark.parametrize(
    "space",
    [
        LinearSpace(X),
        LinearSpace(X, scale=True),
        LinearSpace(sp.csr_array(X)),
        *(KernelSpace(k.resolve(X), X) for k in map(parse, ("rbf", "linear", "polynomial", "laplacian", "rbf*linear"))),
    ],
    ids=lambda space: f"{type(space).__name__} {getattr(space, 'kernel', '')}",
)
def test_every_space_obeys_the_laws(space):
    check_space(space, X)
