"""Charts that cannot be given: one line that says what to do."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris, load_linnerud
from sklearn.exceptions import NotFittedError

from gramian import CCA, PCA, KernelPCA, KernelRidge, KernelSVC, PLSRegression, ProbabilisticPCA, charts

X, y = load_iris(return_X_y=True)
pca, kernel, svc = PCA(2).fit(X), KernelPCA(2).fit(X), KernelSVC().fit(X, y)
pls = PLSRegression(2).fit(*load_diabetes(return_X_y=True))
cca = CCA().fit(*load_linnerud(return_X_y=True))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: charts.scree(svc), "KernelSVC gives no scree chart"),
        (lambda: charts.loadings(kernel), "KernelPCA gives no loadings chart. Its directions lie in feature space"),
        (lambda: charts.heat(svc), "KernelSVC gives no heat chart"),
        (lambda: charts.biplot(kernel, X), "KernelPCA gives no biplot chart"),
        (lambda: charts.contributions(kernel), "KernelPCA gives no contributions chart. Use PCA"),
        (lambda: charts.scores(svc, X), "KernelSVC has no scores"),
        (lambda: charts.reconstructions(svc, X), "KernelSVC gives no reconstructions chart"),
        (lambda: charts.contours(svc, X), "KernelSVC gives no contours chart"),
        (lambda: charts.regions(pls, X), "PLSRegression gives no regions chart"),
        (lambda: charts.regions(cca, X), "CCA gives no regions chart"),
        (lambda: charts.cv_curve(pca), "PCA gives no CV curve chart"),
        (lambda: charts.predicted(pca, X, y), "PCA gives no predicted chart"),
        (lambda: charts.predicted(svc, X, y), "KernelSVC gives no predicted chart"),
        (lambda: charts.importance(pca), "PCA gives no importance chart"),
        (lambda: charts.outliers(kernel, X), "KernelPCA gives no outliers chart. Use PCA"),
        (lambda: charts.correlations(pca), "PCA gives no correlations chart"),
        (lambda: charts.paired(pca, X, X), "PCA gives no paired chart"),
        (lambda: charts.likelihood(pca), "PCA gives no likelihood chart"),
        (lambda: charts.residuals(svc), "KernelSVC gives no residuals chart"),
    ],
)
def test_the_wrong_estimator(call, complaint):
    with pytest.raises(TypeError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: charts.scores(pca), "the scores chart needs rows. Give X="),
        (
            lambda: charts.scores(pca, X, components=(1, 3)),
            r"components=\(1, 3\): there is no component 3; the last is 2",
        ),
        (lambda: charts.scores(pca, X, components=(1,)), "names 1 of them; 2 or 3 are expected"),
        (lambda: charts.scores(pca, X, names=["a"]), "names has 1 entries for 150 rows"),
        (lambda: charts.scores(pca, X, ellipses=95), "ellipses=95 must be a probability"),
        (lambda: charts.scores(PCA(1).fit(X), X), "there is no component 2; the last is 1"),
        (lambda: charts.scree(pca, most=0), "most=0 must be a whole number"),
        (lambda: charts.loadings(pca, kind="bars"), "kind='bars'"),
        (lambda: charts.loadings(pca, names=["a"]), "names has 1 entries for 4 columns"),
        (lambda: charts.contributions(pca, of="rows"), "needs rows"),
        (lambda: charts.contributions(pca, names=["a"]), "names has 1 entries for 4 columns"),
        (lambda: charts.reconstructions(pca, X, shape=(3, 3)), "9 pixels; the rows have 4 columns"),
        (lambda: charts.reconstructions(pca, X, counts=(3,)), "from 1 to 2"),
        (lambda: charts.reconstructions(pca, X, rows=[151]), "there is no row 151; the last is 150"),
        (lambda: charts.contours(kernel, X[:, :1]), r"X has shape \(150, 1\)"),
        (lambda: charts.contours(kernel, X, columns=(1, 5)), "there is no column 5; the last is 4"),
        (lambda: charts.regions(svc), "needs rows"),
        (lambda: charts.cv_curve(pls), "fit with n_components='auto'"),
        (lambda: charts.predicted(pls, X), "Give X=... and y=..."),
        (lambda: charts.importance(pls, target=2), "target=2: there is no target 2; the last is 1"),
        (lambda: charts.outliers(pca, X, alpha=5), "alpha=5 must be between 0 and 1"),
        (lambda: charts.correlations(cca, X), "needs both views or none"),
        (lambda: charts.paired(cca, X), "Give X=... and Y=..."),
        (lambda: charts.likelihood(ProbabilisticPCA(2).fit(X)), "this fit took one step"),
    ],
)
def test_the_wrong_arguments(call, complaint):
    with pytest.raises(ValueError, match=complaint) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_before_a_fit():
    for call in (charts.scree, charts.loadings, charts.residuals, charts.cv_curve):
        with pytest.raises(NotFittedError):
            call(PCA())
    with pytest.raises(NotFittedError):
        charts.predicted(KernelRidge(), X, y)


def test_rows_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        charts.scores(pca, np.full((3, 4), np.nan))


@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_what_cannot_be_drawn_is_told_from_mistakes():
    with pytest.raises(charts.NoChart, match="no pre-images"):
        charts.reconstructions(KernelPCA(2, kernel="sigmoid(scale=0.01)").fit(X), X)
    with pytest.raises(charts.NoChart, match="not sparse ones"):
        charts.contours(kernel, sp.csr_matrix(X))
    with pytest.raises(ValueError, match="names has") as caught:
        charts.loadings(pca, names=["a"])
    assert not isinstance(caught.value, charts.NoChart)
