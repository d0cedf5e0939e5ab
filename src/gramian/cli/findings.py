"""What a fit found, on one screen: the tables that answer the question of its method, largest numbers first.

::

    tables of the fit --> what predictions are worth --> components side by side, columns and groups below them
"""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gramian.estimators.left_out import CLASS_FOLDS
from gramian.estimators.result_tables import ResultTable, ResultTables
from gramian.results import ROUNDING, plural, text_table

#: Tables that stand alone.
ALONE = ("accuracy", "cross-validation", "confusion", "errors", "distortion")
#: Tables with a line for each component, whose columns become lines.
BY_COMPONENT = ("clusters", "eigenvalues", "correlations", "covariances", "redundancy", "test")
#: Columns of these tables that others say as well; those that have another name where their table is not named.
LEFT_OUT = {"squared", "share of X", "share of y", "Wilks", "F", "df1", "df2", "n", "SEP", "RPD", "slope", "intercept"}
SAID_AS = {"p": "p (Wilks)", "share": "share of rows", "of rows left out": "of rows left out"}
VIEWS = {"X": "first view", "Y": "second view"}
#: Lines of a screen; columns that are shown where it is full already, or there are many; groups, classes and targets.
SCREEN_LINES, LEAST_COLUMNS, FEW_COLUMNS, ALL_COLUMNS = 38, 6, 10, 40
SHOWN_GROUPS, SHOWN_CLASSES, SHOWN_TARGETS = 4, 12, 3
#: Characters of a line if the output is no terminal; of a name at the most; of a component and its cells at the least.
PLAIN_WIDTH, NAME_WIDTH, COMPONENT_WIDTH = 100, 32, 6
#: Column of a table over components for what there is without any.
NONE = "none"


def line_width() -> int:
    """Characters of a line on standard output."""
    if sys.stdout is None or not sys.stdout.isatty():
        return PLAIN_WIDTH
    return max(40, shutil.get_terminal_size((PLAIN_WIDTH, 40)).columns)


def shown_tables(tables: ResultTables) -> list[str]:
    """Names of the tables of which :func:`findings` shows something."""
    names = {*BY_COMPONENT, "accuracy", "distortion", "communalities", "factor-correlations", "fit-indices", "groups"}
    names |= {"cross-validation" if "cross-validation" in tables else "confusion", "means"}
    if not names & {"correlations", "covariances"} & set(tables):  # pairs are found to agree, not to predict
        names |= {"path"} if "path" in tables else {"errors"}
    names |= {"vip", "coefficients"} if "vip" in tables else {"loadings"}
    return [name for name in tables if name in names]


def findings(tables: ResultTables, width: int, lines: int = SCREEN_LINES) -> str:
    """Write what a fit found in about so many lines."""
    shown = shown_tables(tables)
    parts = [_alone(tables[name], width) for name in ALONE if name in shown]
    names = next((tables[name].index for name in BY_COMPONENT if name in shown), ())
    if names:
        # Of many components as many as can fit, and the last, which is what a regression predicts with.
        numbers = [*range(1, min(len(names), width // COMPONENT_WIDTH)), len(names)]
        picked = {name: _picked(tables[name], numbers) for name in shown if name not in (*ALONE, "path")}
        picked |= {"path": tables["path"]} if "path" in shown else {}
        above, below = list(_of_components(picked, names)), list(_below(picked))
        left = lines - sum(len(section.lines) + 2 for section in (*above, *below))
        sections = [*above, *_of_columns(picked, left), *below]
        parts.append(_side_by_side(names, [names[at - 1] for at in numbers], sections, width))
    if "vip" in shown:
        parts.append(_important(tables, width, lines - sum(part.count("\n") + 2 for part in parts)))
    return "\n\n".join(parts)


def _picked(table: ResultTable, numbers: Sequence[int]) -> ResultTable:
    return table.pick(numbers) if table.components else table


def _alone(table: ResultTable, width: int) -> str:
    """A table with a heading."""
    kept = {name: values for name, values in table.columns.items() if name not in LEFT_OUT}
    folds = f" of rows left out in {CLASS_FOLDS} folds" if table.name == "cross-validation" else ""
    head = {"accuracy": "", "distortion": table.words, "errors": f"{table.words}; {table.note}"}.get(table.name, "")
    if table.of == "true class":
        head = f"confusion matrix{folds}: {table.note}"
        if len(table) > SHOWN_CLASSES:
            few = ("recall", "precision")
            shown = replace(table, columns={name: table[name] for name in few}).ordered("recall", falling=False)
            return f"least recall of {len(table)} classes{folds}\n{shown.head(SHOWN_CLASSES).text(width)}"
    return "\n".join(filter(None, [wrapped(head, width), replace(table, columns=kept).text(width)]))


@dataclass(frozen=True)
class Section:
    """Lines of cells, each by the name of its column, under a heading."""

    heading: str
    lines: Sequence[tuple[str, Mapping[str, str]]]


def _of_components(tables: Mapping[str, ResultTable], names: Sequence[str]) -> Iterator[Section]:
    """What components account for, and errors of predictions by their number."""
    yield Section("", [line for name in BY_COMPONENT if name in tables for line in _as_lines(tables[name])])
    if "path" in tables:
        path, heads = tables["path"], [NONE, *names]
        cells = {name: part for name, part in path.cells.items() if not name.startswith("+-")}
        lines = [(name, dict(zip(heads, part, strict=False))) for name, part in cells.items()]
        yield Section(f"errors with so many components{': ' * bool(path.note)}{path.note}", lines[: 3 * SHOWN_TARGETS])


def _below(tables: Mapping[str, ResultTable]) -> Iterator[Section]:
    """Correlations of factors, if they are correlated, and groups of rows."""
    found = tables.get("factor-correlations")
    if found is not None and any(
        abs(value) > ROUNDING
        for name, values in found.columns.items()
        for row, value in zip(found.index, values, strict=True)
        if row != name
    ):
        yield Section(found.words, _cells(found))
    if "groups" in tables and len(tables["groups"]) <= SHOWN_GROUPS:
        yield from _groups(tables["groups"])


def _of_columns(tables: Mapping[str, ResultTable], lines: int) -> Iterator[Section]:
    """Means in clusters or the largest loadings, by column; of two views one after the other."""
    if "means" in tables:
        means = _as_lines(tables["means"])
        yield Section(f"means: {tables['means'].note}", means[: _how_many(len(means), lines - 2)])
    if "loadings" not in tables:
        return
    table = tables["loadings"]
    if "communalities" in tables:
        table = table.beside(tables["communalities"], "communality", "complexity")
    views = list(dict.fromkeys(table["view"].tolist())) if "view" in table.columns else [None]
    for view in views:
        part = table if view is None else table.where("view", view)
        count = _how_many(len(part), lines // len(views) - 2)
        few = f", largest of {len(part):,} columns" if count < len(part) else ""
        of = "" if view is None else f" of the {VIEWS[view]}"
        heading = f"loadings{of}{few}" + (f": {table.note}" if table.note else "")
        yield Section(heading, _cells(part.largest(count).sorted(), *(name for name in part.columns if name != "view")))


def _how_many(columns: int, lines: int) -> int:
    """How many columns are shown in about so many lines: of very many only the first."""
    if columns <= lines + 2:  # one or two more lines rather than all but one or two columns
        return columns
    return max(LEAST_COLUMNS, lines if columns <= ALL_COLUMNS else min(lines, FEW_COLUMNS))


def _as_lines(table: ResultTable) -> list[tuple[str, Mapping[str, str]]]:
    """Columns of a table with a line for each component, as lines."""
    kept = {name: cells for name, cells in table.cells.items() if name not in LEFT_OUT}
    return [(SAID_AS.get(name, name), dict(zip(table.index, cells, strict=True))) for name, cells in kept.items()]


def _cells(table: ResultTable, *columns: str) -> list[tuple[str, Mapping[str, str]]]:
    """Lines of a table, or some columns of them."""
    chosen = {name: table.cells[name] for name in columns or table.columns}
    rows = zip(*chosen.values(), strict=True)
    return [(label, dict(zip(chosen, row, strict=True))) for label, row in zip(table.index, rows, strict=True)]


def _groups(table: ResultTable) -> Iterator[Section]:
    """Means of the groups, and their v-tests."""
    tests = {name: number for name, number in table.components.items() if name not in table.index}
    means = [name for name in tests if not name.startswith("v-test")]
    lines = [
        (f"{label} ({plural(int(rows), 'row')})", cells)
        for (label, cells), rows in zip(_cells(table, *means), table["rows"], strict=True)
    ]
    yield Section(f"mean scores by {table.of}", lines)
    known = {f"v-test {name}": name for name in means}
    found = [(label, {known[name]: cell for name, cell in cells.items()}) for label, cells in _cells(table, *known)]
    yield Section("v-tests: these means in standard errors, rarely beyond 2 by chance", found)


def _side_by_side(names: Sequence[str], picked: Sequence[str], sections: Sequence[Section], width: int) -> str:
    """Sections with their columns below each other: as many components as fit, then what else there is."""
    lines = [line for section in sections for line in section.lines]
    widths: dict[str, int] = {}
    for _, cells in lines:
        for name, cell in cells.items():
            widths[name] = max(widths.get(name, len(name)), len(cell))
    room = width - min(NAME_WIDTH, max(len(label) for label, _ in lines))
    before = [NONE] if NONE in widths else []
    after = [name for name in widths if name not in (*before, *names)]
    chosen: list[str] = [*before]
    left = room - sum(2 + widths[name] for name in before)
    rest = [name for name in picked if name in widths]
    while rest and left >= 2 + widths[rest[0]] + (2 + widths[rest[-1]]) * (len(rest) > 1):
        left -= 2 + widths[rest[0]]
        chosen.append(rest.pop(0))
    if rest and left >= 2 + widths[rest[-1]]:
        left -= 2 + widths[rest[-1]]
        chosen.append(rest.pop())
    hidden = [name for name in names if name not in chosen]
    for name in after:
        if not hidden and left >= 2 + widths[name]:
            left -= 2 + widths[name]
            chosen.append(name)
    table = [("", *chosen), *((_short(label), *(cells.get(name, "") for name in chosen)) for label, cells in lines)]
    written = iter(text_table(table, tuple(range(1, len(chosen) + 1))).splitlines())
    text = [next(written)]
    for section in sections:
        text += ["", wrapped(section.heading, width)] if section.heading else []
        text += [next(written) for _ in section.lines]
    if hidden:
        some = {1: hidden[0], 2: " and ".join(hidden)}.get(len(hidden), f"{hidden[0]} to {hidden[-1]}")
        text += ["", f"{some} did not fit into the lines; gramian show MODEL writes all"]
    return "\n".join(text)


def laid_out(text: str, width: int, indent: int) -> str:
    """A labelled line; on a terminal in lines of its width, for programs in one."""
    return wrapped(text, width, indent) if sys.stdout is not None and sys.stdout.isatty() else text


def wrapped(text: str, width: int, indent: int = 0) -> str:
    """Text in lines of a width, all but the first indented."""
    return textwrap.fill(text, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def _short(name: str) -> str:
    """A name that leaves room for numbers; the ends of long names tell them apart."""
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 13]}...{name[-10:]}"


def _important(tables: ResultTables, width: int, lines: int) -> str:
    """Coefficients of the columns that matter most to predictions."""
    table, coefficients = tables["vip"], tables["coefficients"]
    targets = list(coefficients.columns)[:SHOWN_TARGETS]
    count = _how_many(len(table), lines - 2)
    few = f", {count} of {len(table):,} columns" if count < len(table) else ""
    found = replace(coefficients, columns={name: coefficients[name] for name in targets}).beside(table, "VIP")
    head = f"coefficients {coefficients.note}{few}; VIP: {table.words}, {table.note}"
    return f"{wrapped(head, width)}\n{found.ordered('VIP').head(count).text(width)}"
