"""What each method does, in words for someone who has a table and a question."""

from __future__ import annotations

from typing import Any

from gramian.results import Book, Sentence

#: By class of the estimator. These sentences depend on no data.
WORDS = {
    "PCA": "Principal component analysis finds the directions along which the rows differ most, one after the other. "
    "A score says where a row lies along a direction; a loading says how much a column takes part in it.",
    "ProbabilisticPCA": "Probabilistic principal component analysis describes the rows by a few hidden scores and "
    "noise that is the same for every column. It gives a likelihood, so that models can be compared.",
    "FactorAnalysis": "Factor analysis explains why columns go together by a few hidden factors; what is left of each "
    "column is its own (its uniqueness). A loading is the weight of a factor in a column.",
    "ICA": "Independent component analysis treats the columns as mixtures of statistically independent sources, and "
    "separates the sources.",
    "RandomProjection": "Random projection replaces the columns by a few random mixtures of them. Distances between "
    "rows stay nearly what they were.",
    "PLSRegression": "Partial least squares predicts from a few components of the columns that go with the target. It "
    "is made for many columns that say nearly the same, such as the channels of a spectrum.",
    "PrincipalComponentRegression": "Principal component regression predicts from the leading principal components of "
    "the columns.",
    "CCA": "Canonical correlation analysis finds pairs of mixtures, one of the columns of each view, that go together "
    "as closely as possible.",
    "PLSCanonical": "Canonical partial least squares finds pairs of mixtures, one of the columns of each view, that "
    "share as much covariance as possible.",
    "PLSSVD": "Partial least squares of two views finds, all at once, pairs of mixtures that share as much covariance "
    "as possible.",
    "KernelPCA": "Kernel principal component analysis compares rows by a kernel, a measure of similarity, and finds "
    "the directions along which they differ most in that sense. It can show curved structures.",
    "KernelCCA": "Kernel canonical correlation analysis looks for scores of two views that go together, where the "
    "relation need not be a straight line.",
    "KernelRidge": "Kernel ridge regression predicts a row from rows that the kernel finds similar to it. The ridge "
    "limits overfitting.",
    "KernelSVC": "The support vector machine separates classes by the widest margin. Only the rows at the margin, the "
    "support vectors, decide.",
    "KernelKMeans": "Kernel k-means puts rows into clusters so that rows of a cluster are as alike as possible in the "
    "sense of the kernel.",
    "KernelKNNClassifier": "A row gets the class that most of the rows nearest to it have, in the sense of the kernel.",
    "KernelKNNRegressor": "A row gets the mean of the rows nearest to it, in the sense of the kernel.",
    "KernelPrototypeClassifier": "A row gets the class whose mean is nearest to it, in the sense of the kernel.",
    "Standardizer": "Columns are centred and divided by their standard deviations, so that all count alike.",
}


def method_in_words(estimator: Any) -> list[Sentence]:
    """A sentence or two about the method of an estimator."""
    name = type(estimator).__name__
    return [Book(WORDS)(name)] if name in WORDS else []
