"""Help with choosing: how many components, which width, which kernel; the criteria side by side."""

from gramian.selection.answer import HowMany
from gramian.selection.components import how_many
from gramian.selection.kernels import KernelChoice, select_kernel
from gramian.selection.widths import Bandwidth, bandwidth

__all__ = ["Bandwidth", "HowMany", "KernelChoice", "bandwidth", "how_many", "select_kernel"]
