"""Help with choosing, before and after a fit.

::

    doctor              table, kernel, target   --> findings, each with a remedy                    doctor*.py
    how_many            table, method           --> what every criterion says, side by side         how_many.py
    bandwidth           table, target           --> widths, by distances or by rows left out        kernels.py
    select_kernel       table, target, kernels  --> one of them, judged on rows without a part      kernels.py
    trust               estimator, rows         --> intervals, ties, how far the components move    trust*.py
    column_importance   fitted estimator, rows  --> which columns a component depends on
"""

from gramian.selection.column_importance import ColumnImportance, column_importance
from gramian.selection.doctor import doctor
from gramian.selection.doctor_findings import Diagnosis, Finding
from gramian.selection.how_many import HowMany, how_many
from gramian.selection.kernels import Bandwidth, KernelChoice, bandwidth, select_kernel
from gramian.selection.trust import trust
from gramian.selection.trust_result import Trust

__all__ = [
    "Bandwidth",
    "ColumnImportance",
    "Diagnosis",
    "Finding",
    "HowMany",
    "KernelChoice",
    "Trust",
    "bandwidth",
    "column_importance",
    "doctor",
    "how_many",
    "select_kernel",
    "trust",
]
