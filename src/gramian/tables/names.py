"""Which columns are meant: names, ranges of names, and patterns."""

from __future__ import annotations

import difflib
import fnmatch
import re
from collections.abc import Sequence

from gramian.tables.table import TableError


def find_columns(known: Sequence[str], wanted: Sequence[str], source: str = "the table") -> list[str]:
    """Return the names of the columns that are meant, in the order asked for.

    A name means itself. ``"a:b"`` means all columns from a to b, ``"a:"`` and ``":b"`` all from and up to one;
    ``*``, ``?`` and ``[...]`` stand for characters as in a shell. A name that holds such a sign wins over what the sign
    would mean.

    Parameters
    ----------
    known : sequence of str
        Names of all columns, in their order.
    wanted : sequence of str
        Names, ranges and patterns.
    source : str
        What to call the table in a message.

    Returns
    -------
    list of str
        Each column once.

    Examples
    --------
    >>> find_columns(["fat", "x_1", "x_2", "y"], ["x_*", "fat"])
    ['x_1', 'x_2', 'fat']
    >>> find_columns(["fat", "x_1", "x_2", "y"], ["x_1:y"])
    ['x_1', 'x_2', 'y']
    """
    if isinstance(wanted, str):
        raise TypeError(f"columns={wanted!r} must be a list of names, such as [{wanted!r}].")
    places = {name: at for at, name in enumerate(known)}
    found: dict[str, None] = {}
    for word in wanted:
        found.update(dict.fromkeys(_meant(word, known, places, source)))
    return list(found)


def is_pattern(word: str) -> bool:
    """Whether a word may mean several columns."""
    return ":" in word or re.search(r"[*?\[]", word) is not None


def _meant(word: str, known: Sequence[str], places: dict[str, int], source: str) -> list[str]:
    if word in places:
        return [word]
    # A name may itself have a colon, so every one of them may be the one between two names.
    for split in (found.start() for found in re.finditer(":", word)):
        low, high = word[:split], word[split + 1 :]
        if (low in places or not low) and (high in places or not high) and (low or high):
            start, stop = places[low] if low else 0, places[high] if high else len(known) - 1
            if start > stop:
                raise TableError(f"{source}: {low!r} comes after {high!r}, so {word!r} is empty. Swap the two names.")
            return list(known[start : stop + 1])
    if re.search(r"[*?\[]", word):
        found = fnmatch.filter(known, word) if len(word) < 1000 else []
        # On some systems that filter ignores case; names of columns do not.
        exact = [name for name in found if fnmatch.fnmatchcase(name, word)]
        if exact:
            return exact
        raise TableError(f"{source}: no column fits {word!r}. {_first(known)}")
    near = difflib.get_close_matches(word, known[:1000], n=1)
    hint = f"Did you mean {near[0]!r}?" if near else _first(known)
    raise TableError(f"{source}: there is no column {word!r}. {hint}")


def _first(known: Sequence[str]) -> str:
    return f"The first columns are: {', '.join(known[:5])}."
