"""Pages as programs: their fenced blocks in order, what they are said to print, and a way to run them.

A ``python`` block runs; so do the ``gramian`` commands of a ``shell`` block. A ``text`` block right after one of them
is what it prints. All blocks of a page share one namespace and one folder. A block that begins with the name of a file
(``# src/...``) is that file: ``tests/meta/test_contributing.py`` puts it into a copy of the sources.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from gramian.cli.app import run as gramian
from gramian.kernels.base import REGISTRY

from ..cli.test_golden import masked  # noqa: TID252  (tests are no package with a name)

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^```(?P<kind>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def all_pages() -> list[Path]:
    """The pages that are written by hand; built ones are left out."""
    made = {"_build", "lessons", "gallery", "generated"}
    pages = (path for path in (ROOT / "docs").rglob("*.md") if not made & set(path.parts))
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(pages)]


@dataclass
class Block:
    """A piece of a program; ``shown`` is the place in the page of what it prints, if that is said."""

    kind: str
    code: str
    line: int
    shown: re.Match[str] | None = None


def blocks(text: str) -> list[Block]:
    """The programs of a page."""
    assert not re.search(r"^ +```(python|shell)", text, re.MULTILINE), "blocks that run stand at the margin"
    found: list[Block] = []
    end = None
    for fence in FENCE.finditer(text):
        kind = fence["kind"].strip()
        beside = end is not None and not text[end : fence.start()].strip()
        if kind in ("python", "shell") and not fence["body"].startswith(("# src/", "# tests/")):
            found.append(Block(kind, fence["body"], text.count("\n", 0, fence.start()) + 2))
            end = fence.end()
        else:
            if kind in ("", "text") and beside:
                found[-1].shown = fence
            end = None
    return found


def play(path: Path, *, write: bool = False) -> list[tuple[int, str, str]]:
    """Run a page; return line, stated and printed output of each block whose output is stated, both masked.

    ``write`` puts what was printed into the page where it differs from what was there.
    """
    text = path.read_text()
    pieces, last, compared = [], 0, []
    kernels = dict(REGISTRY)
    namespace = {"__name__": path.stem}
    try:
        for block in blocks(text):
            printed = execute(block, path, namespace)
            if block.shown is None:
                continue
            stated = block.shown["body"]
            compared.append((block.line, clean(stated), clean(printed)))
            if clean(stated) != clean(printed):
                pieces += [text[last : block.shown.start("body")], printed.rstrip() + "\n"]
                last = block.shown.end("body")
    finally:
        REGISTRY.clear()
        REGISTRY.update(kernels)  # kernels that a page adds live as long as the page
    if write and pieces:
        path.write_text("".join([*pieces, text[last:]]))
    return compared


def clean(text: str) -> str:
    """Output without what belongs to the machine."""
    return re.sub(r"gradient [\d.e-]+", "gradient TINY", masked(text)).strip()


def execute(block: Block, path: Path, namespace: dict[str, object]) -> str:
    """Run a block and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        if block.kind == "python":
            # Line numbers of a traceback are those of the page.
            exec(compile("\n" * (block.line - 1) + block.code, str(path), "exec", dont_inherit=True), namespace)
        else:
            for command in commands(block.code):
                assert gramian(command) == 0, f"{path.name}, line {block.line}: gramian {shlex.join(command)} failed"
    return out.getvalue()


def commands(code: str) -> list[list[str]]:
    """Arguments of the ``gramian`` commands of a shell block; other programs are not run."""
    lines = code.replace("\\\n", " ").splitlines()
    words = [shlex.split(line, comments=True) for line in lines]
    return [line[1:] for line in words if line and line[0] == "gramian"]
