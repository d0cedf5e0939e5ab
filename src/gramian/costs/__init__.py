"""What a fit costs: sizes of the data and plans, matrices that are not formed yet, and rates of this machine.

::

    estimator._plan(job): the route it would take --> bytes, and seconds at the rates of this machine
"""
