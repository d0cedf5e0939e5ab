"""How many components: laws, known answers, and what the estimators make of them."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_linnerud, load_wine

from gramian import (
    CCA,
    PCA,
    FactorAnalysis,
    KernelPCA,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RankWarning,
)
from gramian.selection import how_many
from gramian.selection.how_many import COUNTED

DECIDES = "deflated parallel analysis"
#: Criteria that cut rows into folds, or draw at random, see rows in their order; the others see moments.
FOLDED = {"likelihood of rows left out", "bi-cross-validation"}


@pytest.fixture
def spiked(rng):
    """400 x 12 with three components, off the origin, read-only."""
    V = np.linalg.qr(rng.standard_normal((12, 3)))[0]
    X = rng.standard_normal((400, 3)) * [5, 3, 2] @ V.T + rng.standard_normal((400, 12)) + 7
    X.setflags(write=False)
    return X


@pytest.fixture
def noise(rng):
    return rng.standard_normal((300, 10))


def said(found, without=()):
    return {line.criterion: line.k for line in found.table if line.criterion not in without}


class TestAnswers:
    @pytest.mark.parametrize("method", ["pca", "probabilistic-pca", "factor-analysis"])
    def test_three_are_found(self, spiked, method):
        found = how_many(spiked, method)
        assert (found.recommended, found.decided_by) == (3, DECIDES)

    def test_most_criteria_agree_where_all_is_clear(self, spiked):
        agree = [name for name, k in said(how_many(spiked)).items() if k == 3]
        assert len(agree) >= 8

    @pytest.mark.parametrize("scale", [False, True])
    def test_no_signal_is_no_component(self, noise, scale):
        found = how_many(noise, scale=scale)
        assert found.recommended == 0
        can_say_no = {"broken stick", "minimum average partial", "BIC of probabilistic PCA", "parallel analysis"}
        can_say_no |= {"evidence of probabilistic PCA", "likelihood of rows left out", "optimal threshold"}
        assert {said(found)[name] for name in can_say_no} == {0}

    def test_no_signal_is_no_factor(self, noise):
        found = said(how_many(noise, "factor-analysis"))
        assert found["BIC of factor analysis"] == found["likelihood-ratio test"] == found[DECIDES] == 0
        assert found["parallel analysis of common variance"] == 0

    def test_shuffled_columns(self, rng):
        angle = rng.uniform(0, 2 * np.pi, 200)
        ring = np.column_stack([np.cos(angle), np.sin(angle)]) + 0.05 * rng.standard_normal((200, 2))
        assert how_many(ring, "kernel-pca", kernel="rbf(sigma=0.5)").recommended >= 2
        plain = how_many(rng.standard_normal((200, 4)), "kernel-pca", kernel="rbf(sigma=2)")
        assert (plain.recommended, plain.decided_by) == (0, "shuffled columns")

    def test_a_given_matrix_has_no_columns_to_shuffle(self, rng):
        X = np.repeat(rng.standard_normal((3, 2)) * 20, 20, axis=0) + rng.standard_normal((60, 2)) * 0.1
        found = how_many(np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / 8), "kernel-pca", kernel="precomputed")
        assert (found.recommended, found.decided_by) == (2, "largest gap")  # three groups span two directions

    @pytest.mark.parametrize(("method", "estimator"), [("pls", PLSRegression), ("pcr", PrincipalComponentRegression)])
    def test_regressions_are_cross_validated_as_by_the_estimator(self, method, estimator):
        X, y = load_diabetes(return_X_y=True)
        found, path = how_many(X, method, y=y), estimator("auto").fit(X, y).path_
        assert (found.recommended, said(found)["least cross-validated error"]) == (path.recommended, path.best)

    def test_pairs(self, rng):
        u = rng.standard_normal((250, 2))
        X = np.column_stack([u, rng.standard_normal((250, 3))]) + 0.5 * rng.standard_normal((250, 5))
        Y = np.column_stack([u[:, ::-1], rng.standard_normal((250, 2))]) + 0.5 * rng.standard_normal((250, 4))
        found = how_many(X, "cca", y=Y)
        assert said(found) == {"Wilks' test": 2, "permutation test": 2}
        assert how_many(*load_linnerud(return_X_y=True)[:1], "cca", y=load_linnerud().target).recommended == 0


class TestLaws:
    def test_order_of_rows_does_not_matter_to_moments(self, spiked, rng):
        turned = how_many(spiked[rng.permutation(len(spiked))])
        assert said(turned, FOLDED) == said(how_many(spiked), FOLDED)

    @pytest.mark.parametrize("factor", [1e-100, 1e-6, 1e6])
    def test_units_do_not_matter(self, spiked, factor):
        assert said(how_many(spiked * factor)) == said(how_many(spiked))

    def test_units_of_single_columns_do_not_matter_to_correlations_nor_to_what_decides(self, spiked):
        units = 10.0 ** np.linspace(-3, 3, 12)
        assert said(how_many(spiked * units, scale=True)) == said(how_many(spiked, scale=True))
        found = how_many(spiked * units)
        assert found.recommended == 3
        assert "scale=True (--scale) puts all on one footing" in str(found)

    def test_the_same_data_give_the_same_answer(self, spiked):
        assert how_many(spiked).to_dict() == how_many(spiked).to_dict()

    def test_constant_columns_are_not_counted(self, spiked):
        more = np.column_stack([spiked, np.full(400, 3.0)])
        assert said(how_many(more, scale=True), FOLDED) == said(how_many(spiked, scale=True), FOLDED)

    def test_sparse_rows(self, spiked):
        assert said(how_many(sp.csr_array(spiked))) == said(how_many(spiked))

    @pytest.mark.parametrize("shape", [(40, 100), (30, 1200), (12, 3), (200, 1)])
    def test_every_shape(self, rng, shape):
        V = np.linalg.qr(rng.standard_normal((shape[1], 1)))[0]
        X = rng.standard_normal((shape[0], 1)) * 40 @ V.T + rng.standard_normal(shape)
        found = how_many(X)
        assert found.recommended == (0 if shape[1] == 1 else 1)
        assert all(line.k is None or 0 <= line.k <= min(shape) for line in found.table)

    def test_dictionary_is_json_and_text_has_a_line_for_each(self, spiked):
        found = how_many(spiked)
        facts = json.loads(json.dumps(found.to_dict()))
        assert facts["recommended"] == 3
        assert [line["criterion"] for line in facts["table"]] == [line.criterion for line in found.table]
        lines = str(found).splitlines()
        assert len(lines) == 3 + len(found.table)
        assert lines[-1].startswith("* decides: 3; criteria say ")
        assert all(line.reference[-4:].isdigit() for line in found.table)


class TestAuto:
    @pytest.mark.parametrize("estimator", [PCA, ProbabilisticPCA, FactorAnalysis])
    def test_estimators_take_what_decides(self, spiked, estimator):
        model = estimator("auto").fit(spiked)
        assert model.transform(spiked).shape == (400, 3)
        assert f"3 by {DECIDES}" in str(model.summary_)
        assert model.summary_.to_dict()["chosen_by"] == DECIDES
        whole = estimator(3).fit(spiked)
        np.testing.assert_array_equal(model.transform(spiked), whole.transform(spiked))

    @pytest.mark.filterwarnings("ignore::gramian.HeywoodWarning")
    @pytest.mark.parametrize("estimator", [PCA, ProbabilisticPCA, FactorAnalysis, KernelPCA, CCA])
    def test_no_component_is_one_with_a_warning(self, noise, estimator):
        with pytest.warns(RankWarning, match="nothing stands out of the noise: 1 component was fitted"):
            model = estimator(n_components="auto").fit(noise, noise[::-1])
        assert model.transform(noise).shape[1] == 1
        assert re.search(r"^chosen +1, the fewest that can be fitted; 0 by ", str(model.summary_), re.MULTILINE)
        assert model.summary_.facts["suggested"] == 0

    @pytest.mark.parametrize("estimator", [PCA, ProbabilisticPCA, FactorAnalysis])
    def test_pieces_and_weights_are_as_all_rows(self, spiked, estimator):
        pieces = estimator("auto").partial_fit(spiked[:150]).partial_fit(spiked[150:])
        weighted = estimator("auto").fit(spiked, sample_weight=np.ones(400))
        assert pieces.transform(spiked).shape == weighted.transform(spiked).shape == (400, 3)

    @pytest.mark.parametrize("estimator", [PCA, ProbabilisticPCA, FactorAnalysis])
    def test_gaps(self, spiked, rng, estimator):
        X = np.where(rng.uniform(size=spiked.shape) < 0.03, np.nan, spiked)
        assert estimator("auto", missing="em").fit(X).transform(X).shape == (400, 3)

    def test_many_components(self, rng):
        V = np.linalg.qr(rng.standard_normal((150, 70)))[0]
        X = rng.standard_normal((900, 70)) * 30 @ V.T + rng.standard_normal((900, 150))
        assert len(PCA("auto").fit(X).components_) == 70

    def test_routes_agree(self, spiked):
        assert {len(PCA("auto", solver=s).fit(spiked).components_) for s in ("svd", "covariance", "dual")} == {3}

    def test_kernel_pca(self, rng):
        X = np.repeat(rng.standard_normal((3, 4)) * 10, 40, axis=0) + rng.standard_normal((120, 4))
        model = KernelPCA("auto", kernel="rbf(sigma=6)").fit(X)
        assert len(model.eigenvalues_) == how_many(X, "kernel-pca", kernel="rbf(sigma=6)").recommended >= 2
        assert "by shuffled columns (Jorgensen, Hansen 2012)" in str(model.summary_)

    def test_cca(self, rng):
        u = rng.standard_normal((300, 1))
        X, Y = u + rng.standard_normal((300, 4)), u + rng.standard_normal((300, 3))
        model = CCA("auto").fit(X, Y)
        assert len(model.correlations_) == 1
        assert "1 by permutation test" in str(model.summary_)
        pieces = CCA("auto").partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
        assert len(pieces.correlations_) == 1
        assert "by Wilks' test" in str(pieces.summary_)

    def test_tests_of_the_first_pairs_are_those_of_all(self, rng):
        X, Y = rng.standard_normal((60, 5)), rng.standard_normal((60, 4))
        model = CCA().fit(X, Y)
        every = model.permutation_test(X, Y, n_permutations=99)
        some = model.permutation_test(X, Y, n_permutations=99, n_tested=2)
        np.testing.assert_array_equal(some.p_values, every.p_values[:2])


class TestBadInput:
    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda X: how_many(X, "tsne"), "method='tsne' is not known. Use one of: 'pca'"),
            (lambda X: how_many(X, "pls"), "method='pls' needs y, the targets"),
            (lambda X: how_many(X, "cca"), "method='cca' needs y, the second view"),
            (lambda X: how_many(X, y=X[:, 0]), "method='pca' takes no y"),
            (lambda X: how_many(X, scale=2), "scale=2 is not known"),
            (lambda X: how_many(np.ones((20, 3))), "X has zero variance"),
            (lambda X: how_many(np.where(X > 9, np.nan, X)), "contains NaN"),
            (lambda X: how_many(X[:3]), "needs at least 4 samples"),
            (lambda X: how_many(X * 1e160), "the squares of X overflow double precision. Divide X by a constant"),
            (lambda X: how_many(X * 1e160, "factor-analysis"), "overflow double precision"),
            (lambda X: how_many(np.column_stack([X, np.ones(400)]), "factor-analysis"), "column 13 is constant"),
            (lambda X: CCA(n_components="two").fit(X, X[:, :2]), "n_components='two' must be"),
        ],
    )
    def test_one_line_that_names_the_remedy(self, spiked, call, message):
        with pytest.raises((ValueError, TypeError)) as caught:
            call(spiked)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_every_method_is_in_the_message(self, spiked):
        with pytest.raises(ValueError, match=", ".join(map(repr, COUNTED))):
            how_many(spiked, "all")


def test_wine_has_three_components_in_any_units():
    X = load_wine().data
    assert how_many(X).recommended == how_many(X, scale=True).recommended == 3
    assert how_many(X, "factor-analysis").recommended == 3


class TestExactCombinations:
    """Columns that repeat others leave directions without variance, and no noise beside the components of the rank."""

    LIKELY = ("evidence of probabilistic PCA", "BIC of probabilistic PCA", "likelihood of rows left out")

    @pytest.mark.parametrize(("n", "d", "rank"), [(200, 6, 5), (200, 12, 4), (200, 3, 2), (200, 2, 1), (20, 40, 3)])
    @pytest.mark.parametrize("scale", [False, True])
    def test_the_rank_of_a_table_without_noise(self, rng, n, d, rank, scale):
        X = 3 * rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 5
        found = said(how_many(X, scale=scale))
        assert {found[name] for name in self.LIKELY} == {rank}
        if 2 < rank <= d // 2:
            assert found["largest gap"] == rank

    @pytest.mark.parametrize("extra", ["sum of two", "sum of all", "copy", "three sums"])
    def test_exact_is_the_limit_of_nearly(self, noise, extra):
        """The rank can be answered, as it is if columns differ from combinations by a part in ten thousand."""
        B = {
            "sum of two": [[1.0], [1.0]],
            "sum of all": np.ones((10, 1)),
            "copy": [[1.0]],
            "three sums": np.eye(10)[:, :3],
        }
        more = noise[:, : len(B[extra])] @ np.array(B[extra])
        exact = how_many(np.hstack([noise, more]))
        nearly = how_many(np.hstack([noise, more + 1e-4 * np.random.default_rng(5).standard_normal(more.shape)]))
        for name in (*self.LIKELY, DECIDES, "largest gap"):
            assert said(exact)[name] == said(nearly)[name], name
        assert said(exact)["BIC of probabilistic PCA"] == 10
        assert "combinations of others" in str(exact)

    @pytest.mark.parametrize("table", ["spiked", "noise"])
    def test_a_constant_column_changes_nothing(self, request, table):
        X = request.getfixturevalue(table)
        assert said(how_many(np.column_stack([X, np.full(len(X), 3.1)]))) == said(how_many(X))

    def test_few_rows_are_no_evidence(self, rng):
        """As many components as rows less one leave nothing over in any table: that is not an answer."""
        found = said(how_many(rng.standard_normal((12, 30))))
        assert all(found[name] < 11 for name in self.LIKELY)
