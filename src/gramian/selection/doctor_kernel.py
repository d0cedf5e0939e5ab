"""Checks of a kernel on rows: whether it tells them apart, and whether it is a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gramian import lapack
from gramian.config import format_bytes, memory_budget
from gramian.forecasting import forecast
from gramian.kernels import Kernel
from gramian.kernels.base import format_value
from gramian.kernels.pairwise import median_width
from gramian.operators import CrossGram
from gramian.registry import KernelPCA
from gramian.results import Array, duration, percent
from gramian.selection.doctor_findings import Finding, at_rows, plural, row_numbers
from gramian.solvers.eigen import null_tolerance

#: Rows whose Gram matrix is looked at, and rows whose neighbours among all are.
_GRAM_MAX_ROWS, _PROBED_ROWS, _PROBED_AGAINST_ROWS = 1000, 100, 200_000
#: Sum of the similarities to all other rows, against the row's own. Below it every eigenvalue is within a tenth of the
#: diagonal (Gershgorin): there are no components, and every row is its own neighbour only.
_IDENTITY_MAX_SUM = 0.1
#: Mean difference of similarities from 1 below which all rows look alike, and the kernel is linear but for 1 %.
_CONSTANT_MAX_DIFFERENCE = 0.01
#: Widths this many times above or below the median distance are of another scale than the data.
_WIDTH_MAX_RATIO = 10
#: Share of the variance in feature space that one row may hold.
_ONE_ROW_MAX_SHARE = 0.5
#: Kernel PCA whose cost is forecast where the matrix would not fit.
_FORECAST_COMPONENTS, _FORECAST_LANDMARKS = 2, 1000


def check_kernel(kernel: Kernel, X: Array, places: Array, facts: dict[str, Any]) -> Iterator[Finding | str]:
    """Look at a kernel on rows without gaps; adds to the facts, and says what was sampled."""
    n, given, chosen = len(X), kernel.given, np.arange(len(X))
    if n > _GRAM_MAX_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(n, _GRAM_MAX_ROWS, replace=False))
        yield f"the kernel on {_GRAM_MAX_ROWS:,} of {n:,} rows"
    facts |= {"kernel": str(kernel), "kernel_rows": len(chosen)}
    yield from _symmetric(X) if given else _memory(kernel, *X.shape)
    rows = X[np.ix_(chosen, chosen)] if given else X[chosen]
    try:
        kernel = kernel.resolve(X)
        facts["kernel"] = str(kernel)
        K = kernel.block(rows, rows)
    except ValueError as error:
        yield Finding("kernel_fails", f"the kernel {kernel} fails on these rows.", str(error))
        return
    if bad := int((~np.isfinite(K).all(axis=1)).sum()):
        message = (
            f"the kernel {kernel} leaves double precision: similarities of {plural(bad, 'row')} of {len(K):,} "
            "are not finite."
        )
        yield Finding("kernel_fails", message, "Standardise the columns, or use a lower degree or a smaller scale.")
        return
    K = (K + K.T) / 2
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    total, squares = float(np.trace(centred)), float(np.sum(centred**2))
    if total > 0 and 0 < squares < np.inf:
        facts["effective_rank"] = total**2 / squares
    probes = K
    if n > _GRAM_MAX_ROWS and not given:
        probes = CrossGram(kernel, rows[:_PROBED_ROWS], X[:_PROBED_AGAINST_ROWS]).toarray()
    yield from _shape(kernel, rows, K, probes)
    yield from _negative(kernel, K)
    yield from _dominated(kernel, centred, places[chosen])


def _symmetric(K: Array) -> Iterator[Finding]:
    difference = float(np.abs(K - K.T).max())
    if difference > 1e-8 * float(np.abs(K).max()):
        message = f"the kernel matrix differs from its transpose by up to {difference:.3g}."
        yield Finding("gram_asymmetric", message, "If that is rounding, use (K + K.T) / 2; else look how it was made.")


def _memory(kernel: Kernel, n: int, d: int) -> Iterator[Finding]:
    """A matrix that does not fit, and what the ways around it cost."""
    size, budget = 8.0 * n * n, memory_budget()
    if size <= budget:
        return
    message = f"the kernel matrix of {n:,} rows would take {format_bytes(size)}, the budget is {format_bytes(budget)}."
    ways = {"exactly": None, f"with landmarks={_FORECAST_LANDMARKS}": _FORECAST_LANDMARKS}
    k = _FORECAST_COMPONENTS
    costs = {way: forecast(KernelPCA(k, kernel=kernel, landmarks=m), n, d) for way, m in ways.items()}
    said = [f"about {duration(cost.seconds)} {way}" for way, cost in costs.items() if cost.fits]
    remedy = f"Estimators work without it: kernel PCA of {k} components takes {' or '.join(said)}."
    remedy = remedy if said else "Ask for few components, or take fewer rows."
    yield Finding("gram_memory", message, remedy)


def _shape(kernel: Kernel, rows: Array, K: Array, probes: Array) -> Iterator[Finding]:
    """Near the identity, near a constant, or of another scale than the data."""
    own = np.abs(np.diag(K)[: len(probes)])
    others = np.maximum(np.abs(probes).sum(axis=1) - own, 0.0)  # rounding of a sum is no similarity
    width = None if kernel.given else kernel.width
    advice = "Check the units of the columns and the parameters of the kernel."
    if width is not None:
        typical = median_width(rows)
        better = f"{kernel.name}({kernel.width_name}={format_value(float(f'{typical:.3g}'))})"
        advice = f"The width is {width:.3g}, the median distance of rows {typical:.3g}: try {better}."
    middle = float(np.median(others / np.where(own > 0, own, 1.0)))
    alike, n = 0.0, len(K)
    if np.ptp(np.diag(K)) <= 1e-12 * abs(K[0, 0]) and K[0, 0] > 0:
        alike = float((K.sum() - np.trace(K)) / (n * (n - 1))) / K[0, 0]
    if middle < _IDENTITY_MAX_SUM:
        message = (
            f"the kernel {kernel} is near the identity: most rows resemble no other row. The sum of the similarities "
            f"of a row to all others is {middle:.1g} times that to itself (median)."
        )
        yield Finding("kernel_near_identity", message, advice)
    elif 1 - alike < _CONSTANT_MAX_DIFFERENCE:
        message = (
            f"the kernel {kernel} is near a constant: the mean similarity of two rows is {percent(alike)} of that of a "
            "row to itself."
        )
        yield Finding("kernel_near_constant", message, advice)
    elif width is not None and not 1 / _WIDTH_MAX_RATIO <= width / typical <= _WIDTH_MAX_RATIO:
        message = f"the width of the kernel {kernel} is of another scale than the distances of rows."
        yield Finding("kernel_width", message, advice)


def _negative(kernel: Kernel, K: Array) -> Iterator[Finding]:
    if kernel.positive_definite:
        return
    values = lapack.eigvalsh(K)
    count = int((values < -10 * null_tolerance(len(K), float(np.abs(values).max()))).sum())
    if count:
        message = (
            f"the kernel {kernel} is not positive definite on these rows: {plural(count, 'negative eigenvalue')} of "
            f"{len(K):,}, the least {values[0]:.3g} beside a largest of {values[-1]:.3g}."
        )
        remedy = "Kernel PCA keeps the positive part and says so; ridge, SVM and CCA need another kernel or parameters."
        yield Finding("kernel_indefinite", message, remedy)


def _dominated(kernel: Kernel, centred: Array, chosen: Array) -> Iterator[Finding]:
    parts = np.diag(centred)
    at, total = int(np.argmax(parts)), parts.sum()
    if len(parts) >= 20 and parts[at] > _ONE_ROW_MAX_SHARE * total:
        message = f"{at_rows([chosen[at]])} alone holds {100 * parts[at] / total:.0f} % of the variance under {kernel}."
        remedy = (
            "Take it out if it is a mistake, standardise the columns, or use a kernel that is bounded, such as rbf."
        )
        yield Finding("kernel_few_rows", message, remedy, rows=row_numbers([chosen[at]]))
