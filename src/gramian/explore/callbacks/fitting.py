"""A control is let go: the exact fit, in the worker; its progress; its end."""

from __future__ import annotations

from typing import Any

from dash import Dash, Input, Output, State, no_update

from gramian.explore.explorer import CONTROLS, LOOKS, Explorer, read_choice
from gramian.explore.fitting import Fit
from gramian.explore.notes import in_controls
from gramian.explore.session import Session

#: Seconds that a request waits for a quick fit, so that most answers come at once.
PATIENCE = 0.25


def register(app: Dash, explorer: Explorer) -> None:
    """Connect the callbacks of this file."""
    outputs = [
        ("shown", "data"),
        ("cut", "data"),
        ("status", "children"),
        ("status", "className"),
        ("progress", "value"),
        ("progress", "hidden"),
        ("cancel", "hidden"),
        ("tick", "disabled"),
        ("pictures", "className"),
    ]

    @app.callback(
        *(Output(*where) for where in outputs),
        Input("loaded", "data"),
        *(Input(name, "value") for name in CONTROLS),
        State("page", "data"),
        *(State(name, "value") for name in LOOKS),
        prevent_initial_call=True,
    )
    def ask(loaded: Any, *values: Any) -> tuple[Any, ...]:
        page, looks = values[len(CONTROLS)], values[len(CONTROLS) + 1 :]
        session = explorer.session(page)
        given = dict(zip(CONTROLS, values, strict=False))
        session.controls = {**given, **dict(zip(LOOKS, looks, strict=True))}
        try:
            job = session.ask(read_choice(session.data, given), explorer.worker)
        except ValueError as error:
            session.message = in_controls(str(error))
            return answer(session)
        if job is not None and job.wait(PATIENCE):
            session.take(job)
        return answer(session)

    @app.callback(
        *(Output(*where, allow_duplicate=True) for where in outputs),
        Input("tick", "n_intervals"),
        State("page", "data"),
        State("shown", "data"),
        prevent_initial_call=True,
    )
    def look(ticks: Any, page: Any, shown: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        if session.job is not None and session.job.over:
            session.take(session.job)
        found = answer(session)
        # What is on the screen already is not sent again.
        return found if found[0] != shown else (no_update, *found[1:])

    @app.callback(
        *(Output(*where, allow_duplicate=True) for where in outputs),
        Input("cancel", "n_clicks"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def cancel(clicks: Any, page: Any) -> tuple[Any, ...]:
        session = explorer.session(page)
        explorer.worker.cancel(session.key)
        session.give_up()
        return (no_update, *answer(session)[1:])


def answer(session: Session) -> tuple[Any, ...]:
    """What the page is told of a session: the picture, the cut, a sentence, and whether to ask again."""
    job, found = session.job, session.fit
    if job is not None:
        words = "Waiting for another tab ..." if job.state == "waiting" else f"{session.choice.row.title} ..."
        stale = "stale" if found is None else ""
        return no_update, no_update, words, "", f"{job.share:.3f}", False, False, False, stale
    shown: Any = no_update
    cut: Any = no_update
    words = session.message
    if found is not None:
        shown = {"version": session.version}
        cut = {"k": min(session.choice.k, found.size), "of": session.version}
        words = words or sentence(session, found)
    kind = "error" if session.message else ""
    return shown, cut, words, kind, "0", True, True, True, "stale" if found is None else ""


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
