"""Tables in files: numbers to features, text to labels, scores back to CSV.

::

    file --> reader --> Sheet (columns as found) --> Table (values, columns, labels, what was set aside)
             .csv .tsv .txt | .parquet | .npy
"""

from gramian.tables.columns import Standardizer, uneven_columns
from gramian.tables.read import read_table
from gramian.tables.table import Table, TableError
from gramian.tables.write import atomic, check_writable, write_scores

__all__ = [
    "Standardizer",
    "Table",
    "TableError",
    "atomic",
    "check_writable",
    "read_table",
    "uneven_columns",
    "write_scores",
]
