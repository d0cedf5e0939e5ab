"""Help with choosing: how many components, which width, which kernel; the criteria side by side."""

from gramian.selection.answer import HowMany
from gramian.selection.components import how_many

__all__ = ["HowMany", "how_many"]
