import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.kernels import RBF, Linear, Polynomial, Product, Scaled, Sum, as_kernel, parse

ATOMS = ["rbf", "rbf(sigma=0.25)", "linear", "polynomial(degree=2, constant=0)", "cosine", "laplacian(norm=l2)"]
EXPRESSIONS = st.recursive(
    st.sampled_from(ATOMS).map(parse),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] + pair[1]),
        st.tuples(inner, inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(st.floats(1e-3, 1e3), inner).map(lambda pair: pair[0] * pair[1]),
        st.tuples(inner, st.integers(1, 4)).map(lambda pair: pair[0] ** pair[1]),
        st.tuples(inner, st.sampled_from([(0, 2), slice(0, 3), (1,), slice(None, -1)])).map(
            lambda pair: pair[0][pair[1]]
        ),
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None)
@given(EXPRESSIONS)
def test_every_expression_parses_back_to_itself(kernel):
    assert parse(str(kernel)) == kernel


def test_text_means_what_arithmetic_means():
    assert parse("2*rbf(sigma=0.5) + linear") == Sum(Scaled(2, RBF(sigma=0.5)), Linear())
    assert parse("rbf*linear + linear") == Sum(Product(RBF(), Linear()), Linear())
    assert parse("quadratic(scale=2)") == Polynomial(degree=2, scale=2)
    assert parse("gaussian(sigma=1)") == parse("RBF(sigma=1)") == RBF(sigma=1)
    X = np.arange(12.0).reshape(4, 3)
    assert np.array_equal(parse("(linear + 2*linear[1])**2")(X), (X @ X.T + 2 * np.outer(X[:, 1], X[:, 1])) ** 2)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("rbff", "Did you mean 'rbf'?"),
        ("rbf(2)", "Arguments are named"),
        ("rbf(sigm=2)", "It takes: sigma, gamma"),
        ("2 + 3", "two numbers"),
        ("7", "is a number"),
        ("rbf + 2", "kernels add to kernels"),
        ("rbf - linear", "not understood"),
        ("rbf**0.5", "whole power"),
        ("-1*rbf", "not understood"),
        ("0*rbf", "positive number"),
        ("rbf(sigma=[1])", "neither a number nor a word"),
        ("rbf(sigma=True)", "neither a number nor a word"),
        ("rbf(sigma=wide)", "positive number"),
        ("", "does not read"),
        ("rbf((", "does not read"),
        ("rbf[0.5]", "whole numbers"),
        ("__import__('os').system('true')", "not understood"),
        ("(lambda: rbf)()", "not understood"),
        ("(" * 400 + "rbf" + ")" * 400, "does not read"),
        ("rbf+" * 400 + "rbf", "too long"),
    ],
)
def test_what_does_not_read_says_why(text, hint):
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert hint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_columns_out_of_range_are_named():
    with pytest.raises(ValueError, match="columns \\[5\\]; X has 3"):
        parse("rbf[5]")(np.eye(3))
    with pytest.raises(ValueError, match="takes no column"):
        parse("rbf[5:]")(np.eye(3))


def test_kernels_come_as_objects_text_or_functions():
    assert as_kernel("rbf") == RBF()
    assert as_kernel(kernel := Linear()) is kernel
    assert as_kernel(np.dot).function is np.dot
    with pytest.raises(TypeError, match="neither a kernel"):
        as_kernel(RBF)
