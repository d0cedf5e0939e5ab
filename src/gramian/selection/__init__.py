"""Help with choosing: what is wrong with the data, and how far an answer can be trusted.

::

    doctor              table, kernel, target   --> findings, each with a remedy                    doctor*.py
    trust               estimator, rows         --> intervals, ties, how far the components move    trust*.py
    column_importance   fitted estimator, rows  --> which columns a component depends on
"""

from gramian.selection.doctor import doctor
from gramian.selection.doctor_findings import Diagnosis, Finding
from gramian.selection.trust import trust
from gramian.selection.trust_columns import ColumnImportance, column_importance
from gramian.selection.trust_result import Trust

__all__ = ["ColumnImportance", "Diagnosis", "Finding", "Trust", "column_importance", "doctor", "trust"]
