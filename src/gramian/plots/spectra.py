"""Over the components: the scree, the certificate of eigenpairs, the path of the likelihood."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from gramian import charts
from gramian.charts import Likelihood, Residuals, Scree
from gramian.plots.display import Display, write_figures
from gramian.plots.style import INK, LINE_MARKERS, MUTED, PALE, Axes, colour, legend, panels, tidy, whole_numbers
from gramian.results import percent

#: Letters in a line of the list of suggestions.
LIST_MAX_LETTERS = 44


class ScreeDisplay(Display[Scree], data=charts.scree):
    """Scree plot: what each component holds.

    Filled marks are components of the fit, open ones those it left out. The grey band is where 90 % of random tables
    lie (parallel analysis). Triangles show what each criterion of :func:`gramian.selection.how_many` says; the list
    names them, the one that decides first.

    Parameters
    ----------
    chart : Scree
        From :func:`gramian.charts.scree`.
    name : str
        Written in a legend with the share of all components; drawing several on the same axes compares them.

    Attributes
    ----------
    line_ : Line2D
        The variances.
    band_ : PolyCollection or None
        Random tables.
    suggestions_ : Text or None
        The list of what criteria say.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from gramian import PCA
    >>> from gramian.plots import ScreeDisplay
    >>> X = load_wine().data
    >>> display = ScreeDisplay.from_estimator(PCA(3, scale=True).fit(X), X)
    >>> display.ax_.get_ylabel()
    'share of variance, %'
    """

    def __init__(self, chart: Scree, *, name: str = "") -> None:
        super().__init__(chart)
        self.name = name

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        values = chart.values if chart.shares is None else 100 * chart.shares
        unit = float(values[0] / chart.values[0]) if chart.values[0] > 0 else 1.0
        at = sum(line.get_gid() == "scree" for line in ax.lines)
        look: dict[str, Any] = {"color": colour(at), "marker": LINE_MARKERS[at % len(LINE_MARKERS)], "markersize": 4.5}
        self.line_ = ax.plot(
            chart.numbers, values, markerfacecolor="white", linewidth=1.3, gid="scree", zorder=3, **look
        )[0]
        kept = slice(chart.kept)
        ax.plot(chart.numbers[kept], values[kept], linewidth=0, zorder=3.1, label=self._label(), **look)
        self.band_ = self._draw_band(ax, unit)
        whole_numbers(ax.xaxis, max(len(values), int(ax.get_xlim()[1])))
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.1 * float(values.max())) if at else 1.1 * float(values.max()))
        tidy(ax, title, chart.xlabel, chart.ylabel if chart.shares is None else "share of variance, %")
        suggested = self._draw_suggestions(ax)
        legend(ax, where="upper right")
        named = ax.get_legend()
        self.suggestions_ = named.get_texts()[-1] if suggested and named is not None else None

    def _label(self) -> str | None:
        chart = self.chart
        if self.name and chart.shares is not None:
            return f"{self.name}: {percent(float(chart.shares[: chart.kept].sum()))} in {chart.kept} components"
        return self.name or (f"fitted ({chart.kept})" if chart.high is not None else None)

    def _draw_band(self, ax: Axes, unit: float) -> Any:
        x, low, middle, high = self.chart.numbers, self.chart.low, self.chart.middle, self.chart.high
        if low is None or middle is None or high is None:
            return None
        ax.plot(x, unit * middle, color=MUTED, linewidth=0.8, linestyle="--", zorder=2)
        look: dict[str, Any] = {"color": PALE, "alpha": 0.6, "linewidth": 0, "zorder": 1.5}
        return ax.fill_between(x, unit * low, unit * high, label="random tables, 5 to 95 %", **look)

    def _draw_suggestions(self, ax: Axes) -> bool:
        """Mark every number that a criterion says, and list the criteria in the legend."""
        chart = self.chart
        votes: dict[int, list[str]] = {}
        for line in chart.suggestions:
            assert line.k is not None
            votes.setdefault(line.k, []).append(line.criterion)
        if not votes:
            return False
        recommended = chart.recommended or 0
        if recommended:
            ax.axvline(recommended, color=INK, linewidth=0.8, linestyle=":", zorder=1)
        lines = ["suggested:", f"{recommended}  {chart.decided_by} (decides)"]
        for k in sorted(votes):
            rest = ", ".join(name for name in votes[k] if name != chart.decided_by)
            lines += textwrap.wrap(f"{k}  {rest}", LIST_MAX_LETTERS, subsequent_indent="    ") if rest else []
        shown = [k for k in votes if k <= len(chart.values)]
        look: dict[str, Any] = {"color": INK, "marker": "^", "markersize": 6, "linewidth": 0, "clip_on": False}
        ax.plot(shown, np.zeros(len(shown)), zorder=4, label="\n".join(lines), **look)
        return True


class LikelihoodDisplay(Display[Likelihood], data=charts.likelihood):
    """Log-likelihood of every step, and what was still to gain, by orders of magnitude.

    Attributes
    ----------
    axes_ : list of two Axes
    lines_ : list of two Line2D
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        self.axes_ = above, below = panels(ax, 2, 1, shared="x")
        few = len(chart.steps) <= 30
        style: dict[str, Any] = {"linewidth": 1.4, "marker": "o" if few else "", "markersize": 3.5}
        self.lines_ = above.plot(chart.steps, chart.values, color=colour(0), **style)
        self.lines_ += below.semilogy(chart.steps[:-1], chart.left, color=colour(1), **style)
        tidy(above, title, "", chart.ylabel)
        tidy(below, "", chart.xlabel, "still to gain")
        above.tick_params(labelbottom=False)
        below.xaxis.set_major_locator(MaxNLocator(integer=True))
        write_figures(above, f"{chart.values[-1]:.6g} after {len(chart.steps):,} steps", "lower right")


class ResidualsDisplay(Display[Residuals], data=charts.residuals):
    """The certificate of a spectrum: residuals, gaps, and how far directions can be off.

    Attributes
    ----------
    lines_ : list of three Line2D
        Gaps, bounds on angles, residuals.
    """

    def _draw(self, ax: Axes, title: str) -> None:
        chart = self.chart
        tidy(ax, title, chart.xlabel, chart.ylabel)
        floor = np.finfo(np.float64).eps
        ax.axhline(floor, color=MUTED, linewidth=0.8, linestyle=":", label="rounding of double precision")
        parts = [
            (chart.gaps, "s-", colour(2), "gap to the next eigenvalue"),
            (chart.angles, "^-", colour(1), "angle of the direction, at most"),
            (chart.residuals, "o-", colour(0), "residual"),
        ]
        look: dict[str, Any] = {"markersize": 4, "linewidth": 1.1}
        self.lines_: list[Any] = []
        for values, style, shade, name in parts:
            shown = np.maximum(values, floor / 4)  # a residual of zero has a place too
            self.lines_ += ax.plot(chart.numbers, shown, style, color=shade, label=name, **look)
        ax.set_yscale("log")
        ax.set_ylim(floor / 10, 30)
        whole_numbers(ax.xaxis, len(chart.numbers))
        legend(ax)
