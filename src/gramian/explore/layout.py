"""The page: controls on the left, pictures on the right; one below the other on a phone."""

from __future__ import annotations

from typing import Any

from dash import dcc, html
from dash.development.base_component import Component

from gramian.explore.choice import METHODS, kernels_listed
from gramian.explore.datasets import MAX_UPLOAD_BYTES

#: plotly.js would offer to send the data to its makers.
PLOT = {"displaylogo": False, "responsive": True, "scrollZoom": False, "showSendToCloud": False, "plotlyServerURL": ""}
#: The cut of the scree plot is the only thing that moves there.
SCREE = {**PLOT, "displayModeBar": False, "edits": {"shapePosition": True}}
ROWS_AS = {"bars": "bars", "curve": "a curve", "image": "an image", "plane": "points of a plane"}


def aria(**words: str) -> Any:
    """Attributes for those who do not see the page."""
    return {f"aria-{name}": value for name, value in words.items()}


def _region(label: str) -> Any:
    """Attributes of a part to scroll in, whose name stands in another."""
    return {"tabIndex": 0, "role": "region", **aria(labelledby=label)}


def page() -> html.Div:
    """The whole page, before anything is known of the tab that shows it."""
    return html.Div(
        [
            *(dcc.Store(id=name) for name in ("page", "loaded", "shown", "cut", "ask", "drawn", "picked", "focus")),
            dcc.Store(id="webgl", data=True),
            dcc.Store(id="tab", storage_type="session"),
            dcc.Interval(id="tick", interval=250, disabled=True),
            dcc.Download(id="file"),
            html.A("Skip to the pictures", href="#pictures", className="skip"),
            html.Header([html.H1("gramian"), html.P(id="about")]),
            html.Div([_controls(), _pictures()], className="columns"),
        ]
    )


def _controls() -> html.Aside:
    return html.Aside(
        [
            _group("Data", *_data()),
            _group("Method", *_method()),
            _group("View", *_view()),
            _group("Model", *_model()),
        ],
        **aria(label="Controls"),
    )


def _data() -> list[Component]:
    button = html.Button(f"Upload a table (up to {MAX_UPLOAD_BYTES // 10**6} MB)", type="button", id="send")
    return [
        _pick("data", "Table", {}),
        dcc.Upload(button, id="upload", max_size=MAX_UPLOAD_BYTES, className="upload"),
        html.Div(_labelled("columns", "Columns used", multi=True, clearable=False), className="pick"),
        _pick("colour", "Colour points by", {}),
    ]


def _method() -> list[Component]:
    views = {key: " (two views)" if row.needs == "view" else "" for key, row in METHODS.items()}
    return [
        _pick("method", "Method", {key: f"{row.title}{views[key]}" for key, row in METHODS.items()}),
        html.Div(_labelled("second", "Columns of the second view", multi=True), id="second-box", hidden=True),
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
        _slide("k", "Components kept", 1, 2, 1, None),
        html.P(id="slider-says", className="hint"),
    ]


def _view() -> list[Component]:
    numbers = {at: str(at + 1) for at in range(20)}
    return [
        html.Div([_pick("x", "x axis", numbers), _pick("y", "y axis", numbers)], className="halves"),
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
                    _card("scree", "Spectrum", "Drag the line to keep more or fewer components.", "tall", SCREE),
                    _card("loadings", "Loadings", ""),
                    _card("row", "Reconstructed rows", ""),
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
    empty: Any = {"figure": {"data": [], "layout": {}}, "style": {"height": "100%"}}
    picture = dcc.Graph(id=name, config=config, className="graph", responsive=True, **empty)
    heads = [html.H2(title, id=f"{name}-title"), html.P(hint, className="hint", id=f"{name}-hint")]
    parts = [*heads, html.Div(picture, className="frame")]
    return html.Section(parts, className=f"card {kind}".strip(), **aria(labelledby=f"{name}-title"))


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
