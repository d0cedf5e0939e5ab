"""Every estimator with what it is fitted to and what a user sees of it, and the laws that are not for all of them."""

from dataclasses import dataclass, field

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter
from tests.cases import kind_of

from gramian import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    FactorAnalysis,
    KernelCCA,
    KernelKMeans,
    KernelKNNClassifier,
    KernelKNNRegressor,
    KernelPCA,
    KernelPrototypeClassifier,
    KernelRidge,
    KernelSVC,
    PLSCanonical,
    PLSRegression,
    PrincipalComponentRegression,
    ProbabilisticPCA,
    RandomFeatures,
    RandomProjection,
    Standardizer,
)
from gramian.registry import RECORDS


@dataclass(frozen=True)
class Case:
    """An estimator, its target, and its answers with the power of the unit of X that each has.

    ``says`` are methods asked about new rows, ``has`` fitted attributes; those with a value for each column are
    compared sorted. ``exact`` is the relative error that the method leaves in double precision: a few thousand
    roundings, or what its iteration stops at; ``by_products`` what it leaves where the memory budget sends it to
    products with the Gram matrix. ``narrow`` says that rows in single precision are also computed with in it, not only
    kept. ``groups`` asks for rows in two groups, far apart.
    """

    model: BaseEstimator
    target: str = "none"
    says: dict[str, int] = field(default_factory=lambda: {"transform": 0})
    has: dict[str, int] = field(default_factory=dict)
    exact: float = 1e-10
    by_products: float | None = None
    narrow: bool = False
    groups: bool = False


_predicts = {"predict": 0, "transform": 0}
LISTED = {
    "PCA": Case(PCA(2), says={"transform": 1}, has={"explained_variance_": 2, "explained_variance_ratio_": 0}),
    "PCA scaled": Case(PCA(2, scale=True), has={"explained_variance_": 0}),
    "ProbabilisticPCA": Case(ProbabilisticPCA(2), has={"noise_variance_": 2}),
    "FactorAnalysis": Case(FactorAnalysis(1), has={"uniquenesses_": 0}),
    "ICA": Case(ICA(2), has={"explained_variance_": 2}, exact=1e-8),
    "ICA all": Case(ICA(), exact=1e-8),
    "RandomProjection": Case(RandomProjection(2), says={"transform": 1}),
    "Standardizer": Case(Standardizer()),
    "KernelPCA": Case(KernelPCA(2), has={"eigenvalues_": 0}, by_products=1e-6),
    "KernelPCA landmarks": Case(KernelPCA(2, landmarks=8), has={"eigenvalues_": 0}, narrow=True),
    "KernelPCA waves": Case(KernelPCA(2, landmarks=RandomFeatures(40)), has={"eigenvalues_": 0}, narrow=True),
    "PLSRegression": Case(PLSRegression(2), "view", _predicts),
    "PrincipalComponentRegression": Case(PrincipalComponentRegression(2), "view", _predicts),
    "PLSCanonical": Case(PLSCanonical(2), "view"),
    "PLSSVD": Case(PLSSVD(2), "view"),
    "CCA": Case(CCA(2), "view", has={"correlations_": 0}),
    "KernelCCA": Case(KernelCCA(2), "view", has={"correlations_": 0}, by_products=1e-6),
    "KernelRidge": Case(KernelRidge(), "numbers", {"predict": 0}, by_products=1e-6),
    "KernelSVC": Case(KernelSVC(tol=1e-9), "labels", {"decision_function": 0, "predict": 0}, exact=1e-8),
    "KernelKMeans": Case(KernelKMeans(2), says={"transform": 0, "predict": 0}, has={"inertia_": 0}),
    "KernelKMeans groups": Case(KernelKMeans(2), says={"transform": 0, "predict": 0}, has={"inertia_": 0}, groups=True),
    "KernelKNNClassifier": Case(KernelKNNClassifier(3), "labels", {"predict_proba": 0, "predict": 0}),
    "KernelKNNRegressor": Case(KernelKNNRegressor(3), "numbers", {"predict": 0}),
    "KernelPrototypeClassifier": Case(KernelPrototypeClassifier(), "labels", {"distances": 0, "predict": 0}),
}

#: Answers of a model about new rows, in the order in which they are asked for.
ANSWERS = ("decision_function", "predict_proba", "transform", "predict")


def _example(record):
    """A case of a record that is not listed: the laws about units are not for it, since its powers are not known."""
    model = record.estimator(**record.example)
    by_products = 1e-6 if record.has("kernel") else None
    return Case(model, kind_of(record), {name: 0 for name in ANSWERS if hasattr(model, name)}, by_products=by_products)


_NEW = {record.name: _example(record) for record in RECORDS if record.name not in LISTED}
ESTIMATORS = LISTED | _NEW

#: Law -> {estimator: why it is not for this one}. Each exemption is tested to be needed.
_ISOTROPIC = {
    name: "the kernel has one width for all columns, so that their units weigh them"
    for name, case in LISTED.items()
    if "kernel" in case.model.get_params(deep=False)
}
_NOT_SPARSE = {
    "ICA": "sparse rows are refused: whitening fills them",
    "ICA all": "sparse rows are refused: whitening fills them",
    "Standardizer": "sparse rows are refused: centring fills them",
    "KernelPCA landmarks": "landmarks of dense rows move to means, sparse ones stay rows",
}
EXEMPT: dict[str, dict[str, str]] = {
    "row order": {"KernelPCA landmarks": "which rows become landmarks is drawn by their place"},
    "column order": {
        "RandomProjection": "the random numbers belong to the place of a column",
        "KernelPCA waves": "the random frequencies belong to the place of a column",
        "KernelKMeans": "seeds depend on the place of columns; rows without groups have several local minima",
    },
    "units of columns": {
        **_ISOTROPIC,
        "PCA": "variances are compared in the units given; scale=True makes them alike",
        "ProbabilisticPCA": "one noise variance for all columns is in the units given",
        "ICA": "fewer sources than columns are sought where the variance is large, in the units given",
        "RandomProjection": "distances are kept, and they are in the units given",
    },
    "origin": {"RandomProjection": "a linear map without a centre"},
    "weights": {
        name: "fit takes no sample_weight"
        for name, case in ESTIMATORS.items()
        if not has_fit_parameter(case.model, "sample_weight")
    },
    "one call": {
        name: "it predicts for new rows: there is neither fit_transform nor fit_predict"
        for name, case in ESTIMATORS.items()
        if not hasattr(case.model, "fit_transform") and not hasattr(case.model, "fit_predict")
    },
    "sparse": _NOT_SPARSE,
    "sparse origin": _NOT_SPARSE,
}
