"""What is known of how far a fit can be trusted: intervals, recovered components, gaps; as text and as plain values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.operators import moments_of
from gramian.results import Array, FitSummary, percent, plain_values
from gramian.selection.column_importance import ColumnImportance
from gramian.selection.printing import Summarized
from gramian.selection.trust_bootstrap import Band

#: Cosine from which on two components count as equal, and from which on as fairly similar (Lorenzo-Seva, ten Berge,
#: Methodology 2006). Of 40 samples of 300 rows with two equal variances, 36 are reported as mixed with these limits; of
#: 40 with variances 1.6 to 1, none.
SAME_COMPONENT_COSINE, SIMILAR_COMPONENT_COSINE = 0.95, 0.85
#: Share of draws from which on a component is called recovered, and from which on a pair is called mixed.
RECOVERED_SHARE, _MIXED_SHARE = 0.9, 0.2
#: Standard errors that a gap must have. The gap of two equal eigenvalues of Gaussian rows, in its standard error, is
#: the root of a chi-square of two degrees of freedom: it is above this in one sample of twenty.
DISTINCT_GAP_ERRORS = 2.448


@dataclass(frozen=True)
class Recovery:
    """What the draws give again of each component.

    ``shares`` of the draws have a component with a cosine of 0.95 or more to it, ``cosines`` are medians, ``mixed``
    (K, K) are shares of draws in which a component turned so far towards another that it is no longer the same.
    """

    shares: Array
    cosines: Array
    mixed: Array

    @property
    def pairs(self) -> tuple[tuple[int, int, float], ...]:
        """Pairs, counted from 1, that at least a fifth of the draws mix, with the share of those draws."""
        first, second = np.nonzero(np.triu(self.mixed, 1) >= _MIXED_SHARE)
        return tuple((int(i) + 1, int(j) + 1, float(self.mixed[i, j])) for i, j in zip(first, second, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        pairs = [{"components": [i, j], "share": share} for i, j, share in self.pairs]
        return {"shares": self.shares.tolist(), "cosines": self.cosines.tolist(), "mixed": pairs}


def recovery(target: Array, draws: Array) -> Recovery:
    r"""Compare components of draws, matched to those of the fit, with the fit.

    .. math:: c_k = \frac{|f_k' v_k|}{\|f_k\|\,\|v_k\|}, \qquad C = F^+ V, \qquad
              i, j \text{ mixed: } \max(|C_{ij}|, |C_{ji}|) > \sqrt{1 - 0.95^2}

    with columns of unit length in F (the fit) and V (the draw). The pseudoinverse takes off what components that are
    not orthogonal share without being mixed.
    """
    F, V = (unit(vectors) for vectors in (target, draws))
    cosines = np.abs(np.einsum("pk,bpk->bk", F, V))
    parts = np.abs(np.linalg.pinv(F) @ V) > np.sqrt(1 - SAME_COMPONENT_COSINE**2)
    mixed = (parts | parts.swapaxes(1, 2)).mean(axis=0)
    np.fill_diagonal(mixed, 0.0)
    return Recovery((cosines >= SAME_COMPONENT_COSINE).mean(axis=0), np.median(cosines, axis=0), mixed)


def unit(vectors: Array) -> Array:
    """Columns of length 1; those of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=-2, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


@dataclass(frozen=True)
class Ties:
    """Gaps between neighbouring components in their standard errors.

    Each gap is a statement about two neighbours. A small gap does not prove that the two are equal, and two small gaps
    in a row say nothing of the first component and the third.
    """

    gaps: Array  #: (K - 1,): of the first K components; one more if a component that was left out is known
    k: int  #: Components fitted

    @property
    def close(self) -> tuple[int, ...]:
        """Components, counted from 1, whose gap to the next fitted one is not significant."""
        return tuple(at + 1 for at in range(self.k - 1) if self.gaps[at] < DISTINCT_GAP_ERRORS)

    @property
    def cut(self) -> bool:
        """Whether the gap between the last component and the first that was left out is not significant."""
        return len(self.gaps) >= self.k and bool(self.gaps[self.k - 1] < DISTINCT_GAP_ERRORS)


def gaps_in_errors(values: Array, influence: Array) -> tuple[Array, Array]:
    r"""Gaps between eigenvalues in standard errors, and the standard errors of the eigenvalues.

    .. math:: \widehat{\mathrm{Var}}(\lambda_k - \lambda_l) = \tfrac1n \mathrm{Var}_i(\psi_{ik} - \psi_{il})

    with the influence :math:`\psi_{ik} = t_{ik}^2 - \lambda_k` of row i, which needs no Gaussian rows.
    """
    n = len(influence)
    C = moments_of(np.ascontiguousarray(influence)).scatter / max(n - 1, 1) / n
    variances = np.diag(C)
    spread = np.sqrt(np.maximum(variances[:-1] + variances[1:] - 2 * np.diag(C, 1), 0.0))
    gaps = -np.diff(values)
    return np.divide(gaps, spread, out=np.full(len(gaps), np.inf), where=spread > 0), np.sqrt(variances)


@dataclass(frozen=True, kw_only=True)
class Trust(Summarized):
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

    def _summary(self) -> FitSummary:
        n, d = self.shape
        how = f"{self.draws:,} bootstrap draws of {self.route}" if self.draws else f"the {self.route}"
        title = ("Trust", self.estimator, f"{n:,} x {d:,}", f"{percent(self.level)} intervals by {how}")
        return FitSummary(title, tuple(self._lines()))

    def _lines(self) -> Iterator[tuple[str, str]]:
        v, found, ties = self.values, self.recovery, self.ties
        for k, (at, low, high) in enumerate(zip(v.estimate, v.low, v.high, strict=True)):
            said = f"{at:.4g}, {low:.4g} to {high:.4g}"
            if found is not None:
                said += f"; recovered in {percent(found.shares[k])} of draws (median cosine {found.cosines[k]:.3f})"
            yield f"{self.what if not k else ''} {k + 1}".strip(), said
        if found is not None:
            yield "recovered", f"a component of the draw has a cosine of {SAME_COMPONENT_COSINE} or more with it"
            for i, j, share in found.pairs:
                yield "mixed", f"components {i} and {j} in {percent(share)} of draws: read the two as a plane"
        elif ties is not None and len(ties.gaps):  # no draws show what small gaps of neighbours do
            close = ", ".join(f"{k} and {k + 1} ({ties.gaps[k - 1]:.2g})" for k in ties.close)
            limit = f"{DISTINCT_GAP_ERRORS:.1f} standard errors"
            yield "gaps", f"below {limit} between components {close}" if close else f"all of {limit} or more"
        if ties is not None and ties.cut:
            k, gap = ties.k, ties.gaps[ties.k - 1]
            yield "next", f"component {k} is {gap:.2g} standard errors above {k + 1}, left out"
        if self.angles is not None:
            half, most = self.angles
            yield "span", f"turns by up to {half:.2g} degrees in half of the draws, up to {most:.2g} in 95 %"
        if self.vectors is not None:
            sure = self.vectors.differs_from_zero()
            yield self.entries, f"{int(sure.sum()):,} of {sure.size:,} entries differ from zero; table(k) lists them"
        if self.chosen is not None:
            said = ", ".join(f"{k} from {percent(part)}" for k, part in self.chosen.items())
            yield "chosen", f"components from parts of the rows: {said} of them"
        if self.importance is not None:
            for k in range(len(v.estimate)):
                yield "depends on" if not k else "", f"{k + 1}: {self.importance.leading(k)}"
        if ((v.estimate < v.low) | (v.estimate > v.high)).any():
            yield (
                "note",
                "an estimate outside its limits is biased; the limits are corrected for the bias of the draws.",
            )
        if self.warned:
            yield "note", f"the fit warned in {self.warned:,} of {self.draws:,} draws."
        if self.refused:
            yield "note", f"{self.refused:,} of {self.draws:,} draws could not be fitted and were left out."

    def table(self, component: int = 1) -> str:
        """Write the entries of a component, counted from 1, with their limits; a star where zero is outside them."""
        if self.vectors is None:
            raise ValueError(f"{self.estimator} has no entries by column; see importance.")
        k = len(self.values.estimate)
        if not 1 <= component <= k:
            raise ValueError(f"component={component!r} must be between 1 and {k}.")
        b, at = self.vectors, component - 1
        parts = zip(b.estimate[:, at], b.low[:, at], b.high[:, at], b.differs_from_zero()[:, at], strict=True)
        said = [f"{x:8.3f}  {low:8.3f} to {high:6.3f}{' *' if sure else ''}" for x, low, high, sure in parts]
        head = (f"{self.entries} {component}", f"{percent(self.level)} limits")
        return str(FitSummary(head, tuple(zip(self.columns, said, strict=True))))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        facts, ties = plain_values(self), self.ties
        n, d = facts.pop("shape")
        del facts["ties"]
        return {
            **facts,
            "n": n,
            "d": d,
            "recovery": None if self.recovery is None else self.recovery.to_dict(),
            "gaps": None if ties is None else [float(gap) if np.isfinite(gap) else None for gap in ties.gaps],
            "last_is_told_from_next": None if ties is None else not ties.cut,
            "entries": self.entries or None,
        }
