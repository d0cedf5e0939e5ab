"""Results of this package as text, as tables of notebooks, and as plain values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from gramian.results import FitSummary, plain_values, text_table


class PlainValues:
    """A frozen value that can be had as plain ones."""

    def to_dict(self) -> dict[str, Any]:
        """The same as plain Python values."""
        return plain_values(self)


class Summarized(PlainValues, ABC):
    """A value that prints as labelled lines."""

    @abstractmethod
    def _summary(self) -> FitSummary:
        """Title and lines."""

    def __str__(self) -> str:
        return str(self._summary())

    def _repr_html_(self) -> str:
        return self._summary()._repr_html_()


class Compared(PlainValues, ABC):
    """A value that prints as a table with a line for each candidate; a star marks the one that is taken."""

    @abstractmethod
    def _lines(self) -> Iterable[tuple[bool, str, *tuple[str, ...]]]:
        """Whether a candidate is taken, its name, and its cells."""

    def _text(self, *head: str, right: tuple[int, ...] = (1,)) -> str:
        rows = [(f"{'*' if taken else ' '} {name}", *cells) for taken, name, *cells in self._lines()]
        return text_table([(f"  {head[0]}", *head[1:]), *rows], right=right)
