"""The mutants that tests are tested with: what is changed, what is left alone, and that the change is the only one."""

import importlib.util
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "mutations.py"
spec = importlib.util.spec_from_file_location("mutations", TOOL)
mutations = sys.modules["mutations"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(mutations)

SOURCE = '''"""Words."""

def clip(x: "1 + 1", low: int = 2) -> "3 < 4":
    """More words, 5 of them."""
    if not x or x < low:
        raise ValueError(f"{x + 6} is below {low}")
    x = x * 2
    return x
'''


def texts():
    return [mutant.text.removeprefix("clip: ") for mutant in mutations.mutants(SOURCE, "clip.py")]


def test_each_slip_is_made_once_and_words_are_left_alone():
    header, test = "def clip(x: '1 + 1', low: int={}) -> '3 < 4':", "if {}:"
    assert texts() == [
        *(f"{header.format(2)}  ->  {header.format(other)}" for other in (3, 1, -2)),
        *(
            f"{test.format('not x or x < low')}  ->  {test.format(other)}"
            for other in ("not (not x or x < low)", "not x and x < low", "x or x < low", "not x or x <= low")
        ),
        "if not x or x < low:  ->  if not x or x >= low:",
        "raise ValueError(f'{x + 6} is below {low}')  ->  pass",
        "x = x * 2  ->  pass",
        "x = x * 2  ->  x = x / 2",
        *(f"x = x * 2  ->  x = x * {other}" for other in (3, 1, -2)),
        "return x  ->  return None",
    ]


def test_a_mutant_behaves_as_its_text_says():
    found = {}
    for mutant in mutations.mutants(SOURCE, "clip.py"):
        namespace = {}
        exec(mutant.code, namespace)
        found[mutant.text.removeprefix("clip: ")] = namespace["clip"]
    assert found["x = x * 2  ->  x = x / 2"](8) == 4
    assert found["return x  ->  return None"](8) is None
    assert found["raise ValueError(f'{x + 6} is below {low}')  ->  pass"](1) == 2
    assert found["x = x * 2  ->  pass"](8) == 8


def test_the_same_slip_in_two_places_has_two_names():
    source = "def f(x):\n    x += 1\n    x += 1\n"
    assert len({mutant.text for mutant in mutations.mutants(source, "f.py")}) == len(mutations.mutants(source, "f.py"))


def test_the_page_states_what_was_found_last_and_that_is_enough():
    found = json.loads((ROOT / "tools" / "mutants.json").read_text())
    rows = re.findall(r"^\| `(gramian\S+)` \| (\d+) \| (\d+) \|", (ROOT / "docs" / "reliability.md").read_text(), re.M)
    assert rows == [(name, str(one["mutants"]), str(one["noticed"])) for name, one in found.items()]
    assert all(one["noticed"] >= 0.85 * one["mutants"] for one in found.values())
