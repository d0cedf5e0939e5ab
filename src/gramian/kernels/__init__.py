"""Kernels: similarities of rows, their algebra, and their text form.

::

    Kernel
      MappedKernel = measure (pairwise.py) + scalar map     stationary.py, dot_product.py
      Sum, Product, Scaled, Power, Columns                  algebra.py
      Precomputed, Function                                 given.py

A module's ``__all__`` says what it adds here, so that a new kernel touches one file.
"""

from gramian.kernels import algebra, dot_product, given, stationary
from gramian.kernels.algebra import *
from gramian.kernels.base import Kernel, MappedKernel
from gramian.kernels.dot_product import *
from gramian.kernels.given import *
from gramian.kernels.parsing import as_kernel, parse
from gramian.kernels.stationary import *

__all__ = ["Kernel", "MappedKernel", "as_kernel", "parse"]
__all__ += algebra.__all__ + dot_product.__all__ + given.__all__ + stationary.__all__
