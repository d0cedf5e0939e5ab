"""The first fit of a process compiles loops: seconds that are no work of the fit, and answers that the next fit has."""

import numpy as np

from gramian.engine import vector_loops
from gramian.estimators.summary import Clock


def test_seconds_of_a_summary_leave_out_those_in_which_loops_were_compiled(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr(vector_loops, "compilations", [(90.0, 99.0)])
    monkeypatch.setattr("gramian.estimators.summary.compilations", vector_loops.compilations)
    with vector_loops.compiling():
        now[0] = 103.0
        clock = Clock()
        now[0] = 105.0
    now[0] = 106.0
    assert vector_loops.compilations[1:] == [(100.0, 105.0)]
    np.testing.assert_allclose(clock.seconds, 1.0)
