"""The code in the guides runs as it stands."""

import json
import re
import sys
from pathlib import Path

from gramian.kernels.base import REGISTRY

ROOT = Path(__file__).parents[2]


def blocks(name):
    return re.findall(r"```python\n(.*?)```", (ROOT / name).read_text(), re.DOTALL)


def test_the_guide_adds_a_kernel_in_one_file():
    namespace = {"__name__": "guide"}
    try:
        for block in blocks("CONTRIBUTING.md"):
            exec(compile(block, "CONTRIBUTING.md", "exec"), namespace)
        assert REGISTRY["cauchy"] is namespace["Cauchy"]
    finally:
        REGISTRY.pop("cauchy", None)


def test_the_readme_example_prints_what_it_shows(capsys):
    (example,) = blocks("README.md")
    exec(compile(example, "README.md", "exec"), {"__name__": "readme"})
    printed = capsys.readouterr().out.strip()
    shown = re.search(r"```\n(KernelPCA .*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL).group(1)
    # Seconds and the last digits of a residual belong to the machine.
    machine = re.compile(r"[\d.]+ s$|<= [\d.e-]+", re.MULTILINE)
    assert machine.sub("", printed) == machine.sub("", shown)


def test_the_table_of_the_readme_is_that_of_the_last_benchmark():
    sys.path.insert(0, str(ROOT))
    try:
        from benchmarks.readme import MARKS, RESULTS, table
    finally:
        sys.path.remove(str(ROOT))
    shown = MARKS.search((ROOT / "README.md").read_text())
    assert shown
    assert table(json.loads(RESULTS.read_text())) in shown.group(0)
