"""Compiled coordinate steps for quadratic problems in a box; compiled when first needed.

The loop reads two rows of a symmetric matrix for each step, some registers at a time, and keeps in every lane the best
coordinate that it has seen. The few numbers of a step itself are in double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from llvmlite.ir import Value

from gramian.engine.llvm_loops import INDEX, LANE_INDEX, Writer, compiled
from gramian.engine.vector_loops import Registers

#: Registers of one row that are in work at a time: a maximum waits four cycles for the one before it.
AT_A_TIME = 4
#: Least curvature along a second coordinate, as a share of what it has without the first.
LEAST_CURVATURE_SHARE = 1e-6
#: Two rows whose determinant is a smaller share of the product of their curvatures are parallel.
PARALLEL = 1e-12
DOUBLE = ir.DoubleType()


def coordinate_steps(unit: Registers, dtype: np.dtype) -> Callable[..., None]:
    """Compile them; :func:`gramian.engine.vector_loops.descend` says what they do."""
    names = "K curvature g up down b lower upper answer"
    return compiled({"descend": (names, "m limit", _descend)}, unit, dtype)["descend"]


class Number:
    """A number, or a register of them, with the signs of arithmetic."""

    def __init__(self, build: ir.IRBuilder, value: Value) -> None:
        self.build, self.value = build, value

    def __add__(self, other: Number) -> Number:
        return self._with(self.build.fadd, other)

    def __sub__(self, other: Number) -> Number:
        return self._with(self.build.fsub, other)

    def __mul__(self, other: Number) -> Number:
        return self._with(self.build.fmul, other)

    def __truediv__(self, other: Number) -> Number:
        return self._with(self.build.fdiv, other)

    def __neg__(self) -> Number:
        return Number(self.build, self.build.fneg(self.value))

    def __gt__(self, other: Number) -> Value:
        return self.build.fcmp_ordered(">", self.value, other.value)

    def clip(self, lower: Number, upper: Number) -> Number:
        """The nearest number between the two."""
        least = self.where(self > lower, lower)
        return least.where(upper > least, upper)

    def where(self, condition: Value, other: Number) -> Number:
        """The number itself where the condition holds, else the other."""
        return Number(self.build, self.build.select(condition, self.value, other.value))

    def _with(self, operation: Callable[..., Value], other: Number) -> Number:
        # A product and a sum may be rounded once.
        return Number(self.build, operation(self.value, other.value, flags=("contract",)))


class Coordinate(NamedTuple):
    """What a step asks of a coordinate: where it is, the slope and the curvature there, and its interval."""

    point: Number
    slope: Number
    curvature: Number
    lower: Number
    upper: Number

    def alone(self, slope: Number) -> Number:
        """The best step within the interval if the slope is that one."""
        return self.to(self.point - slope / self.curvature)

    def to(self, point: Number) -> Number:
        """The step to a point, or as far as the interval goes."""
        return point.clip(self.lower, self.upper) - self.point


def _descend(w: Writer) -> None:
    """Steps until the violation is within ``answer[0]``: what is left goes there, the number of steps after it."""
    doubles = {
        name: w.build.bitcast(getattr(w, name), DOUBLE.as_pointer()) for name in ("b", "lower", "upper", "answer")
    }
    tol, nothing = w.build.load(doubles["answer"]), Number(w.build, ir.Constant(DOUBLE, 0.0))
    best, at = tol, INDEX(0)

    def number(value: Value) -> Number:
        return Number(w.build, w.build.fpext(value, DOUBLE) if value.type != DOUBLE else value)

    def coordinate(i: Value) -> Coordinate:
        arrays = doubles["b"], w.g, w.curvature, doubles["lower"], doubles["upper"]
        return Coordinate(*(number(w.build.load(w.build.gep(array, [i]))) for array in arrays))

    def place(i: Value, c: Coordinate, step: Number) -> Value:
        """Take a step; return what it became, within the interval, in the precision of K."""
        new = (c.point + step).clip(c.lower, c.upper)
        w.build.store(new.value, w.build.gep(doubles["b"], [i]))
        for array, room in ((w.up, c.upper > new), (w.down, new > c.lower)):
            w.build.store(w.build.uitofp(room, w.number), w.build.gep(array, [i]))
        moved = (new - c.point).value
        return w.build.fptrunc(moved, w.number) if w.number != DOUBLE else moved

    def far(carried: list[Value]) -> Value:
        """Bring the gradient up to date; whether there is a violation left, and a step."""
        nonlocal best, at
        steps, i, j, s, t = carried
        violation, at = _moved(w, i, j, s, t)
        best = number(violation).value
        violated = w.build.fcmp_ordered(">", best, tol)
        return w.build.and_(violated, w.build.icmp_signed("<", steps, w.limit))

    def step(carried: list[Value]) -> list[Value]:
        i, j = at, _partner(w, at)
        p, q = coordinate(i), coordinate(j)
        bends = p.curvature > nothing
        two = w.build.and_(w.build.icmp_signed("!=", i, j), bends)
        s, t = (x.where(two, nothing) for x in _pair(w, p, q, number(w.build.load(w.place(w.K, i, w.m, j)))))
        # No partner, or none that helps: the best step alone, without curvature to the end of the interval.
        still = w.build.and_(*(w.build.fcmp_ordered("==", x.value, nothing.value) for x in (s, t)))
        end = p.upper.where(nothing > p.slope, p.lower) - p.point
        s = p.alone(p.slope).where(bends, end).where(still, s)
        second, first = place(j, q, t), place(i, p, s)  # i last: it may be j as well
        return [w.plus(carried[0], 1), i, j, first, w.build.select(two, second, nowhere)]

    nowhere = ir.Constant(w.number, 0.0)
    steps, *_ = w.during(far, step, [INDEX(0), INDEX(0), INDEX(0), nowhere, nowhere])
    w.build.store(best, doubles["answer"])
    w.build.store(w.build.sitofp(steps, DOUBLE), w.build.gep(doubles["answer"], [INDEX(1)]))


def _pair(w: Writer, p: Coordinate, q: Coordinate, k: Number) -> tuple[Number, Number]:
    """Best steps of two coordinates in their box: inside, or on the best of the four edges."""
    nothing, half, parallel = (Number(w.build, ir.Constant(DOUBLE, x)) for x in (0.0, 0.5, PARALLEL))
    best, best_s, best_t = nothing, nothing, nothing
    edges = [(s, q.alone(q.slope + k * s)) for s in (p.lower - p.point, p.upper - p.point)]
    edges += [(p.alone(p.slope + k * t), t) for t in (q.lower - q.point, q.upper - q.point)]
    for s, t in edges:
        bend = p.curvature * s * s + q.curvature * t * t
        value = p.slope * s + q.slope * t + half * bend + k * s * t
        less = best > value
        best, best_s, best_t = value.where(less, best), s.where(less, best_s), t.where(less, best_t)
    both = p.curvature * q.curvature
    det = both - k * k
    s, t = (k * q.slope - q.curvature * p.slope) / det, (k * p.slope - p.curvature * q.slope) / det
    inside = det > parallel * both
    for c, step in ((p, s), (q, t)):
        for above, below in ((c.point + step, c.lower), (c.upper, c.point + step)):
            inside = w.build.and_(inside, w.build.fcmp_ordered(">=", above.value, below.value))
    return s.where(inside, best_s), t.where(inside, best_t)


def _moved(w: Writer, i: Value, j: Value, s: Value, t: Value) -> tuple[Value, Value]:
    """Add two rows to the gradient; return the largest violation then, and where it is."""
    first, second = w.place(w.K, i, w.m), w.place(w.K, j, w.m)

    def violation(at: Value, lanes: int) -> Number:
        of, g = _reader(w, at, lanes), w.build.gep(w.g, [at])
        value = of(w.g) + _spread(w, s, lanes) * of(first) + _spread(w, t, lanes) * of(second)
        _write(w, value.value, g, lanes)
        rise, fall = -value * of(w.up), value * of(w.down)
        return rise.where(rise > fall, fall)

    return _largest(w, violation)


def _partner(w: Writer, i: Value) -> Value:
    """Return the coordinate that gains most when it moves together with ``i``; ``i`` gains nothing."""
    row, one = w.place(w.K, i, w.m), Number(w.build, ir.Constant(w.number, 1.0))
    scale = one / Number(w.build, w.build.load(w.build.gep(w.curvature, [i])))
    slope = Number(w.build, w.build.load(w.build.gep(w.g, [i]))) * scale

    def gain(at: Value, lanes: int) -> Number:
        of = _reader(w, at, lanes)
        each, bend = of(row), of(w.curvature)
        rest = of(w.g) - each * _spread(w, slope.value, lanes)
        rise, fall = -rest * of(w.up), rest * of(w.down)
        violation = rise.where(rise > fall, fall)
        least = bend * _spread(w, ir.Constant(w.number, LEAST_CURVATURE_SHARE), lanes)
        left = bend - each * each * _spread(w, scale.value, lanes)
        nothing = _spread(w, ir.Constant(w.number, 0.0), lanes)
        return (violation * violation / left.where(left > least, least)).where(bend > nothing, nothing)

    best, at = _largest(w, gain)
    return w.build.select(w.build.fcmp_ordered(">", best, ir.Constant(w.number, 0.0)), at, i)


def _largest(w: Writer, value: Callable[[Value, int], Number]) -> tuple[Value, Value]:
    """The largest of the values for all coordinates, and where it is: (0, 0) if none is above zero."""
    whole = w.bits.element
    zero, start = w.constant(0.0), ir.Constant(w.bits, list(range(w.lanes)))
    size = AT_A_TIME * w.lanes

    def several(carried: list[Value]) -> list[Value]:
        at, lane, *found = carried
        new = []
        for panel in range(AT_A_TIME):
            best, place = found[2 * panel : 2 * panel + 2]
            new += _better(w, value(w.plus(at, panel * w.lanes), w.lanes).value, lane, best, place)
        return [w.plus(at, size), w.build.add(lane, w.whole(size)), *new]

    def there(carried: list[Value]) -> Value:
        return w.build.icmp_signed("<=", w.plus(carried[0], size), w.m)

    at, _, *found = w.during(there, several, [INDEX(0), start, *[zero, start] * AT_A_TIME])
    best, place = found[:2]
    for panel in range(1, AT_A_TIME):
        further = w.build.add(found[2 * panel + 1], w.whole(panel * w.lanes))
        best, place = _better(w, found[2 * panel], further, best, place)
    top, where = ir.Constant(w.number, 0.0), ir.Constant(whole, 0)
    for lane in range(w.lanes):
        one, its = (w.build.extract_element(vector, LANE_INDEX(lane)) for vector in (best, place))
        top, where = _better(w, one, its, top, where)

    def single(carried: list[Value]) -> list[Value]:
        i, best, place = carried
        return [w.plus(i, 1), *_better(w, value(i, 1).value, i, best, place)]

    where = w.build.sext(where, INDEX) if whole != INDEX else where
    _, top, where = w.during(lambda carried: w.build.icmp_signed("<", carried[0], w.m), single, [at, top, where])
    return top, where


def _better(w: Writer, value: Value, at: Value, best: Value, place: Value) -> list[Value]:
    """The larger of two numbers, lane by lane, and where it is."""
    larger = w.build.fcmp_ordered(">", value, best)
    return [w.build.select(larger, value, best), w.build.select(larger, at, place)]


def _reader(w: Writer, at: Value, lanes: int) -> Callable[[Value], Number]:
    """What reads arrays at a place: a register, or one number."""

    def read(array: Value) -> Number:
        place = w.build.gep(array, [at])
        return Number(w.build, w.load(place) if lanes > 1 else w.build.load(place))

    return read


def _write(w: Writer, value: Value, place: Value, lanes: int) -> None:
    if lanes > 1:
        w.store(value, place)
    else:
        w.build.store(value, place)


def _spread(w: Writer, value: Value, lanes: int) -> Number:
    """One number in so many lanes."""
    return Number(w.build, w.in_lanes(value) if lanes > 1 else value)
