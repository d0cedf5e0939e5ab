"""What components, columns, targets and rows are called and asked for: by names, or by numbers, counted from one."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils.validation import check_is_fitted

from gramian.results import Array

#: More different words than this are names of rows rather than groups.
MAX_GROUPS = 30


class NamedComponents(ClassNamePrefixFeaturesOutMixin):
    """Names of scores: a short word and a number, such as PC1."""

    _component_prefix: ClassVar[str] = "PC"

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the scores, counted from one; those of the columns do not matter."""
        check_is_fitted(self, "_n_features_out")
        return np.array(component_names(self, self._n_features_out), dtype=object)


def component_names(estimator: object, count: int) -> tuple[str, ...]:
    """Names of the first components.

    >>> from gramian import PCA
    >>> component_names(PCA(), 2)
    ('PC1', 'PC2')
    """
    prefix = getattr(estimator, "_component_prefix", NamedComponents._component_prefix)
    return numbered(prefix, count)


def numbered(word: str, count: int) -> tuple[str, ...]:
    """A word with numbers from one.

    >>> numbered("row ", 2)
    ('row 1', 'row 2')
    """
    return tuple(f"{word}{at + 1}" for at in range(count))


def places(numbers: ArrayLike, argument: str) -> list[int]:
    """Places in an array, from zero, of components, columns, targets or rows asked for by numbers, counted from one.

    >>> places((1, 3), "components"), places(2, "target")
    ([0, 2], [1])
    """
    found = [index(number) for number in np.atleast_1d(np.asarray(numbers)).ravel()]
    if min(found, default=1) < 1:
        ask = tuple(number + 1 for number in found) if min(found) == 0 else tuple(range(1, len(found) + 1))
        remedy = ask if np.ndim(numbers) else ask[0]
        raise ValueError(
            f"{argument}={numbers!r}: numbers count from 1. To begin with the first: {argument}={remedy!r}."
        )
    return [number - 1 for number in found]


def column_names(estimator: object, d: int, names: Sequence[object] | None = None) -> tuple[str, ...]:
    """Names of the columns: those given, as the fit saw them, or their numbers."""
    if names is not None and len(names) != d:
        raise ValueError(f"names has {len(names)} entries for {d} columns.")
    names = getattr(estimator, "feature_names_in_", None) if names is None else names
    return numbered("column ", d) if names is None else tuple(str(name) for name in names)


def target_names(estimator: object, count: int, y: object = None, *, word: str = "y") -> tuple[str, ...]:
    """Names of the targets, or of the columns of the second view: as the fit saw them, those of y, or their numbers."""
    known: Any = getattr(estimator, "target_names_in_", None)
    known = getattr(y, "columns", None) if known is None else known
    if known is None and count == 1 and getattr(y, "name", None) is not None:
        known = [y.name]  # type: ignore[attr-defined]
    if known is not None and not callable(known) and len(known) == count:
        return tuple(str(name) for name in known)
    return (word,) if count == 1 else numbered(f"{word} ", count)


def row_names(X: object, n: int, names: Sequence[object] | None = None) -> tuple[str, ...] | None:
    """Names of the rows: those given, or the index of a data frame if that is text."""
    if names is not None and len(names) != n:
        raise ValueError(f"names has {len(names)} entries for {n} rows.")
    return index_names(X) if names is None else tuple(str(name) for name in names)


def index_names(X: object) -> tuple[str, ...] | None:
    """Names of the rows of a data frame whose index is text."""
    index = getattr(X, "index", None)
    if index is None or callable(index) or len(index) == 0 or not isinstance(index[0], str):
        return None
    return tuple(str(name) for name in index)


def are_groups(words: Sequence[object] | Array) -> bool:
    """Whether words beside rows put them into groups: more than one, and fewer than there are rows.

    >>> are_groups(["a", "b", "a"]), are_groups(["Anna", "Bert", "Cleo"])
    (True, False)
    """
    return 1 < len(set(words)) <= min(MAX_GROUPS, len(words) - 1)
