"""What a fit of probabilistic PCA says."""

from __future__ import annotations

from typing import Any

from gramian.criteria import Suggestion
from gramian.estimators.base import Clock, chosen_facts, chosen_lines, describe
from gramian.results import FitSummary, percent
from gramian.spaces.gaussian import Climb, Isotropic


def summarize_model(
    estimator: Any,
    found: Climb[Isotropic],
    shape: tuple[int, int],
    clock: Clock,
    *,
    gaps: int,
    chosen: Suggestion | None,
) -> FitSummary:
    """Write how a fit was done, and how likely the rows are under it."""
    model, likelihood = found.state, found.path[-1]
    k, d = len(model.variances), shape[1]
    share = float(model.variances.sum() / (model.variances.sum() + model.noise * (d - k)))
    lines = [
        *chosen_lines(chosen),
        ("route", "closed form" if len(found.path) == 1 else f"EM, {len(found.path)} steps"),
        ("likelihood", f"{likelihood:.6g}, noise variance {model.noise:.3g}"),
        ("work", f"{clock.seconds:.2g} s"),
    ]
    if gaps:
        lines.append(("missing", f"{gaps:,} entries imputed by the model ({percent(gaps / (shape[0] * d))})"))
    facts = {
        **chosen_facts(chosen),
        "log_likelihood": likelihood,
        "noise_variance": model.noise,
        "steps": len(found.path),
        "converged": found.converged,
        "n_missing": gaps,
    }
    return describe(estimator, shape, k, lines, share=share, facts=facts)
