"""Loops for registers of each size: narrow ones are in wide ones too, so that one processor runs them all."""

from functools import cache, partial

import pytest

from gramian.engine import vector_loops


@cache
def loops_for(bits, dtype):
    from gramian.engine.llvm_loops import compiled_loops

    unit = vector_loops.REGISTERS[bits]
    return vector_loops.VectorLoops(compiled_loops(unit, dtype), unit, dtype)


@pytest.fixture(params=sorted(vector_loops.REGISTERS, reverse=True))
def bits(request, monkeypatch):
    monkeypatch.setattr(vector_loops, "_loops", partial(loops_for, request.param))
    return request.param
