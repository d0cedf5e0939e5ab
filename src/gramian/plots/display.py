"""What all Displays share, in scikit-learn's convention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from inspect import signature
from typing import Any, ClassVar, Generic, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian.charts import Chart
from gramian.charts.base import Rows
from gramian.charts.palette import INK, MUTED
from gramian.plots.style import SMALL, TICK, Axes, Figure, new_axes, tidy

Data = TypeVar("Data", bound=Chart)


class Display(ABC, Generic[Data]):
    """A picture of chart data: ``ScreeDisplay.from_estimator`` takes what :func:`gramian.charts.scree` takes.

    Attributes
    ----------
    chart : Chart
        What is drawn.
    ax_ : Axes
    figure_ : Figure
    """

    #: The function of :mod:`gramian.charts` that gives the data.
    _compute: ClassVar[Callable[..., Chart]]

    chart: Data
    ax_: Axes
    figure_: Figure

    def __init_subclass__(cls, data: Callable[..., Chart]) -> None:
        cls._compute = staticmethod(data)

    def __init__(self, chart: Data) -> None:
        self.chart = chart

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        X: Rows | None = None,
        y: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        title: str | None = None,
        **options: Any,
    ) -> Self:
        """Compute the data of a fitted estimator and draw them.

        Parameters
        ----------
        estimator : fitted estimator
        X : (n, d) array, data frame or sparse matrix, optional
            Rows, where the picture shows any.
        y : array, optional
            Targets, classes or second view, where the picture shows any.
        ax : Axes, optional
            Where to draw; a new figure of pyplot if not given.
        title : str, optional
            In place of the picture's own; "" for none.
        **options
            As the function of :mod:`gramian.charts` that computes the data, or the Display itself, takes them.
        """
        taken = len({"X", "y", "Y"} & signature(cls._compute).parameters.keys())
        own = {name: options.pop(name) for name in signature(cls).parameters if name in options}
        chart: Any = cls._compute(estimator, *(X, y)[:taken], **options)
        return cls(chart, **own).plot(ax, title=title)

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure of pyplot if not given.
        title : str, optional
            In place of the picture's own; "" for none.
        """
        self.ax_ = new_axes(ax, space=bool(getattr(self.chart, "zlabel", "")))
        figure: Any = self.ax_.figure
        self.figure_ = figure
        title = self.chart.title if title is None else title
        tidy(self.ax_, title, self.chart.xlabel, self.chart.ylabel)
        self._draw(self.ax_, self.chart, title)
        return self

    @abstractmethod
    def _draw(self, ax: Axes, chart: Data, title: str) -> None:
        """Draw on axes that have their title and names, which panels write again."""


def write_notes(ax: Axes, notes: tuple[str, ...], where: str = "title") -> None:
    """Write notes small into a corner, or to the right of the title."""
    if notes and where == "title":
        ax.set_title("\n".join(notes), loc="right", fontsize=SMALL, color=MUTED)
    elif notes:
        _write_in_corner(ax, "\n".join(notes), where, 4, 0.7, 1.5, fontsize=SMALL, color=MUTED)


def write_figures(ax: Axes, text: str, where: str = "upper left") -> Any:
    """Write numbers into a corner, and return the text."""
    return _write_in_corner(ax, text, where, 6, 0.75, 2, fontsize=TICK, color=INK)


def _write_in_corner(ax: Axes, text: str, where: str, gap: int, alpha: float, pad: float, **look: Any) -> Any:
    """Write on paper of an opacity; ``where`` is "upper left" and so on, ``gap`` the distance in points."""
    low, right = where.startswith("lower"), where.endswith("right")
    corner, away = (int(right), int(not low)), (-gap if right else gap, gap if low else -gap)
    look |= {"ha": "right" if right else "left", "va": "bottom" if low else "top", "zorder": 6}
    look["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": alpha, "pad": pad}
    return ax.annotate(text, corner, xytext=away, xycoords="axes fraction", textcoords="offset points", **look)
