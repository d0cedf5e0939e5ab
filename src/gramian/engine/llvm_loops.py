"""The loops for the vector unit of this processor: what BLAS has no routine for, register by register.

Loops are written as LLVM's intermediate code, a register of numbers (a *row of lanes*) at a time, for registers of any
size, and compiled when first needed, which takes a tenth of a second. Nothing is kept on disk.
"""

from __future__ import annotations

import ctypes
import math
import os
from collections.abc import Callable, Sequence
from functools import partial

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from llvmlite.ir import Value

from gramian.engine.vector_loops import CHUNK, DEEP, DEGREE, FEATURES, REGISTERS, Registers

#: The body of a loop: an index and the carried values to new carried values.
Step = Callable[[Value, list[Value]], Sequence[Value]]
INDEX, LANE_INDEX = ir.IntType(64), ir.IntType(32)
#: Name -> (names of arrays, of which no two overlap; names of sizes; what writes the body).
Definitions = dict[str, tuple[str, str, Callable[["Writer"], None]]]


def registers_here() -> Registers | None:
    """The registers of this processor, or those that tests ask for; None where work is left to BLAS and NumPy."""
    if asked := os.environ.get("GRAMIAN_REGISTER_BITS"):
        return REGISTERS.get(int(asked))
    found = _features()
    return next((REGISTERS[bits] for feature, bits in FEATURES.items() if found.get(feature)), None)


def any_registers() -> Registers:
    """The same for loops that NumPy has no way for: every processor has registers of some size."""
    return registers_here() or REGISTERS[256 if _features().get("avx2") else 128]


def _features() -> llvm.FeatureMap:
    """What this processor has; nothing if LLVM cannot ask it, as some of ARM's."""
    try:
        return llvm.get_host_cpu_features()
    except RuntimeError:
        return llvm.FeatureMap()


class Writer:
    """The body of one function, written step by step. Its arguments are attributes; no two arrays overlap."""

    def __init__(self, module: ir.Module, unit: Registers, dtype: np.dtype, name: str, arrays: str, sizes: str) -> None:
        self.unit, self.dtype, self.lanes, bits = unit, dtype, unit.lanes(dtype), 8 * dtype.itemsize
        self.number = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector, self.bits = ir.VectorType(self.number, self.lanes), ir.VectorType(ir.IntType(bits), self.lanes)
        kinds = [self.number.as_pointer()] * len(arrays.split()) + [INDEX] * len(sizes.split())
        self.module, self.function = module, ir.Function(module, ir.FunctionType(ir.VoidType(), kinds), name)
        self.build = ir.IRBuilder(self.function.append_basic_block("entry"))
        self.arguments = dict(zip([*arrays.split(), *sizes.split()], self.function.args, strict=True))
        for name in arrays.split():
            self.arguments[name].add_attribute("noalias")
        fma, kind = f"llvm.fma.v{self.lanes}f{bits}", ir.FunctionType(self.vector, [self.vector] * 3)
        self._fma = module.globals.get(fma) or ir.Function(module, kind, fma)

    def __getattr__(self, name: str) -> Value:
        """An argument of the function."""
        return self.arguments[name]

    def loop(self, stop: Value, step: int, body: Step, carried: Sequence[Value] = ()) -> list[Value]:
        """``for i in range(0, stop, step)``: the body gets i and the carried values and returns new ones."""
        build, before = self.build, self.build.block
        head, after = (self.function.append_basic_block() for _ in range(2))
        build.branch(head)
        build.position_at_end(head)
        i, values = build.phi(INDEX), [build.phi(value.type) for value in carried]
        new = list(body(i, list(values)))
        following = build.add(i, INDEX(step))
        for phi, first, next in zip([i, *values], [INDEX(0), *carried], [following, *new], strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(next, build.block)
        build.cbranch(build.icmp_signed("<", following, stop), head, after)
        build.position_at_end(after)
        return new

    def during(
        self,
        condition: Callable[[list[Value]], Value],
        body: Callable[[list[Value]], list[Value]],
        carried: Sequence[Value],
    ) -> list[Value]:
        """``while condition(carried): carried = body(carried)``; returns what it ends with."""
        build, before = self.build, self.build.block
        head, inside, after = (self.function.append_basic_block() for _ in range(3))
        build.branch(head)
        build.position_at_end(head)
        values = [build.phi(value.type) for value in carried]
        build.cbranch(condition(list(values)), inside, after)
        build.position_at_end(inside)
        new = body(list(values))
        for phi, first, next in zip(values, carried, new, strict=True):
            phi.add_incoming(first, before)
            phi.add_incoming(next, build.block)
        build.branch(head)
        build.position_at_end(after)
        return values

    def multiply(
        self,
        count: Value,
        numbers: Callable[[Value], list[Value]],
        columns: Callable[[Value], Value],
        sums: list[Value],
        *,
        negative: bool = False,
    ) -> list[Value]:
        """Add products to sums in registers, some for each row: ``numbers(c)``, a place for each row, times lanes.

        Lanes are at ``columns(c)``, for c from 0 up to the count, which is at least 1. Negative: subtract them.
        """

        def add(c: Value, sums: list[Value]) -> list[Value]:
            at, places = columns(c), numbers(c)
            panels = len(sums) // len(places)
            lanes = [self.load(at, p) for p in range(panels)]
            lanes = [self.build.fneg(lane) for lane in lanes] if negative else lanes
            for r, place in enumerate(places):
                x = self.everywhere(place)
                for p in range(panels):
                    sums[r * panels + p] = self.fma(x, lanes[p], sums[r * panels + p])
            return sums

        return self.loop(count, 1, add, sums)

    def add_to(self, place: Value, sums: list[Value]) -> None:
        """Add registers to numbers that lie one after the other."""
        for at, value in enumerate(sums):
            self.store(self.build.fadd(self.load(place, at), value), place, at)

    def write(self, place: Value, values: Sequence[Value]) -> None:
        """Write registers to numbers that lie one after the other."""
        for at, value in enumerate(values):
            self.store(value, place, at)

    def each(self, stop: Value, step: int, body: Callable[[Value], None]) -> None:
        """A loop that carries nothing."""

        def once(i: Value, _: list[Value]) -> tuple[()]:
            body(i)
            return ()

        self.loop(stop, step, once)

    def blocks(self, stop: Value, step: int, body: Callable[[Value], None]) -> None:
        """Blocks of one size, at least one; the last begins earlier if there is no room for it: it repeats a part."""
        last = self.build.sub(stop, INDEX(step))
        self.each(stop, step, lambda i: body(self.least(i, last)))

    def pieces(self, stop: Value, size: int, body: Callable[[Value, Value], None]) -> None:
        """Pieces of at most that size: where each begins, and its own size."""
        self.each(stop, size, lambda i: body(i, self.least(self.build.sub(stop, i), INDEX(size))))

    def place(self, array: Value, row: Value, width: Value, column: Value = None) -> Value:
        """Where ``array[row, column]`` of rows of that width is."""
        offset = self.build.mul(row, width)
        return self.build.gep(array, [offset if column is None else self.build.add(offset, column)])

    def lines(self, array: Value, row: Value, count: int, width: Value) -> Callable[[Value], list[Value]]:
        """Where the numbers of a column are, in some rows from one on."""
        starts = [self.place(array, self.plus(row, r), width) for r in range(count)]
        return lambda column: [self.build.gep(start, [column]) for start in starts]

    def call(self, name: str, *arguments: Value) -> None:
        """Call a function defined before."""
        self.build.call(self.module.globals[name], arguments)

    def least(self, a: Value, b: Value) -> Value:
        """The smaller of two sizes."""
        return self.build.select(self.build.icmp_signed("<", a, b), a, b)

    def plus(self, index: Value, count: int) -> Value:
        """``index + count``."""
        return self.build.add(index, INDEX(count))

    def load(self, place: Value, panel: int = 0) -> Value:
        """A row of lanes, so many rows of lanes further on."""
        return self.build.load(self._vector(place, panel), align=self.dtype.itemsize)

    def store(self, value: Value, place: Value, panel: int = 0) -> None:
        """Write a row of lanes."""
        self.build.store(value, self._vector(place, panel), align=self.dtype.itemsize)

    def zeros(self, count: int) -> list[Value]:
        """Registers of zeros, to begin sums with."""
        return [self.constant(0.0)] * count

    def constant(self, value: float) -> Value:
        """One number in all lanes."""
        return ir.Constant(self.vector, [value] * self.lanes)

    def whole(self, value: int) -> Value:
        """One whole number, as wide as a number, in all lanes."""
        return ir.Constant(self.bits, [value] * self.lanes)

    def everywhere(self, place: Value) -> Value:
        """One number of memory in all lanes."""
        return self.in_lanes(self.build.load(place, align=self.dtype.itemsize))

    def in_lanes(self, value: Value) -> Value:
        """One number in all lanes."""
        nothing, everywhere = ir.Constant(self.vector, ir.Undefined), ir.VectorType(LANE_INDEX, self.lanes)
        first = self.build.insert_element(nothing, value, LANE_INDEX(0))
        return self.build.shuffle_vector(first, nothing, ir.Constant(everywhere, [0] * self.lanes))

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """``a b + c``, rounded once."""
        return self.build.call(self._fma, [a, b, c])

    def _vector(self, place: Value, panel: int) -> Value:
        return self.build.bitcast(self.build.gep(place, [INDEX(panel * self.lanes)]), self.vector.as_pointer())


def compiled(definitions: Definitions, unit: Registers, dtype: np.dtype) -> dict[str, Callable[..., None]]:
    """Compile functions; they release the interpreter lock."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = ir.Module("gramian")
    for name, (arrays, sizes, body) in definitions.items():
        writer = Writer(module, unit, dtype, name, arrays, sizes)
        body(writer)
        writer.build.ret_void()
    checked = llvm.parse_assembly(str(module))
    checked.verify()
    features = _features().flatten()
    host = llvm.Target.from_default_triple()
    machine = host.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3)
    engine = llvm.create_mcjit_compiler(checked, machine)
    engine.finalize_object()
    found: dict[str, Callable[..., None]] = {}
    for name, (arrays, sizes, _) in definitions.items():
        kinds = [ctypes.c_void_p] * len(arrays.split()) + [ctypes.c_int64] * len(sizes.split())
        function = ctypes.CFUNCTYPE(None, *kinds)(engine.get_function_address(name))
        function.engine = engine  # type: ignore[attr-defined]  # the code lives as long as this
        found[name] = function
    return found


def _powers_of_two(w: Writer) -> None:
    """``out = 2 ** (left right)``, a block of rows and lanes at a time: its sums never leave the registers."""
    rows, across = w.unit.rows, w.unit.across

    def block(i: Value, j: Value) -> None:
        numbers = w.lines(w.left, i, rows, w.left_width)
        sums = w.multiply(w.d, numbers, lambda c: w.place(w.right, c, w.right_width, j), w.zeros(rows * across))
        for r in range(rows):
            powers = [_power(w, x) for x in sums[r * across : (r + 1) * across]]
            w.write(w.place(w.out, w.plus(i, r), w.out_width, j), powers)

    w.blocks(w.m, across * w.lanes, lambda j: w.blocks(w.n, rows, lambda i: block(i, j)))


def _power(w: Writer, x: Value) -> Value:
    """``2 ** x``: a power series for what is beside the nearest whole number, which goes into the exponent's bits."""
    limits = np.finfo(w.dtype)
    shift = w.constant(1.5 * 2.0**limits.nmant)  # added, it leaves the whole number in the last bits
    whole = w.build.fadd(x, shift)
    beside = w.build.fsub(x, w.build.fsub(whole, shift))
    *rest, first = _series(DEGREE[w.dtype])
    value = w.constant(first)
    for coefficient in reversed(rest):
        value = w.fma(value, beside, w.constant(coefficient))
    exponent = w.build.shl(w.build.bitcast(whole, w.bits), w.whole(limits.nmant))
    scaled = w.build.bitcast(w.build.add(w.build.bitcast(value, w.bits), exponent), w.vector)
    normal = w.build.fcmp_unordered(">=", x, w.constant(float(limits.minexp)))
    return w.build.select(normal, scaled, w.constant(0.0))


def _series(degree: int) -> list[float]:
    """Coefficients of ``2 ** t`` for t between -1/2 and 1/2.

    Two more terms of the power series are replaced by what is nearest to them in lower powers: a term less what
    Chebyshev's polynomial of its degree has of it. The leading coefficients hardly move and keep all their digits.
    """
    terms = np.array([np.log(2) ** k / math.factorial(k) for k in range(degree + 3)])
    while len(terms) > degree + 1:
        n = len(terms) - 1
        chebyshev = np.polynomial.chebyshev.cheb2poly([0.0] * n + [1.0]) * 2.0 ** np.arange(n + 1)
        terms = terms[:n] - terms[n] * chebyshev[:n] / chebyshev[n]
    return list(terms)


def _both_products(panels: int, w: Writer) -> None:
    """``out += tile V`` and ``back += tile' U``: each number of the tile is loaded once and multiplies two rows."""
    rows, width = w.unit.rows // panels, INDEX(panels * w.lanes)

    def some(i: Value) -> None:
        lines = [w.place(w.tile, w.plus(i, r), w.m) for r in range(rows)]
        own = [[w.load(w.place(w.U, w.plus(i, r), width), p) for p in range(panels)] for r in range(rows)]

        def add(j: Value, sums: list[Value]) -> list[Value]:
            V, back = w.place(w.V, j, width), w.place(w.back, j, width)
            right, below = ([w.load(at, p) for p in range(panels)] for at in (V, back))
            for r in range(rows):
                x = w.everywhere(w.build.gep(lines[r], [j]))
                for p in range(panels):
                    sums[r * panels + p] = w.fma(x, right[p], sums[r * panels + p])
                    below[p] = w.fma(x, own[r][p], below[p])
            w.write(back, below)
            return sums

        w.add_to(w.place(w.out, i, width), w.loop(w.m, 1, add, w.zeros(rows * panels)))

    w.each(w.n, rows, some)


def _powers_times(panels: int, w: Writer) -> None:
    """Both products with ``2 ** (left right)``, of which some rows of a chunk of columns are there at a time."""
    rows, width = INDEX(w.unit.rows), INDEX(panels * w.lanes)

    def chunk(j: Value, count: Value) -> None:
        right, V, back = w.build.gep(w.right, [j]), w.place(w.V, j, width), w.place(w.back, j, width)

        def some(i: Value) -> None:
            left, U, out = w.place(w.left, i, w.left_width), w.place(w.U, i, width), w.place(w.out, i, width)
            w.call("powers_of_two", left, right, w.room, rows, count, w.d, w.left_width, w.right_width, count)
            w.call(f"both_products_{panels}", w.room, V, U, out, back, rows, count)

        w.each(w.n, w.unit.rows, some)

    w.pieces(w.m, CHUNK // w.dtype.itemsize, chunk)


def _take_out(panels: int, packed: bool, w: Writer) -> None:
    """``own += C U``, then ``out = C - own back``, some rows at a time.

    Packed: the result is laid out in panels of columns, as many rows each as ``out_width`` says.
    """
    rows, width, across = w.unit.rows // panels, INDEX(panels * w.lanes), w.unit.panel if packed else w.unit.across

    def some(i: Value) -> None:
        numbers = w.lines(w.C, i, rows, w.m)
        sums = w.multiply(w.m, numbers, lambda j: w.place(w.U, j, width), w.zeros(rows * panels))
        w.add_to(w.place(w.own, i, width), sums)
        w.blocks(w.m, across * w.lanes, lambda j: rest(i, j, numbers(j)))

    def rest(i: Value, j: Value, places: list[Value]) -> None:
        own, start = w.lines(w.own, i, rows, width), [w.load(at, p) for at in places for p in range(across)]
        left = w.multiply(width, own, lambda c: w.place(w.back, c, w.m, j), start, negative=True)
        # In panels, columns before j are as many panels' rows before this one's.
        out, line, column = (
            (w.place(w.out, j, w.out_width), INDEX(across * w.lanes), None) if packed else (w.out, w.out_width, j)
        )
        for r in range(rows):
            w.write(w.place(out, w.plus(i, r), line, column), left[r * across : (r + 1) * across])

    w.each(w.n, rows, some)


def _powers_less(panels: int, packed: bool, w: Writer) -> None:
    """The same of ``C = 2 ** (left right)``, of which some rows are there at a time."""
    rows, width, name = INDEX(w.unit.rows), INDEX(panels * w.lanes), "take_out_packed" if packed else "take_out"

    def some(i: Value) -> None:
        left, own = w.place(w.left, i, w.left_width), w.place(w.own, i, width)
        out = w.place(w.out, i, INDEX(w.unit.panel * w.lanes) if packed else w.out_width)
        w.call("powers_of_two", left, w.right, w.room, rows, w.m, w.d, w.left_width, w.right_width, w.m)
        w.call(f"{name}_{panels}", w.room, w.U, w.back, own, out, rows, w.m, w.out_width)

    w.each(w.n, w.unit.rows, some)


def _powers_scatter(panels: int, w: Writer) -> None:
    """``sums += A'A`` of what that leaves, with the last columns of A as given: it is never stored as a whole."""
    width, across = INDEX(panels * w.lanes), INDEX(w.unit.panel * w.lanes)
    first = w.build.sub(w.m, w.beside_width)

    def some(k: Value, count: Value) -> None:
        left, own, beside = (
            w.place(array, k, columns)
            for array, columns in ((w.left, w.left_width), (w.own, width), (w.beside, w.beside_width))
        )
        sizes = count, w.m, w.d, w.left_width, w.right_width, count
        w.call(f"powers_less_packed_{panels}", left, w.right, w.U, w.back, own, w.packed, w.room, *sizes)

        def replace(i: Value, c: Value) -> None:
            column = w.build.add(first, c)
            within = w.build.srem(column, across)
            panel = w.place(w.packed, w.build.sub(column, within), count)
            w.build.store(w.build.load(w.place(beside, i, w.beside_width, c)), w.place(panel, i, across, within))

        w.each(count, 1, lambda i: w.each(w.beside_width, 1, lambda c: replace(i, c)))
        w.call("panel_products", w.packed, w.sums, count, w.m)

    w.pieces(w.n, DEEP, some)


def _panel_products(w: Writer) -> None:
    """``sums += A'A`` of some rows that lie in panels of columns.

    Sums lie in panels too, with rows down to the diagonal and what lies beside it in its lanes. The rows in a panel
    stay in the first level of the cache, while some columns at a time pass by.
    """
    rows, registers, size = w.unit.rows, w.unit.panel, w.unit.panel * w.lanes
    width = INDEX(size)

    def panel(j: Value) -> None:
        own = w.place(w.packed, j, w.count)
        before = w.build.sdiv(w.build.mul(j, w.plus(j, size)), INDEX(2))  # numbers in the panels before this one
        sums = w.build.gep(w.sums, [before])

        def block(i: Value, first: int) -> None:
            within, right, across = w.build.srem(i, width), INDEX(first * w.lanes), registers - first
            left = w.place(w.packed, w.build.sub(i, within), w.count, within)

            def numbers(c: Value) -> list[Value]:
                place = w.place(left, c, width)
                return [w.build.gep(place, [INDEX(r)]) for r in range(rows)]

            found = w.multiply(w.count, numbers, lambda c: w.place(own, c, width, right), w.zeros(rows * across))
            for r in range(rows):
                w.add_to(w.place(sums, w.plus(i, r), width, right), found[r * across : (r + 1) * across])

        start = rows * -(-w.lanes // rows)
        w.each(w.plus(j, start), rows, lambda i: block(i, 0))
        for at in range(start, size, rows):  # of the diagonal block the lanes from the diagonal on
            block(w.plus(j, at), at // w.lanes)

    w.each(w.m, size, panel)


def _scatter(w: Writer) -> None:
    """The same of rows that lie one after the other: some at a time are copied into panels."""
    registers, size = w.unit.panel, w.unit.panel * w.lanes

    def some(k: Value, count: Value) -> None:
        def copy(row: Value, j: Value) -> None:
            source = w.place(w.A, w.build.add(k, row), w.A_width, j)
            target = w.place(w.place(w.packed, row, INDEX(size)), j, count)
            w.write(target, [w.load(source, p) for p in range(registers)])

        w.each(count, 1, lambda row: w.each(w.m, size, lambda j: copy(row, j)))
        w.call("panel_products", w.packed, w.sums, count, w.m)

    w.pieces(w.n, DEEP, some)


def _eliminate(w: Writer) -> None:
    """``F[p, at:] = inverse (tile[:, p] - own F[p, :at])`` for panels p of columns; the inverse is lower triangular.

    Some rows of a panel at a time, as many as stay in the first level of the cache, are used for all rows of the tile.
    """
    rows, registers, width = w.unit.rows, w.unit.panel, INDEX(w.unit.panel * w.lanes)

    def panel(p: Value) -> None:
        F, tile = w.place(w.F, w.build.mul(p, w.depth), width), w.place(w.tile, p, width)

        def copy(i: Value) -> None:
            source = w.place(tile, i, w.tile_width)
            w.write(w.place(w.room, i, width), [w.load(source, q) for q in range(registers)])

        def some(c: Value, count: Value) -> None:
            own, above = w.build.gep(w.own, [c]), w.place(F, c, width)

            def less(i: Value) -> None:
                place, numbers = w.place(w.room, i, width), w.lines(own, i, rows, w.at)
                start = [w.load(place, at) for at in range(rows * registers)]
                w.write(place, w.multiply(count, numbers, lambda c: w.place(above, c, width), start, negative=True))

            w.each(w.n, rows, less)

        def solved(i: Value) -> None:
            numbers, zeros = w.lines(w.inverse, i, rows, w.n), w.zeros(rows * registers)
            new = w.multiply(w.plus(i, rows), numbers, lambda c: w.place(w.room, c, width), zeros)
            w.write(w.place(w.place(F, w.at, width), i, width), new)

        w.each(w.n, 1, copy)
        w.pieces(w.at, DEEP, some)
        w.blocks(w.n, rows, solved)

    w.each(w.panels, 1, panel)


def compiled_loops(unit: Registers, dtype: np.dtype) -> dict[str, Callable[..., None]]:
    """Compile all of them."""
    whole = "n m d left_width right_width"
    # Name -> arrays, sizes, and what writes the body.
    found: Definitions = {
        "powers_of_two": ("left right out", f"{whole} out_width", _powers_of_two),
        "panel_products": ("packed sums", "count m", _panel_products),
        "scatter": ("A sums packed", "n m A_width", _scatter),
        "eliminate": ("tile own inverse F room", "n at depth panels tile_width", _eliminate),
    }
    for k in range(1, unit.across + 1):
        for packed, name in ((False, f"{k}"), (True, f"packed_{k}")):
            less = partial(_powers_less, k, packed)
            found |= {
                f"take_out_{name}": ("C U back own out", "n m out_width", partial(_take_out, k, packed)),
                f"powers_less_{name}": ("left right U back own out room", f"{whole} out_width", less),
            }
        scatter = partial(_powers_scatter, k)
        found |= {
            f"both_products_{k}": ("tile V U out back", "n m", partial(_both_products, k)),
            f"powers_times_{k}": ("left right V U out back room", whole, partial(_powers_times, k)),
            f"powers_scatter_{k}": ("left right U back own beside sums packed room", f"{whole} beside_width", scatter),
        }
    return compiled(found, unit, dtype)
