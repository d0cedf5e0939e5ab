"""The explorer's pictures: what its cards show, as the dictionaries that plotly.js draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian import charts
from gramian.charts import Colouring
from gramian.charts.columns import vectors_of
from gramian.charts.names import noun_of, short_label
from gramian.charts.palette import COLOURS, DIVERGING, colour
from gramian.estimators.cca import correlations
from gramian.explore.datasets import Dataset
from gramian.explore.fitting import ERRORS, NO_ROWS, SHARE_OF_VARIANCE, Fit
from gramian.figures import chart_figures
from gramian.figures import grammar as g
from gramian.figures.grammar import Figure, Part
from gramian.results import Array
from gramian.tables import Table

#: Buttons of a picture.
MODEBAR = {"bgcolor": g.TRANSPARENT, "color": g.THEME_MUTED, "activecolor": g.THEME_INK, "orientation": "v"}
#: Points up to which each says its group, and up to which a browser without WebGL can draw them.
NAMED_POINTS_MAX, POINTS_MAX_WITHOUT_WEBGL = 3_000, 10_000
#: Where space is seen from: far enough that names of axes stay in the picture.
CAMERA_EYE = {"x": 1.5, "y": 1.5, "z": 1.1}
#: Axes of each view.
AXES_OF_VIEWS: tuple[Part, ...] = ({}, {"xaxis": "x2", "yaxis": "y2"})
#: Bars, of the columns with the largest numbers, and letters of a name that stand before them.
CARD_MAX_BARS, CARD_MAX_LETTERS = 16, 14
#: Arrows of a biplot, the longest.
ARROWS_MAX = 25
#: Rows from which correlations, and means and deviations of columns, are taken.
SAMPLED_ROWS_MAX = 20_000
#: Rows of a plane that are rebuilt, and neighbours that are drawn.
REBUILT_ROWS_MAX, NEIGHBOURS = 300, 6
NO_WAY_BACK = "This method cannot rebuild rows from scores."


ONE_COLOUR = Colouring()


@dataclass(frozen=True)
class View:
    """How points are looked at: components counted from one, colours by the groups or the numbers of a column, if any.

    ``column`` is coloured by, a group if ``kind`` is "group"; ``predicted``: by what is predicted.
    """

    x: int = 1
    y: int = 2
    z: int = 3
    space: bool = False
    kind: str = ""
    column: str = ""
    biplot: bool = False
    named: bool = False
    webgl: bool = True
    phone: bool = False

    @property
    def solid(self) -> bool:
        """Whether there are three axes: without WebGL the browser cannot draw them."""
        return self.space and self.webgl

    @property
    def places(self) -> list[int]:
        """Places of the components on the axes."""
        return [self.x - 1, self.y - 1]


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points to draw: scores (of two views, if there are two), which rows they are, which way axes run, colours.

    ``wrong`` are rows whose class is predicted wrongly, ``behind`` is drawn behind the points.
    """

    scores: Array
    second: Array | None
    rows: Array
    signs: Array
    titles: list[str]
    paint: Colouring = ONE_COLOUR
    wrong: Array = field(default_factory=lambda: NO_ROWS)
    behind: Figure | None = None
    columns: tuple[Sequence[str], Array] | None = None


def paint(data: Dataset, found: Fit | None, view: View) -> Colouring:
    """Colours of the rows: by groups, by the numbers of a column, or by what is predicted."""
    if view.kind == "group" and view.column in data.groups:
        return _grouped(view.column, data.groups[view.column])
    if view.kind == "column" and view.column in data.table.columns:
        return Colouring(view.column, values=data.X[:, data.table.columns.index(view.column)])
    shown = view.kind == "predicted" or (view.kind == "one" and found is not None and found.choice.maps)
    guesses = found.guesses if shown and found is not None else None
    if guesses is None:
        return Colouring()
    if guesses.dtype.kind == "f":
        return Colouring("predicted", values=guesses)
    return _grouped("predicted", [f"cluster {at + 1}" for at in guesses] if guesses.dtype.kind == "i" else guesses)


def _grouped(name: str, words: Sequence[str] | Array) -> Colouring:
    groups, codes = np.unique(words, return_inverse=True)
    return Colouring(name, tuple(map(str, groups)), codes)


def card(figure: Figure, *, left: int = 58, key: bool = True) -> Part:
    """A figure for a small card, as it is sent.

    Margins are fixed, as measuring labels takes longer than drawing. The key stands in one line above: a legend of
    plotly.js would be broken into lines that lie on the bars.
    """
    frame = {**figure.layout, "modebar": MODEBAR}
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
    return {"data": data, "layout": frame}


def message(text: str) -> Part:
    """A picture that says why there is none."""
    note = g.written(text, 0.5, 0.5, xref="paper", yref="paper") | {"font": {"color": g.THEME_MUTED}}
    return _sent([], g.layout({"visible": False}, {"visible": False}, annotations=[note]))


def scree(spectrum: Array, measure: str, k: int, noun: str = "component") -> Part:
    """The spectrum, with a cut to drag."""
    shares = spectrum / 100 if measure == SHARE_OF_VARIANCE else None
    label = f"{noun}s" if measure == ERRORS else noun
    chart = charts.Scree(xlabel=label, ylabel=measure, values=spectrum, shares=shares, kept=k)
    return card(chart_figures.scree(chart, movable=True), key=False)


def judged(found: Fit) -> Part:
    """How good predictions are: against measurements, of which class for which; sizes of clusters."""
    if found.choice.row.clusters:
        sizes = np.bincount(np.asarray(found.guesses))
        return _bars([f"cluster {at + 1}" for at in range(len(sizes))], {"rows": sizes}, "rows")
    if found.predicted is not None:
        chart = replace(found.predicted, xlabel=f"measured {found.choice.target}")
        return card(chart_figures.predicted(chart), key=False)
    table = found.confusion
    counts = np.column_stack([table[name] for name in table.index]).astype(np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ends = {"showscale": False, "zmin": 0, "zmax": 1, "colorscale": g.colour_scale((g.THEME_RAISED, COLOURS[0]))}
    cells: Part = {"type": "heatmap", "z": shares, **ends, "xgap": 1, "ygap": 1, "hoverinfo": "skip"}
    cells |= {"text": [[f"{int(n)}" if n else "" for n in line] for line in counts], "texttemplate": "%{text}"}
    names = [g.plain(name, CARD_MAX_LETTERS) for name in table.index]
    ticks: Part = {
        "zeroline": False,
        "tickmode": "array",
        "tickvals": np.arange(len(names)),
        "ticktext": names,
        "showgrid": False,
    }
    down = g.axis("true class", **ticks, autorange="reversed")
    frame = g.layout(g.axis("predicted class", **ticks), down)
    return card(Figure([cells], frame), left=34 + 7 * max(map(len, names)), key=False)


def ridges(found: Fit) -> Part | None:
    """Errors over ridges, if the method has them."""
    chart = found.curve
    if chart is None:
        return None
    figure = chart_figures.cv_curve(chart)
    x = np.array([found.choice.ridge])
    y = np.interp(x, chart.x, chart.errors[:, 0])
    figure.data.append(g.line(x, y, "chosen", mode="markers", marker={"size": 12, "color": COLOURS[1]}))
    return card(figure, key=False)


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
        rim = {"width": [3.0] + [1.2] * (len(focus) - 1), "color": g.THEME_INK}
        traces += _rings(cloud, views, view, focus, {"size": 14, "color": g.TRANSPARENT, "line": rim})
    traces += _key(cloud, view)
    if not view.solid:
        cross = {"size": 10, "symbol": "x-thin", "line": {"width": 1.6, "color": g.THEME_INK}}
        shown: Part = {"name": "wrong", "showlegend": True}
        traces += [{**trace, **shown} for trace in _rings(cloud, views, view, cloud.wrong.tolist(), cross)]
    frame = _frame(cloud, view)
    if cloud.behind is not None and not view.solid and view.places == [0, 1]:
        traces += cloud.behind.data
        frame["images"] = cloud.behind.layout["images"]
    if not view.solid and cloud.second is None:
        frame["annotations"] = _written_beside(data, cloud, view)
    # While this stays, the browser keeps its zoom.
    revision = f"{data.key} {data.serial} {view.places} {view.z} {view.space} {cloud.second is None}"
    frame["margin"] = frame["margin"] | {"t": _room_for_key(traces, view)}
    return _sent(traces, {**frame, "uirevision": revision})


def _room_for_key(traces: list[Part], view: View) -> int:
    """Pixels above the picture: plotly.js gives each entry of a key of several lines as much room as the longest."""
    names = [trace["name"] for trace in traces if "name" in trace and trace.get("showlegend", True)]
    width = 260 if view.phone else 600
    lines = -(-len(names) // max(1, width // (48 + 7 * max(map(len, names), default=0))))
    return 20 + 19 * max(1, min(lines, 6))


def _rings(cloud: Cloud, views: list[tuple[Array, Part]], view: View, rows: list[int], marker: Part) -> list[Part]:
    """Marks around some rows, in the order given."""
    order = {row: at for at, row in enumerate(rows)}
    places = sorted(np.flatnonzero(np.isin(cloud.rows, rows)), key=lambda at: order[int(cloud.rows[at])])
    if not places:
        return []
    ring: Part = {"type": "scatter", "mode": "markers", "hoverinfo": "skip", "showlegend": False, "marker": marker}
    return [{**ring, **axes, **coordinates(each[places], view)} for each, axes in views]


def _written_beside(data: Dataset, cloud: Cloud, view: View) -> list[Part]:
    """Arrows of a biplot with the names of columns, and names of the rows, where there is room for them."""
    x, y = view.places
    if max(x, y) >= cloud.scores.shape[1] or not (view.named or (view.biplot and cloud.columns)):
        return []
    turned = cloud.signs[[x, y]]
    at = cloud.scores[:, [x, y]].astype(np.float64) * turned
    names = tuple(data.names) if view.named else None
    fields: Any = {"points": charts.Points(at, cloud.rows, Colouring(), None, len(at)), "names": names}
    chart = charts.Scores(**fields)
    if view.biplot and cloud.columns:
        columns, weights = cloud.columns
        ends = weights[:, [x, y]] * turned
        order = np.argsort(-np.linalg.norm(ends, axis=1), kind="stable")[:ARROWS_MAX]
        longest = float(np.linalg.norm(ends[order[:1]])) or 1.0
        factor = 0.9 * float(np.linalg.norm(at, axis=1).max(initial=0.0)) / longest
        named = tuple(columns[row] for row in order)
        chart = charts.Biplot(**fields, columns=named, arrows=factor * ends[order], factor=factor)
    figure = chart_figures.scores(chart)
    notes = (figure.narrow if view.phone else figure.layout).get("annotations", [])
    return [{**note, "x": float(note["x"] * turned[0]), "y": float(note["y"] * turned[1])} for note in notes]


def coordinates(scores: Array, view: View) -> Part:
    """Coordinates of points; a component that is not there is zero."""
    zero = np.zeros(len(scores), dtype=np.float32)
    asked = zip("xyz", [*view.places, *([view.z - 1] if view.solid else [])], strict=False)
    return {name: g.packed(scores[:, at] if at < scores.shape[1] else zero) for name, at in asked}


def marks(colours: Colouring, n: int, view: View) -> Part:
    """Sizes and colours of n points."""
    size = 7 if n <= 1000 else 5 if n <= 10_000 else 3
    given: Part = {"size": max(2, size - 2) if view.space else size, "opacity": 0.85 if n <= 10_000 else 0.5}
    if colours.codes is not None:
        last = len(COLOURS)
        steps = [[(at + step) / last, shade] for at, shade in enumerate(COLOURS) for step in (0, 1)]
        return {**given, "color": g.packed(colours.codes % last), "cmin": -0.5, "cmax": last - 0.5, "colorscale": steps}
    if colours.values is not None:
        title = {"text": g.plain(colours.name), "side": "right"}
        bar = {"title": title, "thickness": 10, "outlinewidth": 0, "tickfont": {"color": g.THEME_INK}}
        return {**given, "color": g.packed(colours.values), "colorscale": "Viridis", "showscale": True, "colorbar": bar}
    return {**given, "color": COLOURS[0]}


def direction(signs: Array, at: int) -> str | bool:
    """How an axis runs."""
    return "reversed" if at < len(signs) and signs[at] < 0 else True


def _points(data: Dataset, cloud: Cloud, view: View) -> Part:
    n, rows = len(cloud.rows), cloud.rows
    trace: Part = {
        "type": "scatter3d" if view.solid else "scattergl" if view.webgl else "scatter",
        "mode": "markers",
        "marker": marks(cloud.paint.of(rows), n, view),
        "showlegend": False,
        # Row of the table, from 0, for whoever picks a point.
        **({"customdata": g.packed(rows)} if n < len(data.X) else {}),
    }
    if not view.space:
        trace |= {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 0.12}}}
    group = None if cloud.paint.codes is None else [cloud.paint.groups[code] for code in cloud.paint.codes]
    told = zip(rows.tolist(), [data.names[at] for at in rows.tolist()], strict=True)
    words = [f"{name} ({group[at]})" if group and n <= NAMED_POINTS_MAX else name for at, name in told]
    trace["text"] = [g.plain(word) for word in words]
    trace["hovertemplate"] = f"{data.row_word}%{{text}}<br>%{{x:.4g}}, %{{y:.4g}}<extra></extra>"
    return trace


def _key(cloud: Cloud, view: View) -> list[Part]:
    """A key to the colours: a point of each, of which none is drawn."""
    dot: Part = {"type": "scatter3d" if view.solid else "scatter", "mode": "markers", "x": [None], "y": [None]}
    dot |= {"showlegend": True, **({"z": [None]} if view.solid else {})}
    return [
        {**dot, "name": g.plain(word), "marker": {"color": colour(at), "size": 8}}
        for at, word in enumerate(cloud.paint.groups[:20])
    ]


def _frame(cloud: Cloud, view: View) -> Part:
    key = {"orientation": "h", "y": 1.0, "yanchor": "bottom", "x": 0, "itemclick": False, "itemdoubleclick": False}
    # Fixed, as plotly.js would move the key into the picture.
    margin = {"l": 58, "r": 90 if cloud.paint.values is not None else 12, "autoexpand": False}
    margin |= {"b": 44 if cloud.second is None else 60}
    more: Part = {"legend": True, "modebar": MODEBAR, "font": {"size": 12, "color": g.THEME_INK}}
    picks = (*view.places, view.z - 1)
    titles = [cloud.titles[at] if at < len(cloud.titles) else "(no such component)" for at in picks]
    runs = [direction(cloud.signs, at) for at in picks]
    if view.solid:  # no room for the shares of components
        named = zip("xyz", titles, runs, strict=True)
        scene: Part = {f"{name}axis": g.axis(short_label(title), autorange=run) for name, title, run in named}
        scene |= {"aspectmode": "cube", "camera": {"eye": CAMERA_EYE}}
        return {**g.layout(**more, margin={"l": 0, "r": 0, "t": 34, "b": 0}, scene=scene), "legend": key}
    more |= {"margin": margin, "dragmode": "lasso", "hovermode": "closest"}
    fixed = {"automargin": False, "ticklabeloverflow": "allow"}
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
    data = found.choice.seen(data)
    hint = f"How strongly each column counts in each {noun}."
    if what == "correlation":
        hint = f"How strongly each column is correlated with each {noun}."
    return components_of(names, weights, what, components, "bars" if found.choice.pair else data.rows_as, noun), hint


def column_numbers(data: Dataset, found: Fit) -> tuple[Sequence[str], Array, str]:
    """Names of columns, a number for each and each component, and what the numbers are."""
    data, known = found.choice.seen(data), vectors_of(found.estimator)
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
        return _plane(data, rebuilt, focus)
    at, name, near = focus[0], data.names[focus[0]], focus[1 : NEIGHBOURS + 1]
    if kind == "image" and round(X.shape[1] ** 0.5) ** 2 == X.shape[1]:
        tiles = {f"row {name}": X[at], **({} if rebuilt is None else {"rebuilt": rebuilt[0]})}
        tiles |= {f"near: {data.names[other]}": X[other] for other in near}
        return _tiles({title: _square(values) for title, values in tiles.items()})
    if kind == "curve":
        names = list(data.table.columns)
        pale: Part = {**g.stroke(g.THEME_MUTED, 1), "opacity": 0.4, "hoverinfo": "skip"}
        lines = [g.line(names, X[other], "rows near it", **pale) for other in near]
        lines = [{**one, "showlegend": number == 0} for number, one in enumerate(lines)]
        lines.append(g.line(names, X[at], f"row {name}", **g.stroke(colour(0), 2.5)))
        lines += [] if rebuilt is None else [g.line(names, rebuilt[0], "rebuilt", **g.stroke(colour(1), 2, "dot"))]
        return _curves(lines, "value")
    return deviations(data.table, at, rebuilt, name, "rebuilt")


def _plane(data: Dataset, rebuilt: Array | None, focus: list[int]) -> Part:
    X = data.X
    shown = X if len(X) <= 5000 else X[sample(len(X))]
    traces = [_dots(shown, "rows", g.THEME_MUTED)]
    if rebuilt is not None:
        ways = np.stack([X[sample(len(X))], rebuilt, np.full_like(rebuilt, np.nan)], axis=1).reshape(-1, 2)
        traces += [{**g.outline(ways, colour(1)), "opacity": 0.35}, _dots(rebuilt, "rebuilt", colour(1))]
    else:
        traces += [_dots(X[focus[1:]], "rows near it", colour(0))]
        traces += [_dots(X[focus[:1]], f"row {data.names[focus[0]]}", colour(1))]
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
        scale = g.colour_scale(DIVERGING if diverging else (g.THEME_PAPER, g.THEME_INK))
        look = {"zmin": low, "zmax": size, "colorscale": scale, "showscale": False}
        axes = {"xaxis": f"x{end}", "yaxis": f"y{end}", "hovertemplate": "%{z:.3g}<extra></extra>"}
        traces.append({"type": "heatmap", "z": pixels, **axes, **look})
        place: Part = {"xref": "paper", "yref": "paper", "xanchor": "center", "yanchor": "bottom"}
        notes.append(g.written(g.plain(title), sum(x) / 2, y[1] + 0.01, **place))
    return _sent(traces, {**frame, "annotations": notes})
