"""A page in the browser to explore a table: served on this machine, for whoever has the address.

::

    browser --> guard --> Dash --> control_callbacks --> session --> fitting     exact, when a control is released
               (token,             picture_callbacks    (tabs, one              low rank, while a slider moves
                Host, Origin)             |              thread)
                                          v
                                       drawing (plain dictionaries for plotly.js)

The server listens on the loopback address only. Nothing that is sent to it is evaluated or unpickled; files are written
and read in one folder only.
"""

try:
    import dash  # noqa: F401
except ModuleNotFoundError:
    raise ModuleNotFoundError('gramian.explore needs dash: pip install "gramian[explore]"') from None
