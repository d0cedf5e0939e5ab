"""Data of pictures, computed once, for whoever draws them: arrays, names of axes, notes.

::

    fitted estimator (and rows) --> scree, scores, biplot, ... --> Scree, Scores, Biplot, ...
                                                                   |--> gramian.plots (matplotlib)
"""

from gramian.charts.base import Chart, NoChart
from gramian.charts.calibration import CVCurve, Predicted, cv_curve, from_values, predicted
from gramian.charts.columns import Contributions, Heat, Importance, Loadings, contributions, heat, importance, loadings
from gramian.charts.planes import Contours, Regions, contours, regions
from gramian.charts.points import Colouring, Density, Ellipse, Points, colouring
from gramian.charts.rows import (
    Biplot,
    Outliers,
    Reconstructions,
    Scores,
    biplot,
    from_scores,
    outliers,
    reconstructions,
    scores,
)
from gramian.charts.spectra import Likelihood, Residuals, Scree, likelihood, residuals, scree
from gramian.charts.views import Correlations, Paired, correlations, paired

__all__ = [
    "Biplot",
    "CVCurve",
    "Chart",
    "Colouring",
    "Contours",
    "Contributions",
    "Correlations",
    "Density",
    "Ellipse",
    "Heat",
    "Importance",
    "Likelihood",
    "Loadings",
    "NoChart",
    "Outliers",
    "Paired",
    "Points",
    "Predicted",
    "Reconstructions",
    "Regions",
    "Residuals",
    "Scores",
    "Scree",
    "biplot",
    "colouring",
    "contours",
    "contributions",
    "correlations",
    "cv_curve",
    "from_scores",
    "from_values",
    "heat",
    "importance",
    "likelihood",
    "loadings",
    "outliers",
    "paired",
    "predicted",
    "reconstructions",
    "regions",
    "residuals",
    "scores",
    "scree",
]
