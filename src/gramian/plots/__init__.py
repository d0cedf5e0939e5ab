"""Pictures in scikit-learn's Display convention, drawn with matplotlib.

::

    fitted estimator, rows --> ScreeDisplay.from_estimator(...) --> display.ax_, display.figure_
    gramian.charts.scree(...) --> ScreeDisplay(chart).plot(ax)
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.plots needs matplotlib: pip install "gramian[plot]"') from None

from gramian.plots import columns, planes, rows, spectra
from gramian.plots.columns import *
from gramian.plots.planes import *
from gramian.plots.rows import *
from gramian.plots.spectra import *
from gramian.plots.style import new_figure

__all__ = ["new_figure"]
__all__ += columns.__all__ + planes.__all__ + rows.__all__ + spectra.__all__
