"""Estimators with scikit-learn's contract. Each ``fit`` reads: validate, space, basis, mix, projection."""

from gramian.estimators.factor_analysis import FactorAnalysis
from gramian.estimators.ica import ICA
from gramian.estimators.kernel_pca import KernelPCA
from gramian.estimators.pca import PCA
from gramian.estimators.probabilistic_pca import ProbabilisticPCA
from gramian.estimators.random_projection import RandomProjection
from gramian.estimators.warnings import (
    ConvergenceWarning,
    GramianWarning,
    HeywoodWarning,
    IndefiniteKernelWarning,
    RankWarning,
    SubGaussianWarning,
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
