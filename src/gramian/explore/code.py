"""Python code that does what is on the screen."""

from __future__ import annotations

from gramian.construction import construction, imports
from gramian.explore.choice import Choice
from gramian.explore.datasets import Dataset


def code_for(data: Dataset, choice: Choice, opened: str = "") -> str:
    """Return a program that makes the model and the scores on the screen; ``opened`` is a file that holds the model.

    >>> from gramian.explore.presets import preset
    >>> print(code_for(preset("rings"), Choice("pca", 2)))
    from sklearn.datasets import make_circles
    X, inner = make_circles(600, factor=0.35, noise=0.07, random_state=0)
    from gramian import PCA
    model = PCA(n_components=2).fit(X)
    scores = model.transform(X)
    """
    lines = [*data.code, *_rows(data, choice)]
    rows = "X, Y" if choice.pair else "X"
    scored = f"{'x_scores, y_scores' if choice.pair else 'scores'} = model.transform({rows})"
    if opened:
        return "\n".join([*lines, "from gramian import load", f"model = load({opened!r})", scored])
    model = choice.model(data)
    made = construction(model, choice.arguments(data))
    return "\n".join([*lines, *imports(made), f"model = {made}.fit({rows})", scored])


def _rows(data: Dataset, choice: Choice) -> list[str]:
    if not choice.pair:
        return ["X = table.values"] if data.from_file else []
    if data.from_file:
        return [
            "from gramian.tables import split_table",
            f"x, y = split_table(table, y_columns={list(choice.second)!r})",
            "X, Y = x.values, y.values",
        ]
    x, y = data.views(choice.second)
    places = [[data.table.columns.index(name) for name in view.columns] for view in (x, y)]
    return [f"X, Y = X[:, {places[0]}], X[:, {places[1]}]"]
