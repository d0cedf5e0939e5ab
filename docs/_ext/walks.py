"""The directive ``walk``: the files that a call crosses, as ``tools/walk.py`` prints them when the pages are built."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive

ROOT = Path(__file__).parents[2]


class Walk(Directive):
    """``{walk} CALL``; a call that begins with ``gramian`` is a command."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Follow the call in a process of its own."""
        call = self.arguments[0]
        words = call.split() if call.startswith("gramian ") else [call]
        place = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, str(ROOT / "tools" / "walk.py"), *words]
        done = subprocess.run(command, cwd=ROOT, env=place, capture_output=True, text=True, check=True)
        return [nodes.literal_block(text=done.stdout.rstrip(), language="text")]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("walk", Walk)
    return {"parallel_read_safe": True}
