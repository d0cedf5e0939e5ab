"""Over components or steps: scree, certificate of eigenpairs, likelihood, errors of rows left out, correlations."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from matplotlib.ticker import MaxNLocator

from gramian import charts
from gramian.charts import Correlations, CVCurve, Likelihood, Residuals, Scree
from gramian.charts.palette import INK, MUTED, PALE, colour
from gramian.estimators.cca_tests import least_chance
from gramian.plots.display import Display, write_figures, write_notes
from gramian.plots.style import LINE_MARKERS, SMALL, Axes, legend, literal, panels, tidy, whole_numbers
from gramian.results import Array, at_most, percent, plural

__all__ = ["CVCurveDisplay", "CorrelationsDisplay", "LikelihoodDisplay", "ResidualsDisplay", "ScreeDisplay"]

#: Letters in a line of the list of suggestions.
LIST_MAX_LETTERS = 44
#: The look of what chance gives.
BAND: dict[str, Any] = {"color": PALE, "alpha": 0.6, "linewidth": 0}


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

    def _draw(self, ax: Axes, chart: Scree, title: str) -> None:
        values = chart.values if chart.shares is None else 100 * chart.shares
        unit = float(values[0] / chart.values[0]) if chart.values[0] > 0 else 1.0
        at = sum(line.get_gid() == "scree" for line in ax.lines)
        look: dict[str, Any] = {"color": colour(at), "marker": LINE_MARKERS[at % len(LINE_MARKERS)], "markersize": 4.5}
        self.line_ = ax.plot(
            chart.numbers, values, markerfacecolor="white", linewidth=1.3, gid="scree", zorder=3, **look
        )[0]
        kept = slice(chart.kept)
        ax.plot(chart.numbers[kept], values[kept], linewidth=0, zorder=3.1, label=self._label(), **look)
        self.band_: Any = None
        if chart.low is not None and chart.middle is not None and chart.high is not None:
            ax.plot(chart.numbers, unit * chart.middle, color=MUTED, linewidth=0.8, linestyle="--", zorder=2)
            paper: dict[str, Any] = {**BAND, "zorder": 1.5, "label": "random tables, 5 to 95 %"}
            self.band_ = ax.fill_between(chart.numbers, unit * chart.low, unit * chart.high, **paper)
        whole_numbers(ax.xaxis, max(len(values), int(ax.get_xlim()[1])))
        ax.set_ylim(0, max(ax.get_ylim()[1], 1.1 * float(values.max())) if at else 1.1 * float(values.max()))
        if chart.shares is not None:
            tidy(ax, title, chart.xlabel, "share of variance, %")
        if chart.suggestions:
            self._draw_suggestions(ax, chart)
        legend(ax, where="upper right")
        named = ax.get_legend()
        self.suggestions_ = named.get_texts()[-1] if chart.suggestions and named is not None else None

    def _label(self) -> str | None:
        chart = self.chart
        if self.name and chart.shares is not None:
            return f"{self.name}: {percent(float(chart.shares[: chart.kept].sum()))} in {chart.kept} components"
        return self.name or (f"fitted ({chart.kept})" if chart.high is not None else None)

    def _draw_suggestions(self, ax: Axes, chart: Scree) -> None:
        """Mark every number that a criterion says, and list the criteria in the legend."""
        votes: dict[int, list[str]] = {}
        for line in chart.suggestions:
            assert line.k is not None
            votes.setdefault(line.k, []).append(line.criterion)
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


class LikelihoodDisplay(Display[Likelihood], data=charts.likelihood):
    """Log-likelihood of every step, and what was still to gain, by orders of magnitude.

    Attributes
    ----------
    axes_ : list of two Axes
    lines_ : list of two Line2D
    """

    def _draw(self, ax: Axes, chart: Likelihood, title: str) -> None:
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

    def _draw(self, ax: Axes, chart: Residuals, title: str) -> None:
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

    def _draw(self, ax: Axes, chart: CVCurve, title: str) -> None:
        self.lines_ = []
        only = "RMSECV" if len(chart.kinds) > 1 else None
        for j, name in enumerate(chart.targets):
            doubts = None if chart.standard_errors is None else chart.standard_errors[:, j]
            look: dict[str, Any] = {"color": colour(j), "marker": LINE_MARKERS[j % len(LINE_MARKERS)], "markersize": 4}
            look |= {"linewidth": 1.3, "elinewidth": 0.8, "capsize": 2, "label": literal(name) or only}
            self.lines_.append(ax.errorbar(chart.x, chart.errors[:, j], yerr=doubts, **look))
        others = [(kind, part) for kind, part in chart.kinds.items() if part is not chart.errors]
        for at, (kind, part) in enumerate(others if len(chart.targets) == 1 else ()):
            ax.plot(chart.x, part[:, 0], color=colour(at + 1), marker=LINE_MARKERS[at + 1], markersize=4, label=kind)
        self.limit_ = None
        if chart.limit is not None:
            text = "least error + 1 standard error"
            self.limit_ = ax.axhline(chart.limit, color=MUTED, linewidth=0.9, linestyle="--", label=text)
        self.marks_ = self._mark(ax, chart)
        if chart.logarithmic:
            ax.set_xscale("log")
        else:
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        ax.set_ylim(bottom=0)
        legend(ax, where="best" if chart.logarithmic else "upper right")

    def _mark(self, ax: Axes, chart: CVCurve) -> list[Any]:
        marks = [(chart.best, "D", 9, ":", "least"), (chart.recommended, "*", 15, "-", "recommended")]
        found: list[Any] = []
        for at, shape, size, style, word in marks[: 1 if chart.best == chart.recommended else 2]:
            x: Any = chart.x[at]
            name = f"{word}: {f'{x:.3g}' if chart.logarithmic else plural(x, 'component')}"
            if len(chart.targets) > 1:
                found.append(ax.axvline(x, color=INK, linewidth=0.9, linestyle=style, label=name))
            else:
                look: dict[str, Any] = {"linewidth": 0, "markerfacecolor": "none", "markeredgewidth": 1.1, "zorder": 5}
                y = chart.errors[at, 0]
                found += ax.plot(x, y, color=INK, marker=shape, markersize=size, label=name, **look)
        return found


class CorrelationsDisplay(Display[Correlations], data=charts.correlations):
    """Canonical correlations with the band of rows paired at random.

    Attributes
    ----------
    line_ : Line2D
        The correlations.
    band_ : PolyCollection or None
        What chance gives, up to its 95 % quantile.
    held_out_ : Line2D or None
        Correlations of rows left out.
    """

    def _draw(self, ax: Axes, chart: Correlations, title: str) -> None:
        pairs = np.arange(1, len(chart.values) + 1)
        self.band_: Any = None
        self.held_out_: Any = None
        if chart.high is not None and chart.middle is not None:
            x, high = _widened(pairs, chart.high)
            self.band_ = ax.fill_between(x, 0, high, label="rows paired at random, to 95 %", **BAND)
            ax.plot(*_widened(pairs, chart.middle), color=MUTED, linewidth=0.8, linestyle="--")
        if chart.plain is not None:
            text = "correlation of the scores"
            ax.plot(pairs, chart.plain, "s-", color=colour(2), linewidth=1.3, markersize=5, label=text)
        text = "fitted" if chart.plain is None else "regularised: with the ridge"
        self.line_ = ax.plot(pairs, chart.values, "o-", color=colour(0), linewidth=1.3, markersize=5, label=text)[0]
        if chart.held_out is not None:
            shown = chart.held_out[: len(pairs)]
            open_: dict[str, Any] = {"color": colour(1), "markerfacecolor": "white", "markersize": 5}
            self.held_out_ = ax.plot(pairs[: len(shown)], shown, "D--", label="rows left out", **open_)[0]
        if chart.p_values is not None and len(pairs) <= 10:
            look: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL, "color": INK}
            for at, value, p in zip(pairs, chart.values, chart.p_values, strict=True):
                said = f"≤ {at_most(p)}" if p <= least_chance(chart.shuffles) else f"= {p:.2g}"
                ax.annotate(f"p {said}", (at, value), (0, 7), **look)
        whole_numbers(ax.xaxis, len(pairs))
        lowest = 0.0 if chart.held_out is None else float(min(chart.held_out.min(initial=0.0), 0.0))
        ax.set(ylim=(1.1 * lowest, 1.08), xlim=(0.5, len(pairs) + 0.5))
        legend(ax)
        write_notes(ax, chart.notes)


def _widened(pairs: Array, values: Array) -> tuple[Array, Array]:
    """A line that reaches half a pair further to both sides, so that a single pair has a band too."""
    return np.concatenate([[0.5], pairs, [pairs[-1] + 0.5]]), np.concatenate([values[:1], values, values[-1:]])
