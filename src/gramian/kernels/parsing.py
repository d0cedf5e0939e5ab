"""Kernels as text: ``"2*rbf(sigma=0.5) + linear"`` to objects. The way back is ``str(kernel)``."""

from __future__ import annotations

import ast
import difflib
import inspect
import re
from collections.abc import Callable
from operator import add, mul
from typing import Any

from numpy.typing import ArrayLike

from gramian.kernels.base import REGISTRY, Kernel
from gramian.kernels.dot_product import Polynomial, Sigmoid
from gramian.kernels.given import Function
from gramian.kernels.stationary import RBF, ThinPlateSpline
from gramian.results import Array

#: Other names, and short forms.
ALIASES: dict[str, Callable[..., Kernel]] = {
    "gaussian": RBF,
    "poly": Polynomial,
    "quadratic": lambda **rest: Polynomial(degree=2, **rest),
    "tanh": Sigmoid,
    "tps": ThinPlateSpline,
}
OPERATIONS: dict[type, Callable[[Any, Any], Any]] = {ast.Add: add, ast.Mult: mul, ast.Pow: pow}
LONGEST_KERNEL_TEXT = 1000


def parse(text: str) -> Kernel:
    """Read a kernel from text.

    Names take keyword arguments; kernels are added, multiplied, scaled by numbers, raised to whole powers, and
    act on chosen columns: ``rbf(sigma=2)[0:3] * linear[3, 4] + 0.5*polynomial(degree=2)**2``.

    Examples
    --------
    >>> parse("2*rbf(sigma=0.5) + linear")
    Sum(left=Scaled(weight=2, kernel=RBF(sigma=0.5)), right=Linear())
    >>> str(parse("2*rbf(sigma=0.5) + linear"))
    '2*rbf(sigma=0.5) + linear'
    """
    if len(text) > LONGEST_KERNEL_TEXT:
        raise ValueError(f"kernel text of {len(text)} characters is too long; {LONGEST_KERNEL_TEXT} are read.")
    try:
        tree = ast.parse(text.strip(), mode="eval")
        kernel = _kernel(tree.body, text)
    except (SyntaxError, RecursionError, MemoryError):
        raise ValueError(
            f"kernel={text!r} does not read as a kernel. Write for instance 'rbf(sigma=2) + linear'."
        ) from None
    if not isinstance(kernel, Kernel):
        raise ValueError(f"kernel={text!r} is a number, not a kernel. Known kernels: {_names()}.")
    return kernel


def as_kernel(kernel: str | Kernel | Callable[[Array, Array], ArrayLike]) -> Kernel:
    """Take a kernel as an object, as text, or as a function of two blocks of rows.

    Examples
    --------
    >>> as_kernel("rbf(sigma=2)"), as_kernel(as_kernel("linear"))
    (RBF(sigma=2), Linear())
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str):
        return parse(kernel)
    if callable(kernel) and not inspect.isclass(kernel):
        return Function(kernel)
    raise TypeError(
        f"kernel={kernel!r} is neither a kernel, nor text such as 'rbf(sigma=2)', nor a function of two blocks of rows."
    )


def takes_matrix(kernel: object) -> bool:
    """Whether an argument asks for a matrix of kernel values in the place of rows; False for what is no kernel.

    Text is not parsed: scikit-learn asks at every call, also of models in files, from which nothing is compiled. Only
    kernels of rows, or only precomputed ones, make an expression, so that the names in it tell.
    """
    if isinstance(kernel, str):
        names = {*re.findall(r"\b[a-z_]\w*", kernel.lower())}
        return names & {*REGISTRY, *ALIASES} == {"precomputed"}
    return isinstance(kernel, Kernel) and kernel.given


def _kernel(node: ast.expr, text: str) -> Any:
    """Turn one node of the expression into a kernel, or a number where one may stand."""
    match node:
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in OPERATIONS:
            return _operate(OPERATIONS[type(sign)], left, right, text)
        case ast.Subscript(value=value, slice=columns):
            return _kernel(value, text)[_columns(columns, text)]
        case ast.Call(func=ast.Name(id=name), args=[], keywords=keywords):
            return _make(name, {k.arg: _value(k.value, text) for k in keywords if k.arg}, text)
        case ast.Name(id=name):
            return _make(name, {}, text)
        case ast.Constant(value=int() | float()):
            return _value(node, text)
    raise ValueError(
        f"{ast.unparse(node)!r} in kernel={text!r} is not understood. Arguments are named, as in rbf(sigma=2)."
    )


def _operate(operation: Callable[[Any, Any], Any], left: ast.expr, right: ast.expr, text: str) -> Any:
    a, b = _kernel(left, text), _kernel(right, text)
    if not isinstance(a, Kernel) and not isinstance(b, Kernel):
        raise ValueError(f"kernel={text!r} combines two numbers. Write the result instead.")
    try:
        return operation(a, b)
    except TypeError:
        raise ValueError(
            f"kernel={text!r}: kernels add to kernels, multiply with kernels or numbers, and take whole powers."
        ) from None


def _make(name: str, arguments: dict[str, Any], text: str) -> Kernel:
    make = REGISTRY.get(name.lower()) or ALIASES.get(name.lower())
    if make is None:
        near = difflib.get_close_matches(name.lower(), [*REGISTRY, *ALIASES], n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"kernel={text!r}: there is no kernel {name!r}. {hint}Known kernels: {_names()}.")
    try:
        return make(**arguments)
    except TypeError:
        known = ", ".join(make().get_params()) or "no arguments"
        given_names = ", ".join(arguments)
        raise ValueError(f"kernel={text!r}: {name} does not take {given_names}. It takes: {known}.") from None


def _value(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id="inf"):
            return float("inf")
        case ast.Name(id=word):
            return word  # scale, median, l1: a command line would need quotes in quotes
    raise ValueError(f"{ast.unparse(node)!r} in kernel={text!r} is neither a number nor a word.")


def _columns(node: ast.expr, text: str) -> Any:
    match node:
        case ast.Tuple(elts=parts):
            return tuple(_value(part, text) for part in parts)
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if end is None else _value(end, text) for end in (lower, upper, step)))
    return _value(node, text)


def _names() -> str:
    return ", ".join([*REGISTRY, *ALIASES])
