"""What a factor analysis says to people: a table of loadings, and lines of its summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gramian.criteria import Suggestion
from gramian.estimators.base import Clock, chosen_facts, chosen_lines, describe
from gramian.results import Array, FitSummary, percent
from gramian.solvers.factor import FactorSolution


def sums_of_squares(loadings: Array, correlation: Array) -> tuple[str, Array]:
    """Sums of squared loadings by factor, and what they are called.

    Those of correlated factors are the diagonal of ``Phi L'L``, so that they add up to the communalities.

    >>> sums_of_squares(np.array([[0.6, 0.0], [0.0, 0.8]]), np.array([[1.0, 0.5], [0.5, 1.0]]))[0]
    'sum of squared loadings (with factor correlations)'
    """
    oblique = len(correlation) > 1 and not np.allclose(correlation, np.eye(len(correlation)))
    sums = np.einsum("jl,il,ij->j", correlation, loadings, loadings)
    return f"sum of squared loadings{' (with factor correlations)' if oblique else ''}", sums


def loadings_table(
    loadings: Array, uniquenesses: Array, correlation: Array, names: Sequence[str], *, cut: float, sort: bool
) -> str:
    """Write loadings, communalities and uniquenesses row by row, then sums of squares and shares of variance."""
    d, k = loadings.shape
    common = np.einsum("ij,jl,il->i", loadings, correlation, loadings)
    _, sums = sums_of_squares(loadings, correlation)
    rows = order_of_loadings(loadings) if sort else np.arange(d)
    heads = [f"factor {j + 1}" for j in range(k)]
    labels = [names[int(i)] for i in rows]
    foot = ("sum of squares", "share of variance", "cumulative")
    width = max(map(len, [*labels, *foot]))

    def line(label: str, cells: Sequence[str]) -> str:
        return (f"{label:<{width}}" + "".join(f"{cell:>11}" for cell in cells)).rstrip()

    lines = [line("", [*heads, "common", "unique"])]
    for label, i in zip(labels, rows, strict=True):
        cells = [f"{value:.3f}" if abs(value) >= cut else "" for value in loadings[i]]
        lines.append(line(label, [*cells, f"{common[i]:.3f}", f"{uniquenesses[i]:.3f}"]))
    lines.append("")
    for label, values in zip(foot, (sums, sums / d, np.cumsum(sums) / d), strict=True):
        lines.append(line(label, [f"{value:.3f}" for value in values]))
    if k > 1 and not np.allclose(correlation, np.eye(k)):
        lines += ["", line("correlations", heads)]
        lines += [line(head, [f"{v:.3f}" for v in row]) for head, row in zip(heads, correlation, strict=True)]
        lines += ["", "Sums of squares include the correlations of the factors."]
    return "\n".join(lines)


def order_of_loadings(loadings: Array) -> Array:
    """Rows by the factor they load on most, then by how much."""
    size = np.abs(loadings)
    return np.lexsort((-size.max(axis=1), size.argmax(axis=1)))


def summarize_factors(
    estimator: Any,
    factors: FactorSolution,
    n: float,
    clock: Clock,
    *,
    gaps: int,
    chosen: Suggestion | None,
    notes: Sequence[str],
    converged: bool,
) -> FitSummary:
    """Write how a fit was done, how well it fits, and its notes."""
    d, k = factors.loadings.shape
    rotation, steps, total = estimator.rotation, estimator.n_iter_, estimator.log_likelihood_
    route = f"EM over missing entries, {steps} steps" if gaps else f"Newton, {steps} steps"
    lines = [
        *chosen_lines(chosen),
        ("route", f"maximum likelihood ({route})" + (f", {rotation}" if rotation else "")),
        *_fit_lines(estimator.fit_indices_),
        ("likelihood", f"{total:.6g}"),
        ("work", f"{clock.seconds:.2g} s"),
        *([("missing", f"{gaps:,} entries imputed by the model ({percent(gaps / (n * d))})")] if gaps else []),
        *(("note", note) for note in notes),
    ]
    facts = {
        **chosen_facts(chosen),
        "rotation": rotation,
        "log_likelihood": total,
        "steps": steps,
        "converged": converged,
        "n_missing": gaps,
        "fit_indices": estimator.fit_indices_,
        "heywood": np.flatnonzero(factors.at_bound),
        "notes": list(notes),
    }
    share = float(np.sum(factors.loadings**2) / d)
    return describe(estimator, (round(n), d), k, lines, share=share, facts=facts)


def _fit_lines(indices: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Write measures of fit that are defined."""
    df = indices["df"]
    if indices["chi_square"] is None:
        first = (
            "no degrees of freedom" if df < 0 else "not defined: the correlation matrix is singular, or rows are few"
        )
    else:
        p = indices["p"]
        first = f"{indices['chi_square']:.6g}, {df} degrees of freedom" + ("" if p is None else f", p = {p:.3g}")
    lines = [("chi-square", first)]
    if indices["rmsea"] is not None:
        low, high = indices["rmsea_interval"]
        known = [f"RMSEA {indices['rmsea']:.3f} [{low:.3f}, {high:.3f}]"]
        known += [f"{name.upper()} {indices[name]:.3f}" for name in ("tli", "cfi", "srmr") if indices[name] is not None]
        lines.append(("fit", ", ".join(known)))
    elif indices["srmr"] is not None:
        lines.append(("fit", f"SRMR {indices['srmr']:.3f}"))
    return lines
