"""Every program in README, CONTRIBUTING and docs runs, and prints what the page says it prints.

After a change that was meant, ``GRAMIAN_DOCS=write pytest tests/docs/test_pages.py`` writes the outputs again: read the
difference.
"""

import os

import matplotlib
import pytest

from gramian.cli.demo import write_tables

from .pages import ROOT, all_pages, blocks, play

PROGRAMS = [path for path in all_pages() if blocks(path.read_text())]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with what a clone has after ``gramian demo``: its tables, data of examples and of tests."""
    (tmp_path / "demo").mkdir()
    write_tables(tmp_path / "demo")
    for name in ("examples", "tests"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_programs_of_a_page_run_and_print_what_it_says(path, folder):
    for line, stated, printed in play(path, write=os.environ.get("GRAMIAN_DOCS") == "write"):
        assert printed == stated, f"{path.name}, line {line}"


@pytest.mark.parametrize("path", all_pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_norms_in_tables_survive(path):
    r"""Markdown takes \| in a table for a bar: there a norm is \lVert x \rVert."""
    rows = [line for line in path.read_text().splitlines() if line.startswith("|") and "$" in line]
    assert not [row for row in rows if r"\|" in row]


def test_a_broken_block_and_a_wrong_output_are_found(folder):
    page = folder / "page.md"
    page.write_text("```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n")
    assert play(page) == [(2, "41", "42")]
    play(page, write=True)
    assert play(page) == [(2, "42", "42")]
    page.write_text("```python\nundefined\n```\n")
    with pytest.raises(NameError):
        play(page)
    page.write_text("```shell\ngramian fit nowhere.csv\n```\n")
    with pytest.raises(AssertionError, match=r"line 2: gramian fit nowhere.csv failed"):
        play(page)
