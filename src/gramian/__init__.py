"""Component analysis and kernel methods: exact, bounded in memory, scikit-learn compatible.

::

    rows --> space --> singular basis --> mix --> projection --> scores
             linear | kernel              identity | whiten ...
"""

from gramian import kernels
from gramian.config import config, settings
from gramian.estimators import (
    CCA,
    ICA,
    PCA,
    PLSSVD,
    ConvergenceWarning,
    FactorAnalysis,
    GramianWarning,
    HeywoodWarning,
    IndefiniteKernelWarning,
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
    RandomProjection,
    RankWarning,
    Standardizer,
    SubGaussianWarning,
)
from gramian.models import load, save
from gramian.selection import doctor

__version__ = "0.1.0"

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
    "PLSCanonical",
    "PLSRegression",
    "PrincipalComponentRegression",
    "ProbabilisticPCA",
    "RandomProjection",
    "RankWarning",
    "Standardizer",
    "SubGaussianWarning",
    "config",
    "doctor",
    "kernels",
    "load",
    "save",
    "settings",
]
