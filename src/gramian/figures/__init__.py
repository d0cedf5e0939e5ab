"""Chart data as figures for plotly.js, the same for the report and the explorer.

::

    gramian.charts --> Scree, Scores, ... --> scree, scores, ... --> Figure (data, layout, size)
"""

from gramian.figures.columns import contributions, heat, importance, loadings
from gramian.figures.grammar import Figure
from gramian.figures.rows import contours, outliers, paired, predicted, reconstructions, regions, scores
from gramian.figures.spectra import correlations, cv_curve, likelihood, residuals, scree

__all__ = [
    "Figure",
    "contours",
    "contributions",
    "correlations",
    "cv_curve",
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
