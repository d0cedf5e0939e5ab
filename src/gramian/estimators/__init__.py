"""Estimators with scikit-learn's contract. Each ``fit`` reads: validate, space, basis, mix, projection."""

from gramian.estimators.factor_analysis import FactorAnalysis
from gramian.estimators.factor_checks import HeywoodWarning
from gramian.estimators.ica import ICA, SubGaussianWarning
from gramian.estimators.kernel_pca import KernelPCA
from gramian.estimators.pca import PCA
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.random_projection import RandomProjection
from gramian.estimators.warnings import (
    ConvergenceWarning,
    GramianWarning,
    IndefiniteKernelWarning,
    RankWarning,
)

__all__ = [
    "ICA",
    "PCA",
    "ConvergenceWarning",
    "FactorAnalysis",
    "GramianWarning",
    "HeywoodWarning",
    "IndefiniteKernelWarning",
    "KernelPCA",
    "ProbabilisticPCA",
    "RandomProjection",
    "RankWarning",
    "SubGaussianWarning",
]
