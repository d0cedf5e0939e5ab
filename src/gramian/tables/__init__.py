"""Tables in files: numbers to features, text to labels, scores back to files.

::

    file  --> reader --> Sheet (columns as found) --> Table (values, columns, labels, ids, what was set aside)
              text: encodings, records, numerals       assemble: names, encode
              .csv .tsv .txt (.gz) | .parquet .arrow .feather | .xlsx | .npy .npz | .h5 .hdf5
    frame --------------^                              views: one table in two, two tables with the same rows
    file, folder, pattern --> RowFile (blocks) --> FileRows, a stream that is never loaded whole --> write_rows
"""

from gramian.tables.columns import Standardizer, uneven_columns
from gramian.tables.frames import as_table
from gramian.tables.names import find_columns
from gramian.tables.naming import named
from gramian.tables.read import read_table
from gramian.tables.remote import remote_rows
from gramian.tables.table import Table, TableError, TableWarning
from gramian.tables.views import match_rows, read_views, split_table
from gramian.tables.write import atomic, check_writable, write_rows, write_scores

__all__ = [
    "Standardizer",
    "Table",
    "TableError",
    "TableWarning",
    "as_table",
    "atomic",
    "check_writable",
    "find_columns",
    "match_rows",
    "named",
    "read_table",
    "read_views",
    "remote_rows",
    "split_table",
    "uneven_columns",
    "write_rows",
    "write_scores",
]
