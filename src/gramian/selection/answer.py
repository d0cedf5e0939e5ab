"""How many components: every criterion, what it says, and which one decides."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from gramian.criteria import Suggestion
from gramian.results import html_table


@dataclass(frozen=True)
class HowMany:
    """What the criteria say; prints as a table.

    Attributes
    ----------
    method : str
    shape : pair of ints
        Rows and columns.
    basis : str
        What was looked at: "covariance", "correlation", a kernel, or a regression.
    table : tuple of Suggestion
        Every criterion: ``criterion``, ``k`` (None where it cannot say), ``reference``, ``detail``.
    recommended : int
        What the deciding criterion says; it may be 0.
    decided_by : str
        Its name.
    note : str
        What to mind, if anything.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian.selection import how_many
    >>> found = how_many(load_iris().data)
    >>> found.recommended, found.decided_by
    (1, 'deflated parallel analysis')
    """

    method: str
    shape: tuple[int, int]
    basis: str
    table: tuple[Suggestion, ...]
    recommended: int
    decided_by: str
    note: str = ""

    @property
    def spread(self) -> tuple[int, int]:
        """The least and the most that any criterion says."""
        said = [line.k for line in self.table if line.k is not None]
        return min(said), max(said)

    def __str__(self) -> str:
        """A line for each criterion; a star marks the one that decides."""
        n, d = self.shape
        cells = [("  criterion", "k", "reference", "")]
        for line in self.table:
            mark, k = "*" if line.criterion == self.decided_by else " ", "-" if line.k is None else str(line.k)
            cells.append((f"{mark} {line.criterion}", k, line.reference, line.detail))
        name, number, source = (max(len(row[at]) for row in cells) for at in range(3))
        lines = [f"{a:<{name}}  {k:>{number}}  {b:<{source}}  {c}".rstrip() for a, k, b, c in cells]
        least, most = self.spread
        agree = "all agree" if least == most else f"criteria say {least} to {most}"
        return "\n".join(
            [
                f"{self.method}  {n:,} x {d:,}  {self.basis}",
                *lines,
                f"* decides: {self.recommended}; {agree}",
                *([f"note: {self.note}"] if self.note else []),
            ]
        )

    def _repr_html_(self) -> str:
        """The same table, for notebooks."""
        n, d = self.shape
        rows = [
            (
                f"{'★ ' if line.criterion == self.decided_by else ''}{line.criterion}",
                "-" if line.k is None else str(line.k),
                line.reference,
                line.detail,
            )
            for line in self.table
        ]
        caption = (
            f"<strong>{escape(self.method)}</strong> {n:,} x {d:,} · {escape(self.basis)} · {self.recommended}, as ★ "
            f"says, which decides{' · ' + escape(self.note) if self.note else ''}"
        )
        return html_table(caption, rows, ("criterion", "k", "reference", "detail"))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return {**asdict(self), "shape": list(self.shape), "table": [asdict(line) for line in self.table]}


def decide(
    method: str, shape: tuple[int, int], basis: str, table: list[Suggestion], deciders: tuple[str, ...], note: str = ""
) -> HowMany:
    """Let the first of the deciders that has an answer decide."""
    said = {line.criterion: line.k for line in table}
    for name in deciders:
        k = said.get(name)
        if k is not None:
            return HowMany(method, shape, basis, tuple(table), k, name, note)
    raise ValueError(
        f"no criterion can say how many components {method} of {shape[0]} x {shape[1]} has. Give more rows."
    )
