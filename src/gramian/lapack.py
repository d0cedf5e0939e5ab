"""Long factorisations that Ctrl-C need not wait for, and the signs of their vectors.

Python looks at signals between two of its own instructions, and one call of LAPACK may take minutes. A long call runs
in a thread beside the main one, which waits and can be interrupted. That needs calls that release the interpreter's
lock: those of ``numpy.linalg`` do; those of ``scipy.linalg`` do not, so the same routines are called by their addresses
(``scipy.linalg.cython_lapack``), which gives the same bits in the same memory.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg
import scipy.linalg.cython_lapack

from gramian.config import is_pinned, one_blas_thread, pinned_if_small
from gramian.results import Array

#: Multiplications from which on a call is long: half a second for the eigenpairs of 1,250 rows; a thread costs 0.1 ms.
LONG = 2e9
#: Seconds after which the wait begins again: where waiting blocks signals (Windows), they are seen between two waits.
TURN = 0.2
#: Rows up to which NumPy's call is quicker than SciPy's, which can do without a copy of the matrix.
PLAIN_MAX_ROWS = 128
#: Rows from which on, and share of all vectors up to which, a few are quicker by themselves.
FEW_MIN_ROWS, FEW_SHARE = 40, 0.25
#: Columns that LAPACK takes at a time.
BLOCK = 32
#: Rows beyond which the workspace of divide and conquer has more entries than 32 bits can count.
MOST_ROWS = 32_000
#: Entries whose magnitudes differ by less, relatively, tie for the largest of their column.
SIGN_TIE = 1e-8


def interruptible(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return ``function(*args, **options)``, a call that releases the interpreter's lock, such that Ctrl-C can end it.

    The main thread returns from a long call at the ``KeyboardInterrupt``. The computation itself cannot be stopped: it
    goes on in a daemon thread, which keeps its matrices until it is done and ends with the process. If BLAS was held
    to one thread, it stays so until then. Short calls, and calls from other threads, which get no signals, run where
    they are.
    """
    if _multiplications(args) < LONG or threading.current_thread() is not threading.main_thread():
        return function(*args, **options)
    done, results, errors = threading.Event(), list[Any](), list[BaseException]()
    pinned = is_pinned()

    def work() -> None:
        try:
            with one_blas_thread() if pinned else nullcontext():
                results.append(function(*args, **options))
        except BaseException as error:
            errors.append(error)
        done.set()

    thread = threading.Thread(target=copy_context().run, args=(work,), name="gramian-lapack", daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no room for its stack
        return function(*args, **options)
    try:
        while not done.wait(TURN):
            pass
    except BaseException:
        _end_without_blas()
        raise
    if errors:
        raise errors.pop()
    return results.pop()


@cache
def _end_without_blas() -> None:
    """Let the process end without a wait for BLAS, whose threads are still at work.

    When a process ends, OpenBLAS joins its threads; while a call used them that hung 3 of 15 times. So the process
    leaves by ``_exit`` with its own status, after Python has ended and flushed and before libraries are unloaded. Where
    the C library has no ``on_exit`` (it is glibc's), nothing is done.
    """
    with suppress(AttributeError, OSError, TypeError):
        libc = ctypes.CDLL(None)
        libc.on_exit(libc._exit, None)


def eigh(A: Array, *, overwrite: bool = False) -> tuple[Array, Array]:
    """All eigenpairs of a symmetric matrix, ascending, by divide and conquer.

    ``overwrite`` lets the eigenvectors take the place of A, if its columns are contiguous.
    """
    if not _by_address(A):
        with pinned_if_small(len(A) ** 3):
            if len(A) <= PLAIN_MAX_ROWS:
                return np.linalg.eigh(A)
            return scipy.linalg.eigh(A, driver="evd", overwrite_a=overwrite, check_finite=False)
    V, n = _columns(A, overwrite), len(A)
    values = np.empty(n)
    _with_workspace("dsyevd", "V", "L", n, V, n, values, whole_numbers=True)
    return values, V


def leading_eigenpairs(A: Array, k: int, *, overwrite: bool = False) -> tuple[Array, Array]:
    """All eigenvalues of a symmetric matrix, ascending, and the eigenvectors of the k largest in the same order.

    A few vectors come from inverse iteration on the tridiagonal form: of 150 rows in 0.4 ms, divide and conquer takes
    one. It takes over where they are not orthogonal, as may be among equal eigenvalues, or belong to the null space.
    """
    n = len(A)
    if n >= FEW_MIN_ROWS and k <= FEW_SHARE * n and A.dtype == np.float64 and not _by_address(A):
        with pinned_if_small(n**3):
            found = _by_inverse_iteration(A, k)
        if found is not None:
            return found
    values, V = eigh(A, overwrite=overwrite)
    return values, V[:, n - k :]


def _by_inverse_iteration(A: Array, k: int) -> tuple[Array, Array] | None:
    """All eigenvalues and k vectors, or None if these are not good to rounding."""
    lapack, n = scipy.linalg.lapack, len(A)
    form, diagonal, beside, factors, _ = lapack.dsytrd(A, lower=1, lwork=BLOCK * n)
    values, failed = lapack.dsterf(diagonal, beside)
    rounding = n * np.finfo(np.float64).eps * max(values[-1], -values[0])
    if failed or not values[n - k] > rounding:
        return None
    one_block = np.ones(n, np.int32), np.full(n, n, np.int32)
    V, failed = lapack.dstein(diagonal, beside, values[n - k :], *one_block)
    if failed:
        return None
    V = V[:, :k]
    V[1:] = lapack.dormqr("L", "N", form[1:, : n - 1], factors, V[1:], BLOCK * k)[0]
    left = np.abs(A @ V - V * values[n - k :]).max()
    good = left <= rounding and np.abs(V.T @ V - np.eye(k)).max() <= n * np.finfo(np.float64).eps
    return (values, V) if good else None


def eigvalsh(A: Array) -> Array:
    """All eigenvalues of a symmetric matrix, ascending."""
    with pinned_if_small(len(A) ** 3):
        return np.asarray(interruptible(np.linalg.eigvalsh, A))


def largest_eigenpairs(A: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenpairs of a symmetric matrix, ascending; perhaps fewer, where eigenvalues coincide."""
    n = len(A)
    if not _by_address(A):
        return scipy.linalg.eigh(A, subset_by_index=(n - k, n - 1), check_finite=False)
    found, values, V = np.zeros(1, np.int32), np.empty(n), np.empty((n, k), order="F")
    support = np.empty(2 * n, np.int32)
    part = ("V", "I", "L", n, _columns(A), n, 0.0, 0.0, n - k + 1, n, 0.0, found, values, V, n, support)
    _with_workspace("dsyevr", *part, whole_numbers=True)
    return values[: found[0]], V[:, : found[0]]


def svd(A: Array) -> tuple[Array, Array, Array]:
    """``U, s, V'`` with ``A = U diag(s) V'``, as many as rows or columns, whichever are fewer.

    Singular values are right to ``eps ||A||``; an eigenproblem of ``A'A`` loses half the digits.
    """
    try:
        if not _by_address(A):
            with pinned_if_small(A.size * min(A.shape)):
                # NumPy does less around the same routine: for a small matrix SciPy takes as long as LAPACK.
                if A.size <= PLAIN_MAX_ROWS**2:
                    return np.linalg.svd(A, full_matrices=False)
                return scipy.linalg.svd(A, full_matrices=False, check_finite=False)
        (m, n), r = A.shape, min(A.shape)
        U, s, Vt = np.empty((m, r), order="F"), np.empty(r), np.empty((r, n), order="F")
        workspace = np.empty(8 * r, np.int32)
        _with_workspace("dgesdd", "S", m, n, _columns(A), m, s, U, m, Vt, r, after=(workspace,))
        return U, s, Vt
    except scipy.linalg.LinAlgError:  # divide and conquer fails on rare inputs where plain QR iteration does not
        return scipy.linalg.svd(A, full_matrices=False, check_finite=False, lapack_driver="gesvd")


@dataclass(frozen=True)
class Singular:
    """Leading part of ``A = U diag(s) V'``: values, left vectors U and directions V, as columns."""

    values: Array
    vectors: Array
    directions: Array


def left_svd(A: Array, blur: float = 1.0) -> Singular:
    """Singular value decomposition with both sides, cut at the numerical rank.

    ``blur`` is the rounding of the entries of A in units of the last place of the standard deviation of their column.
    """
    U, s, Vt = svd(A)
    rank = int((s > 10 * blur * max(A.shape) * np.finfo(np.float64).eps * s.max(initial=0.0)).sum())
    return Singular(s[:rank], U[:, :rank], Vt[:rank].T)


def cholesky(A: Array, *, lower: bool = False) -> Array:
    """Cholesky factor of a symmetric matrix, with zeros in the other triangle; LinAlgError if there is none."""
    if not _by_address(A):
        return scipy.linalg.cholesky(A, lower=lower, check_finite=False)
    factor, n = _columns(A), len(A)
    if failed := _call("dpotrf", "L" if lower else "U", n, factor, n):
        raise scipy.linalg.LinAlgError(f"The leading {failed} x {failed} block is not positive definite.")
    return np.tril(factor) if lower else np.triu(factor)


def inverse_condition(L: Array, norm: float) -> float:
    """Estimated inverse condition, in the 1-norm, of a matrix of that norm with lower Cholesky factor L; d^2 work."""
    return float(scipy.linalg.lapack.dpocon(L, norm, uplo="L")[0])


def solve_positive(A: Array, B: Array) -> Array:
    """Solution of ``A X = B`` for a positive definite A; LinAlgError if it is not."""
    if not _by_address(A):
        solve = scipy.linalg.lapack.sposv if A.dtype == np.float32 else scipy.linalg.lapack.dposv
        _, X, failed = solve(A, B, lower=1)
        if failed:
            raise scipy.linalg.LinAlgError(f"The leading {failed} x {failed} block is not positive definite.")
        return np.asarray(X.reshape(B.shape))
    return scipy.linalg.cho_solve((cholesky(A), False), B, check_finite=False)


def pivoted_cholesky(A: Array, tol: float) -> tuple[Array, Array, int]:
    """Lower Cholesky factor with pivoting (its upper triangle is left over), order of the rows, rank."""
    if not _by_address(A):
        factor, order, rank, _ = scipy.linalg.lapack.dpstrf(A, tol=tol, lower=1)
        return factor, order - 1, int(rank)
    L, n, workspace = _columns(A), len(A), np.empty(2 * len(A))
    order, rank = np.empty(n, np.int32), np.zeros(1, np.int32)
    _call("dpstrf", "L", n, L, n, order, rank, tol, workspace)  # info is 1 if the rank is not full
    return L, order - 1, int(rank[0])


def lower_inverse(L: Array) -> Array:
    """Inverse of a lower triangular matrix."""
    if not _by_address(L):
        invert = scipy.linalg.lapack.strtri if L.dtype == np.float32 else scipy.linalg.lapack.dtrtri
        return np.asarray(invert(L, lower=1)[0])
    inverse, n = _columns(L), len(L)
    _call("dtrtri", "L", "N", n, inverse, n)
    return inverse


def orient(deciding: Array) -> Array:
    """Return the signs that make the entry of largest magnitude of each column positive.

    Entries within 1e-8 of the largest count as equal: the lowest index decides, so that rounding does not.
    """
    magnitude = np.abs(deciding)
    first = np.argmax(magnitude >= magnitude.max(axis=0) * (1 - SIGN_TIE), axis=0)
    return np.where(deciding[first, np.arange(deciding.shape[1])] < 0, -1.0, 1.0)


def _multiplications(args: tuple[Any, ...]) -> float:
    """Upper bound of what a factorisation of the first matrix takes, or its product with another."""
    first, *others = [A for A in args if isinstance(A, np.ndarray) and A.ndim >= 2]
    return float(first.size) * max([min(first.shape[-2:]), *(B.shape[-1] for B in others)])


def _by_address(A: Array) -> bool:
    """Whether a factorisation is long, and one that the addresses below are for."""
    return A.dtype == np.float64 and max(A.shape) <= MOST_ROWS and _multiplications((A,)) >= LONG


def _columns(A: Array, overwrite: bool = False) -> Array:
    """A with contiguous columns, as LAPACK wants it; a copy unless it may be overwritten."""
    return A if overwrite and A.flags.f_contiguous and A.flags.writeable else np.array(A, order="F")


def _with_workspace(name: str, *args: Any, whole_numbers: bool = False, after: tuple[Any, ...] = ()) -> None:
    """Ask a routine how much workspace it likes, then call it; ``whole_numbers`` if it wants some of those too."""
    sizes: list[np.ndarray] = [np.zeros(1), *([np.zeros(1, np.int32)] if whole_numbers else [])]
    _call(name, *args, *(each for size in sizes for each in (size, -1)), *after, ask=True)
    spaces = [np.empty(int(size[0]), size.dtype) for size in sizes]
    if info := _call(name, *args, *(each for space in spaces for each in (space, len(space))), *after):
        raise scipy.linalg.LinAlgError(f"LAPACK's {name} failed with info={info}.")


def _call(name: str, *args: Any, ask: bool = False) -> int:
    """Call a routine with letters, numbers and arrays, which all go by reference; returns what it says (``info``)."""
    info = np.zeros(1, np.int32)
    references = [_reference(value) for value in (*args, info)]
    routine = _routine(name, len(references))
    if ask:
        routine(*references)
    else:  # arrays are handed on, so that they live as long as the call, also if nobody waits for it any more
        arrays = [value for value in (*args, info) if isinstance(value, np.ndarray)]
        interruptible(lambda *_: routine(*references), *arrays)
    return int(info[0])


def _reference(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return ctypes.c_void_p(value.ctypes.data)
    if isinstance(value, str):
        return ctypes.c_char_p(value.encode())
    return ctypes.byref(ctypes.c_double(value) if isinstance(value, float) else ctypes.c_int(value))


@cache
def _routine(name: str, arguments: int) -> Callable[..., None]:
    """A routine of SciPy's LAPACK by its address. Calls through ctypes release the interpreter's lock."""
    capsule = scipy.linalg.cython_lapack.__pyx_capi__[name]
    name_of, pointer_of = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * arguments)(pointer_of(capsule, name_of(capsule)))
