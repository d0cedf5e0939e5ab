"""Pictures as plain dictionaries, which plotly.js draws; building plotly's own objects would take longer than a fit."""
