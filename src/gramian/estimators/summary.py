"""Summaries of fits: one builder for the lines that people read and the facts that programs read."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Self

from gramian.criteria import Suggestion
from gramian.engine.vector_loops import compilations
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, warn
from gramian.results import FitSummary, SolverTrace, at_most, duration, percent, plural
from gramian.spaces import SingularBasis


class Clock:
    """Seconds since it was made, but for those in which loops were compiled: the next fit has them."""

    def __init__(self) -> None:
        self.start, self.stopped = time.perf_counter(), 0.0

    def stop(self) -> Self:
        """Let the seconds so far be those of the fit, whose summary is written when it is read."""
        self.stopped = self.seconds
        return self

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        compiling = sum(max(0.0, end - max(start, self.start)) for start, end in compilations)
        return self.stopped or time.perf_counter() - self.start - compiling


class SummaryBuilder:
    """The summary of a fit while it is written: a title, labelled lines, and facts, in the order they are added.

    The title has the name of the estimator, a detail such as the kernel, the shape of the table, and what follows it;
    parts that are empty are left out. Every method returns the builder; :meth:`done` returns the summary.

    Examples
    --------
    >>> class Model: ...
    >>> write = SummaryBuilder(Model(), (1200, 4), "rbf(sigma=1)", "2 classes", n_classes=2)
    >>> write = write.route(SolverTrace("dense", "small")).line("gap", "1e-12", duality_gap=1e-12)
    >>> print(write.notes(["few rows"]).done())
    Model  rbf(sigma=1)   1,200 x 4   2 classes
    route  dense (small)
    gap    1e-12
    note   few rows
    >>> write.facts["duality_gap"], write.facts["notes"]
    (1e-12, ['few rows'])
    """

    def __init__(
        self, estimator: object, shape: tuple[int, int], detail: str = "", *more: str, **facts: object
    ) -> None:
        name, (n, d) = type(estimator).__name__, shape
        self.title = [name, detail, f"{n:,} x {d:,}", *more]
        self.lines: list[tuple[str, str]] = []
        self.facts: dict[str, object] = {"estimator": name, "n": n, "d": d, **facts}

    @classmethod
    def of_components(
        cls,
        estimator: object,
        shape: tuple[int, int],
        k: int,
        *,
        noun: str = "component",
        detail: str = "",
        share: float | None = None,
    ) -> Self:
        """Begin the summary of k components that account for a share of the variance, if that is known."""
        made = cls(estimator, shape, detail, plural(k, noun), n_components=k, share_of_variance=share)
        if share is not None:
            made.title.append(f"{percent(share)} of variance")
        return made

    def add(self, **facts: object) -> Self:
        """Add facts without a line."""
        self.facts |= facts
        return self

    def line(self, label: str, text: str | None, **facts: object) -> Self:
        """Add a line, unless its text is empty, and facts."""
        if text:
            self.lines.append((label, text))
        return self.add(**facts)

    def chosen(self, said: Suggestion | None) -> Self:
        """Add which criterion chose the number of components, if one did."""
        if said is None:
            return self
        fewest = "" if said.k else "1, the fewest that can be fitted; "
        text = f"{fewest}{said.k} by {said.criterion} ({said.reference})"
        return self.line("chosen", text, chosen_by=said.criterion, suggested=said.k)

    def route(self, trace: SolverTrace) -> Self:
        """Add the solver, and why it was taken."""
        self.line("route", f"{trace.solver} ({trace.reason})", solver=trace.solver, reason=trace.reason)
        return self.add(products=trace.products, converged=trace.converged)

    def work(self, clock: Clock, *parts: str) -> Self:
        """Add what was done, and the seconds that it took."""
        seconds = clock.seconds
        return self.line("work", ", ".join(part for part in (*parts, duration(seconds)) if part), seconds=seconds)

    def missing(self, gaps: int, how: str) -> Self:
        """Add how many entries were missing, and how they were imputed, if any were."""
        return self.line("missing", f"{gaps:,} entries {how}" if gaps else None, n_missing=gaps)

    def notes(self, notes: Iterable[str]) -> Self:
        """Add a line for each note."""
        notes = list(notes)
        self.lines += [("note", note) for note in notes]
        return self.add(notes=notes)

    def done(self) -> FitSummary:
        """Return the summary."""
        return FitSummary(tuple(part for part in self.title if part), tuple(self.lines), self.facts)


def summarize(
    estimator: object,
    basis: SingularBasis,
    shape: tuple[int, int],
    clock: Clock,
    *,
    detail: str = "",
    chosen: Suggestion | None = None,
    notes: tuple[str, ...] = (),
) -> FitSummary:
    """Write what a spectral fit did, from its basis, and which criterion chose the number of components, if one did.

    Warns of a basis that is less than was asked for, as the summary says.
    """
    share, trace = None if basis.shares is None else float(basis.shares.sum()), basis.trace
    (gap, at), worst = basis.smallest_gap(), basis.residuals.max(initial=0)
    certified = f"residuals <= {at_most(worst)}"
    if basis.rank > 1:
        certified += f", smallest relative gap {gap:.2g} (components {at + 1}, {at + 2})"
    write = SummaryBuilder.of_components(estimator, shape, basis.rank, detail=detail, share=share)
    write.add(kernel=detail or None).chosen(chosen).route(trace).work(clock, trace.products)
    write.line("certified", certified, eigenvalues=basis.eigenvalues, residuals=basis.residuals, smallest_gap=gap)
    write.line("stopped", None if trace.converged else trace.stopped)
    write.add(n_negative=basis.n_negative, most_negative=basis.most_negative)
    if not trace.converged:
        warn(
            f"the {trace.solver} solver stopped early ({trace.stopped}): residuals up to {at_most(worst)}. "
            "Allow it more iterations, or ask for fewer components.",
            ConvergenceWarning,
        )
    if basis.n_negative:
        notes = (*notes, indefinite(basis))
        warn(notes[-1], IndefiniteKernelWarning)
    return write.notes(notes).done()


def indefinite(basis: SingularBasis, of: str = "") -> str:
    """What is said of a kernel matrix with negative eigenvalues."""
    word = "eigenvalue" if basis.n_negative == 1 else "eigenvalues"
    least = "" if basis.shares is not None else "at least "
    return (
        f"the kernel matrix{of} is indefinite: {least}{basis.n_negative} negative {word}, the largest of size "
        f"{basis.most_negative:.3g}; only positive ones were kept."
    )
