"""ICA is maximum likelihood: known mixtures come apart, units change nothing, and nothing nearby is likelier."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from picard import picard
from scipy.integrate import trapezoid
from scipy.stats import kurtosis
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from gramian import ConvergenceWarning, RankWarning
from gramian.estimators.ica import ICA
from gramian.estimators.warnings import SubGaussianWarning
from gramian.solvers import independence


def draw(rng, kind, shape):
    if kind == "sech":  # by its inverse distribution function
        return np.log(np.tan(np.pi / 2 * rng.random(shape)))
    return getattr(rng, kind)(size=shape)


@pytest.fixture
def mixed(rng):
    """3,000 rows of four Laplace sources, off the origin; the mixing matrix beside them."""
    A = rng.standard_normal((4, 4))
    X = rng.laplace(size=(3000, 4)) @ A.T + 7.0
    X.setflags(write=False)
    return X, A


def amari(P):
    """Amari's distance of a matrix from a scaled permutation: 0 if it is one, at most 1."""
    P = np.abs(P)
    k = len(P)
    rows, columns = P / P.max(axis=1, keepdims=True), P / P.max(axis=0)
    return (rows.sum() + columns.sum() - 2 * k) / (2 * k * (k - 1))


def log_likelihood(W, centred):
    """By the formula, term for term."""
    Y = centred @ W.T
    return len(Y) * np.linalg.slogdet(W)[1] - (np.log(np.pi) + np.logaddexp(Y, -Y) - np.log(2)).sum()


def aligned(U, V):
    """The columns of V in the order and with the signs of those of U."""
    C = np.corrcoef(U.T, V.T)[: U.shape[1], U.shape[1] :]
    best = np.abs(C).argmax(axis=1)
    assert len(set(best)) == len(best)
    return V[:, best] * np.sign(C[np.arange(len(best)), best])


@pytest.mark.parametrize("kind", ["laplace", "logistic", "sech"])
def test_a_known_mixture_comes_apart(rng, kind):
    A = rng.standard_normal((5, 5))
    X = draw(rng, kind, (20_000, 5)) @ A.T + 3.0
    model = ICA().fit(X)
    assert amari(model.components_ @ A) < 0.03
    assert amari(np.linalg.qr(rng.standard_normal((5, 5)))[0] @ A) > 0.2  # what a guess would give
    assert model.gradient_norm_ < 1e-7


def test_sources_of_the_model_come_at_their_own_scale(rng):
    A = 50 * rng.standard_normal((3, 3))
    model = ICA().fit(draw(rng, "sech", (20_000, 3)) @ A.T)
    assert_allclose(np.abs(model.components_ @ A).max(axis=1), 1, atol=0.03)
    laplace = ICA().fit(rng.laplace(size=(20_000, 3)))
    assert (np.abs(laplace.components_).max(axis=1) > 1.1).all()  # what is not of the model has another scale


def test_a_change_of_units_changes_nothing(mixed, rng):
    X, _ = mixed
    sources = ICA().fit_transform(X)
    B = rng.standard_normal((4, 4)) * [1e-3, 1, 10, 1e4]
    other = ICA(random_state=1).fit_transform(X @ B - 40.0)
    assert_allclose(aligned(sources, other), sources, atol=1e-5)


def test_the_likelihood_follows_the_units(mixed):
    X, _ = mixed
    a, b = ICA().fit(X), ICA().fit(1000 * X)
    assert b.log_likelihood_ == pytest.approx(a.log_likelihood_ - 4 * len(X) * np.log(1000), rel=1e-10)


def test_it_is_as_likely_as_picard_and_likelier_than_what_is_near(mixed, rng):
    X, _ = mixed
    model, centred = ICA().fit(X), X - X.mean(axis=0)
    best = log_likelihood(model.components_, centred)
    assert model.log_likelihood_ == pytest.approx(best, rel=1e-11)
    K, W, _ = picard(X.T, ortho=False, extended=False, random_state=0)
    assert model.log_likelihood_ >= log_likelihood(W @ K, centred) - 1e-6
    for _ in range(20):
        step = np.eye(4) + 1e-3 * rng.standard_normal((4, 4))
        assert log_likelihood(step @ model.components_, centred) < best
    # Picard's own default is another problem, and its answer less likely under this density.
    K, W, _ = picard(X.T, random_state=0)
    assert log_likelihood(W @ K, centred) < best - 1


def test_score_is_the_log_density(mixed, rng):
    X, _ = mixed
    model, new = ICA().fit(X), rng.standard_normal((50, 4)) + 7
    expected = [log_likelihood(model.components_, row[None] - model.mean_) for row in new]
    assert_allclose(model.score_samples(new), expected, rtol=1e-10)
    assert model.score(new) == pytest.approx(np.mean(expected), rel=1e-10)
    assert model.score(X) * len(X) == pytest.approx(model.log_likelihood_, rel=1e-11)


def test_the_density_of_one_source_integrates_to_one(rng):
    model = ICA().fit(3 * rng.laplace(size=(500, 1)))
    grid = np.linspace(-300, 300, 200_001)
    assert trapezoid(np.exp(model.score_samples(grid[:, None])), grid) == pytest.approx(1, abs=1e-8)


def test_order_sign_and_inverse(mixed):
    X, _ = mixed
    model = ICA().fit(X)
    W, sources = model.components_, model.transform(X)
    assert_allclose(sources, (X - model.mean_) @ W.T, atol=1e-12)
    assert (W[np.arange(4), np.abs(W).argmax(axis=1)] > 0).all()
    explained = (model.mixing_**2).sum(axis=0) * (sources**2).mean(axis=0)
    assert (np.diff(explained) < 0).all()
    assert_allclose(model.explained_variance_, explained, rtol=1e-10)
    assert_allclose(model.mixing_, np.linalg.pinv(W), atol=1e-12)
    assert_allclose(model.inverse_transform(sources), X, atol=1e-11)
    assert_allclose((sources * np.tanh(sources)).mean(axis=0), 1, atol=1e-6)  # the scale of maximum likelihood
    with pytest.raises(ValueError, match="4 sources"):
        model.inverse_transform(sources[:, :2])


def test_fewer_sources_unmix_the_leading_subspace(mixed):
    X, _ = mixed
    model = ICA(2).fit(X)
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    span = Vt[:2].T
    inner = ICA().fit((X - X.mean(axis=0)) @ span)
    assert_allclose(np.abs(model.components_), np.abs(inner.components_ @ span.T), atol=1e-5)
    assert model.log_likelihood_ == pytest.approx(inner.log_likelihood_, rel=1e-9)
    assert model.score(X) * len(X) == pytest.approx(model.log_likelihood_, rel=1e-9)
    assert "projection on 2 of 4 dimensions" in str(model.summary_)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_columns_that_repeat_others_or_stand_still(mixed, dtype, offset):
    """C76."""
    X = mixed[0] - 7 + offset
    wide = np.column_stack([X, X[:, 0] + X[:, 1], np.full(len(X), 3.0), X[:, 2]]).astype(dtype)
    with pytest.warns(RankWarning, match="rank 4"):
        model = ICA().fit(wide)
    assert model.components_.shape == (4, 7)
    assert "4 of 7 sources" in str(model.summary_)
    assert_allclose(model.components_[:, 5], 0, atol=1e-6)
    expected = ICA().fit_transform(X)
    assert_allclose(aligned(expected, model.transform(wide)), expected, atol=1e-5 if dtype == np.float64 else 2e-2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ICA(4).fit(wide)


def test_units_may_be_far_apart(mixed):
    X, units = mixed[0], np.array([1e-12, 1e-4, 1.0, 1e12])
    sources, model = ICA().fit_transform(X), ICA().fit(X * units)
    assert_allclose(aligned(sources, model.transform(X * units)), sources, atol=1e-5)
    expected = ICA().fit(X).log_likelihood_ - len(X) * np.log(units).sum()
    assert model.log_likelihood_ == pytest.approx(expected, rel=1e-10)
    assert model.score(X * units) * len(X) == pytest.approx(expected, rel=1e-10)


def test_small_columns_are_not_taken_for_rounding(mixed):
    X = ((mixed[0] - 7) * [1.0, 1e5, 1e-5, 1.0]).astype(np.float32)
    assert ICA().fit(X).components_.shape == (4, 4)


def test_fewer_rows_than_columns(rng):
    X = rng.laplace(size=(6, 9))
    with pytest.warns(RankWarning, match=r"rank 5 \(n=6, d=9\)"):
        model = ICA().fit(X)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-10)


def test_light_tails_are_detected_and_heavy_ones_are_not(rng, mixed):
    A = rng.standard_normal((3, 3))
    with pytest.warns(SubGaussianWarning, match="IC1, IC2, IC3"):
        model = ICA().fit(rng.uniform(size=(4000, 3)) @ A)
    assert "sub-Gaussian: IC1, IC2, IC3" in str(model.summary_)
    assert model.summary_.to_dict()["sub_gaussian"] == [0, 1, 2]
    one_of_them = np.column_stack([rng.laplace(size=(4000, 2)), rng.uniform(-4, 4, size=4000)]) @ np.diag([1, 2, 9.0])
    with pytest.warns(SubGaussianWarning, match=r"sub-Gaussian: IC1\."):
        ICA().fit(one_of_them)
    heavy = ICA().fit(mixed[0])
    assert_allclose(heavy.summary_.facts["excess_kurtosis"], kurtosis(heavy.transform(mixed[0])), rtol=1e-9)
    assert heavy.summary_.facts["sub_gaussian"].size == 0  # and a warning would be an error


def test_gaussian_rows_end_with_a_certificate(rng):
    """C75."""
    model = ICA(random_state=3).fit(rng.standard_normal((400, 3)))
    assert model.gradient_norm_ <= 1e-7


def test_an_iteration_cut_short_says_so(mixed):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = ICA(max_iter=2).fit(mixed[0])
    assert model.gradient_norm_ > 1e-4
    assert not model.summary_.facts["converged"]
    assert "above tol" in str(model.summary_)


def test_the_start_from_a_sample_leads_to_the_same_place(mixed, monkeypatch):
    X, _ = mixed
    whole = ICA().fit(X)
    monkeypatch.setattr(independence, "ICA_START_ROWS", 400)
    sampled = ICA().fit(X)
    assert sampled.n_iter_ < whole.n_iter_
    assert_allclose(sampled.components_, whole.components_, atol=1e-5)
    assert sampled.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-11)


@pytest.mark.slow
def test_a_sample_that_misses_rare_columns_is_not_started_from(rng, monkeypatch):
    X = rng.laplace(size=(3000, 4))
    X[:, 2:] = 0
    X[17, 2] = X[18, 3] = 1
    whole = [ICA(random_state=seed).fit(X) for seed in (1, 2)]
    monkeypatch.setattr(independence, "ICA_START_ROWS", 400)
    misses, meets = (ICA(random_state=seed).fit(X) for seed in (1, 2))
    assert np.array_equal(misses.components_, whole[0].components_)
    assert not np.array_equal(meets.components_, whole[1].components_)
    assert meets.log_likelihood_ == pytest.approx(whole[1].log_likelihood_, rel=1e-9)


def test_same_seed_same_bits(mixed):
    X, _ = mixed
    for seed in (None, 5):
        a, b = ICA(random_state=seed).fit(X), ICA(random_state=seed).fit(X)
        assert np.array_equal(a.components_, b.components_)
        assert a.log_likelihood_ == b.log_likelihood_


def test_names_precision_and_storage(mixed):
    X, _ = mixed
    model = ICA().set_output(transform="pandas").fit(X)
    assert list(model.transform(X).columns) == ["IC1", "IC2", "IC3", "IC4"]
    narrow = ICA().fit(X.astype(np.float32))
    assert narrow.components_.dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert_allclose(narrow.components_, model.components_, atol=1e-4)
    for call in (model.fit, model.transform, model.score_samples):
        with pytest.raises(TypeError, match=r"[Ss]parse"):
            call(sp.csr_array(X))


def test_bad_parameters(mixed):
    X, _ = mixed
    for bad in ({"n_components": 0}, {"n_components": 5}, {"n_components": 0.5}, {"tol": 0}, {"max_iter": 0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            ICA(**bad).fit(X)
    with pytest.raises(ValueError, match="zero variance"):
        ICA().fit(np.ones((10, 3)))
    for size in (1e200, 1e-200):
        with pytest.raises(ValueError, match="double precision"):
            ICA().fit(size * X[:1000])


def test_log_cosh(rng):
    y = 30 * rng.standard_normal((3, 500))
    assert independence.log_cosh(y) == pytest.approx(np.logaddexp(y, -y).sum(), rel=1e-13)
    assert independence.log_cosh(np.zeros((1, 700))) == pytest.approx(700 * np.log(2), rel=1e-13)


def test_a_direction_solves_the_newton_equation(rng):
    """The curvature is that of the loss, by differences of its gradient."""
    k, unit = 3, np.eye(3)
    Y = rng.laplace(size=(k, 400)) + 0.3 * rng.standard_normal(400)

    def gradient(E):
        """Of ``E[log cosh (I + E) y] - log |det(I + E)|`` by E."""
        return np.tanh((unit + E) @ Y) @ Y.T / 400 - np.linalg.inv(unit + E).T

    G = gradient(np.zeros((k, k)))
    E = independence._direction(1e-6 * G, Y, 1 - np.tanh(Y) ** 2)
    curved = (gradient(E) - gradient(-E)) / 2
    assert_allclose(curved, -1e-6 * G, atol=2e-3 * 1e-6 * np.abs(G).max())


def test_real_tables_are_as_likely_as_by_picard():
    """A likelihood may have several maxima: the best of some starts is no worse."""
    for X, k in ((load_wine().data, 5), (load_breast_cancer().data, 4), (load_digits().data, 6)):
        U, _, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        Z = np.ascontiguousarray(U[:, :k].T) * np.sqrt(len(X))
        ours = [independence.unmix(Z, np.random.default_rng(seed), tol=1e-7, max_iter=200) for seed in range(6)]
        assert all(one.certificate.gradient <= 1e-7 for one in ours)
        theirs = []
        for seed in range(6):
            _, W, _ = picard(Z, whiten=False, centering=False, ortho=False, extended=False, random_state=seed)
            theirs.append(independence.certify(W, Z).log_density)
        assert max(one.certificate.log_density for one in ours) >= max(theirs) - 1e-6 * abs(max(theirs))
