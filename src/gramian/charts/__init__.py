"""Data of pictures, computed once, for whoever draws them: arrays, names of axes, notes.

::

    fitted estimator (and rows) --> scree, scores, biplot, ... --> Scree, Scores, Biplot, ...
                                                                   |--> gramian.plots (matplotlib)
"""

from gramian.charts import calibration, columns, planes, points, rows, spectra, views
from gramian.charts.base import Chart, NoChart
from gramian.charts.calibration import *
from gramian.charts.columns import *
from gramian.charts.planes import *
from gramian.charts.points import *
from gramian.charts.rows import *
from gramian.charts.spectra import *
from gramian.charts.views import *

__all__ = ["Chart", "NoChart"]
__all__ += calibration.__all__ + columns.__all__ + planes.__all__ + points.__all__ + rows.__all__
__all__ += spectra.__all__ + views.__all__
