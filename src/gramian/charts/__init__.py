"""Data of pictures, computed once, for whoever draws them: arrays, names of axes, notes.

::

    fitted estimator (and rows) --> scree, scores, biplot, ... --> Scree, Scores, Biplot, ...
                                                                   |--> gramian.plots (matplotlib)
"""

from gramian.charts.base import Chart, NoChart
from gramian.charts.certificates import Likelihood, Residuals, likelihood, residuals
from gramian.charts.colouring import Colouring, colouring
from gramian.charts.contributions import Contributions, contributions
from gramian.charts.curves import CVCurve, cv_curve
from gramian.charts.importances import Importance, importance
from gramian.charts.loadings import Heat, Loadings, heat, loadings
from gramian.charts.outliers import Outliers, outliers
from gramian.charts.planes import Contours, Regions, contours, regions
from gramian.charts.points import Density, Ellipse, Points
from gramian.charts.predictions import Predicted, from_values, predicted
from gramian.charts.reconstructions import Reconstructions, reconstructions
from gramian.charts.scores import Biplot, Scores, biplot, from_scores, scores
from gramian.charts.scree import Scree, scree
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
