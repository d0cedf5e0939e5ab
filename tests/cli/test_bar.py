"""The bar: only at a terminal, only when asked, only for long work."""

import io
import sys

import pytest

from gramian.cli import bar
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
        monkeypatch.setattr(bar, "PATIENCE", patience)
        monkeypatch.setenv("TERM", "xterm")
        with bar.Bar(quiet=quiet) as progress_bar:
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
