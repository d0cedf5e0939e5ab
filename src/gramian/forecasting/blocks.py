"""Plans of the methods of two blocks of columns."""

from __future__ import annotations

from typing import Any

from gramian.config import thread_count
from gramian.estimators import CCA, PLSSVD, PLSCanonical, PLSRegression, PrincipalComponentRegression
from gramian.estimators.component_regression import AUTO_MAX_COMPONENTS
from gramian.estimators.n_components import whole_number
from gramian.estimators.regression_path import KEPT_BYTES, SOLVED_TOGETHER_BYTES
from gramian.forecasting import machine
from gramian.forecasting.linear import moments_room
from gramian.forecasting.plan import Job, Plan, plan
from gramian.operators.compressed import are_few

#: What compressed rows come from.
REASONS = {"moments": "one pass over the rows", "rows": "centred rows, no more of them than columns"}


def compressed(job: Job) -> tuple[str, int, Plan]:
    """Route, rows after compression, and the plan of the compression."""
    n, columns = job.n, job.d + job.q
    if are_few(n, columns):
        time = lambda: 6 * 8 * n * columns * machine.touch()  # noqa: E731
        return "rows", n, Plan("rows", REASONS["rows"], "", job.copied + 8.0 * n * columns * 4, time)
    room = job.copied + max(moments_room(n, columns), 8.0 * columns * columns * 5)
    time = lambda: n * machine.moments(columns) + columns**3 / 3 * machine.multiply() * 2  # noqa: E731
    return "moments", columns, Plan("moments", REASONS["moments"], "", room, time)


@plan.register(PLSRegression)
@plan.register(PrincipalComponentRegression)
def _(estimator: Any, job: Job) -> Plan:
    n, d, q = job.n, job.d, job.q
    route, r, first = compressed(job)
    limit = max(1, min(d, n - 1))
    auto = isinstance(estimator.n_components, str)
    k = min(limit, AUTO_MAX_COMPONENTS) if auto else min(limit, int(estimator.n_components or limit))
    partial = isinstance(estimator, PLSRegression)
    table = 8.0 * r * (d + q)
    scores = 16.0 * n * k + 8.0 * n * q
    room = max(first.bytes, job.copied + table + max(table * 4 + 8.0 * min(r, d) * d * 3, scores))

    def one() -> float:
        return r * d * (4 * k * 8 * machine.read() / 8 if partial else min(r, d) * machine.svd())

    def seconds() -> float:
        left = 2 * r * d * min(r, d) * machine.multiply()
        projected = n * k * (d * machine.multiply(0) + 16 * machine.touch())
        return first.seconds() + one() + left + projected

    if not auto:
        return Plan(route, first.reason, f"{k} components", room, seconds)
    folds = min(int(estimator.cv), n) if isinstance(estimator.cv, int) else 10
    together = min(folds, max(1.0, SOLVED_TOGETHER_BYTES // table + 1))
    predictions = 8.0 * k * n * q if 8 * k * n * q <= KEPT_BYTES else 0.0
    coefficients = 8.0 * folds * k * q * d if 8 * folds * k * q * d <= KEPT_BYTES else 0.0
    test = 8.0 * (n / folds) * k * q * 3 * thread_count()
    stack = together * (table * 4 + 8.0 * d * k * (4 + 2 * q)) + 8.0 * min(folds, 8) * (d + q) ** 2 * 2
    room = max(first.bytes, job.copied + table + predictions + coefficients + max(stack, test, table * 4, scores))

    def validated() -> float:
        outside = folds * (one() + (d + q) ** 3 / 3 * machine.multiply() * 2 + 3 * table * machine.touch() * 4)
        tested = n * d * k * q * machine.multiply(0) + 8 * n * k * q * 4 * machine.touch()
        return seconds() + n * machine.moments(d + q) + one() + outside + tested

    return Plan(route, first.reason, f"up to {k} components, {folds} folds", room, validated)


@plan.register(CCA)
@plan.register(PLSSVD)
@plan.register(PLSCanonical)
def _(estimator: Any, job: Job) -> Plan:
    d, q = job.d, job.q
    route, r, first = compressed(job)
    k = min(d, q, r, whole_number(estimator.n_components) or min(d, q))
    room = max(first.bytes, job.copied + 8.0 * r * (d + q) * 9)

    def seconds() -> float:
        small = min(d, q)
        if isinstance(estimator, CCA):
            work = r * (d * min(r, d) + q * min(r, q)) * machine.svd() + 4 * r * k * k * machine.svd()
        else:
            times = k if isinstance(estimator, PLSCanonical) else 1
            work = times * (d * q * small * machine.svd() + r * d * q * machine.multiply())
        return first.seconds() + work + 8 * r * (d + q) * k * machine.multiply()

    return Plan(route, first.reason, f"{k} pair{'s' * (k > 1)}", room, seconds)
