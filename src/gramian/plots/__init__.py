"""Pictures of scores and spectra, drawn on matplotlib axes without touching pyplot's state.

::

    scores, labels, shares --> plot_scores(...)   --> Axes
    shares                 --> plot_spectrum(...) --> Axes --> ax.figure.savefig(...)
"""

try:
    import matplotlib  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.plots needs matplotlib: pip install "gramian[plot]"') from None

from gramian.plots.scores import plot_scores
from gramian.plots.spectrum import plot_spectrum
from gramian.plots.style import new_figure

__all__ = ["new_figure", "plot_scores", "plot_spectrum"]
