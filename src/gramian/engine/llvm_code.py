"""Writing loops for the vector unit of this processor, and compiling them: what BLAS has no routine for.

Loops are written as LLVM's intermediate code, a register of numbers (a *row of lanes*) at a time, for registers of any
size, and compiled when first needed, which takes a tenth of a second. Nothing is kept on disk.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from llvmlite.ir import Value

from gramian.engine.vector_loops import FEATURES, REGISTERS, Registers

#: The body of a loop: an index and the carried values to new carried values.
Step = Callable[[Value, list[Value]], Sequence[Value]]
INDEX, LANE_INDEX = ir.IntType(64), ir.IntType(32)
#: Name -> (names of arrays, of which no two overlap; names of sizes; what writes the body).
Definitions = dict[str, tuple[str, str, Callable[["Writer"], None]]]


def registers_here() -> Registers | None:
    """The registers of this processor, or those that tests ask for; None where work is left to BLAS and NumPy."""
    if asked := os.environ.get("GRAMIAN_REGISTER_BITS"):
        return REGISTERS.get(int(asked))
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM's word for a processor it cannot ask, as some of ARM's
        return None
    return next((REGISTERS[bits] for feature, bits in FEATURES.items() if found.get(feature)), None)


class Writer:
    """The body of one function, written step by step. Its arguments are attributes; no two arrays overlap."""

    def __init__(self, module: ir.Module, unit: Registers, dtype: np.dtype, name: str, arrays: str, sizes: str) -> None:
        self.unit, self.dtype, self.lanes, bits = unit, dtype, unit.lanes(dtype), 8 * dtype.itemsize
        number = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector, self.bits = ir.VectorType(number, self.lanes), ir.VectorType(ir.IntType(bits), self.lanes)
        kinds = [number.as_pointer()] * len(arrays.split()) + [INDEX] * len(sizes.split())
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
        nothing, everywhere = ir.Constant(self.vector, ir.Undefined), ir.VectorType(LANE_INDEX, self.lanes)
        value = self.build.load(place, align=self.dtype.itemsize)
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
    features = llvm.get_host_cpu_features().flatten()
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
