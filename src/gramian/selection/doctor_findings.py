"""What a check of data finds: plain sentences with a remedy, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramian.results import Array, FitSummary, plain_values, plural
from gramian.selection.printing import Summarized

#: What may be found, in the order of findings: an error makes estimators refuse or fail, a warning makes their answers
#: mislead, a note is worth a thought.
_CODES = {
    "error": (
        *("text_in_numbers", "text_column", "infinite_values", "missing_values", "empty_column", "extreme_scale"),
        *("target_length", "target_missing", "gram_asymmetric", "kernel_fails"),
    ),
    "warning": (
        *("constant_target", "target_leak", "sentinel_value", "outliers", "id_column", "constant_column"),
        *("duplicate_columns", "collinear_columns", "uneven_scales", "large_offset", "duplicate_rows", "empty_rows"),
        *("kernel_near_identity", "kernel_near_constant", "kernel_width", "kernel_indefinite", "kernel_few_rows"),
    ),
    "note": (
        *("few_rows", "category_codes", "heavy_tail", "counts", "clipped", "nearly_constant", "rare_class"),
        "gram_memory",
    ),
}
GRAVITY = tuple(_CODES)
SEVERITIES = {code: severity for severity, codes in _CODES.items() for code in codes}
#: Names or rows that a sentence lists.
_MAX_LISTED = 3


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong, or worth a thought.

    Attributes
    ----------
    code : str
        A word for machines.
    message, remedy : str
        What was found, and what to do about it.
    columns : tuple of str
        Columns it is about, the first the worst.
    rows : tuple of int
        Rows it is about, counted from 0; the first hundred of them.

    Examples
    --------
    >>> from gramian import doctor
    >>> doctor([[0.1, 7.0], [0.3, 7.0], [0.2, 7.0]]).findings[0].columns
    ('x1',)
    """

    code: str
    message: str
    remedy: str
    columns: tuple[str, ...] = ()
    rows: tuple[int, ...] = ()

    @property
    def severity(self) -> str:
        """An error, a warning or a note."""
        return SEVERITIES[self.code]


@dataclass(frozen=True)
class Diagnosis(Summarized):
    """All findings about a table, the gravest first. It is false, and of length 0, if there are none.

    Attributes
    ----------
    findings : tuple of Finding
    shape : pair of ints
        Rows and columns.
    facts : dict
        Numbers that are worth knowing of a table without faults too, such as the effective rank of the kernel.
    looked_at : tuple of str
        Where a sample stood for all rows, a sentence each.
    """

    findings: tuple[Finding, ...]
    shape: tuple[int, int]
    facts: dict[str, Any] = field(default_factory=dict)
    looked_at: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    @property
    def codes(self) -> tuple[str, ...]:
        """Codes of the findings, in order."""
        return tuple(finding.code for finding in self.findings)

    def _summary(self) -> FitSummary:
        counts = [(sum(f.severity == grade for f in self.findings), grade) for grade in GRAVITY]
        counted = ", ".join(plural(count, grade) for count, grade in counts if count) or "nothing to report"
        lines = [line for f in self.findings for line in ((f.severity, f.message), ("", f.remedy))]
        if "kernel" in self.facts:
            rank = self.facts.get("effective_rank")
            spread = "" if rank is None else f", effective rank {rank:.3g} of {self.facts['kernel_rows']:,} rows"
            lines.append(("kernel", f"{self.facts['kernel']}{spread}"))
        lines += [("looked at", text) for text in self.looked_at]
        n, d = self.shape
        return FitSummary(("Diagnosis", f"{n:,} x {d:,}", counted), tuple(lines))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        found = plain_values(self)
        n, d = found.pop("shape")
        graded = [{**plain_values(finding), "severity": finding.severity} for finding in self.findings]
        return {"n": n, "d": d, **found, "findings": graded}


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The gravest first."""
    places = {code: at for at, code in enumerate(SEVERITIES)}
    return tuple(sorted(findings, key=lambda finding: places[finding.code]))


def listed(things: Sequence[Any], count: int | None = None) -> str:
    """The first few of many: ``1, 2, 3 and 2 more``."""
    more = (len(things) if count is None else count) - _MAX_LISTED
    return ", ".join(str(thing) for thing in things[:_MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def named(names: Sequence[str]) -> str:
    """Columns for the middle of a sentence."""
    return f"column{'' if len(names) == 1 else 's'} {listed([repr(name) for name in names])}"


def row_numbers(rows: ArrayLike) -> tuple[int, ...]:
    """Rows as plain numbers, the first hundred."""
    return tuple(int(row) for row in np.asarray(rows)[:100])


def at_rows(rows: Array | list[int]) -> str:
    """Rows for the middle of a sentence: ``row index 4``, or ``row c`` with names given to :func:`rows_called`."""
    names = _ROW_NAMES.get()
    if names is None:
        return f"row {'index' if len(rows) == 1 else 'indices'} {listed(list(rows))}"
    return (
        f"row{'' if len(rows) == 1 else 's'} {listed([names[int(row)] for row in rows[: _MAX_LISTED + 1]], len(rows))}"
    )


#: Names of the rows that are looked at; in Python they have none, and are called by their index.
_ROW_NAMES: ContextVar[Sequence[str] | None] = ContextVar("row_names", default=None)


@contextmanager
def rows_called(names: Sequence[str]) -> Iterator[None]:
    """Let findings name rows as a table or a report does: by their ids, or by numbers counted from 1."""
    before = _ROW_NAMES.set(names)
    try:
        yield
    finally:
        _ROW_NAMES.reset(before)
