"""Sections of a report about the rows: where they lie, how well they are predicted, and which do not belong.

A section is a function of the subject; None where there is nothing to show.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from gramian import charts
from gramian.adequacy import INDEX_WORDS, LIMITS, grade
from gramian.charts.points import colouring
from gramian.estimators.fitted_rows import rows_of_the_fit
from gramian.estimators.result_tables import PERCENT, ResultTable
from gramian.estimators.table_maker import TableMaker, errors_table, v_tests
from gramian.registry import PCA
from gramian.reports.contents import (
    ALL_ROWS,
    CSV_MAX_ROWS,
    SHOWN_COMPONENTS,
    Facts,
    Grid,
    Part,
    Section,
    brief,
    counted,
    grid_of,
    number,
)
from gramian.reports.model_sections import contributions
from gramian.reports.pictures import drawn, picture, prediction_errors
from gramian.reports.sentences import say
from gramian.reports.subject import DRAWN_MAX_POINTS, Subject, chart_or_none
from gramian.results import Array, Sentence, percent

#: Columns from which on arrows would hide the points.
ARROWS_MAX_COLUMNS = 15
#: Columns from which on a table of scores shows the first components alone; share of a group inside its ellipse.
WIDE_MIN_COLUMNS, GROUP_LEVEL = 8, 0.95
#: Pairs of scores, and targets, that are drawn; classes that are told apart in a table.
PAIRS_DRAWN, TARGETS_DRAWN, TABLE_MAX_CLASSES = 2, 3, 30
#: Which rows -> what they are called, and the sentence about those predicted correctly.
ROWS_CALLED = {
    "": "Rows of the report",
    "fit": "Rows of the fit",
    "mixed": "Rows of the fit and new rows",
    "new": "New rows",
}
RIGHT = {"": "right_of_some", "fit": "right_of_fit", "mixed": "right_of_some", "new": "right_of_new"}


def scores(subject: Subject) -> Section | None:
    """Pictures and a table of scores; of methods without scores, a map of the rows."""
    if subject.X is None:
        return None
    if subject.two_views:
        return _pairs(subject)
    if not hasattr(subject.model, "transform") or subject.record.clusters:
        return _map(subject)
    if not subject.record.command:  # a step before others: its rows are not scores
        return None
    parts: list[Part] = []
    given = {"colour": _colour(subject), "names": subject.names, "many": DRAWN_MAX_POINTS}
    few = len(subject.columns) <= ARROWS_MAX_COLUMNS
    grouped = {"ellipses": GROUP_LEVEL if colouring(given["colour"], subject.n).groups else None}
    arrows = chart_or_none(charts.biplot, subject.model, subject.X, **given, **grouped) if few else None
    chart = arrows or chart_or_none(charts.scores, subject.model, subject.X, **given)
    fair = subject.colour is not None or not (subject.regresses or subject.classifies)
    if chart is not None:
        chart = replace(chart, marks=_marks(subject, chart))
        parts.append(picture(chart, title="Scores" if arrows is None else "Rows and columns", compare=fair))
    parts.append(_table(subject, "scores"))
    parts += _groups(subject) if fair else []
    parts += _further(subject)
    if not few:
        shape, told = _image_shape(subject), {"noun": subject.record.noun}
        parts += drawn(charts.reconstructions, subject.model, subject.X, shape=shape, told=told)
    return Section("Scores", (), [*parts, *contributions(subject, "rows")])


def _marks(subject: Subject, chart: charts.Scores) -> tuple[charts.Marks, ...]:
    """Supplementary rows, and the means of the groups of supplementary columns, in the plane of a chart."""
    found = []
    if subject.further is not None:
        at = np.asarray(subject.model.transform(subject.further.X), dtype=np.float64)[:, :2]
        found.append(charts.Marks("supplementary rows", at, subject.made_of(subject.further).row_names))
    for name, column in subject.supplementary.items():
        if column.dtype.kind != "f":
            groups = np.unique(column)
            at = np.array([subject.scores[column == group, :2].mean(axis=0) for group in groups])
            found.append(charts.Marks(f"means of {name}", at, tuple(map(str, groups))))
    return tuple(found)


def _further(subject: Subject) -> list[Grid]:
    """Scores of supplementary rows, and how much of each the components hold."""
    if subject.further is None:
        return []
    tables = subject.made_of(subject.further).tables()
    table, told = tables["scores"], say("supplementary_scores")
    table = replace(table, columns={name: table[name] for name in list(table.columns)[:SHOWN_COMPONENTS]})
    if "row-cos2" in tables:
        cos2 = {f"cos2 with {name}": tables["row-cos2"][name] for name in table.columns}
        told = say("supplementary_rows", noun=subject.record.noun)
        table = replace(table, columns={**table.columns, **cos2}, formats=dict.fromkeys(cos2, PERCENT))
    return [grid_of(table, "Supplementary rows", [told])]


def _groups(subject: Subject) -> list[Grid]:
    """Means of the groups along the components, with their v-tests: of the colours, and of supplementary columns."""
    known = {name: column for name, column in subject.supplementary.items() if column.dtype.kind != "f"}
    along = f"along the {subject.record.noun}s"
    found = [_group_means(subject, column, f"Groups of {name} {along}") for name, column in known.items()]
    colour = _colour(subject)
    if colour is not None and not any(np.array_equal(np.asarray(colour).astype(str), part) for part in known.values()):
        found.insert(0, _group_means(subject, colour, f"Groups {along}"))
    return [grid for grid in found if grid is not None]


def _group_means(subject: Subject, column: Array, title: str) -> Grid | None:
    colours = colouring(column, subject.n)
    if colours.codes is None or len(colours.groups) < 2:
        return None
    codes, names = colours.codes, list(subject.tables["scores"].columns)[:SHOWN_COMPONENTS]
    values = subject.scores[:, : len(names)]
    tests = v_tests(values, codes, len(colours.groups))
    rows = []
    for group, name in enumerate(colours.groups):
        means = values[codes == group].mean(axis=0).tolist()
        both = [number for pair in zip(means, tests[group].tolist(), strict=True) for number in pair]
        rows.append([name, int((codes == group).sum()), *both])
    columns = [head for name in names for head in (f"mean of {name}", f"v-test of {name}")]
    return Grid(title, ["group", "rows", *columns], rows, [say("v_tests")], shown=ALL_ROWS)


def _pairs(subject: Subject) -> Section | None:
    if subject.y is None:
        return None
    pairs = range(min(PAIRS_DRAWN, subject.estimator._n_features_out))
    given = {"colour": subject.colour, "names": subject.names, "many": DRAWN_MAX_POINTS}
    known = getattr(subject.estimator, "correlations_", None) if subject.of_the_fit else None
    parts: list[Part] = []
    for k in pairs:
        told = {"canonical": None if known is None else float(known[k])}
        parts += drawn(charts.paired, subject.model, subject.X, subject.y, pair=k + 1, told=told, **given)
    return Section("Scores", (), [*parts, _table(subject, "scores")])


def _map(subject: Subject) -> Section | None:
    """Rows in the plane: regions of classes if there are two columns, else a map by principal components."""
    if subject.precomputed:
        return None
    if len(subject.columns) == 2 and (subject.classifies or subject.record.clusters):
        classes = subject.y if subject.classifies else None
        regions = drawn(charts.regions, subject.model, subject.X, classes, many=DRAWN_MAX_POINTS)
        return Section("Regions in the plane", (), regions) if regions else None
    if sp.issparse(subject.X) or min(np.shape(subject.X)) < 2:
        return None
    table = np.asarray(subject.X, dtype=np.float64)
    colour = _colour(subject)
    if subject.record.clusters:
        colour = subject.tables["predictions"]["cluster"]
    given = {"colour": colour, "names": subject.names, "ellipses": None, "many": DRAWN_MAX_POINTS}
    # Clusters are made to differ: a test of their means along an axis would prove nothing.
    told = {"title": "Map", "compare": not subject.record.clusters}
    found = drawn(charts.scores, PCA(2, scale=True).fit(table), table, told=told, **given)
    return Section("Map of the rows", [say("map")], found) if found else None


def _colour(subject: Subject) -> Array | None:
    """What to colour by: what was asked for, else what is predicted."""
    if subject.colour is not None or subject.y is None or subject.two_views:
        return subject.colour
    return subject.y if np.ndim(subject.y) == 1 else np.asarray(subject.y)[:, 0]


def _image_shape(subject: Subject) -> tuple[int, int] | None:
    """Height and width of rows that look like square images: names without meaning, and a square number of columns."""
    side = int(np.sqrt(len(subject.columns)))
    pixels = all("pixel" in name or name == f"column {at + 1}" for at, name in enumerate(subject.columns))
    return (side, side) if pixels and side * side == len(subject.columns) else None


def predictions(subject: Subject) -> Section | None:
    """Predictions beside what was measured; clusters and their sizes."""
    if subject.record.clusters:
        return _cluster_sizes(subject)
    if subject.X is None or subject.predictions is None or subject.y is None:
        return None
    return _classes(subject) if subject.classifies else _numbers(subject)


def _numbers(subject: Subject) -> Section:
    names = subject.targets
    parts: list[Part] = []
    given = {"names": subject.names, "many": DRAWN_MAX_POINTS}
    seen = ROWS_CALLED[subject.role]
    for at, name in enumerate(names[:TARGETS_DRAWN]):
        of = "" if len(names) == 1 else f": {name}"
        for chart in subject.left_out[at : at + 1]:
            parts += [picture(chart, title=f"Cross-validation{of}")]
            parts += [prediction_errors(chart, f"Errors in cross-validation{of}")]
        told = {"title": f"{seen}{of}"}
        parts += drawn(charts.predicted, subject.model, subject.X, subject.y, target=at + 1, told=told, **given)
        parts += _test_pictures(subject, at, of)
    merits, test = subject.made.merits(), [] if subject.test is None else subject.made_of(subject.test).merits()
    found = [each for _, each in merits if each.rows == subject.role]
    meaning = say("merit")
    parts.append(grid_of(errors_table([*merits, *test]), "Figures of merit", [meaning]))
    code = "merit_of_fit" if subject.role == "fit" else "merit_of_new"
    shown = list(zip(names, found, strict=True))[:TARGETS_DRAWN]
    says = [say(code, name=name, r2=brief(each.r2)) for name, each in shown if np.isfinite(each.r2)]
    says += _caution(subject, bool(subject.left_out))
    for name, each in test[:TARGETS_DRAWN]:
        if np.isfinite(each.r2):
            says.append(
                say(
                    "merit_of_test",
                    n=each.n,
                    name=name,
                    r2=brief(each.r2),
                    error=each.error_name,
                    rmse=brief(each.rmse),
                )
            )
    tables = [_table(subject, "predictions")]
    if subject.test is not None:
        tables.append(grid_of(subject.made_of(subject.test).tables()["predictions"], "Table of test rows", shown=15))
    return Section("Predictions", says, [*parts, *tables])


def _test_pictures(subject: Subject, at: int, of: str) -> list[Part]:
    """Predictions of test rows against measurements, and their errors."""
    if subject.test is None:
        return []
    rows = subject.test
    chart = charts.predicted(subject.model, rows.X, rows.y, target=at + 1, names=rows.names, many=DRAWN_MAX_POINTS)
    return [picture(chart, title=f"Test rows{of}"), prediction_errors(chart, f"Errors of test rows{of}")]


def _classes(subject: Subject) -> Section:
    truth, guesses = (np.asarray(part).astype(str).ravel() for part in (subject.y, subject.predictions))
    wrong = np.flatnonzero(truth != guesses)
    says = [say(RIGHT[subject.role], right=percent(1 - len(wrong) / len(truth)), n=len(truth))]
    says += _caution(subject, subject.classes_left_out is not None)
    parts: list[Part] = []
    if subject.classes_left_out is not None:
        parts += _confusion(subject, "cross-validation", "Cross-validation in five folds")
    parts += _confusion(subject, "confusion", ROWS_CALLED[subject.role])
    parts += _wrong(subject.made, "Rows predicted wrongly")
    if subject.test is not None:
        test = subject.made_of(subject.test)
        share = test.tables()["accuracy"]["accuracy"][0]
        says.append(say("right_of_test", right=percent(float(share)), n=subject.test.n))
        parts += _confused(test.tables()["confusion"], "Test rows")
        parts += _wrong(test, "Test rows predicted wrongly")
    return Section("Predictions", says, parts)


def _wrong(made: TableMaker, title: str) -> list[Grid]:
    """Rows whose class is not the one predicted."""
    table = made.tables()["predictions"]
    wrong = np.flatnonzero(table["predicted"] != table["true"])
    rows = [[table.index[at], table["true"][at], table["predicted"][at]] for at in wrong[:CSV_MAX_ROWS]]
    return [Grid(title, ["row", "true", "predicted"], rows, total=len(wrong))] if rows else []


def _caution(subject: Subject, left_out: bool) -> list[Sentence]:
    """What to think of predictions of rows of the fit."""
    if subject.role == "mixed":
        known = np.count_nonzero(np.asarray(rows_of_the_fit(subject.model, subject.X)))
        return [say("partly_optimistic", known=known, n=subject.n)]
    if subject.role != "fit":
        return []
    return [say("optimistic"), *([say("judge_by_left_out")] if left_out else [])]


def _confusion(subject: Subject, table: str, title: str) -> list[Grid]:
    """Which classes were taken for which."""
    return _confused(subject.tables[table], title)


def _confused(found: ResultTable, title: str) -> list[Grid]:
    if len(found) > TABLE_MAX_CLASSES:
        return []
    return [grid_of(found, title, [say("confusion")], shown=TABLE_MAX_CLASSES)]


def _cluster_sizes(subject: Subject) -> Section:
    sizes = np.asarray(subject.facts["sizes"])
    least, most, count = int(sizes.min()), int(sizes.max()), counted(len(sizes), "cluster")
    says = say("clusters_alike" if least == most else "clusters", count=count, least=least, most=most)
    parts = [grid_of(subject.tables["clusters"], "Sizes of the clusters")]
    if subject.predictions is not None:
        parts.append(_table(subject, "predictions", "clusters"))
    return Section("Clusters", [says], parts)


def _table(subject: Subject, table: str, of: str = "") -> Grid:
    grid = grid_of(subject.tables[table], f"Table of {of or table}", shown=15)
    many = table == "scores" and len(grid.columns) > WIDE_MIN_COLUMNS
    return replace(grid, across=SHOWN_COMPONENTS + 1) if many else grid


def diagnostics(subject: Subject) -> Section | None:
    """Outliers, fit indices, accuracy of the computation and the path of the likelihood."""
    parts = [*_outliers(subject), *_fit_indices(subject), *_distortion(subject)]
    parts += [*drawn(charts.likelihood, subject.model), *drawn(charts.residuals, subject.model)]
    return Section("Diagnostics", (), parts) if parts else None


def _outliers(subject: Subject) -> list[Part]:
    if subject.X is None or subject.gaps:  # a row with missing values has no distances
        return []
    chart = chart_or_none(charts.outliers, subject.model, subject.X, names=subject.names, many=DRAWN_MAX_POINTS)
    if chart is None:
        return []
    found: list[Part] = [picture(chart)]
    at = {int(row): place for place, row in enumerate(chart.points.rows)}
    beyond = [row for row in chart.beyond.tolist() if row in at]
    rows = [[subject.row_names[row], *map(float, chart.points.at[at[row]])] for row in beyond]
    if rows:
        limits = [("T2", chart.t2_limit), ("Q", chart.q_limit)]
        known = ", ".join(f"{name} {number(limit)}" for name, limit in limits if limit is not None)
        found.append(Grid("Rows beyond a limit", ["row", "T2", "Q"], rows, [say("limits", limits=known)], shown=10))
    return found


def _fit_indices(subject: Subject) -> list[Part]:
    known = subject.facts.get("fit_indices")
    if not known:
        return []
    lines = [(word, _index(name, known[name])) for name, word in INDEX_WORDS.items() if known.get(name) is not None]
    found: list[Part] = [Facts("How well the factors fit", lines)] if lines else []
    adequacy = getattr(subject.estimator, "kmo_", None)
    if adequacy is not None:
        table = subject.tables["communalities"]
        found.append(grid_of(table, "Columns of the factor model", [say("kmo")], shown=ALL_ROWS))
    return found


def _index(name: str, value: float) -> str:
    """An index, and how good it is by the limits that the checks use.

    >>> _index("cfi", 0.9268), _index("df", 185)
    ('0.927, fair (good from 0.95, fair from 0.9; 1 is best)', '185')
    """
    if name not in LIMITS:
        return number(value)
    (good, fair), word = LIMITS[name], grade(name, value)
    from_on, best = ("up to", 0) if good < fair else ("from", 1)
    return f"{value:.3f}, {word} (good {from_on} {good:g}, fair {from_on} {fair:g}; {best} is best)"


def _distortion(subject: Subject) -> list[Part]:
    known = getattr(subject.estimator, "distortion_", None)
    if known is None:
        return []
    sizes = [("smallest", number(known.min)), ("largest", number(known.max)), ("mean", number(known.mean))]
    lines = [("pairs", f"{known.pairs:,}"), *sizes, ("within the bound", percent(known.share_within))]
    return [Facts("Squared distances after the projection, as multiples of those before", lines)]
