"""The one loop of every EM-like method: repeat a step, watch the objective, stop for a reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

State = TypeVar("State")


@dataclass(frozen=True)
class Climb(Generic[State]):
    """Where an iteration ended, and the objective on its way there (one value for each state visited)."""

    state: State
    path: tuple[float, ...]
    converged: bool
    stopped: str = ""


def climb(step: Callable[[State], tuple[float, State]], start: State, *, tol: float, max_iter: int) -> Climb[State]:
    """Repeat ``step`` until the objective gains less than ``tol`` of its size.

    Parameters
    ----------
    step : callable
        Takes a state; returns the objective *at that state*, and the next state. For EM the objective never falls.
    start : state
        Where to begin.
    tol : float
        Relative gain at which to stop.
    max_iter : int
        Steps at the most.
    """
    state, path = start, []
    for _ in range(max_iter):
        objective, following = step(state)
        path.append(objective)
        if len(path) > 1 and path[-1] - path[-2] <= tol * max(1.0, abs(path[-1])):
            return Climb(state, tuple(path), True)
        state = following
    return Climb(state, tuple(path), False, f"max_iter={max_iter} reached")
