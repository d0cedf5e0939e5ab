"""Tabs, each with its own table, choice and fit, and the one thread that makes fits for all of them."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from dash import ClientsideFunction, Dash, Input, Output, State
from dash.exceptions import PreventUpdate

from gramian.config import Progress, config
from gramian.explore.choice import Choice
from gramian.explore.datasets import PRESETS, Dataset, preset
from gramian.explore.fitting import Fit, Glimpse, fit
from gramian.explore.notes import in_controls
from gramian.figures import grammar as g
from gramian.results import Array


class Cancelled(BaseException):
    """Raised inside the work to end it; like an interrupt, nothing on the way may take it for a failure."""


class Job:
    """A piece of work: waiting, running, done, failed or cancelled."""

    def __init__(self, owner: str, work: Callable[[], Any]) -> None:
        self.owner, self.work = owner, work
        self.state, self.error = "waiting", ""
        self.result: Any = None
        self.share = 0.0
        self.unwanted = False
        self._over = threading.Event()

    @property
    def over(self) -> bool:
        """Whether there is nothing left to wait for."""
        return self._over.is_set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, for so long at most; return whether it came."""
        return self._over.wait(seconds)

    def end(self, state: str) -> None:
        self.state = state
        self._over.set()

    def run(self) -> None:
        """Do the work and keep what it gives, or one line on why it failed."""
        self.state = "running"
        try:
            self.result = self.work()
        except Cancelled:
            self.end("cancelled")
        except MemoryError:
            self.error = "out of memory. Choose fewer components, or landmarks in the place of all rows."
            self.end("failed")
        except Exception as error:  # a thread that dies would leave the page waiting
            self.error = in_controls(" ".join(str(error).split()))[:500] or type(error).__name__
            self.end("failed")
        else:
            self.end("cancelled" if self.unwanted else "done")


class Worker:
    """The thread.

    >>> worker = Worker()
    >>> job = worker.submit("tab", lambda: 6 * 7)
    >>> job.wait(10), job.state, job.result
    (True, 'done', 42)
    >>> worker.close()
    """

    def __init__(self) -> None:
        self._queue: deque[Job] = deque()
        self._changed = threading.Condition()
        self._running: Job | None = None
        self._closed = False
        self._thread = threading.Thread(target=self._loop, name="gramian-explore", daemon=True)
        self._thread.start()

    def submit(self, owner: str, work: Callable[[], Any]) -> Job:
        """Queue work; what the same owner asked for before is given up."""
        job = Job(owner, work)
        with self._changed:
            self._give_up(owner)
            self._queue.append(job)
            self._changed.notify()
        return job

    def cancel(self, owner: str) -> None:
        with self._changed:
            self._give_up(owner)

    def close(self) -> None:
        """End the thread, and what it does."""
        with self._changed:
            self._closed = True
            for job in (*self._queue, *([self._running] if self._running else [])):
                job.unwanted = True
            self._changed.notify()
        self._thread.join(10)

    def _give_up(self, owner: str) -> None:
        for job in [job for job in self._queue if job.owner == owner]:
            self._queue.remove(job)
            job.end("cancelled")
        if self._running is not None and self._running.owner == owner:
            self._running.unwanted = True

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                self._running = self._queue.popleft()
            with config(progress=self._report):
                self._running.run()
            with self._changed:
                self._running = None

    def _report(self, progress: Progress) -> None:
        """Take a report; the callback belongs to the process, so other threads' reports are passed over."""
        job = self._running
        if threading.current_thread() is not self._thread or job is None:
            return
        if job.unwanted:
            raise Cancelled
        job.share = min(1.0, progress.done / max(progress.expected, 1e-9))


Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """What was used last, up to a number of things; the one used longest ago is forgotten first."""

    def __init__(self, most: int) -> None:
        self._known: OrderedDict[Key, Value] = OrderedDict()
        self._most, self._lock = most, threading.Lock()

    def get(self, key: Key) -> Value | None:
        """Return what is known by a key, if anything is, which uses it."""
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
            return self._known.get(key)

    def put(self, key: Key, value: Value) -> Value:
        with self._lock:
            self._known[key] = value
            while len(self._known) > self._most:
                self._known.popitem(last=False)
            return value


#: Tabs that are remembered.
MAX_TABS = 32
#: Fits of a tab that are kept, so that going back is instant.
FITS_KEPT = 4
#: Rows that decide which way an axis is drawn.
SIGN_SAMPLE_ROWS = 2000
#: What keys of tables begin with that came through the browser; how many of them a tab keeps, and states to undo.
UPLOADED, MAX_UPLOADS, MAX_STATES = "upload:", 3, 100
CANCELLED = "Cancelled. The picture shows the previous fit."


class Session:
    """What the server remembers of one tab."""

    def __init__(self, key: str, data: Dataset, *, started: bool = True) -> None:
        self.key, self.base, self.data, self.started = key, data, data.opened, started
        self.choice = Choice()
        self.controls: dict[str, Any] = {}
        self.theme = g.LIGHT_THEME
        self.past: list[str] = []
        self.uploads: dict[str, Dataset] = {}
        self.version = 0
        self.previewed = False
        self.glimpse: tuple[Choice, Fit, Glimpse | None] | None = None
        self.fit: Fit | None = None
        self.job: Job | None = None
        self.message = ""
        self._fits: Recent[Choice, Fit] = Recent(FITS_KEPT)
        self.turned = np.ones(0)
        self._lock = threading.RLock()

    def use(self, base: Dataset, data: Dataset | None = None) -> None:
        """Turn to another table, or to some of its columns."""
        with self._lock:
            self.started = True
            if base.key.startswith(UPLOADED):
                self.uploads = dict([*self.uploads.items(), (base.key, base)][-MAX_UPLOADS:])
            self.base, self.data, self.fit, self.job = base, data or base.opened, None, None
            self._fits = Recent(FITS_KEPT)

    @property
    def state(self) -> str:
        """What the page shows, as :func:`gramian.explore.states.state_of` writes it."""
        return self.past[-1] if self.past else ""

    def remember(self, state: str) -> None:
        """Take a state as the last one, to which others may be undone."""
        with self._lock:
            if state != self.state:
                self.past = [*self.past, state][-MAX_STATES:]

    def undo(self) -> str:
        """Forget the last state and return the one before, which will be remembered again when it is there."""
        with self._lock:
            self.past = self.past[:-1]
            return self.past.pop() if self.past else ""

    def give_up(self) -> None:
        """Forget what was asked for; the picture stays as it is."""
        with self._lock:
            if self.job is not None:
                self.job, self.message = None, CANCELLED

    def ask(self, choice: Choice, worker: Worker) -> Job | None:
        """Ask for a fit; None if it is there already."""
        with self._lock:
            same = self.choice.key == choice.key
            self.choice = choice
            if same and self.job is not None and self.job.state in ("waiting", "running"):
                return self.job  # the cut was moved meanwhile: the fit is the same
            if same and self.job is not None:
                self.take(self.job)
            known = self._fits.get(choice.key)
            if known is not None:
                worker.cancel(self.key)
                self.job = None
                self._show(known)
                return None
            data = self.data
            self.job = worker.submit(self.key, lambda: fit(data, choice))
            return self.job

    def take(self, job: Job) -> bool:
        """Take what a job gave, if it is still wanted; return whether the picture changed."""
        with self._lock:
            if job is not self.job or not job.over:
                return False
            self.job = None
            if job.state != "done":
                self.message = job.error or CANCELLED
                return False
            self._show(self._fits.put(self.choice.key, job.result))
            return True

    def show(self, found: Fit) -> None:
        """Show a fit that came from elsewhere, such as a file."""
        with self._lock:
            self.choice, self.job = found.choice, None
            self._show(self._fits.put(found.choice.key, found))

    def _show(self, found: Fit) -> None:
        self.turned = self.directions(found)
        # A picture that is on the screen, and that no preview has changed, is not drawn again.
        self.version += found is not self.fit or self.previewed
        self.fit, self.message, self.previewed = found, "", False

    def directions(self, found: Fit) -> Array:
        """Direction in which each axis of a fit is drawn."""
        if found.choice.maps:
            return np.ones(found.scores.shape[1])
        sample = np.linspace(0, len(found.scores) - 1, min(len(found.scores), SIGN_SAMPLE_ROWS)).astype(int)
        return self.signs(found.scores[sample], sample)

    def signs(self, scores: Array, rows: Array) -> Array:
        """Direction in which each axis is drawn, +1 or -1, so that the picture stands still.

        The sign of a component means nothing, and changes when a kernel does. Numbers keep the sign that the code
        gives; it is the axis that is turned.
        """
        signs = np.ones(scores.shape[1])
        with self._lock:
            if self.fit is not None and len(self.fit.scores) > rows.max(initial=0):
                k = min(self.fit.scores.shape[1], scores.shape[1])
                before = self.fit.scores[rows, :k] * self.turned[:k]
                signs[:k] = np.where(np.einsum("ij,ij->j", before, scores[:, :k]) < 0, -1.0, 1.0)
        return signs


class Explorer:
    """State of the server: all tabs, by keys that cannot be guessed, and the thread that fits for them."""

    def __init__(self, first: Dataset | None, folder: Path) -> None:
        self.first, self.folder = first, folder
        self._sessions: Recent[str, Session] = Recent(MAX_TABS)
        self.worker = Worker()

    def open(self, key: object = None) -> Session:
        """Return the session of a key, or a new one if there is none."""
        first = self.first or preset(next(iter(PRESETS)))
        new = Session(secrets.token_urlsafe(24), first, started=self.first is not None)
        return self.find(key) or self._sessions.put(new.key, new)

    def find(self, key: object) -> Session | None:
        return self._sessions.get(key) if isinstance(key, str) else None

    def session(self, key: object) -> Session:
        """The session of a tab; a tab that is not known yet, or no longer, is left alone."""
        found = self.find(key)
        if found is None:
            raise PreventUpdate
        return found

    def table(self, session: Session, key: str) -> Dataset:
        """The table that a tab knows by a key."""
        if self.first is not None and key == self.first.key:
            return self.first
        if key in session.uploads:
            return session.uploads[key]
        if key in PRESETS:
            return preset(key)
        name = key.removeprefix(UPLOADED)
        raise ValueError(f"{name} is not here any more. Upload it again." if name else "The address names no table.")

    def on(self, app: Dash, outputs: str, inputs: str, states: str = "", **options: Any) -> Callable[[Any], Any]:
        """Like :func:`on`, for a callback that takes the session of the tab before its values.

        Figures among what it returns are sent in the colours of the page.
        """

        def connect(callback: Callable[..., Any]) -> Any:
            def answer(*values: object) -> Any:
                session = self.session(values[-1])
                found = callback(session, *values[:-1])
                several = isinstance(found, tuple)
                parts = [_coloured(part, session.theme) for part in (found if several else [found])]
                return parts if several else parts[0]

            return on(app, outputs, inputs, f"{states} page.data", **options)(answer)

        return connect

    def draws(self, app: Dash, outputs: str, inputs: str) -> Callable[[Any], Any]:
        """Like :meth:`on`, for a callback whose pictures are drawn again in other colours."""

        def connect(callback: Callable[..., Any]) -> Any:
            def answer(session: Session, theme: object, *values: object) -> Any:
                session.theme = g.DARK_THEME if theme == "dark" else g.LIGHT_THEME
                return callback(session, *values)

            return self.on(app, outputs, f"theme.data {inputs}")(answer)

        return connect


def _coloured(part: Any, theme: dict[str, str]) -> Any:
    return g.encoded(part, theme) if isinstance(part, dict) and "layout" in part else part


#: Sliders, in the order in which functions of the browser take them.
SLIDERS = ("width", "degree", "ridge", "C", "k")


def in_browser(name: str) -> ClientsideFunction:
    """A function of ``assets/explore.js``, for a callback that asks nothing of the server."""
    return ClientsideFunction("gramian", name)


def values_of(names: Iterable[str]) -> str:
    """The values of some controls, for :func:`on`."""
    return " ".join(f"{name}.value" for name in names)


def on(app: Dash, outputs: str, inputs: str, states: str = "", **options: Any) -> Callable[[Any], Any]:
    """Decorate a callback of properties that are written ``id.property``; others set outputs with a ``+`` as well."""

    def split(word: str) -> tuple[str, str]:
        name, _, part = word.lstrip("+").partition(".")
        return name, part

    places = [Output(*split(word), allow_duplicate=word.startswith("+")) for word in outputs.split()]
    given = [kind(*split(word)) for kind, words in ((Input, inputs), (State, states)) for word in words.split()]
    return app.callback(*places, *given, prevent_initial_call=True, **options)
