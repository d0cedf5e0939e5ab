"""Pictures in scikit-learn's Display convention, drawn with matplotlib.

::

    fitted estimator, rows --> ScreeDisplay.from_estimator(...) --> display.ax_, display.figure_
    gramian.charts.scree(...) --> ScreeDisplay(chart).plot(ax)
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.plots needs matplotlib: pip install "gramian[plot]"') from None

from gramian.plots.calibration import CVCurveDisplay, ImportanceDisplay, PredictedDisplay
from gramian.plots.certificates import LikelihoodDisplay, ResidualsDisplay
from gramian.plots.contributions import ContributionsDisplay
from gramian.plots.loadings import HeatDisplay, LoadingsDisplay
from gramian.plots.outliers import OutliersDisplay
from gramian.plots.planes import ContoursDisplay, RegionsDisplay
from gramian.plots.reconstructions import ReconstructionsDisplay
from gramian.plots.scores import BiplotDisplay, ScoresDisplay
from gramian.plots.scree import ScreeDisplay
from gramian.plots.style import new_figure
from gramian.plots.views import CorrelationsDisplay, PairedDisplay

__all__ = [
    "BiplotDisplay",
    "CVCurveDisplay",
    "ContoursDisplay",
    "ContributionsDisplay",
    "CorrelationsDisplay",
    "HeatDisplay",
    "ImportanceDisplay",
    "LikelihoodDisplay",
    "LoadingsDisplay",
    "OutliersDisplay",
    "PairedDisplay",
    "PredictedDisplay",
    "ReconstructionsDisplay",
    "RegionsDisplay",
    "ResidualsDisplay",
    "ScoresDisplay",
    "ScreeDisplay",
    "new_figure",
]
