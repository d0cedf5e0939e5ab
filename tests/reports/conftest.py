"""Every kind of estimator, fitted to rows that suit it; and a reader of pages."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_linnerud, load_wine, make_moons
from sklearn.pipeline import make_pipeline

import gramian as g
from gramian.registry import RECORDS

IRIS = load_iris(as_frame=True)
WINE = load_wine(as_frame=True).data
SPECIES = IRIS.target_names[IRIS.target]
DIABETES = load_diabetes(as_frame=True, scaled=False)
LINNERUD = load_linnerud(as_frame=True)
MOONS, SIDES = make_moons(120, noise=0.15, random_state=0)
GAPS = WINE.mask(np.random.default_rng(0).random(WINE.shape) < 0.02)
GRAM = g.kernels.RBF(sigma=1.0)(IRIS.data.to_numpy())

#: name -> (estimator, X, y, titles of pictures that must be there)
KINDS = {
    "PCA": (
        g.PCA(3, scale=True),
        WINE,
        None,
        {"What each component holds", "Distances of rows from the model", "Loadings of all columns"},
    ),
    "PCA of one component": (g.PCA(1), IRIS.data, None, {"Weights"}),
    "PCA with gaps": (g.PCA(2, scale=True, missing="em"), GAPS, None, {"Correlations of columns with components"}),
    "ProbabilisticPCA": (g.ProbabilisticPCA(2), IRIS.data, None, {"What each component holds"}),
    "EM": (g.ProbabilisticPCA(2, method="em"), IRIS.data, None, {"Log-likelihood of every step"}),
    "FactorAnalysis": (
        g.FactorAnalysis(2, rotation="oblimin"),
        WINE,
        None,
        {"Eigenvalues of the correlation matrix", "Loadings of all columns"},
    ),
    "ICA": (g.ICA(2), IRIS.data, None, {"Rows and columns"}),
    "RandomProjection": (g.RandomProjection(3), WINE, None, {"Rows and columns"}),
    "Standardizer": (g.Standardizer(), IRIS.data, None, set()),
    "PLSRegression": (
        g.PLSRegression("auto"),
        DIABETES.data,
        DIABETES.target,
        {"Errors for each number of components", "Cross-validation", "Coefficients", "Importance in the projection"},
    ),
    "PrincipalComponentRegression": (
        g.PrincipalComponentRegression(3),
        LINNERUD.data,
        LINNERUD.target,
        {"Cross-validation: Weight", "Rows of the fit: Pulse"},
    ),
    "CCA": (g.CCA(2), LINNERUD.data, LINNERUD.target, {"Canonical correlations", "Pair 1 of scores"}),
    "PLSCanonical": (g.PLSCanonical(2), LINNERUD.data, LINNERUD.target, {"Weights", "Pair 2 of scores"}),
    "PLSSVD": (g.PLSSVD(2), LINNERUD.data, LINNERUD.target, {"Pair 1 of scores"}),
    "KernelCCA": (g.KernelCCA(2, ridge=0.1), LINNERUD.data, LINNERUD.target, {"Canonical correlations"}),
    "KernelPCA": (g.KernelPCA(2, kernel="rbf(sigma=2)"), IRIS.data, None, {"What each component holds", "Scores"}),
    "KernelPCA of a plane": (
        g.KernelPCA(2, kernel="rbf(sigma=1)"),
        MOONS,
        None,
        {"Scores", "How exact the computation is"},
    ),
    "KernelPCA of a Gram matrix": (g.KernelPCA(2, kernel="precomputed"), GRAM, None, {"Scores"}),
    "KernelPCA with landmarks": (g.KernelPCA(2, kernel="rbf(sigma=2)", landmarks=20), IRIS.data, None, {"Scores"}),
    "KernelRidge": (g.KernelRidge(0.1), DIABETES.data, DIABETES.target, {"Errors of rows left out, one by one"}),
    "KernelSVC": (g.KernelSVC(), IRIS.data, SPECIES, {"Map"}),
    "KernelSVC of a plane": (g.KernelSVC(10, kernel="rbf(sigma=1)"), MOONS, SIDES, {"Regions of the classes"}),
    "KernelKMeans": (make_pipeline(g.Standardizer(), g.KernelKMeans(3)), WINE, None, {"Map"}),
    "KernelKMeans of a plane": (g.KernelKMeans(2), MOONS, None, {"Regions of the classes"}),
    "KernelKNNClassifier": (g.KernelKNNClassifier(), IRIS.data, SPECIES, {"Map"}),
    "KernelKNNRegressor": (g.KernelKNNRegressor(), DIABETES.data, DIABETES.target, {"Rows of the fit"}),
    "KernelPrototypeClassifier": (g.KernelPrototypeClassifier(), IRIS.data, SPECIES, {"Map"}),
}
_BY_NEED = {
    "": (WINE, None),
    "target": (DIABETES.data, DIABETES.target),
    "view": (LINNERUD.data, LINNERUD.target),
    "label": (IRIS.data, SPECIES),
}
for record in RECORDS:
    KINDS.setdefault(record.name, (record.estimator(**record.example), *_BY_NEED[record.needs], set()))
NASTY = pd.DataFrame(
    np.random.default_rng(1).standard_normal((40, 3)) * [3, 2, 1],
    columns=["<script>alert(1)</script>", "</script><b>", "a \"quoted\" & \u2028 'name'"],
    index=[f"row <img src=x onerror=alert({at})>" for at in range(40)],
)


class Reader(HTMLParser):
    """Reads a page: text, elements, and whether every element that opens is closed."""

    VOID = frozenset({"meta", "br", "img", "link", "input", "hr"})

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.words, self.scripts = [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts.append(data)
        elif inside != "style":
            self.words.append(data)

    def all(self, tag, **wanted):
        return [have for name, have in self.elements if name == tag and wanted.items() <= have.items()]


@pytest.fixture(scope="session")
def read_page():
    return Reader
