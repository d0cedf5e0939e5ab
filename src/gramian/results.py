"""Frozen values that travel between the layers: what was found, how, and how it reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from html import escape
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[Any]
#: Rows in memory: an array, or a CSR matrix.
Matrix: TypeAlias = Array | sp.csr_array | sp.csr_matrix
#: What scikit-learn takes as ``random_state``.
Seed: TypeAlias = int | np.random.Generator | np.random.RandomState | None
#: Share of a total that sums lose: what is nearer to all of it is all of it.
ROUNDING = 1e-12


@dataclass(frozen=True)
class SolverTrace:
    """How an answer was reached: which solver, why that one, at what price, and why it stopped."""

    solver: str
    reason: str
    products: str = ""
    converged: bool = True
    stopped: str = ""


@dataclass(frozen=True)
class Spectrum:
    """Leading eigenpairs of a symmetric operator, in order, oriented, with their certificate.

    Attributes
    ----------
    values : (k,) array
        Descending, all above the null-space tolerance.
    vectors : (n, k) array
        Orthonormal columns.
    residuals : (k,) array
        ``||A v - lambda v|| / lambda`` in double precision.
    trace : SolverTrace
    n_negative, most_negative
        Negative eigenvalues met, and the size of the largest of them.
    absolute_sum : float or None
        Sum of all ``|lambda|`` if the whole spectrum is known.
    null : (n, j) array or None
        Directions of the pairs that were asked for and cut off, if the solver has them.
    """

    values: Array
    vectors: Array
    residuals: Array
    trace: SolverTrace
    n_negative: int = 0
    most_negative: float = 0.0
    absolute_sum: float | None = None
    null: Array | None = None


@dataclass(frozen=True)
class Mix:
    """The small matrix an estimator puts to the right of V, and the one that leads back to the components.

    Scores are ``Phi V forward``; ``scores @ back`` are coordinates along the components again.
    """

    forward: Array
    back: Array


@dataclass(frozen=True)
class FitSummary:
    """What a fit did, in a few labelled lines: a result, not a log.

    ``str()`` gives text, :meth:`to_dict` and :meth:`to_json` the same facts for machines.
    """

    title: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        width = max((len(label) for label, _ in self.lines), default=0) + 1
        width = max(width, len(self.title[0]) + 1)
        head = f"{self.title[0]:<{width}} " + "   ".join(self.title[1:])
        return "\n".join([head, *(f"{label:<{width}} {text}" for label, text in self.lines)])

    def _repr_html_(self) -> str:
        """The same as a small table, for notebooks."""
        head, *rest = (escape(part) for part in self.title)
        return html_table(f"<strong>{head}</strong> {' · '.join(rest)}", self.lines)

    def to_dict(self) -> dict[str, Any]:
        """Facts as plain Python values."""
        return json.loads(self.to_json())

    def to_json(self) -> str:
        """Facts as JSON text."""
        return json.dumps(self.facts, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def plain_values(value: Any) -> Any:
    """A frozen value with all that it holds as dictionaries, lists, numbers and text.

    >>> plain_values(Mix(np.eye(1), np.array([2.0])))
    {'forward': [[1.0]], 'back': [2.0]}
    """
    if is_dataclass(value):
        return {part.name: plain_values(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain_values(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_values(part) for part in value]
    return _plain(value) if isinstance(value, (np.ndarray, np.generic)) else value


def text_table(rows: Sequence[Sequence[str]], right: tuple[int, ...] = ()) -> str:
    """Write cells in columns; those counted in ``right`` are flush right.

    >>> print(text_table([("a", "k"), ("bcd", "12")], right=(1,)))
    a     k
    bcd  12
    """
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    sides = [">" if at in right else "<" for at in range(len(widths))]
    lines = ([f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)] for row in rows)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def html_table(caption: str, rows: Iterable[Sequence[str]], head: Sequence[str] = ()) -> str:
    """Write a small table for notebooks; the first cell of a row names it. The caption is HTML already.

    >>> html_table("Sizes", [("n", "1 < 2")])[-27:]
    '>1 &lt; 2</td></tr></table>'
    """
    left = 'style="text-align:left"'
    names = "".join(f'<th scope="col" {left}>{escape(name)}</th>' for name in head)
    cells = [
        f'<th scope="row" {left}>{escape(first)}</th>' + "".join(f"<td {left}>{escape(cell)}</td>" for cell in rest)
        for first, *rest in rows
    ]
    body = "".join(f"<tr>{row}</tr>" for row in ([names] if head else []) + cells)
    return f"<table><caption {left.replace('left', 'left;padding:0 0 .4em')}>{caption}</caption>{body}</table>"


class Sentence(str):
    """A sentence about data or a fit, and the code of the text it was made from.

    >>> Sentence("No row is missing.", "complete").code
    'complete'
    """

    code: str

    def __new__(cls, text: str, code: str) -> Sentence:
        made = super().__new__(cls, text)
        made.code = code
        return made

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]
        return str(self), self.code


class Book(dict[str, str]):
    """Texts by code. Every sentence that depends on data is made by a call of one, so that a test can list them all.

    >>> say = Book({"rows": "{n:,} rows are missing."})
    >>> say("rows", n=1200)
    '1,200 rows are missing.'
    """

    def __call__(self, code: str, /, **values: Any) -> Sentence:
        return Sentence(self[code].format(**values), code)


def plural(count: int, word: str) -> str:
    """A number with its word.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "s")


def at_most(value: float, digits: int = 2) -> str:
    """A number that is never below the value, for what is said to be no larger; :func:`at_least` is never above it.

    >>> at_most(2.41e-15), at_most(0.0), at_most(0.3), at_most(1 / 21, 3), at_least(2.49)
    ('2.5e-15', '0', '0.3', '0.0477', '2.4')
    """
    return _bound(value, digits, ROUND_CEILING)


def at_least(value: float, digits: int = 2) -> str:
    """A number that is never above the value."""
    return _bound(value, digits, ROUND_FLOOR)


def _bound(value: float, digits: int, rounding: str) -> str:
    text, value = f"{value:.{digits}g}", float(value)
    if float(text) >= value if rounding == ROUND_CEILING else float(text) <= value:
        return text
    return f"{Context(digits, rounding).create_decimal_from_float(value):.{digits}g}"


def duration(seconds: float) -> str:
    """A time for people.

    >>> duration(0.0123), duration(95), duration(1100), duration(4000), duration(200_000)
    ('0.012 s', '1 min 35 s', '18 min', '1 h 7 min', '2.3 days')
    """
    if seconds < 59.5:
        return f"{seconds:.2g} s"
    if seconds >= 48 * 3600:
        return f"{seconds / 86400:.2g} days"
    # The smaller unit only where the larger one has a single digit.
    large, small, size = ("min", "s", 60) if seconds < 3599.5 else ("h", "min", 3600)
    count, left = divmod(round(seconds / size * 60), 60)
    return f"{count} {large} {left} {small}" if left and count < 10 else f"{round(seconds / size)} {large}"


def percent(share: float) -> str:
    """Write a share for people; what is not all of it does not read "100 %".

    >>> percent(0.61349), percent(0.9997), percent(0.9999999), percent(1.0)
    ('61.3 %', '99.97 %', 'over 99.99 %', '100 %')
    """
    left = 1 - share
    if not ROUNDING < left < 5e-4:
        return f"{100 * share:.3g} %"
    return "over 99.99 %" if left < 5e-5 else f"{100 * share:.4g} %"
