"""Small wrong versions of a source file: one change each, of the kind a slip of the hand makes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from types import CodeType
from typing import Any

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.And: (ast.Or,),
    ast.Or: (ast.And,),
    # Each comparison at its border, and turned round.
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
#: Fields that hold no behaviour, or words for people only.
SILENT = {"annotation", "returns", "decorator_list", "type_ignores"}
WORDS = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """A change, told by the function and the line it is in before and after, and the module compiled with it."""

    line: int
    text: str
    code: CodeType


def mutants(source: str, path: str) -> list[Mutant]:
    """Return all mutants of a module, in the order of its lines."""
    tree = ast.parse(source)
    found, seen = [], Counter[str]()
    for owner, statement, parent, field, place, node in _slots(tree):
        for new in _changes(node, field):
            before = _headline(statement)
            _put(parent, field, place, new)
            ast.fix_missing_locations(tree)
            after = _headline(new if node is statement else statement)
            text = f"{owner}: {before}  ->  {after}"
            seen[text] += 1
            text += f"  ({seen[text]})" if seen[text] > 1 else ""  # the same line may stand twice in a function
            found.append(Mutant(statement.lineno, text, compile(tree, path, "exec")))
            _put(parent, field, place, node)
    return sorted(found, key=lambda mutant: mutant.line)


Slot = tuple[str, Any, ast.AST, str, int | None, ast.AST]


def _slots(node: ast.AST, owner: str = "module", statement: Any = None) -> Iterator[Slot]:
    """Every place that may be changed: the function and the statement it is in, parent, field, and the node there."""
    for field, value in ast.iter_fields(node):
        if field in SILENT:
            continue
        for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST):
                continue
            inner = child if isinstance(child, ast.stmt) else statement
            yield owner, inner, node, field, place, child
            if not isinstance(child, WORDS):
                named = isinstance(child, (ast.FunctionDef, ast.ClassDef))
                yield from _slots(child, f"{owner}.{child.name}".removeprefix("module.") if named else owner, inner)


def _changes(node: ast.AST, field: str) -> Iterator[ast.AST]:
    """What may stand in the place of a node."""
    for new in OPERATORS.get(type(node), ()):
        yield new()
    if isinstance(node, ast.Constant):
        yield from _constants(node.value, field)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Return) and ast.unparse(node) not in ("return", "return None"):
        yield ast.Return(ast.Constant(None))
    elif _removable(node):
        yield ast.Pass()
    if field == "test" and not isinstance(node, (ast.Compare, ast.UnaryOp)):
        yield ast.UnaryOp(ast.Not(), node)


def _constants(value: Any, field: str) -> Iterator[ast.Constant | ast.UnaryOp]:
    default = field in ("defaults", "kw_defaults")
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, (int, float)):
        changed = [value + 1, value - 1, *([-value] if value not in (0, 1, -1) else [])]
        # A step of one is lost on numbers that are far larger or smaller.
        yield from (
            ast.Constant(new) for new in (changed if 0 <= abs(value) < 1e15 and value % 1 == 0 else [2 * value])
        )
    elif default and (value is None or isinstance(value, str)):
        yield ast.Constant(0)


def _removable(node: ast.AST) -> bool:
    """Whether the program still has all its names without a statement; otherwise its end proves nothing."""
    if isinstance(node, ast.Assign):
        kept = [target.id for target in node.targets if isinstance(target, ast.Name)]
        read = {name.id for name in ast.walk(node.value) if isinstance(name, ast.Name)}
        return all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in node.targets) or bool(read & set(kept))
    words = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return isinstance(node, (ast.AugAssign, ast.Raise, ast.Expr)) and not words


def _headline(statement: ast.stmt) -> str:
    """A statement on one line; of a block, how it begins."""
    lines = ast.unparse(statement).splitlines()
    return next(line for line in lines if not line.startswith("@"))


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node
