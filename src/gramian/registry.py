"""One record for each estimator: its names, what it needs, what its parts are called, and a sentence about it.

Whatever lists estimators takes them from here: ``gramian.__all__``, the command line and its help, reports, the
explorer, model files, the reference pages, and the tests that hold for all of them (``tests/cases.py``). A new
estimator is its module, a record here, and a test of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gramian.estimators.cca import CCA as CCA
from gramian.estimators.component_regression import PLSRegression as PLSRegression
from gramian.estimators.component_regression import (
    PrincipalComponentRegression as PrincipalComponentRegression,
)
from gramian.estimators.factor_analysis import FactorAnalysis as FactorAnalysis
from gramian.estimators.ica import ICA as ICA
from gramian.estimators.kernel_cca import KernelCCA as KernelCCA
from gramian.estimators.kernel_kmeans import KernelKMeans as KernelKMeans
from gramian.estimators.kernel_neighbours import KernelKNNClassifier as KernelKNNClassifier
from gramian.estimators.kernel_neighbours import KernelKNNRegressor as KernelKNNRegressor
from gramian.estimators.kernel_pca import KernelPCA as KernelPCA
from gramian.estimators.kernel_prototypes import KernelPrototypeClassifier as KernelPrototypeClassifier
from gramian.estimators.kernel_ridge import KernelRidge as KernelRidge
from gramian.estimators.kernel_svm import KernelSVC as KernelSVC
from gramian.estimators.pca import PCA as PCA
from gramian.estimators.probabilistic_pca import ProbabilisticPCA as ProbabilisticPCA
from gramian.estimators.random_projection import RandomProjection as RandomProjection
from gramian.estimators.standardizer import Standardizer as Standardizer
from gramian.estimators.two_views import PLSSVD as PLSSVD
from gramian.estimators.two_views import PLSCanonical as PLSCanonical

#: Option of the command line -> argument of the estimator. A method takes an option if its estimator has the argument.
ARGUMENTS = {
    "whiten": "whiten",
    "kernel": "kernel",
    "kernel-y": "kernel_y",
    "landmarks": "landmarks",
    "preimage": "preimage",
    "rotation": "rotation",
    "ridge": "ridge",
    "C": "C",
    "solver": "solver",
    "seed": "random_state",
}


@dataclass(frozen=True)
class Record:
    """What is known of an estimator; ``words`` say what it does to someone who has a table and a question."""

    estimator: type
    title: str  #: in headings and menus
    words: str
    command: str = ""  #: name on the command line and in gramian.selection; empty for a step that comes before others
    needs: str = ""  #: "target", numeric columns to predict; "view", a second block of columns; "label", classes
    noun: str = "component"  #: what one of its components is called
    size: str = "n_components"  #: argument that -k sets; none if empty
    default: int | None = None  #: of -k; None leaves it to the estimator
    auto: bool = False  #: the number of components may be "auto"
    share: bool = False  #: the number of components may be a share of the variance
    units: bool = True  #: the result depends on the units of the columns
    #: Columns that are combinations of others do harm: a matrix of the columns is inverted, or sources are counted.
    inverts: bool = False
    streams: bool = False  #: rows may come as a stream; of a kernel method with landmarks only
    projects: bool = False  #: its likelihood is that of the projection on the components, not of the whole rows
    #: Rows up to which a report fits it again for errors of rows left out or over ridges, or to shuffled rows, since
    #: each fit takes the cube of their number; no limit if None.
    refits_max_rows: int | None = None
    nested: bool = False  #: the first k of more components are the k components
    #: What the criteria of how_many look at: "variances", "factors", "kernel", "predictions" or "correlations".
    counted: str = ""
    page: str = "linear"  #: of the reference, under docs/api
    example: Mapping[str, Any] = field(default_factory=lambda: {"n_components": 2})  #: arguments for a small table

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.estimator.__name__

    @cached_property
    def arguments(self) -> frozenset[str]:
        """Names of the arguments of the estimator."""
        return frozenset(inspect.signature(self.estimator).parameters)

    def has(self, argument: str) -> bool:
        """Whether the estimator has an argument."""
        return argument in self.arguments

    @property
    def clusters(self) -> bool:
        """Whether it puts rows into clusters."""
        return self.size == "n_clusters"

    @cached_property
    def scales(self) -> bool:
        """Whether it divides columns by their standard deviations unless told not to."""
        return self.has("scale") and bool(inspect.signature(self.estimator).parameters["scale"].default)

    def takes(self, option: str) -> bool:
        """Whether the method takes an option of the command line."""
        if option == "k":
            return bool(self.size)
        if option == "target":
            return self.needs in ("target", "view")
        return self.has(ARGUMENTS[option])


def yes(*fields: str) -> dict[str, Any]:
    """Fields of a record that are true of an estimator."""
    return dict.fromkeys(fields, True)


RECORDS: tuple[Record, ...] = (
    Record(
        PCA,
        "PCA",
        "Principal component analysis finds the directions along which the rows vary most, one after the other. "
        "A score says where a row lies along a direction; a loading says how much a column contributes to it.",
        command="pca",
        counted="variances",
        **yes("auto", "share", "streams", "nested"),
    ),
    Record(
        KernelPCA,
        "Kernel PCA",
        "Kernel principal component analysis compares rows by a kernel, a measure of similarity, and finds the "
        "directions along which they vary most in that sense. Curved structures become visible.",
        command="kernel-pca",
        counted="kernel",
        default=2,
        **yes("auto", "share", "streams", "nested"),
        page="kernel_methods",
    ),
    Record(
        ProbabilisticPCA,
        "Probabilistic PCA",
        "Probabilistic principal component analysis describes the rows by a few hidden scores and noise that has the "
        "same variance in every column. It gives a likelihood, so that models can be compared.",
        command="probabilistic-pca",
        counted="variances",
        default=2,
        **yes("auto", "streams"),
    ),
    Record(
        FactorAnalysis,
        "Factor analysis",
        "Factor analysis explains the correlations of the columns by a few hidden factors; the part of a column's "
        "variance that no factor explains is its uniqueness. A loading is the weight of a factor in a column.",
        command="factor-analysis",
        counted="factors",
        **yes("auto", "inverts", "streams"),
        noun="factor",
        units=False,
        example={"n_components": 1},
    ),
    Record(
        ICA,
        "Independent components",
        "Independent component analysis treats the columns as mixtures of independent sources and separates the "
        "sources.",
        command="ica",
        **yes("inverts", "projects"),
        noun="source",
        units=False,
    ),
    Record(
        RandomProjection,
        "Random projection",
        "Random projection replaces the columns by random mixtures of them. If these are many enough, distances "
        "between rows stay nearly the same.",
        command="random-projection",
        noun="direction",
        **yes("auto", "streams"),
    ),
    Record(
        Standardizer,
        "Standardised columns",
        "Columns are centred and divided by their standard deviations, so that all have the same weight.",
        units=False,
        size="",
        example={},
    ),
    Record(
        PLSRegression,
        "Partial least squares",
        "Partial least squares predicts from a few components of the columns that covary with the target. It is made "
        "for many columns that are strongly correlated, such as the channels of a spectrum.",
        command="pls",
        counted="predictions",
        needs="target",
        **yes("auto", "streams"),
        page="two_blocks",
    ),
    Record(
        PrincipalComponentRegression,
        "Principal component regression",
        "Principal component regression predicts from the leading principal components of the columns.",
        command="pcr",
        counted="predictions",
        needs="target",
        **yes("auto", "streams"),
        page="two_blocks",
    ),
    Record(
        CCA,
        "Canonical correlation",
        "Canonical correlation analysis finds pairs of mixtures, one of the columns of each view, that are correlated "
        "as strongly as possible.",
        command="cca",
        counted="correlations",
        **yes("auto", "inverts", "streams", "nested"),
        needs="view",
        noun="pair",
        units=False,
        page="two_blocks",
    ),
    Record(
        PLSCanonical,
        "Canonical partial least squares",
        "Canonical partial least squares finds pairs of mixtures, one of the columns of each view, whose covariance is "
        "as large as possible, one pair after the other.",
        command="pls-canonical",
        needs="view",
        noun="pair",
        streams=True,
        page="two_blocks",
    ),
    Record(
        PLSSVD,
        "Partial least squares of two views",
        "Partial least squares of two views finds, all at once, pairs of mixtures whose covariance is as large as "
        "possible.",
        command="pls-svd",
        needs="view",
        noun="pair",
        streams=True,
        page="two_blocks",
    ),
    Record(
        KernelCCA,
        "Kernel canonical correlation",
        "Kernel canonical correlation analysis finds scores of two views that are correlated as strongly as possible, "
        "where the relation need not be linear.",
        command="kernel-cca",
        refits_max_rows=400,
        needs="view",
        noun="pair",
        default=2,
        **yes("streams", "nested"),
        page="two_blocks",
    ),
    Record(
        KernelRidge,
        "Kernel ridge regression",
        "Kernel ridge regression predicts a row from the rows that the kernel finds similar to it; the ridge keeps it "
        "from following every single row.",
        command="kernel-ridge",
        refits_max_rows=2_000,
        needs="target",
        size="",
        streams=True,
        page="kernel_methods",
        example={},
    ),
    Record(
        KernelSVC,
        "Kernel support vector machine",
        "The support vector machine separates classes by the widest margin. Only the rows at the margin or on its "
        "wrong side, the support vectors, decide.",
        command="kernel-svm",
        needs="label",
        size="",
        page="kernel_methods",
        example={},
    ),
    Record(
        KernelKMeans,
        "Kernel k-means",
        "Kernel k-means puts rows into clusters so that the rows of a cluster are as similar as possible by the "
        "kernel.",
        command="kernel-kmeans",
        size="n_clusters",
        streams=True,
        page="kernel_methods",
        example={"n_clusters": 2},
    ),
    Record(
        KernelKNNClassifier,
        "Kernel nearest neighbours",
        "A row gets the class that most of its nearest rows have, by the distance of the kernel.",
        command="kernel-knn",
        needs="label",
        size="n_neighbors",
        page="kernel_methods",
        example={"n_neighbors": 3},
    ),
    Record(
        KernelKNNRegressor,
        "Kernel nearest neighbours regression",
        "A row gets the mean of its nearest rows, by the distance of the kernel.",
        command="kernel-knn-regression",
        needs="target",
        size="n_neighbors",
        page="kernel_methods",
        example={"n_neighbors": 3},
    ),
    Record(
        KernelPrototypeClassifier,
        "Kernel prototypes",
        "A row gets the class whose mean is nearest to it, by the distance of the kernel.",
        command="kernel-prototypes",
        needs="label",
        size="",
        page="kernel_methods",
        example={},
    ),
)

METHODS = {record.command: record for record in RECORDS if record.command}
_BY_CLASS = {record.estimator: record for record in RECORDS}
__all__ = [record.name for record in RECORDS]


def record_of(estimator: object) -> Record | None:
    """The record of an estimator or of its class; None for those of other libraries."""
    cls = estimator if isinstance(estimator, type) else type(estimator)
    return next((_BY_CLASS[kind] for kind in cls.__mro__ if kind in _BY_CLASS), None)
