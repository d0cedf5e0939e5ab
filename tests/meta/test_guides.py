"""The table of the README is that of the benchmarks. (tests/docs runs the code of all pages.)"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_the_readme_is_that_of_the_last_benchmark():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.readme import MARKS, RESULTS, table
    finally:
        sys.path.remove(str(ROOT))
    shown = MARKS.search((ROOT / "README.md").read_text())
    assert shown
    assert table(json.loads(RESULTS.read_text())) in shown.group(0)
