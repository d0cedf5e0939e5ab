"""After-fit behaviour shared by estimators that project: transform, inverse, names of the scores."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from gramian.criteria import Suggestion
from gramian.estimators.streams import by_blocks
from gramian.estimators.validation import check_weights, validate
from gramian.estimators.warnings import ConvergenceWarning, IndefiniteKernelWarning, warn
from gramian.operators import Moments, moments_of
from gramian.results import Array, FitSummary, percent
from gramian.spaces import SingularBasis


class ProjectionTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """Scores of new rows through the fitted ``projection_``."""

    projection_: Any

    @by_blocks
    def transform(self, X: Any) -> Array:
        """Return the scores of rows.

        Parameters
        ----------
        X : (m, d) array, data frame, sparse matrix or stream
            New rows.

        Returns
        -------
        (m, k) array
            float32 for float32 rows, float64 otherwise; computed in double precision. Of a stream, a stream.
        """
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        return self.projection_.scores(X).astype(X.dtype, copy=False)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "projection_")  # moments of a first row alone are no fit

    @property
    def _n_features_out(self) -> int:
        return self.projection_.size

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self.start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self.start


def random_generator(random_state: Any) -> np.random.Generator:
    """Take scikit-learn's ways of giving a seed; None means a fixed one: the same data give the same bits."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    try:
        return np.random.default_rng(0 if random_state is None else random_state)
    except (TypeError, ValueError):
        raise ValueError(
            f"random_state={random_state!r} must be a whole number of 0 or more, a random generator, or None."
        ) from None


def accumulate(estimator: Any, X: Any, sample_weight: Any) -> tuple[Any, Moments]:
    """Check more rows, add their moments to ``moments_``, and return both: what every ``partial_fit`` begins with."""
    seen = getattr(estimator, "moments_", None)
    if seen is None and hasattr(estimator, "summary_"):
        raise ValueError(
            "partial_fit cannot go on from this fit, of which no moments were kept (missing entries, or many columns). "
            "Give all rows to partial_fit, or clone the estimator to begin anew."
        )
    X = validate(estimator, X, reset=seen is None)
    new = moments_of(X, check_weights(sample_weight, X.shape[0], variance=False))
    estimator.moments_ = total = new if seen is None else seen + new
    return X, total


def describe(
    estimator: Any,
    shape: tuple[int, int],
    k: int,
    lines: list[tuple[str, str]],
    *,
    detail: str = "",
    share: float | None = None,
    facts: dict[str, Any],
) -> FitSummary:
    """Put a summary together: what was fitted to how much, then labelled lines, and the facts for machines."""
    name, (n, d) = type(estimator).__name__, shape
    count = f"{k} component" + ("s" if k != 1 else "")
    title = [name, detail, f"{n:,} x {d:,}", count, "" if share is None else f"{percent(share)} of variance"]
    known = {"estimator": name, "n": n, "d": d, "n_components": k, "share_of_variance": share}
    return FitSummary(tuple(part for part in title if part), tuple(lines), {**known, **facts})


def summarize(
    estimator: Any,
    basis: SingularBasis,
    shape: tuple[int, int],
    clock: Clock,
    *,
    detail: str = "",
    chosen: Suggestion | None = None,
    notes: tuple[str, ...] = (),
) -> FitSummary:
    """Write what a spectral fit did, from its basis, and which criterion chose the number of components, if one did."""
    share = None if basis.shares is None else float(basis.shares.sum())
    trace = basis.trace
    work = ", ".join(part for part in (trace.products, f"{clock.seconds:.2g} s") if part)
    gap, at = basis.smallest_gap()
    certified = f"residuals <= {basis.residuals.max(initial=0):.1e}"
    if basis.rank > 1:
        certified += f", smallest relative gap {gap:.2g} (components {at + 1}, {at + 2})"
    lines = [
        *chosen_lines(chosen),
        ("route", f"{trace.solver} ({trace.reason})"),
        ("work", work),
        ("certified", certified),
    ]
    if trace.stopped and not trace.converged:
        lines.append(("stopped", trace.stopped))
    if basis.n_negative:
        notes = (*notes, _negative(basis))
    lines += [("note", note) for note in notes]
    facts = {
        "kernel": detail or None,
        **chosen_facts(chosen),
        "solver": trace.solver,
        "reason": trace.reason,
        "products": trace.products,
        "converged": trace.converged,
        "seconds": clock.seconds,
        "eigenvalues": basis.eigenvalues,
        "residuals": basis.residuals,
        "smallest_gap": gap,
        "n_negative": basis.n_negative,
        "most_negative": basis.most_negative,
        "notes": list(notes),
    }
    return describe(estimator, shape, basis.rank, lines, detail=detail, share=share, facts=facts)


def chosen_lines(said: Suggestion | None) -> list[tuple[str, str]]:
    """The line of a summary that says which criterion chose the number of components."""
    return [] if said is None else [("chosen", f"{said.k} by {said.criterion} ({said.reference})")]


def chosen_facts(said: Suggestion | None) -> dict[str, Any]:
    """The same for machines."""
    return {} if said is None else {"chosen_by": said.criterion, "suggested": said.k}


def warn_of(basis: SingularBasis) -> None:
    """Say aloud what the summary says of a basis that is less than was asked for."""
    if not basis.trace.converged:
        worst = basis.residuals.max(initial=0)
        warn(
            f"the {basis.trace.solver} solver stopped early ({basis.trace.stopped}): residuals up to {worst:.1e}. "
            "Allow it more iterations, or ask for fewer components.",
            ConvergenceWarning,
        )
    if basis.n_negative:
        warn(_negative(basis), IndefiniteKernelWarning)


def _negative(basis: SingularBasis) -> str:
    word = "eigenvalue" if basis.n_negative == 1 else "eigenvalues"
    least = "" if basis.shares is not None else "at least "
    return (
        f"the kernel matrix is indefinite: {least}{basis.n_negative} negative {word}, the largest of size "
        f"{basis.most_negative:.3g}; only positive ones were kept."
    )
