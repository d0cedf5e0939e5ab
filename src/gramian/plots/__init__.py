"""Pictures in scikit-learn's Display convention, drawn with matplotlib.

::

    fitted estimator, rows --> ScreeDisplay.from_estimator(...) --> display.ax_, display.figure_
    gramian.charts.scree(...) --> ScreeDisplay(chart).plot(ax)
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.plots needs matplotlib: pip install "gramian[plot]"') from None

from gramian.plots.columns import ContributionsDisplay, HeatDisplay, ImportanceDisplay, LoadingsDisplay
from gramian.plots.planes import ContoursDisplay, RegionsDisplay
from gramian.plots.rows import (
    BiplotDisplay,
    OutliersDisplay,
    PairedDisplay,
    PredictedDisplay,
    ReconstructionsDisplay,
    ScoresDisplay,
)
from gramian.plots.spectra import CorrelationsDisplay, CVCurveDisplay, LikelihoodDisplay, ResidualsDisplay, ScreeDisplay
from gramian.plots.style import new_figure

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
