"""Regressions: errors of rows left out, predictions against measurements, columns that count."""

from __future__ import annotations

from typing import Any, Self

from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from gramian import charts
from gramian.charts import CVCurve, Predicted
from gramian.plots.display import Display, write_figures, write_notes
from gramian.plots.points import draw_points, list_groups
from gramian.plots.style import INK, LINE_MARKERS, MUTED, Axes, colour, legend, literal, tidy


class CVCurveDisplay(Display[CVCurve], data=charts.cv_curve):
    """Cross-validated errors with the one-standard-error mark.

    Attributes
    ----------
    lines_ : list of ErrorbarContainer
        One for each target.
    limit_ : Line2D or None
        The least error and one standard error.
    marks_ : list of Line2D
        The least error, and the recommended choice.
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        self.lines_ = []
        for j, name in enumerate(chart.targets):
            doubts = None if chart.standard_errors is None else chart.standard_errors[:, j]
            look: dict[str, Any] = {"color": colour(j), "marker": LINE_MARKERS[j % len(LINE_MARKERS)], "markersize": 4}
            look |= {"linewidth": 1.3, "elinewidth": 0.8, "capsize": 2, "label": literal(name) or None}
            self.lines_.append(ax.errorbar(chart.x, chart.errors[:, j], yerr=doubts, **look))
        self.limit_ = None
        if chart.limit is not None:
            text = "least error + 1 standard error"
            self.limit_ = ax.axhline(chart.limit, color=MUTED, linewidth=0.9, linestyle="--", label=text)
        self.marks_ = self._mark(ax)
        if chart.logarithmic:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        ax.set_ylim(bottom=0)
        legend(ax, where="best" if chart.logarithmic else "upper right")

    def _name(self, at: int) -> str:
        x = self.chart.x[at]
        return f"{x:.3g}" if self.chart.logarithmic else f"{x} component" + ("" if x == 1 else "s")

    def _mark(self, ax: Axes) -> list[Any]:
        chart = self.chart
        best, chosen = chart.best, chart.recommended
        marks = [(best, "D", 9, ":", f"least: {self._name(best)}")]
        if chosen != best:
            marks.append((chosen, "*", 15, "-", f"recommended: {self._name(chosen)}"))
        if len(chart.targets) > 1:
            look: dict[str, Any] = {"color": INK, "linewidth": 0.9}
            return [ax.axvline(chart.x[at], linestyle=line, label=name, **look) for at, _, _, line, name in marks]
        look = {"color": INK, "linewidth": 0, "markerfacecolor": "none", "markeredgewidth": 1.1, "zorder": 5}
        return [
            ax.plot(chart.x[at], chart.errors[at, 0], marker=shape, markersize=size, label=name, **look)[0]
            for at, shape, size, _, name in marks
        ]


class PredictedDisplay(Display[Predicted], data=charts.predicted):
    """Predicted against measured values, with the line of equality and the figures of merit.

    Attributes
    ----------
    line_ : Line2D
        The line of equality.
    scatter_, image_, colorbar_
        Rows.
    text_ : Text
        Figures of merit.
    """

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_pred: ArrayLike, *, ax: Axes | None = None, title: str | None = None, **options: Any
    ) -> Self:
        """Draw predictions that are there already; see :func:`gramian.charts.from_values`."""
        chart: Any = charts.from_values(y_true, y_pred, **options)
        return cls(chart).plot(ax, title=title)

    def _draw(self, ax: Axes, title: str) -> None:
        chart, figures = self.chart, self.chart.merit
        tidy(ax, title, chart.xlabel, chart.ylabel)
        ends = [chart.low, chart.high]
        self.line_ = ax.plot(ends, ends, color=MUTED, linewidth=0.9, zorder=2)[0]
        self.scatter_, self.image_, self.colorbar_ = draw_points(ax, chart.points)
        ax.set(xlim=ends, ylim=ends)
        ax.set_aspect("equal", adjustable="box")
        list_groups(ax, chart.points)
        legend(ax, where="lower right")
        tiny = abs(figures.bias) <= 1e-9 * figures.rmse  # rounding is no bias
        lines = [f"n = {figures.n:,}", f"{figures.error_name} {figures.rmse:.4g}"]
        lines.append("bias 0" if tiny else f"bias {figures.bias:+.2g}")
        lines += [f"R² {figures.r2:.3f}", f"RPD {figures.rpd:.3g}"]
        self.text_ = write_figures(ax, "\n".join(lines))
        write_notes(ax, chart.notes)
