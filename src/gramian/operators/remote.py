"""Rows that are elsewhere: functions go to their blocks, and sums come back."""

from __future__ import annotations

import weakref
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from gramian.config import format_bytes, memory_budget
from gramian.operators.compressed import Compressed, from_rows
from gramian.operators.moments import Accumulator, Moments
from gramian.operators.row_sources import counted
from gramian.operators.rows import Piece, Rows
from gramian.results import Array


class ClusterError(RuntimeError):
    """The cluster failed, not the work; one line that says what to do."""


class Remote(Rows):
    """Rows whose blocks are on other machines, or not made yet.

    They stream like others, block by block through this process; but :meth:`total` sends a function to the blocks and
    adds what it says of them there.

    Attributes
    ----------
    dtype : dtype
        Single precision, or double for everything else.
    single : bool
        Whether they came as one dimension: one column.
    """

    dtype: np.dtype
    single: bool = False

    @property
    @abstractmethod
    def lengths(self) -> list[int]:
        """Rows of each block; they are counted if that is not known."""

    @abstractmethod
    def total(self, function: Callable[..., Any], *beside: Any, task: str) -> Any:
        """Return the sum of ``function(piece, *others)`` over the blocks, added in pairs, in a fixed order.

        Parameters
        ----------
        function : callable
            Of a :class:`Piece` and the same rows of everything beside; what it returns must add.
        *beside : Remote, (n, ...) array or None
            More of the same rows, cut as these are. An array goes along with the tasks.
        task : str
            What is done, for progress.
        """

    @abstractmethod
    def each(self, function: Callable[..., Array], *beside: Any, task: str) -> Array:
        """Return ``function(piece, *others)`` of all blocks, one below the other."""

    @abstractmethod
    def gram_product(self, kernel: Any, V: Array) -> Array:
        """Return ``K(X, X) V`` in the precision of V, made over pairs of blocks."""

    @abstractmethod
    def take(self, rows: Array) -> Array:
        """Return some rows, in the order of their numbers ``rows``."""

    @abstractmethod
    def whole(self) -> Any:
        """Return everything as it is, in memory: an array of its own dtype and dimensions, or a data frame."""

    @abstractmethod
    def answers(self, function: Callable[[Array], Array]) -> Any:
        """Return what a function makes of the blocks, when it is asked for."""


#: Where classes of collections are; data frames of dask before 2025.1 are in the second.
PACKAGES = ("dask", "dask_expr")


def opened(given: Any) -> Any:
    """Return a collection of dask as :class:`Remote` rows, and anything else as it is."""
    if type(given).__module__.partition(".")[0] not in PACKAGES:
        return given
    from gramian.operators.dask_open import rows_of

    return rows_of(given)


#: Arrays in memory of which the rows are also elsewhere, by identity, for as long as they live.
_mirrors: dict[int, tuple[weakref.ref[Any], Remote]] = {}


def is_stream(X: Any) -> TypeGuard[Rows]:
    """Whether rows come block by block through this process, rather than stay where they are."""
    return isinstance(X, Rows) and not isinstance(X, Remote)


def mirror(X: Array, remote: Remote) -> None:
    """Remember that the rows of an array are also elsewhere."""
    key = id(X)
    _mirrors[key] = weakref.ref(X, lambda _: _mirrors.pop(key, None)), remote


def remote_of(X: Any) -> Remote | None:
    """Where the rows of this very array came from; None if they were here from the start."""
    known = _mirrors.get(id(X))
    return known[1] if known is not None and known[0]() is X else None


def gathered(given: Any, name: str, who: str) -> Any:
    """Return remote rows in memory, if they fit the budget; anything else as it is."""
    if not isinstance(given, Remote):
        return given
    n, d = sum(given.lengths), given.n_features
    if (size := given.dtype.itemsize * n * d) > memory_budget() // 2:
        raise ValueError(
            f"{who} needs {name} in this process, {format_bytes(size)}; the memory budget is "
            f"{format_bytes(memory_budget())}. Use landmarks= if it has them, a sample, or gramian.config(memory=...)."
        )
    return given.whole()


def block_moments(piece: Piece, *beside: Any, refuse: Callable[..., None]) -> Moments:
    """Moments of a block and of a second view beside it; the weights come last."""
    second, weights = beside
    views = [piece.values] if second is None else [piece.values, second.values]
    width = sum(view.shape[1] for view in views)
    w = None if weights is None else weights.values[:, 0].astype(np.float64)
    if not len(views[0]) or (w is not None and not w.any()):
        refuse(piece, second, weights)
        return Moments(0.0, np.zeros(width), np.zeros((width, width)))
    total = Accumulator(width, len(views[0]))
    if not total.add(views, w) or w is not None:
        refuse(piece, second, weights)
    return total.moments()


def block_triangle(piece: Piece, *beside: Any) -> Compressed:
    """Triangular factor of a block and of a second view beside it; the weights come last."""
    second, weights = beside
    w = None if weights is None else weights.values[:, 0].astype(np.float64)
    return from_rows(piece.values, None if second is None else second.values, w)


def place_of(source: str, start: int | None, block: int) -> Callable[[int], str]:
    """Name rows by their number, or by their number in a block if it is not known what goes before it."""
    return counted(source, 0, f"block {block}") if start is None else counted(source, start, f"block {block}")


def starts(lengths: Sequence[int | None]) -> list[int | None]:
    """First row of each block, as far as it is known."""
    found: list[int | None] = [0]
    for length in lengths[:-1]:
        before = found[-1]
        found.append(None if before is None or length is None else before + length)
    return found
