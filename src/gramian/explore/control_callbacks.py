"""What happens when a table, a method or a model is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from dash import ALL, Dash, Input, Output, State, ctx, no_update
from dash.exceptions import PreventUpdate

from gramian.explore.choice import (
    CONTROLS,
    EXACT_ROWS,
    LOOKS,
    SIZES,
    kernels_listed,
    most_components,
    read_choice,
)
from gramian.explore.datasets import MAX_LISTED_COLUMNS, Dataset, from_upload
from gramian.explore.fitting import Fit
from gramian.explore.layout import READING
from gramian.explore.model_files import inside, models_in, open_model, save_model
from gramian.explore.notes import in_controls
from gramian.explore.session import SLIDERS, Explorer, Session, in_browser, on, values_of
from gramian.explore.states import first_values, read_state, state_of
from gramian.results import plural


def _also(outputs: str) -> str:
    return " ".join(f"+{word}" for word in outputs.split())


#: What may bring another table, other columns or another state.
LOADING = "address.data chosen-table.data columns.value upload.contents undo.n_clicks"
#: All that changes with a table, in the order of :func:`filled`.
FILLED = (
    "loaded.data about.children columns.options columns.value colour.options second.options target.options "
    f"label.options {values_of((*CONTROLS, *LOOKS))}"
)
#: Where it is said what is wrong with a table, and whether tables or pictures are shown.
OPENED = "upload-says.children columns-says.children start.hidden work.hidden upload.contents"
#: What is shown or hidden with a method.
ARRANGED = (
    "second-box.hidden target-box.hidden label-box.hidden rotation-box.hidden kernel-box.hidden width-box.hidden "
    "degree-box.hidden ridge-box.hidden C-box.hidden k-box.hidden exact.style k.max size-name.data"
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
    for connect in (_page, _tables, _fits, _models):
        connect(app, explorer)


def _page(app: Dash, explorer: Explorer) -> None:
    """A tab opens; what the browser does by itself."""

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

    opens = Input("page", "data")
    app.clientside_callback(in_browser("screen"), Output("screen", "data"), opens)
    app.clientside_callback(in_browser("address"), Output("address", "data"), opens)
    app.clientside_callback(in_browser("accessibleNames"), Output("send", "title"), opens)
    dark = Input("dark", "n_clicks")
    app.clientside_callback(in_browser("theme"), Output("theme", "data"), Output("dark", "children"), opens, dark)
    labels = (Output(f"{name}-label", "children") for name in SLIDERS)
    moved = (Input(name, "drag_value") for name in SLIDERS)
    app.clientside_callback(
        in_browser("sliderLabels"), *labels, *moved, Input("size-name", "data"), prevent_initial_call=True
    )
    teach = Input({"table": ALL}, "n_clicks")
    app.clientside_callback(in_browser("chosenTable"), Output("chosen-table", "data"), teach, prevent_initial_call=True)
    for name, function in (("state", "writeAddress"), ("tables", "showTables"), ("drawer", "drawer"), ("link", "copy")):
        part = "data" if name == "state" else "n_clicks"
        done = Output(name, "title" if part == "n_clicks" else "modified_timestamp", allow_duplicate=True)
        app.clientside_callback(in_browser(function), done, Input(name, part), prevent_initial_call=True)


def _tables(app: Dash, explorer: Explorer) -> None:
    """A table is chosen or uploaded; controls appear and disappear."""
    written = values_of(f"read-{name}" for name in READING)

    @on(app, f"{OPENED} {FILLED}", LOADING, f"page.data upload.filename {written}")
    def load(
        address: object, chosen: object, columns: object, contents: object, undone: object, page: object, *file: object
    ) -> tuple[Any, ...]:
        session = explorer.session(page)
        before, trigger = session.data, ctx.triggered_id
        unchanged = (no_update,) * len(FILLED.split())
        try:
            if trigger == "upload":
                if not isinstance(contents, str):
                    raise PreventUpdate
                session.use(from_upload(str(file[0]), contents, **how_written(file[1:])))
                values = first_values(session.data)
            elif trigger == "chosen-table":
                values = _choose(explorer, session, chosen)
            elif trigger == "columns":
                values = _take_columns(session, columns)
            elif trigger == "undo":
                values = restore(explorer, session, session.undo())
            else:
                values = _address(explorer, session, address)
        except ValueError as error:
            said = in_controls(str(error))
            if trigger == "columns":
                return ("", said, True, False, None, *unchanged)
            return (said, "", False, True, None, *unchanged)
        if not session.started:
            return ("", "", False, True, None, *unchanged)
        same = values is session.controls and session.data is before and trigger == "chosen-table"
        notes = " ".join(in_controls(note) for note in session.base.notes)
        return ("", notes, True, False, None, *(unchanged if same else filled(session, values)))

    @explorer.on(
        app, ARRANGED, "loaded.data method.value kernel.value text.value second.value target.value label.value"
    )
    def arrange(session: Session, loaded: object, *given: object) -> tuple[Any, ...]:
        data = session.data
        names = ("method", "kernel", "text", "second", "target", "label")
        choice = read_choice(data, dict(zip(names, given, strict=True)))
        row, most = choice.row, most_components(data, choice)
        sliders = () if choice.text else kernels_listed()[choice.kernel].sliders
        few = {} if len(data.X) > EXACT_ROWS else {"display": "none"}
        shown = [choice.pair, row.needs == "target", row.needs == "label", row.has("rotation"), row.has("kernel")]
        shown += ["width" in sliders, "degree" in sliders, row.has("ridge"), row.has("C"), bool(row.size) and most > 1]
        size = SIZES[row.size].format(noun=row.noun).capitalize()
        return (*(not one for one in shown), few, max(most, 2), size)

    @app.callback(Output("z-box", "hidden"), Input("space", "value"))
    def deep(space: object) -> bool:
        return not space

    @explorer.on(app, "state.data undo.disabled", f"loaded.data {values_of((*CONTROLS, *LOOKS))}")
    def remember(session: Session, loaded: object, *values: object) -> tuple[str, bool]:
        session.controls = dict(zip((*CONTROLS, *LOOKS), values, strict=True))
        session.remember(state_of(session.base, session.data, session.controls))
        return session.state, len(session.past) < 2


def how_written(values: Sequence[object]) -> dict[str, Any]:
    """Arguments of the reader, as far as they were filled in."""
    found = dict(zip(READING, values, strict=True))
    given: dict[str, Any] = {name: value for name, value in found.items() if isinstance(value, str) and value}
    for name in ("labels", "categories") & given.keys():
        given[name] = [part.strip() for part in given[name].split(",")]
    return given | ({"separator": "\t"} if given.get("separator") == "tab" else {})


def _choose(explorer: Explorer, session: Session, chosen: object) -> dict[str, Any]:
    key = str(chosen.get("key")) if isinstance(chosen, dict) else ""
    if session.started and key == session.base.key:
        return session.controls
    session.use(explorer.table(session, key))
    return first_values(session.data)


def _take_columns(session: Session, columns: object) -> dict[str, Any]:
    wanted = {name for name in columns if isinstance(name, str)} if isinstance(columns, list) else set()
    names = [name for name in session.base.table.columns if name in wanted]
    if len(names) < 2 or set(names) == set(session.data.table.columns):
        raise PreventUpdate
    session.use(session.base, session.base.only(names))
    first = first_values(session.data)
    return session.controls | {name: first[name] for name in ("second", "target", "label", "rows-as")}


def _address(explorer: Explorer, session: Session, address: object) -> dict[str, Any]:
    """The state that the address names, if it is another one; else that of the tab."""
    state = str(address.get("hash") or "") if isinstance(address, dict) else ""
    if state and state != session.state:
        return restore(explorer, session, state)
    if isinstance(address, dict) and not address.get("opens"):
        raise PreventUpdate
    return session.controls or first_values(session.data)


def restore(explorer: Explorer, session: Session, state: str) -> dict[str, Any]:
    """Bring back a state: its table and columns; return what its controls say."""
    key, columns, values = read_state(state)
    base = explorer.table(session, key)
    known = [name for name in base.table.columns if name in (columns or ())]
    data = base.only(known) if known else base.opened
    if base is not session.base or data.table.columns != session.data.table.columns:
        session.use(base, data)
    session.started = True
    return first_values(session.data) | values


def filled(session: Session, values: dict[str, Any]) -> tuple[Any, ...]:
    """Controls for the table of a session."""
    data = session.data
    return (
        {"of": data.serial, "version": session.version},
        about(session.base, data),
        column_options(session.base),
        list(data.table.columns),
        colours(data),
        list(data.table.columns),
        list(data.table.columns),
        list(data.labels),
        *(values[name] for name in (*CONTROLS, *LOOKS)),
    )


def about(base: Dataset, data: Dataset) -> str:
    """What the table is, and what was left out of it."""
    n, d = data.X.shape
    said = [in_controls(note) for note in data.table.dropped if "kept as a label" not in note][:3]
    gaps, used = np.isnan(base.X).sum(axis=0), set(data.table.columns)
    left = [name for name, count in zip(base.table.columns, gaps, strict=True) if count and name not in used]
    if left:
        said.append(f"Not used: {', '.join(left[:3])}{', ...' if len(left) > 3 else ''}, where values are missing")
    return f"{data.title}: {n:,} rows, {d:,} columns. {' '.join(f'{note}.' for note in said)}".strip()


def column_options(base: Dataset) -> list[dict[str, str]]:
    """Columns to choose from, with the number of values that each misses."""
    gaps = np.isnan(base.X).sum(axis=0)
    told = [f" ({plural(int(count), 'value')} missing)" if count else "" for count in gaps]
    return [{"label": name + more, "value": name} for name, more in zip(base.table.columns, told, strict=True)]


def colours(data: Dataset) -> list[dict[str, str]]:
    """What points may be coloured by."""
    groups = [{"label": name, "value": f"group:{name}"} for name in data.groups]
    columns = [{"label": name, "value": f"column:{name}"} for name in data.table.columns[:MAX_LISTED_COLUMNS]]
    found = {"label": "what is predicted", "value": "predicted"}
    return [{"label": "one colour", "value": "one"}, *groups, found, *columns]


def _fits(app: Dash, explorer: Explorer) -> None:
    """A control is released: the exact fit, in the worker; its progress; its end."""

    @explorer.on(app, ANSWER, f"loaded.data {values_of(CONTROLS)}")
    def ask(session: Session, loaded: object, *values: object) -> tuple[Any, ...]:
        try:
            choice = read_choice(session.data, dict(zip(CONTROLS, values, strict=True)))
            job = session.ask(choice, explorer.worker)
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
        values = session.controls or first_values(session.data)
        try:
            path = inside(explorer.folder, name)
            data, found, values = open_model(session.base, path, values)
        except (ValueError, OSError) as error:
            return (in_controls(str(error)), *unchanged)
        session.use(session.base, data)
        session.show(found)
        return (f"{path.name} is open: {type(found.estimator).__name__}.", *filled(session, values))
