"""What a fit will cost, said before it is begun.

::

    estimator, n, d --> plan (the route it would take) --> bytes, and seconds at the rates of this machine --> Forecast
"""

from gramian.estimators.validation import ask_first
from gramian.forecasting import blocks, kernels, linear, ridge  # noqa: F401  (plans register themselves)
from gramian.forecasting.forecast import Forecast, forecast
from gramian.forecasting.gate import refuse_if_too_large

__all__ = ["Forecast", "forecast"]

ask_first(refuse_if_too_large)
