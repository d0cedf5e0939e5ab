"""Every public name of the library: what ``gramian.NAME`` looks up.

:mod:`gramian` imports this when a name is first asked for, so that ``gramian --version`` and a part of the library that
is imported alone need not wait for scikit-learn.
"""

from gramian import kernels as kernels
from gramian import registry as registry
from gramian import selection as selection
from gramian.config import config as config
from gramian.config import settings as settings
from gramian.estimators.landmarks import Landmarks as Landmarks
from gramian.estimators.landmarks import RandomFeatures as RandomFeatures
from gramian.estimators.warnings import ConvergenceWarning as ConvergenceWarning
from gramian.estimators.warnings import GramianWarning as GramianWarning
from gramian.estimators.warnings import HeywoodWarning as HeywoodWarning
from gramian.estimators.warnings import IndefiniteKernelWarning as IndefiniteKernelWarning
from gramian.estimators.warnings import RankWarning as RankWarning
from gramian.estimators.warnings import SubGaussianWarning as SubGaussianWarning
from gramian.forecasting import Forecast as Forecast
from gramian.forecasting import forecast as forecast
from gramian.models import load as load
from gramian.models import save as save
from gramian.registry import *
from gramian.selection import doctor as doctor
from gramian.streams import rows as rows

__all__ = [
    "ConvergenceWarning",
    "Forecast",
    "GramianWarning",
    "HeywoodWarning",
    "IndefiniteKernelWarning",
    "Landmarks",
    "RandomFeatures",
    "RankWarning",
    "SubGaussianWarning",
    "config",
    "doctor",
    "forecast",
    "kernels",
    "load",
    "rows",
    "save",
    "selection",
    "settings",
]
__all__ += registry.__all__
__all__ += ["report"]  # gramian.reports.report: it needs jinja2, and is imported when it is asked for
