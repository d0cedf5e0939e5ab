"""The explorer's pictures: what its cards show, as the dictionaries that plotly.js draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from gramian.charts import Scree
from gramian.charts.columns import vectors_of
from gramian.charts.names import noun_of, short_label
from gramian.charts.palette import COLOURS, DIVERGING, INK, MUTED, PALE, colour
from gramian.estimators.cca import correlations
from gramian.explore.datasets import Dataset
from gramian.explore.fitting import SHARE_OF_VARIANCE, Fit
from gramian.figures import chart_figures
from gramian.figures import grammar as g
from gramian.figures.grammar import Figure, Part
from gramian.results import Array
from gramian.tables import Table

#: Points up to which each carries its name, and up to which a browser without WebGL can draw them.
NAMED_POINTS_MAX, POINTS_MAX_WITHOUT_WEBGL = 3_000, 10_000
#: Where space is seen from: far enough that names of axes stay in the picture.
CAMERA_EYE = {"x": 1.5, "y": 1.5, "z": 1.1}
#: Axes of each view.
AXES_OF_VIEWS: tuple[Part, ...] = ({}, {"xaxis": "x2", "yaxis": "y2"})
#: Bars, of the columns with the largest numbers, and letters of a name that stand before them.
CARD_MAX_BARS, CARD_MAX_LETTERS = 16, 14
#: Rows from which correlations, and means and deviations of columns, are taken.
SAMPLED_ROWS_MAX = 20_000
#: Rows of a plane that are rebuilt, and neighbours that are drawn.
REBUILT_ROWS_MAX, NEIGHBOURS = 300, 6
NO_WAY_BACK = "This method cannot rebuild rows from scores."


@dataclass(frozen=True)
class View:
    """How points are looked at: components counted from 0, colours by the groups or the numbers of a column, if any."""

    x: int = 0
    y: int = 1
    z: int = 2
    space: bool = False
    group: str = ""
    column: str = ""
    webgl: bool = True

    @property
    def solid(self) -> bool:
        """Whether there are three axes: without WebGL the browser cannot draw them."""
        return self.space and self.webgl


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points to draw: scores (of two views, if there are two), which rows they are, and which way axes run."""

    scores: Array
    second: Array | None
    rows: Array
    signs: Array
    titles: list[str]


def card(figure: Figure, *, left: int = 58, key: bool = True) -> Part:
    """A figure for a small card, as it is sent.

    Margins are fixed, as measuring labels takes longer than drawing. The key stands in one line above: a legend of
    plotly.js would be broken into lines that lie on the bars.
    """
    frame = {**figure.layout, "modebar": {"bgcolor": g.TRANSPARENT, "color": "#8a9099", "orientation": "v"}}
    frame["margin"] = {"l": left, "r": 14, "t": 30 if key else 12, "b": 46, "autoexpand": False}
    for name in [name for name in frame if name[1:5] == "axis"]:
        frame[name] = {**frame[name], "automargin": False, "ticklabeloverflow": "allow"}
    if key:
        named = [trace for trace in figure.data if trace.get("showlegend", True)]
        words = [f'<span style="color:{trace["marker"]["color"]}">■</span> {trace["name"]}' for trace in named]
        place: Part = {"xref": "paper", "xanchor": "left", "xshift": 10 - left, "yref": "paper", "yshift": 6}
        frame["annotations"] = [g.written("   ".join(words), 0, 1, size=11, yanchor="bottom", **place)]
    return _sent(figure.data, frame)


def _sent(data: list[Part], frame: Part) -> Part:
    return g.encoded({"data": data, "layout": frame})


def message(text: str) -> Part:
    """A picture that says why there is none."""
    note = g.written(text, 0.5, 0.5, xref="paper", yref="paper") | {"font": {"color": MUTED}}
    return _sent([], g.layout({"visible": False}, {"visible": False}, annotations=[note]))


def scree(spectrum: Array, measure: str, k: int) -> Part:
    """The spectrum, with a cut to drag."""
    shares = spectrum / 100 if measure == SHARE_OF_VARIANCE else None
    chart = Scree(xlabel="component", ylabel=measure, values=spectrum, shares=shares, kept=k)
    return card(chart_figures.scree(chart, movable=True), key=False)


def dragged_to(changed: object, most: int) -> int | None:
    """Where somebody left the cut, as a number of components; None if it was not the cut that changed.

    >>> dragged_to({"shapes[0].x0": 3.4, "shapes[0].x1": 3.4}, 10), dragged_to({"autosize": True}, 10)
    (3, None)
    """
    if not isinstance(changed, dict):
        return None
    ends = [changed.get(f"shapes[0].{name}") for name in ("x0", "x1")]
    known = [float(end) for end in ends if isinstance(end, (int, float)) and np.isfinite(end)]
    if len(known) < 2:
        return None
    return int(np.clip(round(sum(known) / 2 - 0.5), 1, most))


def thinned(cloud: Cloud, view: View) -> Cloud:
    """As many points as the browser can draw: all with WebGL, every k-th without."""
    if view.webgl or len(cloud.rows) <= POINTS_MAX_WITHOUT_WEBGL:
        return cloud
    kept = np.linspace(0, len(cloud.rows) - 1, POINTS_MAX_WITHOUT_WEBGL).astype(int)
    second = None if cloud.second is None else cloud.second[kept]
    return replace(cloud, scores=cloud.scores[kept], second=second, rows=cloud.rows[kept])


def scores(data: Dataset, cloud: Cloud, view: View, focus: list[int]) -> Part:
    """Rows as points: in the plane, in space, or in two planes side by side; ``focus`` is a row and its neighbours."""
    points = _points(data, cloud, view)
    both = zip((cloud.scores, cloud.second), AXES_OF_VIEWS, strict=True)
    views = [(each, axes) for each, axes in both if each is not None]
    traces = [{**points, **axes, **coordinates(each, view)} for each, axes in views]
    if focus and not view.solid:
        places = np.flatnonzero(np.isin(cloud.rows, focus))
        order = sorted(places, key=lambda at: focus.index(int(cloud.rows[at])))
        rim = {"width": [3.0] + [1.2] * (len(order) - 1), "color": INK}
        ring: Part = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False}
        ring |= {"marker": {"size": 14, "color": g.TRANSPARENT, "line": rim}}
        traces += [{**ring, **axes, **coordinates(each[order], view)} for each, axes in views]
    # While this stays, the browser keeps its zoom.
    revision = f"{data.key} {data.serial} {view.x} {view.y} {view.z} {view.space} {cloud.second is None}"
    return _sent([*traces, *_key(data, view)], {**_frame(cloud, view), "uirevision": revision})


def coordinates(scores: Array, view: View) -> Part:
    """Coordinates of points; a component that is not there is zero."""
    zero = np.zeros(len(scores), dtype=np.float32)
    asked = [("x", view.x), ("y", view.y), *([("z", view.z)] if view.solid else [])]
    return {name: g.packed(scores[:, at] if at < scores.shape[1] else zero) for name, at in asked}


def marks(data: Dataset, rows: Array, view: View) -> Part:
    """Sizes and colours of points."""
    n = len(rows)
    size = 7 if n <= 1000 else 5 if n <= 10_000 else 3
    given: Part = {"size": max(2, size - 2) if view.space else size, "opacity": 0.85 if n <= 10_000 else 0.5}
    if view.group in data.groups:
        _, codes = np.unique(data.groups[view.group], return_inverse=True)
        last = len(COLOURS)
        steps = [[(at + step) / last, shade] for at, shade in enumerate(COLOURS) for step in (0, 1)]
        return {**given, "color": g.packed(codes[rows] % last), "cmin": -0.5, "cmax": last - 0.5, "colorscale": steps}
    if view.column in data.table.columns:
        values = data.X[rows, data.table.columns.index(view.column)]
        bar = {"title": {"text": g.plain(view.column), "side": "right"}, "thickness": 10, "outlinewidth": 0}
        return {**given, "color": g.packed(values), "colorscale": "Viridis", "showscale": True, "colorbar": bar}
    return {**given, "color": COLOURS[0]}


def direction(signs: Array, at: int) -> str | bool:
    """How an axis runs."""
    return "reversed" if at < len(signs) and signs[at] < 0 else True


def _points(data: Dataset, cloud: Cloud, view: View) -> Part:
    n = len(cloud.rows)
    trace: Part = {
        "type": "scatter3d" if view.solid else "scattergl" if view.webgl else "scatter",
        "mode": "markers",
        "marker": marks(data, cloud.rows, view),
        "showlegend": False,
        "hovertemplate": "row %{pointNumber}<extra></extra>",
    }
    if not view.space:
        trace |= {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 0.12}}}
    if n < len(data.X):
        trace["customdata"] = g.packed(cloud.rows)
    if n <= NAMED_POINTS_MAX:
        group = data.groups.get(view.group)
        names = data.names
        words = [f"{names[at]} ({group[at]})" if group else names[at] for at in cloud.rows.tolist()]
        trace["text"] = [g.plain(word) for word in words]
        trace["hovertemplate"] = "%{text}<br>%{x:.4g}, %{y:.4g}<extra></extra>"
    return trace


def _key(data: Dataset, view: View) -> list[Part]:
    """A key to the colours: a point of each, of which none is drawn."""
    if view.group not in data.groups:
        return []
    dot: Part = {"type": "scatter3d" if view.solid else "scatter", "mode": "markers", "x": [None], "y": [None]}
    dot |= {"showlegend": True, **({"z": [None]} if view.solid else {})}
    return [
        {**dot, "name": g.plain(word), "marker": {"color": colour(at), "size": 8}}
        for at, word in enumerate(np.unique(data.groups[view.group])[:20])
    ]


def _frame(cloud: Cloud, view: View) -> Part:
    key = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemclick": False, "itemdoubleclick": False}
    margin = {"l": 58, "r": 12, "t": 34, "b": 44 if cloud.second is None else 60}
    bar = {"bgcolor": g.TRANSPARENT, "color": "#8a9099", "activecolor": INK, "orientation": "v"}
    more: Part = {"legend": True, "modebar": bar, "font": {"size": 12, "color": INK}}
    picks = (view.x, view.y, view.z)
    titles = [cloud.titles[at] if at < len(cloud.titles) else "(no such component)" for at in picks]
    runs = [direction(cloud.signs, at) for at in picks]
    if view.solid:  # no room for the shares of components
        named = zip("xyz", titles, runs, strict=True)
        scene: Part = {f"{name}axis": g.axis(short_label(title), autorange=run) for name, title, run in named}
        scene |= {"aspectmode": "cube", "camera": {"eye": CAMERA_EYE}}
        return {**g.layout(**more, margin={"l": 0, "r": 0, "t": 34, "b": 0}, scene=scene), "legend": key}
    more |= {"margin": margin, "dragmode": "lasso", "hovermode": "closest"}
    fixed = {"automargin": False, "ticklabeloverflow": "allow", "zerolinecolor": "#c4c7cc"}
    x, y = g.axis(titles[0], autorange=runs[0], **fixed), g.axis(titles[1], autorange=runs[1], **fixed)
    if cloud.second is not None:
        # On a narrow page each view has half of little: what a pair holds goes into a second line.
        words = [f"{which} view, {titles[0]}".replace(" (", "<br>(") for which in ("first", "second")]
        more["xaxis2"] = {**x, "title": {**x["title"], "text": words[1]}, "domain": [0.54, 1], "anchor": "y2"}
        more["yaxis2"] = {**y, "title": {"text": ""}, "anchor": "x2"}
        x = {**x, "title": {**x["title"], "text": words[0]}, "domain": [0, 0.46]}
    return {**g.layout(x, y, **more), "legend": key}


def loadings(data: Dataset, found: Fit, components: list[int]) -> tuple[Part, str]:
    """Weights of columns if the method has them, else their correlations with the scores; and which it is, in words."""
    names, weights, what = column_numbers(data, found)
    noun = noun_of(found.estimator)
    hint = f"How strongly each column counts in each {noun}."
    if what == "correlation":
        hint = f"How strongly each column is correlated with each {noun}."
    return components_of(names, weights, what, components, "bars" if found.choice.pair else data.rows_as, noun), hint


def column_numbers(data: Dataset, found: Fit) -> tuple[Sequence[str], Array, str]:
    """Names of columns, a number for each and each component, and what the numbers are."""
    known = vectors_of(found.estimator)
    if known is not None and not known.second:
        return data.table.columns, known.weights, known.weights_are
    step = max(1, len(data.X) // SAMPLED_ROWS_MAX)
    if found.second is None:
        return data.table.columns, correlated(data.X[::step], found.scores[::step]), "correlation"
    x, y = data.views(found.choice.second)
    names = [*x.columns, *y.columns]
    if known is not None:
        return names, known.values, "correlation"
    views = ((x.values, found.scores), (y.values, found.second))
    return names, np.vstack([correlated(X[::step], T[::step]) for X, T in views]), "correlation"


def correlated(X: Array, T: Array) -> Array:
    """Correlations of columns with scores."""
    T = T.astype(np.float64)
    return correlations(X - X.mean(axis=0), T - T.mean(axis=0))


def components_of(
    names: Sequence[str], weights: Array, what: str, components: list[int], rows_as: str, noun: str = "component"
) -> Part:
    """A number for each column and each of some components, drawn as rows are."""
    shown = {f"{noun} {at + 1}": weights[:, at] for at in dict.fromkeys(components) if at < weights.shape[1]}
    if not shown:
        return message(f"There is no such {noun}.")
    if rows_as == "image":
        return _tiles({name: _square(values) for name, values in shown.items()}, diverging=True)
    if rows_as == "curve":
        parts = enumerate(shown.items())
        return _curves([g.line(list(names), part, name, **g.stroke(colour(at))) for at, (name, part) in parts], what)
    return _bars(names, shown, what)


def sample(n: int) -> Array:
    """Rows of a plane that are rebuilt: every k-th."""
    return np.linspace(0, n - 1, min(n, REBUILT_ROWS_MAX)).astype(int)


def row(data: Dataset, kind: str, focus: list[int], rebuilt: Array | None) -> Part:
    """A row, its rebuilt twin (row 0 of ``rebuilt``) and its neighbours; a plane if ``kind`` says so."""
    X = data.X
    if kind == "plane" and X.shape[1] == 2:
        return _plane(data, rebuilt)
    at, name, near = focus[0], data.names[focus[0]], focus[1 : NEIGHBOURS + 1]
    if kind == "image" and round(X.shape[1] ** 0.5) ** 2 == X.shape[1]:
        tiles = {f"row {name}": X[at], **({} if rebuilt is None else {"rebuilt": rebuilt[0]})}
        tiles |= {f"near: {data.names[other]}": X[other] for other in near}
        return _tiles({title: _square(values) for title, values in tiles.items()})
    if kind == "curve":
        names = list(data.table.columns)
        pale = g.stroke("#c3c8d0", 1)
        lines = [g.line(names, X[other], "rows near it", hoverinfo="skip", **pale) for other in near]
        lines = [{**one, "showlegend": number == 0} for number, one in enumerate(lines)]
        lines.append(g.line(names, X[at], f"row {name}", **g.stroke(colour(0), 2.5)))
        lines += [] if rebuilt is None else [g.line(names, rebuilt[0], "rebuilt", **g.stroke(colour(1), 2, "dot"))]
        return _curves(lines, "value")
    return deviations(data.table, at, rebuilt, name, "rebuilt")


def _plane(data: Dataset, rebuilt: Array | None) -> Part:
    X = data.X
    shown = X if len(X) <= 5000 else X[sample(len(X))]
    traces = [_dots(shown, "rows", PALE)]
    if rebuilt is not None:
        ways = np.stack([X[sample(len(X))], rebuilt, np.full_like(rebuilt, np.nan)], axis=1).reshape(-1, 2)
        traces += [g.outline(ways, "#e7b3a8"), _dots(rebuilt, "rebuilt", colour(1))]
    names = data.table.columns
    return card(Figure(traces, g.layout(g.axis(names[0]), g.axis(names[1], scaleanchor="x"))))


def _dots(at: Array, name: str, shade: str) -> Part:
    return g.line(at[:, 0], at[:, 1], name, mode="markers", marker={"color": shade, "size": 5}, hoverinfo="skip")


def _curves(lines: list[Part], what: str) -> Part:
    return card(Figure(lines, g.layout(g.axis("", type="category", nticks=6), g.axis(what))))


def deviations(table: Table, at: int, rebuilt: Array | None, name: str, twin: str) -> Part:
    """A row and its twin; columns have units of their own: bars are standard deviations away from the mean."""
    X = table.values
    some = X[:: max(1, len(X) // SAMPLED_ROWS_MAX)]
    mean, spread = some.mean(axis=0), some.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    rows = {f"row {name}": X[at], **({} if rebuilt is None else {twin: rebuilt[0]})}
    series = {word: (part - mean) / spread for word, part in rows.items()}
    return _bars(table.columns, series, "deviations from the mean")


def _bars(columns: Sequence[str], series: dict[str, Array], what: str) -> Part:
    """A bar for each column and each of some named numbers; of many columns those with the largest."""
    sizes = np.max([np.abs(values) for values in series.values()], axis=0)
    order = np.sort(np.argsort(-sizes, kind="stable")[:CARD_MAX_BARS])
    if len(columns) > CARD_MAX_BARS:
        what = f"{what}; the {CARD_MAX_BARS} largest of {len(columns):,}"
    names = [columns[at] for at in order]
    figure = g.bars(names, {name: values[order] for name, values in series.items()}, what, longest=CARD_MAX_LETTERS)
    figure.layout["yaxis"] |= {"autorange": False, "range": [len(names) - 0.4, -0.6], "tickfont": {"size": 11}}
    left = 14 + 7 * max(min(len(name), CARD_MAX_LETTERS) for name in names)
    return card(Figure(figure.data, {**figure.layout, "bargap": 0.3}), left=left)


def _square(values: Array) -> Array:
    """A row of side * side numbers as a picture."""
    side = round(len(values) ** 0.5)
    return np.asarray(values[: side * side]).reshape(side, side)


def _tiles(pictures: dict[str, Array], *, diverging: bool = False, across: int = 4) -> Part:
    """Pictures in rows of four at most, each with its title above; zero is the middle of ``diverging`` colours."""
    columns = min(across, len(pictures))
    lines = -(-len(pictures) // columns)
    traces: list[Part] = []
    notes: list[Part] = []
    frame = g.layout(margin={"l": 8, "r": 8, "t": 8, "b": 8})
    for at, (title, pixels) in enumerate(pictures.items()):
        down, right = divmod(at, columns)
        left, top = right / columns, 1 - down / lines
        x, y = [left + 0.02, left + 1 / columns - 0.02], [top - 1 / lines + 0.02, top - 0.14 / lines - 0.04]
        end = "" if at == 0 else str(at + 1)
        hidden = {"visible": False, "fixedrange": True, "constrain": "domain"}
        upright = {"autorange": "reversed", "scaleanchor": f"x{end}", "constraintoward": "top"}
        frame[f"xaxis{end}"] = {**hidden, "domain": x, "anchor": f"y{end}"}
        frame[f"yaxis{end}"] = {**hidden, "domain": y, "anchor": f"x{end}", **upright}
        size = float(np.abs(pixels).max()) or 1.0
        low = -size if diverging else float(min(0.0, pixels.min()))
        scale = g.colour_scale(DIVERGING if diverging else ("#ffffff", INK))
        look = {"zmin": low, "zmax": size, "colorscale": scale, "showscale": False}
        axes = {"xaxis": f"x{end}", "yaxis": f"y{end}", "hovertemplate": "%{z:.3g}<extra></extra>"}
        traces.append({"type": "heatmap", "z": pixels, **axes, **look})
        place: Part = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
        notes.append(g.written(g.plain(title), sum(x) / 2, y[1] + 0.01, **place))
    return _sent(traces, {**frame, "annotations": notes})
