"""What a check of data finds: plain sentences with a remedy, the gravest first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gramian.results import Array, FitSummary
from gramian.results import plural as plural

#: What may be found, and how grave it is: an error makes estimators refuse or fail, a warning makes their answers
#: mislead, a note is worth a thought. Findings of one gravity come in this order.
SEVERITIES = {
    "text_in_numbers": "error",
    "text_column": "error",
    "infinite_values": "error",
    "missing_values": "error",
    "empty_column": "error",
    "extreme_scale": "error",
    "target_length": "error",
    "target_missing": "error",
    "gram_asymmetric": "error",
    "kernel_fails": "error",
    "constant_target": "warning",
    "target_leak": "warning",
    "sentinel_value": "warning",
    "outliers": "warning",
    "id_column": "warning",
    "constant_column": "warning",
    "duplicate_columns": "warning",
    "collinear_columns": "warning",
    "uneven_scales": "warning",
    "large_offset": "warning",
    "duplicate_rows": "warning",
    "empty_rows": "warning",
    "kernel_near_identity": "warning",
    "kernel_near_constant": "warning",
    "kernel_width": "warning",
    "kernel_indefinite": "warning",
    "kernel_few_rows": "warning",
    "few_rows": "note",
    "category_codes": "note",
    "heavy_tail": "note",
    "counts": "note",
    "clipped": "note",
    "nearly_constant": "note",
    "rare_class": "note",
    "gram_memory": "note",
}
GRAVITY = ("error", "warning", "note")
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
    >>> import numpy as np
    >>> from gramian import doctor
    >>> X = np.random.default_rng(0).standard_normal((50, 3))
    >>> X[:, 1] = 7.0
    >>> finding = doctor(X).findings[0]
    >>> finding.code, finding.columns
    ('constant_column', ('x1',))
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
class Diagnosis:
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

    Examples
    --------
    >>> from gramian import doctor
    >>> from sklearn.datasets import load_iris
    >>> bool(doctor(load_iris().data))
    False
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

    def __str__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()

    def _summary(self) -> FitSummary:
        lines = []
        for finding in self.findings:
            lines += [(finding.severity, finding.message), ("", finding.remedy)]
        if "kernel" in self.facts:
            rank = self.facts.get("effective_rank")
            spread = "" if rank is None else f", effective rank {rank:.3g} of {self.facts['kernel_rows']:,} rows"
            lines.append(("kernel", f"{self.facts['kernel']}{spread}"))
        lines += [("looked at", text) for text in self.looked_at]
        n, d = self.shape
        return FitSummary(("Diagnosis", f"{n:,} x {d:,}", self._count()), tuple(lines))

    def _count(self) -> str:
        counts = [(sum(f.severity == grade for f in self.findings), grade) for grade in GRAVITY]
        return ", ".join(plural(count, grade) for count, grade in counts if count) or "nothing to report"

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return {
            "n": self.shape[0],
            "d": self.shape[1],
            "findings": [
                {
                    **asdict(finding),
                    "severity": finding.severity,
                    "columns": list(finding.columns),
                    "rows": list(finding.rows),
                }
                for finding in self.findings
            ],
            "facts": dict(self.facts),
            "looked_at": list(self.looked_at),
        }


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings by gravity, then as in :data:`SEVERITIES`."""
    places = {code: at for at, code in enumerate(SEVERITIES)}
    return tuple(sorted(findings, key=lambda finding: (GRAVITY.index(finding.severity), places[finding.code])))


def listed(things: Sequence[Any]) -> str:
    """The first few of many.

    >>> listed(["'a'", "'b'"]), listed([1, 2, 3, 4, 5])
    ("'a', 'b'", '1, 2, 3 and 2 more')
    """
    more = len(things) - _MAX_LISTED
    return ", ".join(str(thing) for thing in things[:_MAX_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def named(names: Sequence[str]) -> str:
    """Columns for the middle of a sentence.

    >>> named(["a"]), named(["a", "b"])
    ("column 'a'", "columns 'a', 'b'")
    """
    return f"column{'' if len(names) == 1 else 's'} {listed([repr(name) for name in names])}"


def row_numbers(rows: ArrayLike) -> tuple[int, ...]:
    """Rows as plain numbers, the first hundred."""
    return tuple(int(row) for row in np.asarray(rows)[:100])


def at_rows(rows: Array | list[int]) -> str:
    """Rows for the middle of a sentence.

    >>> at_rows([4]), at_rows([1, 2])
    ('row 4', 'rows 1, 2')
    """
    return f"row{'' if len(rows) == 1 else 's'} {listed(list(rows))}"
