"""Tables in files: numbers to features, text to labels, scores back to files.

::

    file  --> reader --> Sheet (columns as found) --> Table (values, columns, labels, ids, what was set aside)
              .csv .tsv .txt (.gz): decoding, records, numerals, text
              .parquet .arrow .feather: arrow | .npy .npz .h5 .hdf5 .zarr: arrays | .xlsx: excel
    frame --------------^                              assemble; read: one table in two, two with the same rows
    file, folder, pattern --> RowFile (blocks) --> FileRows, a stream that is never loaded whole --> write_rows
"""

try:
    import pyarrow as _  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.tables needs pyarrow: pip install "gramian[io]"', name="pyarrow") from None

from gramian.registry import Standardizer
from gramian.tables.assemble import find_columns, named, uneven_columns
from gramian.tables.read import as_table, match_rows, read_table, read_views, split_table
from gramian.tables.row_streams import remote_rows
from gramian.tables.table import Table, TableError, TableWarning
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
