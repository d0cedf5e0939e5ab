"""What charts say beside a picture, by code."""

from gramian.results import Book

note = Book(
    {
        "last_gap": "the eigenvalue after the last one is not known: the last gap is the one to the eigenvalue before",
        "largest_only": "the largest {shown} of {total:,}",
        "first_only": "the first {shown} of {total:,}",
        "folds": "{folds} folds",
        "jackknife": "intervals: jackknife, 95 %",
        "no_limit": "no limit: {why}",
        "drawn": "{shown:,} of {total:,} rows, drawn at random",
        "counted": "{total:,} rows, counted in cells",
        "medians": "the other {count} columns are held at their medians",
        "median": "the other column is held at its median",
        "not_centred": "rows were not centred: no random tables to compare with",
        "no_columns": "no columns to shuffle for a band",
        "wide": "no random tables: {columns:,} columns are more than {most:,}",
        "shuffled": "band: {count} shufflings of the rows of Y",
    }
)
