"""Chart data as pictures for plotly: plain dictionaries, a sentence that says what is seen, and the numbers as a table.

::

    gramian.charts --> Scree, Scores, ... --> spectra | points | columns | planes --> Picture (data, layout, says, grid)

Colours that follow the theme of the page stand as ``var(--ink)``; the page puts the colour in their place.
"""
