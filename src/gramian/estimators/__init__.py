"""Estimators with scikit-learn's contract. Each ``fit`` reads: validate, space, basis, mix, projection."""

from gramian.estimators.cca import CCA
from gramian.estimators.component_regression import PLSRegression, PrincipalComponentRegression
from gramian.estimators.factor_analysis import FactorAnalysis
from gramian.estimators.ica import ICA
from gramian.estimators.kernel_cca import KernelCCA
from gramian.estimators.kernel_kmeans import KernelKMeans
from gramian.estimators.kernel_neighbours import KernelKNNClassifier, KernelKNNRegressor
from gramian.estimators.kernel_pca import KernelPCA
from gramian.estimators.kernel_prototypes import KernelPrototypeClassifier
from gramian.estimators.kernel_ridge import KernelRidge
from gramian.estimators.kernel_svm import KernelSVC
from gramian.estimators.landmarks import Landmarks, RandomFeatures
from gramian.estimators.pca import PCA
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.random_projection import RandomProjection
from gramian.estimators.standardizer import Standardizer
from gramian.estimators.two_views import PLSSVD, PLSCanonical
from gramian.estimators.warnings import (
    ConvergenceWarning,
    GramianWarning,
    HeywoodWarning,
    IndefiniteKernelWarning,
    RankWarning,
    SubGaussianWarning,
)

__all__ = [
    "CCA",
    "ICA",
    "PCA",
    "PLSSVD",
    "ConvergenceWarning",
    "FactorAnalysis",
    "GramianWarning",
    "HeywoodWarning",
    "IndefiniteKernelWarning",
    "KernelCCA",
    "KernelKMeans",
    "KernelKNNClassifier",
    "KernelKNNRegressor",
    "KernelPCA",
    "KernelPrototypeClassifier",
    "KernelRidge",
    "KernelSVC",
    "Landmarks",
    "PLSCanonical",
    "PLSRegression",
    "PrincipalComponentRegression",
    "ProbabilisticPCA",
    "RandomFeatures",
    "RandomProjection",
    "RankWarning",
    "Standardizer",
    "SubGaussianWarning",
]
