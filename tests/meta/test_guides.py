"""The table of the README is that of the benchmarks. (tests/docs runs the code of all pages.)"""

import re
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]


def test_the_figures_of_the_readme_are_those_of_the_last_benchmarks():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.readme import MARKS, figures
    finally:
        sys.path.remove(str(ROOT))
    shown = MARKS.search((ROOT / "README.md").read_text())
    assert shown
    assert figures() in shown.group(0)


def test_the_picture_of_the_readme_has_no_figures_that_the_table_could_contradict():
    """Time and memory stand in the table alone; the title, which is kept in the file, is what would be drawn today."""
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.flagship import PICTURES, title
    finally:
        sys.path.remove(str(ROOT))
    path = PICTURES / "kernel_pca_100000.png"
    assert str(path.relative_to(ROOT)) in (ROOT / "README.md").read_text()
    drawn = Image.open(path).text["Title"]
    assert drawn == title(100_000)
    assert not re.search(r"\d (s|MB)\b", drawn)
