"""Operators: what data and kernels look like to a solver.

::

    Operator   Dense | Gram (tiles, never n x n) | Centred(Operator) | Normal(Data)
    Data       a centred, scaled table; CrossGram: kernel values between two sets of rows
    Moments    weight, mean and scatter of rows: one pass, mergeable
    Compressed few rows that have the moments of many
    Source     rows wherever they are: InMemory | Rows (a stream of blocks) | Remote (dask)
"""

from gramian.operators.centering import Centred, Dense, KernelCentring, Operator, Outline
from gramian.operators.compressed import Compressed, complements, compress
from gramian.operators.gram import CrossGram, Gram
from gramian.operators.matrix import Data, Normal
from gramian.operators.moments import Moments, moments_of
from gramian.operators.rows import Rows
from gramian.operators.source import InMemory, Source

__all__ = [
    "Centred",
    "Compressed",
    "CrossGram",
    "Data",
    "Dense",
    "Gram",
    "InMemory",
    "KernelCentring",
    "Moments",
    "Normal",
    "Operator",
    "Outline",
    "Rows",
    "Source",
    "complements",
    "compress",
    "moments_of",
]
