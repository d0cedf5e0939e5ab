import numpy as np
import pytest
import scipy.sparse as sp

from gramian.kernels import parse
from gramian.operators import Centred, Data, Dense, Gram, Normal
from gramian.testing import check_operator, sample_rows, with_spectrum

X = sample_rows(700)
OPERATORS = {
    "dense": with_spectrum(np.linspace(0.1, 3, 40)),
    "scatter": Normal(Data(X, scale=True), "right"),
    "gram of the rows": Normal(Data(X[:90]), "left"),
    "sparse scatter": Normal(Data(sp.csr_array(X), scale=True), "right"),
    "sparse gram of the rows": Normal(Data(sp.csr_array(X[:90])), "left"),
    **{
        f"centred {text}": Centred(Gram(parse(text).resolve(X), X))
        for text in ("rbf", "laplacian", "matern(nu=0.5)", "polynomial", "thin_plate_spline", "rbf + 2*linear[0:2]")
    },
    "sparse gram": Gram(parse("rbf").resolve(X), sp.csr_array(X)),
    "precomputed gram": Gram(parse("precomputed"), parse("rbf(sigma=1)")(X)),
    "kept gram": Gram(parse("rbf").resolve(X), X).kept(),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_every_operator_obeys_the_laws(name):
    check_operator(OPERATORS[name])


def test_the_law_catches_a_product_that_is_not_the_matrix():
    class Wrong(Dense):
        def __matmul__(self, V):
            return 1.001 * (self.A @ V)

    with pytest.raises(AssertionError, match="products are those of the matrix"):
        check_operator(Wrong(np.eye(5), positive=True))
