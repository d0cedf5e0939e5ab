"""What all Displays share, in scikit-learn's convention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, Self, TypeVar

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from gramian.charts import Chart
from gramian.charts.base import Rows
from gramian.plots.style import INK, MUTED, SMALL, TICK, Axes, Figure, new_axes

Data = TypeVar("Data", bound=Chart)


class Display(ABC, Generic[Data]):
    """A picture of chart data.

    Attributes
    ----------
    chart : Chart
        What is drawn.
    ax_ : Axes
    figure_ : Figure
    """

    #: The function of :mod:`gramian.charts` that gives the data, and whether it takes rows, and targets beside them.
    _compute: ClassVar[Callable[..., Chart]]
    _takes: ClassVar[int] = 0

    chart: Data
    ax_: Axes
    figure_: Figure

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
            As the function of :mod:`gramian.charts` that computes the data takes them.

        Returns
        -------
        Display
        """
        data = (X, y)[: cls._takes]
        chart: Any = cls._compute(estimator, *data, **options)
        return cls(chart).plot(ax, title=title)

    def plot(self, ax: Axes | None = None, *, title: str | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; a new figure of pyplot if not given.
        title : str, optional
            In place of the picture's own; "" for none.

        Returns
        -------
        self
        """
        self.ax_ = new_axes(ax, space=self._in_space())
        figure: Any = self.ax_.figure
        self.figure_ = figure
        self._draw(self.ax_, self.chart.title if title is None else title)
        return self

    def _in_space(self) -> bool:
        """Whether the picture needs three axes."""
        return False

    @abstractmethod
    def _draw(self, ax: Axes, title: str) -> None:
        """Draw on axes."""


def write_notes(ax: Axes, notes: tuple[str, ...], where: str = "title") -> None:
    """Write notes small into a corner, or to the right of the title."""
    if not notes:
        return
    if where == "title":
        ax.set_title("\n".join(notes), loc="right", fontsize=SMALL, color=MUTED)
        return
    low, right = where.startswith("lower"), where.endswith("right")
    ax.annotate(
        "\n".join(notes),
        (1 if right else 0, 0 if low else 1),
        xytext=(-4 if right else 4, 4 if low else -4),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="right" if right else "left",
        va="bottom" if low else "top",
        fontsize=SMALL,
        color=MUTED,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 1.5},
        zorder=6,
    )


def write_figures(ax: Axes, text: str, where: str = "upper left") -> Any:
    """Write numbers into a corner, and return the text."""
    return ax.annotate(
        text,
        (0 if where.endswith("left") else 1, 1 if where.startswith("upper") else 0),
        xytext=(6 if where.endswith("left") else -6, -6 if where.startswith("upper") else 6),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="left" if where.endswith("left") else "right",
        va="top" if where.startswith("upper") else "bottom",
        fontsize=TICK,
        color=INK,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 2},
        zorder=6,
    )
