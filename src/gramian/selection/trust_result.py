"""What is known of how far a fit can be trusted: intervals, recovery, gaps, as text and as plain values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.results import Array, FitSummary, percent
from gramian.selection.trust_columns import ColumnImportance
from gramian.selection.trust_intervals import Band
from gramian.selection.trust_recovery import ALIKE, Recovery
from gramian.selection.trust_ties import TOLD_APART, Ties


@dataclass(frozen=True, kw_only=True)
class Trust:
    """How far the components of a fit can be trusted; prints as a table.

    Attributes
    ----------
    estimator : str
        Class of the estimator.
    shape : pair of ints
    level : float
        Probability of the intervals.
    values : Band
        Of one value for each component (K,): ``estimate``, ``error``, ``low``, ``high``.
    what : str
        What the values are.
    ties : Ties or None
        Gaps between neighbouring values; None where equal values do no harm.
    recovery : Recovery or None
        How often the draws give each component again, and the pairs they mix; None without draws.
    vectors : Band or None
        Of the entries of the components, (p, K), called ``entries``; p are the ``columns``, of both views if there are
        two.
    angles : (2,) array or None
        Largest angle in degrees between the span of the components and that of a draw: median, and 95 % of draws.
    draws, route, warned, refused
        Bootstrap draws, how they were made, and in how many of them the fit warned or was not possible.
    chosen : dict of int to float, or None
        Share of the parts of the rows from which each number of components was chosen.
    importance : ColumnImportance or None
        Of a kernel: what each component depends on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> from gramian.selection import trust
    >>> found = trust(PCA(2), load_iris().data, n_boot=50)
    >>> found.values.estimate.shape, bool((found.values.low < found.values.high).all())
    ((2,), True)
    """

    estimator: str
    shape: tuple[int, int]
    level: float
    values: Band
    what: str
    columns: tuple[str, ...]
    route: str
    ties: Ties | None = None
    recovery: Recovery | None = None
    vectors: Band | None = None
    entries: str = ""
    angles: Array | None = None
    draws: int = 0
    warned: int = 0
    refused: int = 0
    chosen: dict[int, float] | None = None
    importance: ColumnImportance | None = None

    def __str__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()

    def _summary(self) -> FitSummary:
        n, d = self.shape
        title = ["Trust", self.estimator, f"{n:,} x {d:,}", f"{percent(self.level)} intervals by {self._how()}"]
        v = self.values
        lines = [
            (f"{self.what if not k else ''} {k + 1}".strip(), f"{at:.4g}, {low:.4g} to {high:.4g}{self._again(k)}")
            for k, (at, low, high) in enumerate(zip(v.estimate, v.low, v.high, strict=True))
        ]
        lines += [*self._said_of_recovery(), *self._said_of_gaps()]
        if self.angles is not None:
            half, most = self.angles
            lines.append(("span", f"turns by up to {half:.2g} degrees in half of the draws, up to {most:.2g} in 95 %"))
        if self.vectors is not None:
            lines.append((self.entries, self._said_of_entries(self.vectors)))
        if self.chosen is not None:
            said = ", ".join(f"{k} from {percent(part)}" for k, part in self.chosen.items())
            lines.append(("chosen", f"components from parts of the rows: {said} of them"))
        if self.importance is not None:
            lines += [
                ("depends on" if not k else "", f"{k + 1}: {self.importance.leading(k)}")
                for k in range(len(v.estimate))
            ]
        if ((v.estimate < v.low) | (v.estimate > v.high)).any():
            lines.append(
                (
                    "note",
                    "an estimate outside its limits is biased; the limits are corrected for the bias of the draws.",
                )
            )
        if self.warned:
            lines.append(("note", f"the fit warned in {self.warned:,} of {self.draws:,} draws."))
        if self.refused:
            lines.append(("note", f"{self.refused:,} of {self.draws:,} draws could not be fitted and were left out."))
        return FitSummary(tuple(title), tuple(lines))

    def _how(self) -> str:
        return f"{self.draws:,} bootstrap draws of {self.route}" if self.draws else f"the {self.route}"

    def _again(self, k: int) -> str:
        if self.recovery is None:
            return ""
        found = self.recovery
        return f"; recovered in {percent(found.shares[k])} of draws (median cosine {found.cosines[k]:.3f})"

    def _said_of_recovery(self) -> list[tuple[str, str]]:
        if self.recovery is None:
            return []
        lines = [("recovered", f"a component of the draw has a cosine of {ALIKE} or more with it")]
        return lines + [
            ("mixed", f"components {i} and {j} in {percent(share)} of draws: read the two as a plane")
            for i, j, share in self.recovery.pairs
        ]

    def _said_of_gaps(self) -> list[tuple[str, str]]:
        """Gaps of neighbours where no draws show what they do, and the gap after the last component."""
        if self.ties is None:
            return []
        gaps, lines = self.ties.gaps, []
        if self.recovery is None and len(gaps):
            close = [f"{k} and {k + 1} ({gaps[k - 1]:.2g})" for k in self.ties.close]
            least = f"below {TOLD_APART:.1f} standard errors between components {', '.join(close)}"
            lines.append(("gaps", least if close else f"all of {TOLD_APART:.1f} standard errors or more"))
        if self.ties.cut:
            k = self.ties.k
            lines.append(("next", f"component {k} is {gaps[k - 1]:.2g} standard errors above {k + 1}, left out"))
        return lines

    def _said_of_entries(self, entries: Band) -> str:
        sure = entries.differs_from_zero()
        return f"{int(sure.sum()):,} of {sure.size:,} entries differ from zero; table(k) lists them"

    def table(self, component: int = 1) -> str:
        """Write the entries of a component, counted from 1, with their limits; a star where zero is outside them."""
        if self.vectors is None:
            raise ValueError(f"{self.estimator} has no entries by column; see importance.")
        k = len(self.values.estimate)
        if not 1 <= component <= k:
            raise ValueError(f"component={component!r} must be between 1 and {k}.")
        b, at = self.vectors, component - 1
        sure = b.differs_from_zero()
        lines = tuple(
            (
                name,
                f"{b.estimate[j, at]:8.3f}  {b.low[j, at]:8.3f} to {b.high[j, at]:6.3f}{' *' if sure[j, at] else ''}",
            )
            for j, name in enumerate(self.columns)
        )
        return str(FitSummary((f"{self.entries} {component}", f"{percent(self.level)} limits"), lines))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return {
            "estimator": self.estimator,
            "n": self.shape[0],
            "d": self.shape[1],
            "level": self.level,
            "what": self.what,
            "values": self.values.to_dict(),
            "recovery": None if self.recovery is None else self.recovery.to_dict(),
            "gaps": None if self.ties is None else [float(g) if np.isfinite(g) else None for g in self.ties.gaps],
            "last_is_told_from_next": None if self.ties is None else not self.ties.cut,
            "entries": self.entries or None,
            "columns": list(self.columns),
            "vectors": None if self.vectors is None else self.vectors.to_dict(),
            "angles": None if self.angles is None else self.angles.tolist(),
            "draws": self.draws,
            "route": self.route,
            "warned": self.warned,
            "refused": self.refused,
            "chosen": None if self.chosen is None else {str(k): part for k, part in self.chosen.items()},
            "importance": None if self.importance is None else self.importance.to_dict(),
        }
