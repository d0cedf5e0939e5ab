import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import PCA


@pytest.mark.parametrize("scale", [False, True])
def test_contributions_and_cos2_add_up(table, scale):
    pca = PCA(scale=scale).fit(table)
    assert_allclose(pca.column_contributions().sum(axis=0), 1, rtol=1e-10)
    assert_allclose(pca.row_contributions(table).sum(axis=0), 1, rtol=1e-10)
    assert_allclose(pca.column_cos2().sum(axis=1), 1, rtol=1e-10)
    assert_allclose(pca.row_cos2(table).sum(axis=1), 1, rtol=1e-10)
    part = PCA(3, scale=scale).fit(table)
    assert_allclose(part.column_cos2(), pca.column_cos2()[:, :3], atol=1e-10)
    assert_allclose(part.row_cos2(table), pca.row_cos2(table)[:, :3], atol=1e-10)


@pytest.mark.parametrize("whiten", [False, True])
def test_column_cos2_is_the_squared_correlation(table, whiten):
    pca = PCA(3, whiten=whiten).fit(table)
    correlations = np.corrcoef(table.T, pca.transform(table).T)[:10, 10:]
    assert_allclose(pca.column_cos2(), correlations**2, atol=1e-10)
    assert_allclose(pca.supplementary_columns(table, table), correlations, atol=1e-10)
    scaled = PCA(3, scale=True).fit(table)
    assert_allclose(scaled.column_coordinates() ** 2, scaled.column_cos2(), rtol=1e-10)


def test_t2_and_q_split_the_distance(table):
    pca, n = PCA(3).fit(table), len(table)
    scores = pca.transform(table)
    assert_allclose(pca.hotelling_t2(table), (scores**2 / pca.explained_variance_).sum(axis=1), rtol=1e-10)
    assert pca.hotelling_t2(table).mean() == pytest.approx(3 * (n - 1) / n, rel=1e-10)
    assert pca.q_residuals(table).mean() == pytest.approx(pca.reconstruction_error(), rel=1e-9)
    whole = np.sum((table - pca.mean_) ** 2, axis=1)
    assert_allclose(pca.q_residuals(table) + (scores**2).sum(axis=1), whole, rtol=1e-10)


@pytest.mark.parametrize("solver", ["covariance", "svd", "dual"])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_limits_are_exceeded_as_often_as_they_say(rng, alpha, solver):
    mix = rng.standard_normal((8, 8)) * 1.5 ** -np.arange(8)
    train, new = rng.standard_normal((400, 8)) @ mix, rng.standard_normal((40_000, 8)) @ mix
    pca = PCA(3, solver=solver).fit(train)
    assert np.mean(pca.hotelling_t2(new) > pca.t2_limit(alpha)) == pytest.approx(alpha, rel=0.25)
    assert np.mean(pca.q_residuals(new) > pca.q_limit(alpha)) == pytest.approx(alpha, rel=0.35)


def test_limits_that_cannot_be_had_say_so(table):
    with pytest.raises(ValueError, match="solver='covariance'"):
        PCA(3, solver="krylov").fit(table).q_limit()
    with pytest.raises(ValueError, match="alpha=2"):
        PCA(3).fit(table).t2_limit(2)
    with pytest.raises(ValueError, match="Use fewer components"):
        PCA(center=False).fit(table[:5]).t2_limit()


def test_supplementary_columns_need_as_many_rows(table):
    pca = PCA(2).fit(table)
    assert pca.supplementary_columns(table, np.ones((200, 1)))[0, 0] == 0
    with pytest.raises(ValueError, match="Z has 5 rows and X has 200"):
        pca.supplementary_columns(table, np.ones((5, 1)))


class TestMissing:
    @pytest.fixture
    def holey(self, table, rng):
        return np.where(rng.random(table.shape) < 0.05, np.nan, table)

    def test_components_come_close_to_those_of_the_complete_table(self, table, holey):
        complete, found = PCA(3).fit(table), PCA(3, missing="em").fit(holey)
        assert_allclose(found.explained_variance_, complete.explained_variance_, rtol=0.1)
        assert (np.abs(np.sum(found.components_ * complete.components_, axis=1)) > 0.98).all()
        scores = found.transform(holey)
        assert np.isfinite(scores).all()
        assert np.corrcoef(scores[:, 0], complete.transform(table)[:, 0])[0, 1] > 0.97
        gaps = np.isnan(holey).sum()
        assert f"{gaps:,} missing entries" in str(found.summary_)

    def test_the_default_is_an_error_and_no_gaps_change_nothing(self, table, holey):
        with pytest.raises(ValueError, match="contains NaN"):
            PCA(3).fit(holey)
        complete = PCA(3, missing="em").fit(table)
        assert_allclose(complete.components_, PCA(3).fit(table).components_)
        with pytest.raises(ValueError, match="contains NaN"):
            complete.transform(holey)

    def test_scaled_and_whole(self, holey):
        assert PCA(missing="em", scale=True).fit(holey).components_.shape == (10, 10)
        assert PCA(0.8, missing="em").fit(holey).explained_variance_ratio_.sum() >= 0.8

    def test_infinity_stays_an_error(self, holey):
        holey[0, 0] = np.inf
        with pytest.raises(ValueError, match="infinity"):
            PCA(3, missing="em").fit(holey)
