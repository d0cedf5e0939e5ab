"""Reports: one HTML file about one fit, to be read without a network.

::

    fitted estimator, rows --> Subject --> checks, sections --> Page --> render --> one file
                                            (gramian.charts --> figures --> Picture: plotly, a sentence, a table)
"""

from gramian.reports.writing import report

__all__ = ["report"]
