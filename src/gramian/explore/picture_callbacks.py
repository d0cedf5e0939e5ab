"""What the pictures show: of a fit, while a slider moves, and of points that are selected."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from dash import Dash, Input, Output, Patch, dcc, html, no_update
from dash.exceptions import PreventUpdate

from gramian.estimators.result_tables import PERCENT, TABLES, ResultTable
from gramian.explore import drawing
from gramian.explore.choice import CONTROLS, Choice, code_for, most_components, read_choice
from gramian.explore.drawing import NEIGHBOURS
from gramian.explore.fitting import ERRORS, SHARE_OF_VARIANCE, Fit, Glimpse, fit, glimpses_of
from gramian.explore.session import SLIDERS, Explorer, Session, in_browser, on, values_of
from gramian.figures import chart_figures
from gramian.kernels import parse
from gramian.results import Array, percent, plural
from gramian.tables import write_scores

#: What says how the points are looked at, in the order of :func:`read_view`, and the row that was clicked.
SEEN = "x.value y.value z.value space.value colour.value biplot.value named.value screen.data focus.data"
#: What cards are called with a fit, which are there, and the tables of its results.
CARDS = (
    "scores-title.children scree-title.children scree-hint.children judged-title.children judged-hint.children "
    "scree-card.hidden judged-card.hidden loadings-card.hidden results-pick.options results-pick.value"
)
#: Rows and columns of tables on the page.
LISTED_ROWS, LISTED_COLUMNS = 50, 12


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    for connect in (_pictures, _results, _previews, _selections):
        connect(app, explorer)


def _pictures(app: Dash, explorer: Explorer) -> None:
    """A fit is there: all its pictures."""

    @explorer.draws(app, "scores.figure scores-hint.children", f"shown.data {SEEN}")
    def draw_scores(session: Session, shown: object, *values: object) -> tuple[Any, str]:
        *look, screen, focus = values
        return points_of(session, _shown(session), session.turned, read_view(look, screen), focus)

    @explorer.draws(app, "scree.figure", "cut.data")
    def draw_scree(session: Session, cut: object) -> Any:
        found = _shown(session)
        return spectrum_of(found, min(session.choice.k, found.size))

    # A callback of its own: plotly.js tells of every change of size too, and a new question ends the one before.
    @explorer.on(app, "+scree.figure +k.value", "scree.relayoutData")
    def drag_cut(session: Session, changed: object) -> tuple[Any, int]:
        found = _shown(session)
        k = drawing.dragged_to(changed, min(found.size, most_components(session.data, session.choice)))
        if k is None or found.spectrum is None:
            raise PreventUpdate
        return spectrum_of(found, k), k

    @explorer.draws(app, "loadings.figure loadings-hint.children", "shown.data x.value y.value")
    def draw_loadings(session: Session, shown: object, x: object, y: object) -> tuple[Any, str]:
        return drawing.loadings(session.data, _shown(session), read_view([x, y], None).places)

    @explorer.draws(app, "judged.figure", "shown.data")
    def draw_judged(session: Session, shown: object) -> Any:
        found = _shown(session)
        if found.guesses is None:
            raise PreventUpdate
        return drawing.judged(found)

    @explorer.draws(app, "row.figure row-hint.children row-title.children", "cut.data focus.data rows-as.value")
    def draw_row(session: Session, cut: object, focus: object, kind: object) -> tuple[Any, str, str]:
        found = _shown(session)
        k = min(session.choice.k, found.size)
        return rows_of(session, found, k, focus, kind), *row_words(found, k)

    @explorer.on(app, "code.children summary.children kernel-says.children slider-says.children", "cut.data")
    def tell(session: Session, cut: object) -> tuple[str, ...]:
        choice, found = session.choice, _shown(session)
        done = found.summary(min(choice.k, found.size))
        return code_for(session.data, choice, found.source), done, kernel_words(session, choice), slider_words(found)


def _results(app: Dash, explorer: Explorer) -> None:
    """Numbers of the fit, as tables."""

    @explorer.on(app, CARDS, "shown.data", "results-pick.value")
    def arrange_cards(session: Session, shown: object, picked: object) -> tuple[Any, ...]:
        found = _shown(session)
        names = [name for name in found.tables if name not in ("summary", "classes")]
        options = [{"label": f"{name.replace('-', ' ').capitalize()}: {TABLES[name]}", "value": name} for name in names]
        maps = found.choice.maps
        spectrum, hint = spectrum_words(found)
        judged, told = judged_words(found)
        hidden = (not spectrum, not judged, maps)
        kept = picked if picked in names else next(iter(names), None)
        return ("Map of the rows" if maps else "Scores", spectrum, hint, judged, told, *hidden, options, kept)

    @explorer.on(app, "results.children", "results-pick.value cut.data")
    def list_results(session: Session, name: object, cut: object) -> Any:
        found = _shown(session)
        if name not in found.tables:
            raise PreventUpdate
        table: ResultTable = found.tables[str(name)]
        k = min(session.choice.k, found.size)
        known = {number for number in table.components.values() if number <= k}
        return as_html(table.pick(sorted(known)) if known and found.choice.row.nested else table)


def spectrum_of(found: Fit, k: int) -> Any:
    """The spectrum with its cut, or errors over ridges."""
    if found.spectrum is None:
        return drawing.ridges(found) or no_update
    return drawing.scree(found.spectrum, found.measure, k, found.choice.row.noun)


def spectrum_words(found: Fit) -> tuple[str, str]:
    """Title of the picture of the spectrum, and what can be done with it; nothing where there is none."""
    if found.spectrum is None:
        told = "Errors of rows left out one by one; the ridge that is chosen is marked."
        return ("Errors by ridge", told) if found.curve is not None else ("", "")
    noun = found.choice.row.noun
    title = "Correlations" if "correlation" in found.measure else "Spectrum"
    title = f"Errors by number of {noun}s" if found.measure == ERRORS else title
    return title, f"Drag the line to keep more or fewer {noun}s."


def judged_words(found: Fit) -> tuple[str, str]:
    """Title of the picture of predictions, and how good these are; nothing where nothing is predicted."""
    if found.choice.row.clusters:
        return "Clusters", "Rows in each cluster."
    if found.predicted is not None:
        merit = found.predicted.merit
        which = "rows left out of the fit" if merit.rows == "left out" else "rows of the fit"
        return "Predicted against measured", f"{merit.error_name} {merit.rmse:.4g}, R2 {merit.r2:.3f}, {which}."
    if found.choice.row.needs != "label":
        return "", ""
    right = percent(1 - len(found.wrong) / len(found.made.X))
    which = "rows left out (cross-validation in five folds)" if found.left_out else "rows of the fit"
    return "True and predicted classes", f"{right} correct, {which}. Wrong ones are crossed out on the map."


def as_html(table: ResultTable) -> Any:
    """A table of results, its first rows."""
    heads = [table.of, *table.columns]
    formats = [table.formats.get(name, "") for name in table.columns]
    lines = [
        html.Tr([html.Th(name, scope="row"), *(html.Td(_cell(*both)) for both in zip(cells, formats, strict=True))])
        for name, *cells in islice(table.rows, LISTED_ROWS)
    ]
    more = [f"The first {LISTED_ROWS} of {len(table):,} rows."] if len(table) > LISTED_ROWS else []
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in heads]))
    note = html.P(". ".join([*more, *([table.note.capitalize()] if table.note else [])]), className="hint")
    return [note, html.Table([head, html.Tbody(lines)])]


def _cell(cell: object, how: str) -> str:
    if not isinstance(cell, float):
        return "" if cell is None else str(cell)
    return f"{100 * cell:.1f} %" if how == PERCENT else f"{cell:.4g}"


def _shown(session: Session) -> Fit:
    if session.fit is None:
        raise PreventUpdate
    return session.fit


def read_view(look: Sequence[Any], screen: object) -> drawing.View:
    """How the points are looked at, whatever was sent."""
    x, y, z = (at if isinstance(at, int) and 1 <= at < 1000 else n for n, at in enumerate([*look, 0][:3], start=1))
    space, colour, biplot, named = [*look[3:], *[None] * 4][:4]
    kind, _, name = colour.partition(":") if isinstance(colour, str) else ("", "", "")
    known = screen if isinstance(screen, dict) else {}
    ticks = {"space": bool(space), "biplot": bool(biplot), "named": bool(named)}
    seen = {"webgl": known.get("webgl") is not False, "phone": known.get("phone") is True}
    return drawing.View(x, y, z, kind=kind, column=name, **ticks, **seen)


def focus_of(session: Session, focus: object) -> list[int]:
    """A row and its neighbours; the first row before a click."""
    n = len(session.data.X)
    given = focus.get("rows") if isinstance(focus, dict) and focus.get("of") == session.data.serial else None
    places = [at for at in given or [0] if isinstance(at, int) and 0 <= at < n]
    return places or [0]


def points_of(
    session: Session, found: Fit, turned: Array, view: drawing.View, focus: object
) -> tuple[drawing.Part, str]:
    """The scores of a fit, and what can be done with them."""
    data, rows = session.data, np.arange(len(found.scores))
    behind = None if found.regions is None else chart_figures.regions(found.regions, rows=False)
    columns = None
    if view.biplot:
        names, weights, _ = drawing.column_numbers(data, found)
        columns = names, weights
    paint = drawing.paint(data, found, view)
    cloud = drawing.Cloud(found.scores, found.second, rows, turned, found.titles, paint, found.wrong, behind, columns)
    thin = drawing.thinned(cloud, view)
    places = focus_of(session, focus) if focus else []
    return drawing.scores(data, thin, view, places), hint(view, len(thin.rows), len(rows))


def rows_of(session: Session, found: Fit, k: int, focus: object, kind: object) -> Any:
    """Rows and what k components make of them."""
    data, places = session.data, focus_of(session, focus)
    if found.choice.pair:
        y = data.views(found.choice.second)[1]
        guess = found.rebuilt(data, np.array(places[:1]), k)
        if guess is None:
            return drawing.message(drawing.NO_WAY_BACK)
        return drawing.deviations(y, places[0], guess, data.names[places[0]], "from the first view")
    return drawing.row(data, str(kind), places, found.rebuilt(data, wanted_rows(session, places, kind), k))


def wanted_rows(session: Session, places: list[int], kind: object) -> Array:
    """Rows to rebuild: a sample of those in a plane, else the one in focus."""
    X = session.data.X
    return drawing.sample(len(X)) if kind == "plane" and X.shape[1] == 2 else np.array(places[:1])


def row_words(found: Fit, k: int) -> tuple[str, str]:
    """What the picture of rows shows, and its title."""
    if found.choice.pair:
        return "The second view of a row, and its prediction from the first view.", "Predicted rows"
    if found.choice.maps or not hasattr(found.estimator, "inverse_transform"):
        return "Click a point to see its row and those near it.", "A row"
    way = "Pre-images of" if found.choice.row.has("kernel") else "Rows reconstructed from"
    said = f"{way} {plural(k, found.choice.row.noun)}. Click a point of the scores to see another row."
    return said, "Reconstructed rows"


def kernel_words(session: Session, choice: Choice) -> str:
    """The kernels of a choice, as they are written."""
    return " and ".join(dict.fromkeys(choice.kernels(session.data))) if choice.row.has("kernel") else ""


def slider_words(found: Fit) -> str:
    """When pictures follow a slider, where that is not at once."""
    if found.quick or (found.choice.row.nested and not found.choice.pair):
        return ""
    took = f": a fit takes {found.seconds:.2g} s" if found.seconds else ""
    return f"Points are updated when you release the slider{took}."


def hint(view: drawing.View, drawn: int, n: int) -> str:
    """What can be done with the points."""
    if view.solid:
        return "Drag to rotate; click a point for its neighbours."
    words = "Draw a lasso around points to see their rows; click one for its neighbours."
    if view.space:
        words = f"Three dimensions need WebGL, which this browser does not have. {words}"
    return words if drawn == n else f"{drawn:,} of {n:,} points are drawn, as there is no WebGL. {words}"


def _previews(app: Dash, explorer: Explorer) -> None:
    """A slider moves: quick fits are made on the way, kernel PCA with few landmarks; others wait for its release."""
    moves = (Input(name, "drag_value") for name in SLIDERS)
    app.clientside_callback(in_browser("askOneAtATime"), Output("ask", "data"), *moves, prevent_initial_call=True)
    drawn = (Output("send", "name"), Input("drawn", "data"))
    app.clientside_callback(in_browser("askTheNext"), *drawn, prevent_initial_call=True)

    @explorer.on(app, "+scores.figure +kernel-says.children drawn.data", "ask.data", f"{values_of(CONTROLS)} {SEEN}")
    def preview(session: Session, ask: dict[str, Any], *values: object) -> tuple[Any, ...]:
        moved = {name: ask[name] for name in SLIDERS if ask.get(name) is not None}
        choice = read_choice(session.data, {**dict(zip(CONTROLS, values, strict=False)), **moved})
        *look, screen, focus = values[len(CONTROLS) :]
        still = (no_update, no_update, ask.get("number"))
        session.glimpse = None
        found = session.fit
        if found is None or choice == session.choice or choice.method != found.choice.method:
            return still
        view = read_view(look, screen)
        try:
            if choice.key == found.choice.key:  # the cut moves, the points do not
                session.glimpse = choice, found, None
                return still
            if choice.row.has("kernel") and not choice.row.needs and not choice.maps:
                glimpses = glimpses_of(session.data, scaled=choice.scale)
                glimpse = glimpses.glimpse(parse(choice.kernels(session.data)[0]).resolve(glimpses.X))
                session.glimpse = choice, found, glimpse
                figure: Any = _preview_scores(session, glimpse, view, focus)
            elif found.quick:
                trial = fit(session.data, choice)
                session.glimpse = choice, trial, None
                figure, _ = points_of(session, trial, session.directions(trial), view, focus)
            else:
                return still
        except (ValueError, np.linalg.LinAlgError):
            return still  # the fit says what is wrong when the slider is let go
        session.previewed = True
        return figure, kernel_words(session, choice), ask.get("number")

    looks = "x.value y.value focus.data rows-as.value"

    @explorer.on(app, "+scree.figure +row.figure +loadings.figure", "drawn.data", looks)
    def follow(session: Session, drawn: object, x: object, y: object, focus: object, kind: object) -> tuple[Any, ...]:
        found, seen = session.fit, session.glimpse
        if found is None or seen is None or seen[0] == session.choice:
            raise PreventUpdate
        choice, shown, glimpse = seen
        places = read_view([x, y], None).places
        if glimpse is None:
            k = min(choice.k, shown.size)
            new = no_update if shown is found else drawing.loadings(session.data, shown, places)[0]
            return spectrum_of(shown, k), rows_of(session, shown, k, focus, kind), new
        k, data = min(choice.k, len(glimpse.shares)), session.data
        weights = drawing.correlated(data.X[glimpse.rows], glimpse.scores)
        return (
            drawing.scree(glimpse.shares, SHARE_OF_VARIANCE, k),
            _preview_rows(session, glimpse, k, focus, kind),
            drawing.components_of(data.table.columns, weights, "correlation", places, data.rows_as),
        )


def _preview_scores(session: Session, glimpse: Glimpse, view: drawing.View, focus: object) -> Patch:
    """New coordinates and names of axes; nothing else is sent."""
    patch = Patch()
    signs = session.signs(glimpse.scores, glimpse.rows)
    for name, numbers in drawing.coordinates(glimpse.scores, view).items():
        patch["data"][0][name] = numbers
    places = focus_of(session, focus) if focus and not view.space else []
    rings = np.searchsorted(glimpse.rows, places)
    if len(rings) and rings.max() < len(glimpse.rows) and (glimpse.rows[rings] == places).all():
        for name, numbers in drawing.coordinates(glimpse.scores[rings], view).items():
            patch["data"][1][name] = numbers
    if len(glimpse.rows) < len(session.data.X):
        colours = drawing.paint(session.data, session.fit, view).of(glimpse.rows)
        patch["data"][0]["marker"] = drawing.marks(colours, len(glimpse.rows), view)
    if view.biplot or view.named:
        patch["layout"]["annotations"] = []  # they follow the fit
    frame = patch["layout"]["scene"] if view.solid else patch["layout"]
    for name, at in zip("xyz" if view.solid else "xy", (*view.places, view.z - 1), strict=False):
        frame[f"{name}axis"]["autorange"] = drawing.direction(signs, at)
        if at < len(glimpse.shares) and not view.solid:
            share = percent(glimpse.shares[at] / 100)
            frame[f"{name}axis"]["title"]["text"] = f"component {at + 1} ({share} of variance)"
    return patch


def _preview_rows(session: Session, glimpse: Glimpse, k: int, focus: object, kind: object) -> Any:
    data, places = session.data, focus_of(session, focus)
    wanted = wanted_rows(session, places, kind)
    at = np.searchsorted(glimpse.rows, wanted)
    if at.max() >= len(glimpse.rows) or (glimpse.rows[at] != wanted).any():
        return no_update
    rebuilt = glimpse.rebuilt(at, k)
    if rebuilt is not None and session.choice.standardizes:
        rebuilt = data.standardizer.inverse_transform(rebuilt)
    return drawing.row(data, str(kind), places, rebuilt)


def _selections(app: Dash, explorer: Explorer) -> None:
    """Points are chosen: their rows, their neighbours, a file of them."""
    app.clientside_callback(in_browser("picked"), Output("picked", "data"), Input("scores", "selectedData"))

    @explorer.on(app, "chosen.children export.disabled", "picked.data shown.data")
    def list_rows(session: Session, picked: object, shown: object) -> tuple[Any, bool]:
        rows = read_rows(picked, session)
        return as_table(session, rows), not len(rows)

    @explorer.on(app, "file.data", "export.n_clicks", "picked.data")
    def export(session: Session, clicks: object, picked: object) -> Any:
        rows = read_rows(picked, session)
        if not len(rows):
            raise PreventUpdate
        return dcc.send_string(as_csv(session, rows), "rows.csv", type="text/csv")

    @on(app, "scores.selectedData scores.clickData +focus.data", "loaded.data")
    def forget(loaded: object) -> tuple[None, None, None]:
        return None, None, None  # rows of another table

    @explorer.on(app, "focus.data", "scores.clickData")
    def click(session: Session, clicked: object) -> dict[str, Any]:
        row = clicked_row(clicked, len(session.data.X))
        if row is None:
            raise PreventUpdate
        return {"rows": [row, *neighbours(session, row)], "of": session.data.serial}


def read_rows(picked: object, session: Session) -> Array:
    """Numbers of rows, whatever was sent."""
    numbers = [at for at in picked if type(at) in (int, float)] if isinstance(picked, list) else []
    whole = {int(at) for at in numbers if 0 <= at < len(session.data.X) and at % 1 == 0}
    return np.array(sorted(whole), dtype=int)


def clicked_row(clicked: Any, n: int) -> int | None:
    """The row of a point that was clicked."""
    try:
        point = clicked["points"][0]
        row = int(point.get("customdata", point["pointNumber"]))
    except (TypeError, KeyError, IndexError, ValueError, AttributeError):
        return None
    return row if 0 <= row < n else None


def neighbours(session: Session, row: int) -> list[int]:
    """Rows nearest to a row, in the columns as the method sees them."""
    seen = session.choice.seen(session.data)
    X = seen.scaled if session.choice.scale else seen.X
    # Differences in tiles would save memory for very wide tables; expanded squares do with one product.
    distances = np.einsum("ij,ij->i", X, X) - 2 * (X @ X[row])
    count = min(NEIGHBOURS + 1, len(X))
    nearest = np.argpartition(distances, count - 1)[:count]
    order = nearest[np.argsort(distances[nearest], kind="stable")]
    return [int(at) for at in order if at != row][:NEIGHBOURS]


def as_table(session: Session, rows: Array) -> Any:
    """The rows chosen, as many as fit on a page."""
    if not len(rows):
        return html.P("Draw a lasso in the first picture; the rows inside are listed here.", className="hint")
    table = session.data.table
    names = list(table.columns[:LISTED_COLUMNS])
    heads = ["row", *table.labels, *names]
    lines = [
        html.Tr(
            [
                html.Th(session.data.names[at], scope="row"),
                *(html.Td(cells[at]) for cells in table.labels.values()),
                *(html.Td(f"{value:.5g}") for value in table.values[at, : len(names)]),
            ]
        )
        for at in rows[:LISTED_ROWS].tolist()
    ]
    more = f"; the first {LISTED_ROWS} are shown" if len(rows) > LISTED_ROWS else ""
    head = html.Thead(html.Tr([html.Th(name, scope="col") for name in heads]))
    return [html.P(f"{len(rows):,} rows{more}.", className="hint"), html.Table([head, html.Tbody(lines)])]


def as_csv(session: Session, rows: Array) -> str:
    """The rows chosen, all columns and the scores."""
    table, found = session.data.table, session.fit
    values, names = [table.values[rows]], list(table.columns)
    if found is not None and found.score_names:
        views = [found.scores] if found.second is None else [found.scores, found.second]
        values += [scores[rows].astype(np.float64) for scores in views]
        names += found.score_names
    given = {table.ids or "row": table.row_names, **table.labels}
    labels = {name: [cells[at] for at in rows.tolist()] for name, cells in given.items()}
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        path = Path(folder, "rows.csv")
        write_scores(path, np.hstack(values), names, labels)
        return path.read_text(encoding="utf-8")
