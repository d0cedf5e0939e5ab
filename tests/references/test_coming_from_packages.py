"""What the pages for users of FactoMineR, psych and mdatools say, compared with what R printed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import pearsonr

from gramian import PCA, FactorAnalysis, PLSRegression

ROOT = Path(__file__).parents[2]


def reference(name):
    kept = json.loads((ROOT / f"tests/references/data/{name}.json").read_text())
    outputs = {case["name"]: {key: np.array(value) for key, value in case["outputs"].items()} for case in kept["cases"]}
    return kept["data"], outputs


def same(found, theirs, tol=1e-8):
    """Equal up to the signs of columns."""
    assert_allclose(np.abs(found), np.abs(theirs), rtol=tol, atol=tol * np.abs(theirs).max())


class TestFactoMineR:
    """Decathlon, ten events, scaled."""

    _, R = reference("coming_from_factominer")
    table = pd.read_csv(ROOT / "examples/data/decathlon.csv", index_col=0)
    events = table.iloc[:, :10]
    model = PCA(5, scale=True).fit(events)
    factor = np.sqrt(41 / 40)

    def test_eigenvalues_and_shares(self):
        same(self.model.explained_variance_, self.R["pca"]["eig"][:5, 0])
        same(100 * self.model.explained_variance_ratio_, self.R["pca"]["eig"][:5, 1])
        eigenvalues = self.model.tables()["eigenvalues"]
        same(100 * eigenvalues["cumulative share"].to_numpy(), self.R["pca"]["eig"][:5, 2])

    def test_rows(self):
        same(self.factor * self.model.transform(self.events), self.R["pca"]["ind_coord"])
        same(100 * self.model.row_contributions(self.events), self.R["pca"]["ind_contrib"])
        same(self.model.row_cos2(self.events), self.R["pca"]["ind_cos2"])

    def test_columns(self):
        same(self.model.column_coordinates(), self.R["pca"]["var_coord"])
        same(100 * self.model.column_contributions(), self.R["pca"]["var_contrib"])
        same(self.model.column_cos2(), self.R["pca"]["var_cos2"])

    def test_supplementary_columns_and_rows(self):
        others = self.table[["Rank", "Points"]]
        same(self.model.supplementary_columns(self.events, others), self.R["pca"]["quanti_sup"])
        first = PCA(5, scale=True).fit(self.events[:38])
        same(np.sqrt(38 / 37) * first.transform(self.events[38:]), self.R["supplementary_rows"]["ind_sup"])

    def test_correlations_that_dimdesc_lists(self):
        scores = self.model.transform(self.events)[:, 0]
        found = [pearsonr(scores, self.table[name]) for name in [*self.events, "Rank", "Points"]]
        listed = np.sort([(abs(r), p) for r, p in found if p < 0.05], axis=0)
        theirs = np.sort(np.abs(self.R["dimdesc"]["correlation_and_p"]), axis=0)
        assert_allclose(listed, theirs, rtol=1e-6)


class TestPsych:
    """Two oblique factors of the table ``attitude``; psych ends its iterations at about 1e-5."""

    data, R = reference("coming_from_psych")
    X = np.array(data["X"])
    model, theirs = FactorAnalysis(2, rotation="oblimin").fit(X), R["oblimin"]

    def test_loadings_and_what_follows_from_them(self):
        same(self.model.loadings_, self.theirs["loadings"], 1e-4)
        same(self.model.factor_correlation_, self.theirs["factor_correlation"], 1e-4)
        same(self.model.uniquenesses_, self.theirs["uniquenesses"], 1e-5)
        same(self.model.tables()["communalities"]["complexity"].to_numpy(), self.theirs["complexity"], 1e-4)
        sums = self.model.tables()["eigenvalues"]["sum of squared loadings"].to_numpy()
        same(sums, self.theirs["ss_loadings"], 1e-5)

    @pytest.mark.parametrize(
        ("ours", "name"),
        [
            ("chi_square", "statistic"),
            ("df", "dof"),
            ("p", "p"),
            ("bic", "bic"),
            ("srmr", "rms"),
            ("srmr_corrected", "crms"),
        ],
    )
    def test_fit_indices(self, ours, name):
        assert_allclose(self.model.fit_indices_[ours], self.theirs[name][0], rtol=1e-6)

    def test_rmsea_has_the_same_interval(self):
        found = [self.model.fit_indices_["rmsea"], *self.model.fit_indices_["rmsea_interval"]]
        assert_allclose(found, self.theirs["rmsea"], atol=1e-6)

    def test_rmsea_above_zero_has_the_same_interval_and_another_estimate(self):
        X, theirs = np.array(self.data["mtcars"]), self.R["mtcars"]
        found, n = FactorAnalysis(3).fit(X).fit_indices_, len(X)
        ratio = found["chi_square"] / found["df"]
        assert_allclose(found["rmsea_interval"], theirs["rmsea"][1:3], atol=1e-6)
        assert_allclose(theirs["rmsea"][0], np.sqrt(ratio / n - 1 / (n - 1)), rtol=1e-6)
        assert_allclose(found["rmsea"], np.sqrt((ratio - 1) / (n - 1)), rtol=1e-6)
        assert [round(theirs["rmsea"][0], 3), round(found["rmsea"], 3)] == [0.077, 0.084]
        assert_allclose([found["bic"], found["srmr"]], [theirs["bic"][0], theirs["rms"][0]], rtol=1e-4)

    def test_tucker_lewis_differs_by_the_correction_of_the_null_model(self):
        found, theirs, n, p, k = self.model.fit_indices_, self.theirs["tli"][0], 30, 7, 2
        assert abs(found["tli"] - theirs) > 0.005
        corrected = n - 1 - (2 * p + 5) / 6
        null = found["null_chi_square"] * (corrected - 2 * k / 3) / corrected / found["null_df"]
        assert_allclose((null - found["chi_square"] / found["df"]) / (null - 1), theirs, rtol=1e-6)

    def test_scores_differ_by_the_divisor(self):
        same(np.sqrt(29 / 30) * self.model.scores(self.X), self.theirs["scores"], 1e-4)

    def test_other_rotations(self):
        same(FactorAnalysis(2).fit(self.X).loadings_, self.R["none"]["loadings"], 1e-4)
        varimax = FactorAnalysis(2, rotation="varimax").fit(self.X).loadings_
        same(varimax, self.R["varimax"]["loadings"], 1e-3)
        assert np.abs(np.abs(varimax) - np.abs(self.R["varimax"]["loadings"])).max() > 1e-4

    def test_adequacy(self):
        assert_allclose(self.model.kmo_.overall, self.R["adequacy"]["kmo"][0], rtol=1e-8)
        assert_allclose(self.model.kmo_.columns, self.R["adequacy"]["kmo_items"], rtol=1e-8)
        assert_allclose(self.model.sphericity_["chi_square"], self.R["adequacy"]["chi_square"][0], rtol=1e-8)


class TestMdatools:
    """Gasolines at 21 wavelengths, scaled, four components."""

    _, R = reference("coming_from_mdatools")
    data, _ = reference("pls_pcr_gasoline")
    X, y = np.array(data["X"])[:, ::20], np.array(data["y"])
    pca, pls = PCA(4, scale=True).fit(X), PLSRegression(4).fit(X, y)

    def test_components(self):
        same(self.pca.transform(self.X), self.R["pca"]["scores"])
        same(self.pca.explained_variance_, self.R["pca"]["eigenvalues"])

    @pytest.mark.parametrize("name", ["pca", "pls"])
    def test_distances(self, name):
        model = getattr(self, name)
        same(model.q_residuals(self.X), self.R[name]["Q"])
        same(model.hotelling_t2(self.X), self.R[name]["T2"])

    def test_limits_differ_as_the_page_says(self):
        t2, q = self.R["limits"]["jm"]
        assert_allclose(self.pca.t2_limit() * 60 / 61, t2, rtol=1e-8)
        assert round(q, 2) == 1.64
        assert round(self.pca.q_limit(), 2) == 1.58

    def test_calibration(self):
        R, merit = self.R["pls"], self.pls.merit(self.X, self.y)[0]
        assert_allclose(merit.rmse, R["rmse_cal"][-1], rtol=1e-8)
        assert_allclose(merit.slope, R["slope"][-1], rtol=1e-8)
        assert_allclose(self.y.std(ddof=1) / merit.rmse, R["rpd"][-1], rtol=1e-8)
        assert [round(R["rpd"][-1], 2), round(merit.rpd, 2)] == [6.15, 6.10]
        scaled = self.pls.coef_.ravel() * self.X.std(axis=0, ddof=1) / self.y.std(ddof=1)
        same(scaled, R["coefficients"])
        same(self.pls.selectivity_ratio_.ravel(), R["selratio"])
        same(self.pls.x_scores_ / np.linalg.norm(self.pls.x_scores_, axis=0), R["scores"])

    def test_venetian_blinds_are_of_rows_sorted_by_the_target(self):
        segment = np.empty(len(self.y), dtype=int)
        segment[np.argsort(self.y, kind="stable")] = np.arange(len(self.y)) % 10
        folds = [(np.flatnonzero(segment != k), np.flatnonzero(segment == k)) for k in range(10)]
        found = self.pls.cross_validate(self.X, self.y, cv=folds).rmsecv.ravel()
        assert_allclose(found[1:], self.R["pls"]["rmse_cv"], rtol=1e-8)

    def test_importance_is_of_simpls_weights_there(self):
        weights = self.pls.x_rotations_ / np.linalg.norm(self.pls.x_rotations_, axis=0)
        explained = np.sum(self.pls.x_scores_**2, axis=0) * np.sum(self.pls.y_loadings_**2, axis=0)
        vip = np.sqrt(len(weights) * weights**2 @ explained / explained.sum())
        same(vip, self.R["pls"]["vip"])
        assert np.abs(self.pls.vip_.ravel() - vip).max() > 0.1
