"""Chart data as figures for plotly.js, the same for the report and the explorer.

::

    gramian.charts --> Scree, Scores, ... --> chart_figures.scree, scores, ... --> Figure (data, layout, size)
"""

from gramian.figures.grammar import Figure

__all__ = ["Figure"]
