"""What happens when a table, a method or a model is chosen."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gramian.explore.choice import CONTROLS, EXACT_ROWS, LOOKS, kernels_listed, most_components, read_choice
from gramian.explore.datasets import PRESETS, Dataset, from_upload, preset
from gramian.explore.fitting import Fit
from gramian.explore.model_files import inside, models_in, open_model, save_model
from gramian.explore.notes import in_controls
from gramian.explore.session import SLIDERS, Explorer, Session, in_browser, on, values_of


def _also(outputs: str) -> str:
    return " ".join(f"+{word}" for word in outputs.split())


#: What may bring another table.
LOADING = "page.data data.value columns.value upload.contents"
#: All that changes with a table, in the order of :func:`filled`.
FILLED = (
    "loaded.data about.children data.options data.value columns.options columns.value colour.options second.options "
    + values_of((*CONTROLS, *LOOKS))
)
#: What is shown or hidden with a method.
ARRANGED = (
    "second-box.hidden kernel-box.hidden width-box.hidden degree-box.hidden ridge-box.hidden k-box.hidden "
    "exact.style k.max"
)
#: What the page is told of a fit, in the order of :func:`answer`.
ANSWER = (
    "shown.data cut.data status.children status.className progress.value progress.hidden cancel.hidden tick.disabled "
    "pictures.className"
)
#: Seconds that a request waits for a quick fit, so that most answers come at once.
QUICK_ANSWER_SECONDS = 0.25
#: Seconds that a page waits for a model to be saved.
MAX_SAVE_SECONDS = 600.0


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    for connect in (_tables, _fits, _models):
        connect(app, explorer)


def _tables(app: Dash, explorer: Explorer) -> None:
    """A tab opens; a table is chosen or uploaded; controls appear and disappear."""

    @app.callback(
        Output("page", "data"),
        Output("tab", "data"),
        Input("tab", "modified_timestamp"),
        State("tab", "data"),
        State("page", "data"),
    )
    def begin(stamp: object, known: object, page: object) -> tuple[str, str]:
        if page is not None:
            raise PreventUpdate  # the store tells of what we wrote there ourselves
        session = explorer.open(known)
        return session.key, session.key

    app.clientside_callback(in_browser("webgl"), Output("webgl", "data"), Input("page", "data"))
    labels = (Output(f"{name}-label", "children") for name in SLIDERS)
    moved = (Input(name, "drag_value") for name in SLIDERS)
    app.clientside_callback(in_browser("sliderLabels"), *labels, *moved, prevent_initial_call=True)
    app.clientside_callback(in_browser("accessibleNames"), Output("send", "title"), Input("page", "data"))

    @on(app, f"model-says.children upload.contents {FILLED}", LOADING, "upload.filename")
    def load(page: object, chosen: object, columns: object, contents: object, name: object) -> tuple[Any, ...]:
        session = explorer.session(page)
        values = dict(session.controls)
        if ctx.triggered_id == "upload":
            if not isinstance(contents, str):
                raise PreventUpdate
            try:
                session.use(from_upload(str(name), contents))
            except ValueError as error:
                return (in_controls(str(error)), None, *((no_update,) * len(FILLED.split())))
            values = {}
        elif ctx.triggered_id == "data":
            if chosen in (None, session.base.key):
                raise PreventUpdate
            session.use(preset(chosen) if isinstance(chosen, str) and chosen in PRESETS else explorer.first)
            values = {}
        elif ctx.triggered_id == "columns":
            wanted = {name for name in columns if isinstance(name, str)} if isinstance(columns, list) else set()
            names = tuple(name for name in session.base.table.columns if name in wanted)
            if len(names) < 2 or set(names) == set(session.data.table.columns):
                raise PreventUpdate
            session.use(session.base, session.base.only(names))
            values |= {"second": list(session.data.half()), "rows-as": session.data.rows_as}
        return "", None, *filled(explorer, session, values or firstvalues_of(session.data))

    @explorer.on(app, ARRANGED, "loaded.data method.value kernel.value text.value second.value")
    def arrange(session: Session, loaded: object, *given: object) -> tuple[Any, ...]:
        data = session.data
        choice = read_choice(data, dict(zip(("method", "kernel", "text", "second"), given, strict=True)))
        most = most_components(data, choice)
        sliders = () if choice.text else kernels_listed()[choice.kernel].sliders
        wide, curved = "width" not in sliders, "degree" not in sliders
        few = {} if len(data.X) > EXACT_ROWS else {"display": "none"}
        return not choice.pair, not choice.row.has("kernel"), wide, curved, not choice.pair, most < 2, few, max(most, 2)

    @app.callback(Output("z-box", "hidden"), Input("space", "value"))
    def deep(space: object) -> bool:
        return not space


def filled(explorer: Explorer, session: Session, values: dict[str, Any]) -> tuple[Any, ...]:
    """Controls for the table of a session."""
    data = session.data
    return (
        {"of": data.serial, "version": session.version},
        about(data),
        tables(explorer, session),
        session.base.key,
        list(session.base.table.columns),
        list(data.table.columns),
        colours(data),
        list(data.table.columns),
        *(values[name] for name in (*CONTROLS, *LOOKS)),
    )


def about(data: Dataset) -> str:
    """What the table is, and what was left out of it."""
    n, d = data.X.shape
    said = [in_controls(note) for note in data.table.dropped if "kept as a label" not in note]
    return f"{data.title}: {n:,} rows, {d:,} columns. {' '.join(f'{note}.' for note in said[:3])}".strip()


def tables(explorer: Explorer, session: Session) -> list[dict[str, str]]:
    """Tables to choose from."""
    listed = {explorer.first.key: explorer.first.title}
    if session.base.key == "upload":
        listed["upload"] = session.base.title
    listed |= {key: preset(key).title for key in PRESETS}
    return [{"label": title, "value": key} for key, title in listed.items()]


def colours(data: Dataset) -> list[dict[str, str]]:
    """What points may be coloured by."""
    groups = [{"label": name, "value": f"group:{name}"} for name in data.groups]
    columns = [{"label": name, "value": f"column:{name}"} for name in data.table.columns[:200]]
    return [{"label": "one colour", "value": "one"}, *groups, *columns]


def firstvalues_of(data: Dataset) -> dict[str, Any]:
    """First values of the controls for a table."""
    values = {**CONTROLS, **LOOKS, "second": list(data.half()), "k": min(2, data.X.shape[1]), "rows-as": data.rows_as}
    if data.groups:
        values["colour"] = f"group:{next(iter(data.groups))}"
    values |= data.advice
    return values | {name: ["on"] if values[name] else [] for name in ("scale", "exact", "space")}


def _fits(app: Dash, explorer: Explorer) -> None:
    """A control is released: the exact fit, in the worker; its progress; its end."""

    @explorer.on(app, ANSWER, f"loaded.data {values_of(CONTROLS)}", values_of(LOOKS))
    def ask(session: Session, loaded: object, *values: object) -> tuple[Any, ...]:
        session.controls = dict(zip((*CONTROLS, *LOOKS), values, strict=True))
        try:
            job = session.ask(read_choice(session.data, session.controls), explorer.worker)
        except ValueError as error:
            session.message = in_controls(str(error))
            return answer(session)
        if job is not None and job.wait(QUICK_ANSWER_SECONDS):
            session.take(job)
        return answer(session)

    @explorer.on(app, _also(ANSWER), "tick.n_intervals", "shown.data")
    def look(session: Session, ticks: object, shown: object) -> tuple[Any, ...]:
        if session.job is not None and session.job.over:
            session.take(session.job)
        found = answer(session)
        # What is on the screen already is not sent again.
        return found if found[0] != shown else (no_update, *found[1:])

    @explorer.on(app, _also(ANSWER), "cancel.n_clicks")
    def cancel(session: Session, clicks: object) -> tuple[Any, ...]:
        explorer.worker.cancel(session.key)
        session.give_up()
        return (no_update, *answer(session)[1:])


def answer(session: Session) -> tuple[Any, ...]:
    """What the page is told of a session: the picture, the cut, a sentence, and whether to ask again."""
    job, found = session.job, session.fit
    stale = "stale" if found is None else ""
    if job is not None:
        words = "Waiting for another tab ..." if job.state == "waiting" else f"{session.choice.row.title} ..."
        return no_update, no_update, words, "", f"{job.share:.3f}", False, False, False, stale
    kind, idle = "error" if session.message else "", ("0", True, True, True, stale)
    if found is None:
        return no_update, no_update, session.message, kind, *idle
    cut = {"k": min(session.choice.k, found.size), "of": session.version}
    return {"version": session.version}, cut, session.message or sentence(session, found), kind, *idle


def sentence(session: Session, found: Fit) -> str:
    """What is on the screen, in a line."""
    n, d = session.data.X.shape
    choice = session.choice
    parts = [choice.row.title]
    if choice.row.has("kernel"):
        parts.append(", ".join(dict.fromkeys(choice.kernels(session.data))))
        landmarks = choice.landmarks(session.data)
        parts.append("exact" if landmarks is None else f"{landmarks} landmarks")
    parts += [f"{n:,} x {d:,}", f"{found.seconds:.2g} s"]
    return " · ".join(parts) + "".join(f" — {note.rstrip('.')}." for note in found.notes)


def _models(app: Dash, explorer: Explorer) -> None:
    """Models are saved to the working folder, and opened from there."""
    saving, opening = ([(Output(name, "disabled"), True, False)] for name in ("save", "open"))

    @explorer.on(app, "+model-says.children +models.options", "save.n_clicks", "name.value", running=saving)
    def keep(session: Session, clicks: object, name: object) -> tuple[Any, Any]:
        try:
            path = inside(explorer.folder, name)
        except ValueError as error:
            return in_controls(str(error)), no_update
        data, choice, found = session.data, session.choice, session.fit
        if found is not None and found.source:
            return f"The model on the screen is that of {found.source}; it is saved already.", no_update
        # A job of its own: moving a slider must not give it up.
        job = explorer.worker.submit(f"{session.key} saves", lambda: save_model(data, choice, path))
        if not job.wait(MAX_SAVE_SECONDS):
            return f"{path.name} is not saved yet; the fit is still running.", no_update
        return job.result or job.error, models_in(explorer.folder)

    @on(app, "models.options", "page.data")
    def list_models(page: object) -> list[str]:
        explorer.session(page)
        return models_in(explorer.folder)

    @explorer.on(app, _also(f"model-says.children {FILLED}"), "open.n_clicks", "models.value", running=opening)
    def fetch(session: Session, clicks: object, name: object) -> tuple[Any, ...]:
        unchanged = (no_update,) * len(FILLED.split())
        values = session.controls or firstvalues_of(session.data)
        try:
            path = inside(explorer.folder, name)
            data, found, values = open_model(session.base, path, values)
        except (ValueError, OSError) as error:
            return (in_controls(str(error)), *unchanged)
        session.use(session.base, data)
        session.show(found)
        return (f"{path.name} is open: {type(found.estimator).__name__}.", *filled(explorer, session, values))
