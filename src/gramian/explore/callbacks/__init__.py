"""What happens when a control changes."""

from __future__ import annotations

from dash import Dash

from gramian.explore.callbacks import choosing, fitting, models, pictures, previews, selecting
from gramian.explore.explorer import Explorer


def register(app: Dash, explorer: Explorer) -> None:
    """Connect all callbacks."""
    for part in (choosing, fitting, previews, pictures, selecting, models):
        part.register(app, explorer)
