"""Count the sources: files, lines, parameters typed ``Any``, names of files and constants that are used more than once.

python tools/count.py            a table for each package
python tools/count.py --names    the repeated names
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from pathlib import Path

SOURCES = Path(__file__).parents[1] / "src" / "gramian"


def typed_any(tree: ast.AST) -> tuple[int, int]:
    """Parameters typed exactly ``Any``, and all parameters; ``self`` and ``cls`` are not counted."""
    some = every = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            a = node.args
            given = [
                *a.posonlyargs,
                *a.args,
                *a.kwonlyargs,
                *([a.vararg] if a.vararg else []),
                *([a.kwarg] if a.kwarg else []),
            ]
            given = [one for one in given if one.arg not in ("self", "cls")]
            every += len(given)
            some += sum(isinstance(one.annotation, ast.Name) and one.annotation.id == "Any" for one in given)
    return some, every


def constants(tree: ast.Module) -> list[str]:
    """Names in capitals that a module binds."""
    found = []
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        found += [name.id for name in names if name.id.isupper() and len(name.id) > 1]
    return found


def main() -> None:
    """Print the table, or the names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--names", action="store_true", help="list names of files and constants that occur twice or more"
    )
    asked = parser.parse_args()
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    files: Counter[str] = Counter()
    bound: Counter[str] = Counter()
    for path in sorted(SOURCES.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        inside = path.relative_to(SOURCES)
        package = inside.parts[0] if len(inside.parts) > 1 else "(top)"
        for at, count in enumerate((1, len(text.splitlines()), *typed_any(tree))):
            rows[package][at] += count
        files[path.name] += path.name != "__init__.py"
        bound.update(constants(tree))
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    print(f"{'package':<14}{'files':>7}{'lines':>8}{'Any':>6}{'parameters':>12}")
    for name, counts in [*sorted(rows.items()), ("all", total)]:
        print(f"{name:<14}{counts[0]:>7}{counts[1]:>8}{counts[2]:>6}{counts[3]:>12}")
    for title, counter in (("names of files", files), ("constants", bound)):
        again = {name: count for name, count in sorted(counter.items()) if count > 1}
        print(f"{title} used twice or more: {len(again)}")
        if asked.names:
            print("  " + ", ".join(f"{name} ({count})" for name, count in again.items()))


if __name__ == "__main__":
    main()
