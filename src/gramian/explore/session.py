"""Tabs: each has its own table, choice and fit; all share one worker."""

from __future__ import annotations

import re
import secrets
import threading
from collections import OrderedDict
from typing import Any

import numpy as np

from gramian.explore.choice import Choice
from gramian.explore.datasets import Dataset
from gramian.explore.fitting import Fit, fit
from gramian.explore.preview import Glimpse
from gramian.explore.worker import Job, Worker
from gramian.results import Array

#: Tabs that are remembered; the one used longest ago is forgotten first.
TABS = 32
#: Fits of a tab that are kept, so that going back is instant.
FITS = 4
#: Rows that decide which way an axis is drawn.
SAMPLE = 2000
CANCELLED = "Cancelled: the picture is the one before."


class Session:
    """What the server remembers of one tab."""

    def __init__(self, key: str, data: Dataset) -> None:
        self.key, self.base, self.data = key, data, data
        self.choice = Choice()
        self.controls: dict[str, Any] = {}
        self.version = 0
        self.previewed = False
        self.glimpse: tuple[Choice, Fit, Glimpse | None] | None = None
        self.fit: Fit | None = None
        self.job: Job | None = None
        self.message = ""
        self._fits: OrderedDict[Choice, Fit] = OrderedDict()
        self.turned = np.ones(0)
        self._lock = threading.RLock()

    def use(self, base: Dataset, data: Dataset | None = None) -> None:
        """Turn to another table, or to some of its columns."""
        with self._lock:
            self.base, self.data, self.fit, self.job = base, data or base, None, None
            self._fits.clear()

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
            self._fits[self.choice.key] = job.result
            while len(self._fits) > FITS:
                self._fits.popitem(last=False)
            self._show(job.result)
            return True

    def show(self, found: Fit) -> None:
        """Show a fit that came from elsewhere, such as a file."""
        with self._lock:
            self.choice, self.job = found.choice, None
            self._fits[found.choice.key] = found
            self._show(found)

    def _show(self, found: Fit) -> None:
        self.turned = self.directions(found)
        # A picture that is on the screen, and that no preview has changed, is not drawn again.
        self.version += found is not self.fit or self.previewed
        self.fit, self.message, self.previewed = found, "", False

    def directions(self, found: Fit) -> Array:
        """Direction in which each axis of a fit is drawn."""
        sample = np.linspace(0, len(found.scores) - 1, min(len(found.scores), SAMPLE)).astype(int)
        return self.signs(found.scores[sample], sample)

    def signs(self, scores: Array, rows: Array) -> Array:
        """Direction in which each axis is drawn, +1 or -1, so that the picture stands still.

        The sign of a component means nothing, and changes when a kernel does. Numbers keep the sign that the code
        gives; it is the axis that is turned.
        """
        signs = np.ones(scores.shape[1])
        with self._lock:
            if self.fit is not None and len(self.fit.scores) > rows.max(initial=0):
                k = min(self.fit.size, scores.shape[1])
                before = self.fit.scores[rows, :k] * self.turned[:k]
                signs[:k] = np.where(np.einsum("ij,ij->j", before, scores[:, :k]) < 0, -1.0, 1.0)
        return signs


class Sessions:
    """All tabs, by keys that cannot be guessed."""

    def __init__(self, first: Dataset) -> None:
        self.first = first
        self._all: OrderedDict[str, Session] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, key: Any = None) -> Session:
        """Return the session of a key, or a new one if there is none."""
        with self._lock:
            if isinstance(key, str) and key in self._all:
                self._all.move_to_end(key)
                return self._all[key]
            session = Session(secrets.token_urlsafe(24), self.first)
            self._all[session.key] = session
            while len(self._all) > TABS:
                self._all.popitem(last=False)
            return session

    def find(self, key: Any) -> Session | None:
        """Return the session of a key, if there is one."""
        if not isinstance(key, str) or not re.fullmatch(r"[\w-]{32}", key):
            return None
        with self._lock:
            found = self._all.get(key)
            if found is not None:
                self._all.move_to_end(key)
            return found
