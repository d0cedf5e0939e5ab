"""The bar: only at a terminal, only when asked, only for long work."""

import io
import sys
import threading
import time

import pytest

from gramian.cli import outputs
from gramian.config import Progress

STEP = Progress("eigenvectors", 3.0, 12.0, 5.0)


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def shown(monkeypatch):
    """Run one step of progress and give what was drawn."""

    def shown(stream, *, quiet=False, patience=0.0):
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setattr(outputs, "BAR_DELAY_SECONDS", patience)
        monkeypatch.setenv("TERM", "xterm")
        with outputs.Bar(quiet=quiet) as progress_bar:
            progress_bar(STEP)
            progress_bar(STEP)
        return stream.getvalue()

    return shown


def test_a_terminal_sees_task_and_time_left(shown):
    text = shown(Terminal())
    assert "eigenvectors" in text
    assert "about 15 s left" in text


def test_nobody_else_sees_anything(shown):
    assert shown(io.StringIO()) == ""
    assert shown(Terminal(), quiet=True) == ""
    assert shown(Terminal(), patience=60.0) == ""


def test_a_step_that_reports_nothing_is_named_after_a_while(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(outputs, "BAR_DELAY_SECONDS", 0.05)
    monkeypatch.setenv("TERM", "xterm")
    with outputs.Bar() as progress_bar:
        with progress_bar.step("reading"):
            deadline = time.monotonic() + 20
            while "reading" not in stream.getvalue() and time.monotonic() < deadline:
                time.sleep(0.01)
        with progress_bar.step("fitting"):
            progress_bar(STEP)
    assert "reading" in stream.getvalue()
    assert "eigenvectors" in stream.getvalue()


def test_a_short_step_shows_nothing(monkeypatch):
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    with outputs.Bar() as progress_bar, progress_bar.step("reading"):
        pass
    assert stream.getvalue() == ""
    assert not any(isinstance(thread, threading.Timer) for thread in threading.enumerate())
