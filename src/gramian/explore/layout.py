"""The page: tables to choose from; then controls on the left, or in a drawer on a phone, and pictures."""

from __future__ import annotations

from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from gramian.explore.choice import METHODS, kernels_listed
from gramian.explore.datasets import MAX_UPLOAD_BYTES, PRESETS, Dataset, lesson
from gramian.results import plural
from gramian.solvers.rotation import ROTATIONS

#: plotly.js would offer to send the data to its makers.
PLOT = {"displaylogo": False, "responsive": True, "scrollZoom": False, "showSendToCloud": False, "plotlyServerURL": ""}
#: The cut of the scree plot is the only thing that moves there.
SCREE = {**PLOT, "displayModeBar": False, "edits": {"shapePosition": True}}
PLAIN = {**PLOT, "displayModeBar": False}
ROWS_AS = {"bars": "bars", "curve": "a curve", "image": "an image", "plane": "points of a plane"}
#: How a file is written: argument of the reader -> what the page calls it, and an example.
READING = {
    "separator": ("Column separator", "such as ; or tab"),
    "decimal": ("Decimal mark", ". or ,"),
    "thousands": ("Thousands separator", "such as ,"),
    "sheet": ("Sheet or array", "its name"),
    "ids": ("Column of row names", "its name"),
    "labels": ("Columns kept as text", "a, b"),
    "categories": ("Text columns turned into numbers", "a, b"),
}
#: What a method needs beside its columns, as the list of methods says it.
NEEDS = {"": "", "view": " (two views)", "target": " (predicts a number)", "label": " (predicts a class)"}
#: What the browser or the server remembers of a tab.
STORES = (
    *("page", "loaded", "shown", "cut", "ask", "drawn", "picked", "focus", "screen", "theme", "address", "state"),
    *("chosen-table", "size-name"),
)


def aria(**words: str) -> Any:
    """Attributes for those who do not see the page."""
    return {f"aria-{name}": value for name, value in words.items()}


def _region(label: str) -> Any:
    """Attributes of a part to scroll in, whose name stands in another."""
    return {"tabIndex": 0, "role": "region", **aria(labelledby=label)}


def page(first: Dataset | None = None) -> html.Div:
    """The whole page, before anything is known of the tab that shows it; ``first`` is the table it opens with."""
    drawer = html.Button("Controls", id="drawer", **aria(controls="controls", expanded="false"))
    skip = html.A("Skip to the pictures", href="#pictures", className="skip")
    work = html.Div([skip, _controls(), _pictures(), drawer], className="columns", id="work", hidden=first is None)
    return html.Div(
        [
            *(dcc.Store(id=name) for name in STORES),
            dcc.Store(id="tab", storage_type="session"),
            dcc.Interval(id="tick", interval=250, disabled=True),
            dcc.Download(id="file"),
            _header(),
            _start(first),
            work,
        ]
    )


def _header() -> html.Header:
    buttons = [
        html.Button("Tables", id="tables", title="Choose or upload another table"),
        html.Button("Undo", id="undo", disabled=True, title="Back to what was chosen before"),
        html.Button("Copy link", id="link", title="The address of this page brings back what it shows"),
        html.Button("Dark", id="dark", title="Switch between light and dark colours"),
    ]
    return html.Header([html.H1("gramian"), html.P(id="about"), html.Div(buttons, className="buttons")])


def _start(first: Dataset | None) -> html.Main:
    """Tables to begin with: one's own, or one for teaching."""
    most_bytes: Any = {"data-most": MAX_UPLOAD_BYTES}
    most = f"CSV, Parquet, Excel, NumPy or HDF5, up to {MAX_UPLOAD_BYTES // 10**6} MB"
    zone = [html.Button("Upload a table", type="button", id="send"), html.Span(f"or drop it here: {most}.")]
    opened = "The table that this page was opened with."
    own = [_lesson(first.key, first.title, opened, first)] if first is not None and first.key not in PRESETS else []
    teaching = [_lesson(key, lesson(key).title, lesson(key).words, None) for key in PRESETS]
    return html.Main(
        [
            html.H2("Choose a table"),
            dcc.Upload(html.Div(zone, className="zone"), id="upload", max_size=MAX_UPLOAD_BYTES),
            html.P(id="upload-says", role="alert", className="error"),
            html.Details(
                [
                    html.Summary("How the file is written, if it is read wrongly"),
                    html.Div([_field(f"read-{name}", *words) for name, words in READING.items()], className="lessons"),
                    html.P("Fill in what is needed, then upload the file.", className="hint"),
                ]
            ),
            *([html.Div(own, className="lessons")] if own else []),
            html.H2("Tables for teaching"),
            html.Div(teaching, className="lessons"),
        ],
        id="start",
        hidden=first is not None,
        **most_bytes,
    )


def _field(name: str, label: str, example: str) -> html.Div:
    return html.Div([html.Label(label, htmlFor=name), dcc.Input(id=name, type="text", value="", placeholder=example)])


def _lesson(key: str, title: str, words: str, data: Dataset | None) -> html.Button:
    n, d = data.opened.X.shape if data is not None else lesson(key).values.shape
    size = html.Small(f"{plural(n, 'row')}, {plural(d, 'column')}")
    return html.Button([html.Strong(title), html.Span(words), size], id={"table": key}, className="lesson")


def _controls() -> html.Aside:
    return html.Aside(
        [
            _group("Method", *_method()),
            _group("Data", *_data()),
            _group("View", *_view()),
            _group("Model", *_model()),
        ],
        id="controls",
        **aria(label="Controls"),
    )


def _data() -> list[Component]:
    return [
        html.Div(_labelled("columns", "Columns used", multi=True, clearable=False), className="pick"),
        html.P(id="columns-says", role="alert", className="error"),
    ]


def _method() -> list[Component]:
    rotations = {"": "none", **{name: name for name in ROTATIONS}}
    return [
        _pick("method", "Method", {key: f"{row.title}{NEEDS[row.needs]}" for key, row in METHODS.items()}),
        html.Div(_labelled("second", "Columns of the second view", multi=True), id="second-box", hidden=True),
        html.Div(_pick("target", "Column to predict", {}), id="target-box", hidden=True),
        html.Div(_pick("label", "Column of classes", {}), id="label-box", hidden=True),
        html.Div(_pick("rotation", "Rotation", rotations), id="rotation-box", hidden=True),
        _tick("scale", "scale columns to unit variance"),
        html.Div(
            [
                _pick("kernel", "Kernel", {name: cls.title for name, cls in kernels_listed().items()}),
                _slide("width", "Width", -5, 3, 0.05, {-5: "narrow", 0: "median distance", 3: "wide"}),
                _slide("degree", "Degree", 1, 8, 1, {at: str(at) for at in range(1, 9)}),
                html.Label("or type a kernel", htmlFor="text"),
                dcc.Input(id="text", type="text", debounce=True, value="", placeholder="2*rbf(sigma=1) + linear"),
                html.P(id="kernel-says", className="says"),
                _tick("exact", "exact: all rows, no landmarks (slow)"),
            ],
            id="kernel-box",
            hidden=True,
        ),
        _slide("ridge", "Ridge", -4, 2, 0.1, {-4: "0", -2: "0.01", 0: "1", 2: "100"}),
        _slide("C", "Penalty C", -2, 4, 0.1, {-2: "0.01", 0: "1", 2: "100", 4: "10,000"}),
        _slide("k", "Components kept", 1, 2, 1, None),
        html.P(id="slider-says", className="hint"),
    ]


def _view() -> list[Component]:
    numbers = {at: str(at) for at in range(1, 21)}
    return [
        _pick("colour", "Colour points by", {}),
        html.Div([_pick("x", "x axis", numbers), _pick("y", "y axis", numbers)], className="halves"),
        _tick("named", "names of rows"),
        _tick("biplot", "columns as arrows (biplot)"),
        _tick("space", "in three dimensions"),
        html.Div(_pick("z", "z axis", numbers), id="z-box", hidden=True),
        _pick("rows-as", "Draw a row as", ROWS_AS),
    ]


def _model() -> list[Component]:
    name = dcc.Input(id="name", type="text", value="model.safetensors", maxLength=200)
    return [
        html.Label("Save as", htmlFor="name"),
        html.Div([name, html.Button("Save", id="save")], className="beside"),
        html.Div([_pick("models", "Open", {}), html.Button("Open", id="open")], className="beside"),
        html.P(id="model-says", className="says", role="status"),
    ]


def _pictures() -> html.Main:
    return html.Main(
        [
            html.Div(
                [
                    html.P(id="status", role="status", **aria(live="polite")),
                    html.Progress(id="progress", value="0", max="1", hidden=True, **aria(label="Progress")),
                    html.Button("Cancel", id="cancel", hidden=True),
                ],
                className="bar",
            ),
            html.Div(
                [
                    _card("scores", "Scores", "", "main tall"),
                    _card("scree", "Spectrum", "", "tall", SCREE),
                    _card("judged", "Predictions", "", config=PLAIN),
                    _card("loadings", "Loadings", "", config=PLAIN),
                    _card("row", "Reconstructed rows", "", config=PLAIN),
                    html.Section(
                        [
                            html.H2("Selected rows", id="chosen-title"),
                            html.Div(id="chosen", className="scroll", **_region("chosen-title")),
                            html.Button("Export as CSV", id="export", disabled=True),
                        ],
                        className="card",
                    ),
                    html.Section(
                        [
                            html.H2("Results", id="results-title"),
                            _pick("results-pick", "Table", {}),
                            html.Div(id="results", className="scroll", **_region("results-title")),
                        ],
                        className="card main",
                    ),
                    html.Section(
                        [
                            html.H2("The code", id="code-title"),
                            html.Pre(id="code", **_region("code-title")),
                            dcc.Clipboard(target_id="code", title="Copy the code", className="copy"),
                            html.H2("Summary of the fit", id="done-title"),
                            html.Pre(id="summary", **_region("done-title")),
                        ],
                        className="card wide",
                    ),
                ],
                className="cards",
            ),
        ],
        id="pictures",
    )


def _card(name: str, title: str, hint: str, kind: str = "", config: Any = PLOT) -> html.Section:
    blank = {"xaxis": {"visible": False}, "yaxis": {"visible": False}, "paper_bgcolor": "rgba(0,0,0,0)"}
    blank |= {"plot_bgcolor": "rgba(0,0,0,0)"}
    empty: Any = {"figure": {"data": [], "layout": blank}, "style": {"height": "100%"}}
    picture = dcc.Graph(id=name, config=config, className="graph", responsive=True, **empty)
    heads = [html.H2(title, id=f"{name}-title"), html.P(hint, className="hint", id=f"{name}-hint")]
    parts = [*heads, html.Div(picture, className="frame")]
    return html.Section(parts, id=f"{name}-card", className=f"card {kind}".strip(), **aria(labelledby=f"{name}-title"))


def _group(title: str, *parts: Component) -> html.Section:
    return html.Section([html.H2(title), *parts], className="group")


def _pick(name: str, label: str, options: dict[Any, str]) -> html.Div:
    choices = [{"label": words, "value": key} for key, words in options.items()]
    return html.Div(_labelled(name, label, options=choices, clearable=False, searchable=False), className="pick")


def _labelled(name: str, label: str, **options: Any) -> list[Component]:
    return [html.Label(label, id=f"{name}-label", htmlFor=name), dcc.Dropdown(id=name, **options)]


def _tick(name: str, label: str) -> dcc.Checklist:
    return dcc.Checklist(id=name, options=[{"label": label, "value": "on"}], value=[])


def _slide(name: str, label: str, low: float, high: float, step: float, marks: dict[Any, str] | None) -> html.Div:
    # No tooltip: it would show the exponent, where the label says the number.
    slider = dcc.Slider(id=name, min=low, max=high, step=step, marks=marks, value=low, allow_direct_input=False)
    return html.Div([html.Label(label, id=f"{name}-label"), slider], id=f"{name}-box", className="slide")
