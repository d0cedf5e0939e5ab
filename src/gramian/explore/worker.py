"""One thread for long work: progress, cancelling, and the newest request of each tab wins."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from gramian.config import Progress, config
from gramian.explore.notes import in_controls


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
        """Say that it is over."""
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
        """Give up what an owner asked for."""
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
            with config(progress=self._hear):
                self._running.run()
            with self._changed:
                self._running = None

    def _hear(self, progress: Progress) -> None:
        """Take a report; the callback belongs to the process, so other threads' reports are passed over."""
        job = self._running
        if threading.current_thread() is not self._thread or job is None:
            return
        if job.unwanted:
            raise Cancelled
        job.share = min(1.0, progress.done / max(progress.expected, 1e-9))
