"""A figure for each kind of chart: over numbers of components, of rows and planes, of columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from gramian import charts
from gramian.charts.names import short_label
from gramian.charts.palette import INK, SEQUENTIAL, colour, rgb
from gramian.charts.placing import along
from gramian.charts.points import EQUAL_SCALE_MAX_RATIO, blend
from gramian.figures import grammar as g
from gramian.figures.grammar import Figure, Part
from gramian.results import Array, percent

#: Outliers that get a name.
NAMED_OUTLIERS_MAX = 8
#: Width and height of a plane of scores on a desk and on a phone, in pixels.
PLANE_PIXELS, PLANE_PHONE_PIXELS = (560, 510), (290, 260)
#: The same of a picture of errors, on a phone nearly so.
ERRORS_PIXELS = (480, 400)
#: Rows of which the names are drawn.
NAMED_ROWS_MAX = 200
#: Where the name of a point stands.
_UPPER_RIGHT: Part = {"xanchor": "left", "yanchor": "bottom", "xshift": 4}
#: Rows that are drawn as lines.
LINES_MAX_ROWS = 3
#: Arrows that get a name, and bars that are drawn, at the most.
NAMED_ARROWS_MAX, BARS_MAX = 18, 30
#: Side of a square picture on a desk and on a phone, in pixels.
SQUARE_PIXELS, SQUARE_PHONE_PIXELS = 520, 270
#: Colour of the first marks beside the rows: groups rarely come so far.
MARKS_COLOUR = 5
#: Letters of a name that a phone has room for.
PHONE_MAX_LETTERS = 16
EQUAL_SCALE: Part = {"scaleanchor": "x", "scaleratio": 1}
DASHES = ("solid", "dash", "dot", "dashdot")


def scree(chart: charts.Scree, *, movable: bool = False) -> Figure:
    """What each component holds, beside what chance gives; a ``movable`` cut stands behind the last one kept."""
    x, kept = chart.numbers, chart.numbers <= chart.kept
    data: list[Part] = []
    if chart.low is not None and chart.high is not None:
        known = np.isfinite(chart.low)
        data.append(g.band(x[known], chart.low[known], chart.high[known], "random tables, 5 % to 95 %"))
    shares = [""] * len(x) if chart.shares is None else [f", {percent(s)} of variance" for s in chart.shares]
    hover = [
        f"{g.plain(chart.xlabel)} {k}: {g.number(float(v))}{s}" for k, v, s in zip(x, chart.values, shares, strict=True)
    ]
    data.append(g.line(x, chart.values, "all", mode="lines", hoverinfo="skip", showlegend=False))
    for name, some, fill in ((f"kept, {chart.kept}", kept, colour(0)), ("left out", ~kept, g.THEME_PAPER)):
        if some.any():
            marker = {"color": fill, "size": 9, "line": {"color": colour(0), "width": 1.5}}
            text = [hover[at] for at in np.flatnonzero(some)]
            shown: Part = {"mode": "markers", "marker": marker, "hovertext": text, "hoverinfo": "text"}
            data.append(g.line(x[some], chart.values[some], name, **shown))
    if movable:
        return Figure(data, _with_cut(chart))
    shapes, notes = [], []
    if chart.recommended and chart.recommended <= len(x):
        where = chart.recommended + 0.5
        shapes.append(g.rule(x=where))
        said = f" {g.plain(chart.decided_by)}: {chart.recommended}"
        notes.append(g.written(said, where, 1, yref="paper", xanchor="left", yanchor="top"))
    x_axis, y_axis = g.counts(chart.xlabel, len(x)), g.axis(chart.ylabel, rangemode="tozero")
    return Figure(data, g.layout(x_axis, y_axis, legend=True, shapes=shapes, annotations=notes))


def _with_cut(chart: charts.Scree) -> Part:
    """A layout in which nothing moves but the cut, and that says what is kept."""
    k, count = chart.kept, len(chart.values)
    cut = g.rule(x=k + 0.5, dash="solid", opacity=0.65, layer="above")
    cut["line"] |= {"color": g.THEME_INK, "width": 5}
    said = f"{k} kept" if chart.shares is None else f"{k} kept: {100 * float(chart.shares[:k].sum()):.1f} %"
    side: Part = {"xanchor": "right", "xshift": -8} if k > 0.6 * count else {"xanchor": "left", "xshift": 8}
    paper: Part = {"bgcolor": g.THEME_PAPER, "borderpad": 3}
    note = g.written(said, k + 0.5, 1, yref="paper", yanchor="top", **side, **paper)
    step = -(-count // 10)
    ticks = {"tick0": step, "dtick": step, "tickangle": 0, "range": [0.3, count + 0.9], "fixedrange": True}
    x, y = g.axis(chart.xlabel, zeroline=False, **ticks), g.axis(chart.ylabel, fixedrange=True, rangemode="tozero")
    return g.layout(x, y, shapes=[cut], annotations=[note], dragmode=False)


def cv_curve(chart: charts.CVCurve) -> Figure:
    """Errors of rows left out."""
    data = [g.line(chart.x, chart.errors[:, at], name or "RMSECV", at) for at, name in enumerate(chart.targets)]
    if chart.standard_errors is not None:
        for trace, doubts in zip(data, chart.standard_errors.T, strict=True):
            trace["error_y"] = {"type": "data", "array": doubts, "thickness": 1}
    others = [(kind, part) for kind, part in chart.kinds.items() if part is not chart.errors]
    if len(chart.targets) == 1:  # of several there would be too many lines
        data += [g.line(chart.x, part[:, 0], kind, at + 1) for at, (kind, part) in enumerate(others)]
    shapes = [g.rule(x=float(chart.x[chart.recommended]))]
    if chart.limit is not None:
        shapes.append(g.rule(y=chart.limit, dash="dot"))
    x = g.axis(chart.xlabel, type="log") if chart.logarithmic else g.counts(chart.xlabel, len(chart.x))
    frame = g.layout(x, g.axis(chart.ylabel, rangemode="tozero"), legend=len(data) > 1, shapes=shapes)
    return Figure(data, frame)


def correlations(chart: charts.Correlations) -> Figure:
    """Correlations of pairs, beside those of shuffled rows."""
    x = np.arange(1, len(chart.values) + 1)
    data: list[Part] = []
    if chart.middle is not None and chart.high is not None:
        data.append(g.band(x, chart.middle, chart.high, "rows paired at random, 50 % to 95 %"))
    data.append(g.line(x, chart.values, "these rows"))
    if chart.plain is not None:
        data.append(g.line(x, chart.plain, "correlation of the scores", 2))
    if chart.held_out is not None:
        data.append(g.line(x[: len(chart.held_out)], chart.held_out, "rows left out of the fit", 1))
    x_axis, y_axis = g.counts(chart.xlabel, len(x)), g.axis(chart.ylabel, range=[0, 1.03])
    return Figure(data, g.layout(x_axis, y_axis, legend=len(data) > 1))


def residuals(chart: charts.Residuals) -> Figure:
    """How exact each component is."""
    floor = np.finfo(np.float64).tiny
    data = [
        g.line(chart.numbers, np.maximum(chart.residuals, floor), "residual"),
        g.line(chart.numbers, np.maximum(chart.angles, floor), "angle to the true direction, at most", 1),
    ]
    x = g.counts(chart.xlabel, len(chart.numbers))
    return Figure(data, g.layout(x, g.axis(chart.ylabel, type="log", range=[-17, 0], dtick=4), legend=True), 230, 560)


def likelihood(chart: charts.Likelihood) -> Figure:
    """The likelihood at each step."""
    data = [g.line(chart.steps, chart.values, **g.stroke(colour(0)))]
    return Figure(data, g.layout(g.axis(chart.xlabel), g.axis(chart.ylabel)), height=320)


def scores(chart: charts.Scores) -> Figure:
    """Rows as points of two components, by their names, and columns as arrows if it is a biplot."""
    data, more = point_traces(chart.points, chart.names)
    data += [g.outline(ellipse.outline, colour(ellipse.group or 0)) for ellipse in chart.ellipses]
    data += [_marked(marks, colour(MARKS_COLOUR + at)) for at, marks in enumerate(chart.marks)]
    more["legend"] = more["legend"] or bool(chart.marks)
    arrows = [g.arrow(end, g.THEME_INK) for end in chart.arrows] if isinstance(chart, charts.Biplot) else []
    drawn = _drawn(chart)
    low, spread = drawn.min(axis=0), np.where(np.ptp(drawn, axis=0) > 0, np.ptp(drawn, axis=0), 1.0)
    even = EQUAL_SCALE if spread.max() <= EQUAL_SCALE_MAX_RATIO * spread.min() else {}
    wide, slim = (
        [*arrows, *_plane_names(chart, _pixels(low, spread, screen, even=bool(even)), size)]
        for screen, size in ((PLANE_PIXELS, 12), (PLANE_PHONE_PIXELS, 10))
    )
    narrow: Part = {"annotations": slim} if slim else {}
    more |= {"annotations": wide} if wide else {}
    frame = g.layout(g.axis(chart.xlabel), g.axis(chart.ylabel, **even), **more)
    return Figure(data, frame, 600, narrow=narrow, square=True)


def _drawn(chart: charts.Scores) -> Array:
    """Places that span a plane of scores: points, tips of arrows, outlines of ellipses."""
    tips = [chart.arrows, np.zeros((1, 2))] if isinstance(chart, charts.Biplot) else []
    marks = [marks.at for marks in chart.marks]
    return np.vstack([chart.points.corners, *tips, *marks, *(ellipse.outline for ellipse in chart.ellipses)])


def _marked(marks: charts.Marks, shade: str) -> Part:
    """Named places beside the rows: open diamonds."""
    look = {"symbol": "diamond-open", "size": 11, "color": shade, "line": {"width": 2.2}}
    hover = [f"{g.plain(name)}<br>{g.numbers(at)}" for name, at in zip(marks.names, marks.at, strict=True)]
    return g.line(
        marks.at[:, 0], marks.at[:, 1], marks.what, mode="markers", marker=look, hovertext=hover, hoverinfo="text"
    )


def _pixels(low: Array, spread: Array, screen: tuple[int, int], *, even: bool) -> Callable[[Array], Array]:
    """Where places of the axes lie on a screen, in pixels from the lower left corner, about as plotly puts them."""
    scale = np.array(screen) / (1.12 * spread)
    scale = np.full(2, scale.min()) if even else scale
    return lambda places: (places - low - spread / 2) * scale + np.array(screen) / 2


def _plane_names(chart: charts.Scores, pixels: Callable[[Array], Array], size: int) -> list[Part]:
    """Names of arrows and marks, then of rows, the farthest from the middle first, where there is room for them."""
    columns: Sequence[str] = ()
    tips = np.empty((0, 2))
    if isinstance(chart, charts.Biplot):
        columns, tips = chart.columns, chart.arrows
    arrows = len(tips)
    columns = [*columns, *(name for marks in chart.marks for name in marks.names)]
    tips = np.vstack([tips, *(marks.at for marks in chart.marks)])
    rows, at = chart.points.rows, chart.points.at
    if chart.names is None or len(at) > NAMED_ROWS_MAX:
        rows = rows[:0]
    order = np.argsort(-np.linalg.norm(at, axis=1), kind="stable")[: len(rows)]
    names = [*columns, *(str(chart.names[int(rows[row])]) for row in order if chart.names is not None)]
    if not names:
        return []
    places, middle = np.vstack([tips, at[order]]), pixels(np.zeros((1, 2)))
    posts = [pixels(at), *([middle + along(pixels(tips[:arrows]) - middle)] if arrows else [])]
    posts += [pixels(tips[arrows:])] if len(tips) > arrows else []
    screen = np.array([[0.0, 0.0], np.array(PLANE_PIXELS if size == 12 else PLANE_PHONE_PIXELS)])
    return g.names_beside(
        names,
        places,
        pixels(places),
        sizes=np.repeat([size, size - 1], [len(tips), len(order)]),
        posts=np.vstack(posts),
        towards=np.vstack([g.beyond(tips[:arrows]), np.zeros((len(tips) - arrows + len(order), 2))]),
        room=screen,
        minor=len(order),
    )


def paired(chart: charts.Paired) -> Figure:
    """Scores of one view against those of the other."""
    data, more = point_traces(chart.points, chart.names)
    return Figure(data, g.layout(g.axis(chart.xlabel), g.axis(chart.ylabel), **more), 480, 640)


def predicted(chart: charts.Predicted) -> Figure:
    """Predictions against measurements, with the line of equality."""
    data, more = point_traces(chart.points, chart.names)
    ends = np.array([[chart.low, chart.low], [chart.high, chart.high]])
    x, y = (g.axis(label, range=[chart.low, chart.high]) for label in (chart.xlabel, chart.ylabel))
    equal = g.outline(ends, g.THEME_MUTED, dash="dash")
    return Figure([equal, *data], g.layout(x, y, **more), 480, 640, square=True)


def prediction_errors(chart: charts.Predicted) -> Figure:
    """Errors of predictions, by the predictions; the names of the largest."""
    places = np.column_stack([chart.points.at[:, 1], chart.points.at[:, 1] - chart.points.at[:, 0]])
    data, more = point_traces(replace(chart.points, at=places, density=None), chart.names)
    largest = np.argsort(-np.abs(places[:, 1]), kind="stable")[:NAMED_OUTLIERS_MAX]
    names = [row_name(chart.names, int(chart.points.rows[at])) for at in largest]
    spread = np.ptp(places, axis=0)
    pixels = _pixels(places.min(axis=0), np.where(spread > 0, spread, 1.0), ERRORS_PIXELS, even=False)
    notes = g.names_beside(
        names,
        places[largest],
        pixels(places[largest]),
        sizes=11,
        posts=pixels(places),
        towards=np.zeros((len(names), 2)),
        room=np.array([[0.0, 0.0], ERRORS_PIXELS]),
        minor=len(names),
    )
    zero = g.rule(y=0.0)
    axes = g.axis(chart.ylabel), g.axis("error (predicted minus measured)")
    return Figure(data, g.layout(*axes, shapes=[zero], annotations=notes, **more), 480, 640)


def outliers(chart: charts.Outliers) -> Figure:
    """How far rows lie from the mean within the components, and from the components."""
    data, more = point_traces(chart.points, chart.names)
    shapes = [g.rule(x=chart.t2_limit)] if chart.t2_limit is not None else []
    shapes += [g.rule(y=chart.q_limit)] if chart.q_limit is not None else []
    places = dict(zip(chart.points.rows.tolist(), chart.points.at.tolist(), strict=True))
    notes = [
        g.written(g.plain(row_name(chart.names, row), 24), *places[row], size=11, **_UPPER_RIGHT)
        for row in chart.beyond[:NAMED_OUTLIERS_MAX].tolist()
        if row in places
    ]
    x, y = g.axis(chart.xlabel, rangemode="tozero"), g.axis(chart.ylabel, rangemode="tozero")
    return Figure(data, g.layout(x, y, shapes=shapes, annotations=notes, **more))


def row_name(names: Sequence[str] | None, row: int) -> str:
    """Name of a row, or its number from 1."""
    return f"row {row + 1}" if names is None else names[row]


def point_traces(points: charts.Points, names: Sequence[str] | None = None) -> tuple[list[Part], Part]:
    """Points group by group, and what else of the layout they need: a legend, a density as an image behind them."""
    colours, density = points.colouring, points.density
    text = [_hover(points, at, names) for at in range(len(points.at))]
    size = 8 if len(points.at) <= 300 else 6 if len(points.at) <= 2_000 else 4
    more: Part = {"legend": bool(colours.groups)}
    if density is not None:
        shades = [colour(at) for at in range(max(len(colours.groups), 1))]
        more["images"] = [g.backdrop(blend(density, shades), density.x, density.y)]
    if colours.codes is None:
        return [_dots(points.at, text, size, _marker(colours))], more
    traces = []
    for group, name in enumerate(colours.groups):
        some = np.flatnonzero(colours.codes == group)
        marker = {"color": colour(group), "symbol": g.SYMBOLS[group % len(g.SYMBOLS)]}
        # A group whose points are all in the density keeps its place in the legend.
        at = points.at[some] if len(some) else np.full((1, 2), np.nan)
        traces.append(_dots(at, [text[i] for i in some], size, marker, name))
    return traces, more


def _dots(at: Array, text: list[str], size: int, marker: Part, name: str = "") -> Part:
    look = {"size": size, "opacity": 0.8, "line": {"color": g.THEME_PAPER, "width": 0.5}, **marker}
    shown = {"type": "scatter", "mode": "markers", "marker": look, "hovertext": text, "hoverinfo": "text"}
    return {**shown, "x": at[:, 0], "y": at[:, 1], "name": g.plain(name, 28)}


def _marker(colours: charts.Colouring) -> Part:
    if colours.values is None:
        return {"color": colour(0)}
    bar = {"title": {"text": g.plain(colours.name, 20)}, "thickness": 12, "outlinewidth": 0}
    scale = {"colorscale": g.colour_scale(SEQUENTIAL), "showscale": True, "colorbar": bar}
    return {"color": colours.values, **scale, "line": {"color": g.THEME_MUTED, "width": 0.6}, "opacity": 1}


def _hover(points: charts.Points, at: int, names: Sequence[str] | None) -> str:
    words, colours = [g.plain(row_name(names, int(points.rows[at])))], points.colouring
    if colours.codes is not None:
        words.append(g.plain(colours.groups[int(colours.codes[at])]))
    elif colours.values is not None:
        words.append(f"{g.plain(colours.name)} {g.number(float(colours.values[at]))}".strip())
    return "<br>".join([*words, g.numbers(points.at[at])])


def contours(chart: charts.Contours, component: int) -> Figure:
    """One of the components, as contours over the plane."""
    values = chart.values[component]
    largest = float(np.abs(values).max()) or 1.0
    surface = g.cells("contour", chart.x, chart.y, values, largest, {"title": {"text": "score"}})
    surface |= {"ncontours": 14, "line": {"width": 0.6}, "hoverinfo": "x+y+z"}
    points, more = point_traces(chart.points)
    dark = {"color": INK, "size": 4, "opacity": 0.7}  # on light colours in either theme
    points = [{**trace, "marker": dark, "showlegend": False} for trace in points]
    frame = g.layout(g.axis(chart.xlabel), g.axis(chart.ylabel), **{**more, "legend": False})
    return Figure([surface, *points], frame)


def regions(chart: charts.Regions, *, rows: bool = True) -> Figure:
    """The class that every point of the plane gets, and the rows unless these are drawn by whoever asks."""
    shades = np.array([[*rgb(colour(code)), 0.25] for code in range(len(chart.classes))])
    edges = [np.array([at[0], at[-1]]) + (at[1] - at[0]) / 2 * np.array([-1, 1]) for at in (chart.x, chart.y)]
    points, _ = point_traces(chart.points)
    data: list[Part] = []
    if chart.decision is not None:
        levels = {"start": -1, "end": 1, "size": 1, "coloring": "none"}
        border = {"type": "contour", "x": chart.x, "y": chart.y, "z": chart.decision, "contours": levels}
        data.append({**border, "line": {"color": g.THEME_INK, "width": 1.2}, "hoverinfo": "skip", "showlegend": False})
    data += points if rows else []
    if chart.support is not None:
        ring = {"color": g.TRANSPARENT, "size": 12, "line": {"color": g.THEME_INK, "width": 1.2}}
        x, y = chart.support.T
        data.append(g.line(x, y, "support vectors", mode="markers", marker=ring, hoverinfo="skip"))
    axes = (
        g.axis(label, range=[float(at[0]), float(at[-1])], showgrid=False, zeroline=False)
        for label, at in ((chart.xlabel, chart.x), (chart.ylabel, chart.y))
    )
    return Figure(data, g.layout(*axes, legend=True, images=[g.backdrop(shades[chart.codes], *edges)]), height=480)


def reconstructions(chart: charts.Reconstructions) -> Figure:
    """Rows, and what growing numbers of components rebuild of them, as lines or as small images."""
    if chart.shape is None:
        data = []
        for at, row in enumerate(chart.rows[:LINES_MAX_ROWS]):
            name = f"row {int(row) + 1}"
            data.append(g.line(chart.positions, chart.originals[at], name, at, **g.stroke(colour(at))))
            twin = f"{name}, rebuilt from {chart.counts[-1]}"
            data.append(g.line(chart.positions, chart.rebuilt[-1, at], twin, at, **g.stroke(colour(at), dash="dot")))
        return Figure(data, g.layout(g.axis(chart.xlabel), g.axis("value"), legend=True))
    across, down = chart.middles
    images = {
        "type": "heatmap",
        "z": chart.mosaic,
        "zmin": float(chart.originals.min()),
        "zmax": float(chart.originals.max()),
        "colorscale": [[0, "#ffffff"], [1, "#000000"]],
        "showscale": False,
        "hoverinfo": "z",
    }
    marked = {"tickmode": "array", "showgrid": False, "zeroline": False}
    x = g.axis("row", tickvals=across, ticktext=[str(row + 1) for row in chart.rows], **marked)
    names = ["rows", *map(str, chart.counts)]
    y = g.axis("components", tickvals=down, ticktext=names, autorange="reversed", **marked)
    return Figure([images], g.layout(x, y), height=70 + 64 * len(down), width=90 + 64 * len(across))


def loadings(chart: charts.Loadings) -> Figure:
    """Columns along components: arrows for few, lines over the channels of a spectrum."""
    if chart.kind == "lines":
        assert chart.positions is not None
        looks = [g.stroke(colour(at), dash=DASHES[at % len(DASHES)]) for at in range(len(chart.labels))]
        parts = zip(chart.values.T, chart.labels, looks, strict=True)
        data = [g.line(chart.positions, values, label, at, **look) for at, (values, label, look) in enumerate(parts)]
        y = g.axis(chart.ylabel, zeroline=True, zerolinecolor=g.THEME_MUTED)
        return Figure(data, g.layout(g.axis(chart.xlabel), y, legend=True))
    first = len(chart.columns) - chart.second - chart.supplementary
    others = "columns of Y" if chart.second else "supplementary columns"
    views = (("columns of X" if chart.second else "columns of the fit", slice(0, first)), (others, slice(first, None)))
    data, arrows = [], []
    for at, (name, some) in enumerate(views):
        if len(chart.values[some]):
            tips = zip(chart.columns[some], chart.values[some], strict=True)
            hover = [f"{g.plain(column)}<br>{g.numbers(end)}" for column, end in tips]
            dots = {"mode": "markers", "marker": {"color": colour(at), "size": 4}}
            x, y = chart.values[some].T
            data.append(g.line(x, y, name, at, **dots, hovertext=hover, hoverinfo="text"))
            arrows += [g.arrow(end, colour(at)) for end in chart.values[some] if np.any(end)]
    longest = np.argsort(-np.linalg.norm(chart.values, axis=1), kind="stable")[:NAMED_ARROWS_MAX]
    reach = 1.25 if chart.circle else 1.2 * float(np.abs(chart.values).max(initial=0.0)) or 1.0
    names, ends = [chart.columns[at] for at in longest], chart.values[longest]
    wide, slim = (
        [*arrows, *g.names_of_arrows(names, ends, pixels / (2 * reach), reach, size)]
        for pixels, size in ((SQUARE_PIXELS, 12), (SQUARE_PHONE_PIXELS, 10))
    )
    ring = {"type": "circle", "x0": -1, "x1": 1, "y0": -1, "y1": 1, "line": {"color": g.THEME_MUTED, "width": 1}}
    ends_of_axes = {"range": [-reach, reach], "constrain": "domain"}
    across, up = (g.axis(chart.xlabel, **ends_of_axes), g.axis(chart.ylabel, **ends_of_axes, **EQUAL_SCALE))
    frame = g.layout(
        across, up, legend=first < len(chart.columns), shapes=[ring] if chart.circle else [], annotations=wide
    )
    return Figure(data, frame, SQUARE_PIXELS + 70, SQUARE_PIXELS + 90, {"annotations": slim}, square=True)


def heat(chart: charts.Heat) -> Figure:
    """Loadings as a table of colours: a line for each column, a column for each component."""
    heads = [f"{g.plain(name)}<br>" for name in chart.columns]
    feet = [f"{g.plain(label)}<br>" for label in chart.labels]
    hover = [
        [f"{head}{foot}{g.number(float(v))}" for foot, v in zip(feet, row, strict=True)]
        for head, row in zip(heads, chart.values, strict=True)
    ]
    x, y = np.arange(len(chart.labels)), np.arange(len(chart.columns))
    bar: Part = {"orientation": "h", "x": 0.5, "y": -0.02, "yanchor": "top", "len": 0.7}
    bar["title"] = {"text": chart.what, "side": "bottom"}
    cells = g.cells("heatmap", x, y, chart.values, chart.limit, bar)
    text = [[f"{value:.2f}" if abs(value) >= chart.cut else "" for value in row] for row in chart.values]
    cells |= {"text": text, "texttemplate": "%{text}", "hovertext": hover, "hoverinfo": "text", "xgap": 1, "ygap": 1}
    wide, slim = (_table_axes(chart, slim=slim) for slim in (False, True))
    frame = g.layout(*wide, margin={"l": 60, "r": 20, "t": 50, "b": 70})
    height = int(np.clip(150 + 24 * len(chart.columns), 280, 1_400))
    return Figure([cells], frame, height, narrow=dict(zip(("xaxis", "yaxis"), slim, strict=True)))


def _table_axes(chart: charts.Heat, *, slim: bool) -> tuple[Part, Part]:
    labels = [short_label(label).rpartition(" ")[2] if slim else label for label in chart.labels]
    x = g.named_places(labels, 1_000, side="top", tickangle=0)
    x["ticktext"] = [label.replace(" of variance", "").replace(" (", "<br>(", 1) for label in x["ticktext"]]
    x["ticktext"] = [label.replace(", ", ",<br>") for label in x["ticktext"]]
    return x, g.named_places(chart.columns, PHONE_MAX_LETTERS if slim else g.NAME_MAX_LETTERS, autorange="reversed")


def contributions(chart: charts.Contributions) -> Figure:
    """Which columns or rows a component is made of."""
    hover = [
        f"{g.plain(name)}<br>{percent(float(share))} of the component, which holds {percent(float(cos2))} of it"
        for name, share, cos2 in zip(chart.names, chart.shares, chart.cos2, strict=True)
    ]
    return g.bars(chart.names, {"": chart.shares}, "contribution", hover=hover, limit=chart.expected)


def importance(chart: charts.Importance) -> Figure:
    """What a regression rests on: the largest of columns without an order, a line over a spectrum."""
    low, high = chart.low, chart.high
    if chart.positions is None:
        names, values, errors = chart.largest(BARS_MAX)
        return g.bars(names, {"": values}, chart.ylabel, limit=chart.limit, errors=errors)
    data = [g.line(chart.positions, chart.values, chart.ylabel, **g.stroke(colour(0)))]
    if low is not None and high is not None:
        data.insert(0, g.band(chart.positions, low, high, "interval"))
    shapes = [] if chart.limit is None else [g.rule(y=chart.limit)]
    frame = g.layout(g.axis(chart.xlabel), g.axis(chart.ylabel, zerolinecolor=g.THEME_MUTED), shapes=shapes)
    return Figure(data, frame, height=340)
