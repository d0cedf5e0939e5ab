"""Kernels: similarities of rows, their algebra, and their text form.

::

    Kernel
      MappedKernel = measure (pairwise.py) + scalar map     stationary.py, dot_product.py, spline.py
      Sum, Product, Scaled, Power, Columns                  algebra.py
      Precomputed, Function                                 given.py
"""

from gramian.kernels.algebra import Columns, Power, Product, Scaled, Sum
from gramian.kernels.base import Kernel, MappedKernel
from gramian.kernels.dot_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.given import Function, Precomputed
from gramian.kernels.spline import ThinPlateSpline
from gramian.kernels.stationary import RBF, Laplacian, Matern, RationalQuadratic
from gramian.kernels.text import as_kernel, parse

__all__ = [
    "RBF",
    "Columns",
    "Cosine",
    "Function",
    "Kernel",
    "Laplacian",
    "Linear",
    "MappedKernel",
    "Matern",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Sum",
    "ThinPlateSpline",
    "as_kernel",
    "parse",
]
