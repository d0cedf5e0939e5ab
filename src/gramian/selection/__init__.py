"""Help with choosing: what is wrong with the data, and how far an answer can be trusted.

::

    doctor   table, kernel, target --> findings, each with a remedy          doctor*.py
    trust    fitted estimator, rows --> intervals, ties, what depends on what  trust*.py
"""

from gramian.selection.doctor import doctor
from gramian.selection.doctor_findings import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "doctor"]
