"""Fitted estimators to files and back: what a model file must say, and what is refused."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from typing import Any

import numpy as np
import sklearn
from sklearn.base import BaseEstimator

import gramian
from gramian.models import classes
from gramian.models.classes import ModelError
from gramian.models.codec import Decoder, Encoder
from gramian.models.safetensors import parse, read_arrays, write_arrays
from gramian.results import Array

#: What the files are called in their header, and the version of their layout. Files of every earlier version load.
FORMAT, VERSION = "gramian-model", 1
#: Column names are repeated in the header for other readers, unless they are very many.
MAX_NAMES_LENGTH = 100_000

PathLike = str | bytes | os.PathLike[str] | os.PathLike[bytes]


@dataclass(frozen=True)
class ModelCard:
    """What the header of a model file says.

    Attributes
    ----------
    estimator : str
        Name of the class.
    versions : dict of str to str
        Of gramian, NumPy and scikit-learn when it was saved.
    columns : tuple of str or None
        Names of the columns of X, if it had names (and fewer than about ten thousand).
    summary : str
        Text of ``summary_``.
    arrays : dict of str to tuple
        Shapes of the arrays.
    bytes : int
        Size of the file.

    Examples
    --------
    See :func:`inspect`.

    >>> ModelCard("PCA", {}, None, "", {"mean_": (4,)}, 1000).arrays
    {'mean_': (4,)}
    """

    estimator: str
    versions: dict[str, str]
    columns: tuple[str, ...] | None
    summary: str
    arrays: dict[str, tuple[int, ...]]
    bytes: int


def save(estimator: BaseEstimator, path: PathLike) -> None:
    """Write a fitted estimator to one file.

    The file is in the safetensors format: arrays, and a header of JSON with class, parameters, versions, column names
    and summary. It holds no code. It is written to a temporary file first and then renamed: ``path`` holds the old
    model or the new one, never a part.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of this library, or a scikit-learn pipeline of them.
    path : str or path
        File to write; ``.safetensors`` is the usual ending. A link is followed.

    Raises
    ------
    ValueError
        If the estimator is not fitted, or holds what a file cannot keep: a function, a random generator.
    OSError
        If the file cannot be written; an older file is then as it was.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> from gramian import PCA, models
    >>> X = np.random.default_rng(0).standard_normal((50, 4))
    >>> pca = PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "pca.safetensors")
    ...     models.save(pca, path)
    ...     again = models.load(path)
    >>> np.array_equal(again.transform(X), pca.transform(X))
    True
    """
    name = os.fsdecode(path)
    if not classes.is_estimator(estimator):
        raise TypeError(f"estimator={type(estimator).__name__} is not an estimator of gramian; only those are saved.")
    encoder = Encoder()
    try:
        tree = encoder.encode(estimator)
        answers = classes.answered(estimator)
        _build(tree, encoder.arrays, answers)  # what is written can be read again
        write_arrays(name, _metadata(estimator, tree, answers), encoder.arrays)
    except ModelError as error:
        raise ModelError(f"{type(estimator).__name__} cannot be saved: {error}.") from error


def load(path: PathLike) -> Any:
    """Read an estimator that :func:`save` wrote.

    Everything in the file is checked before it is used, nothing in it is executed, and no more memory is taken than
    twice its size.

    Parameters
    ----------
    path : str or path
        A model file.

    Returns
    -------
    estimator
        It answers as the one that was saved, bit for bit.

    Raises
    ------
    ValueError
        If the file is not a model file, is damaged, or was written by a newer version; one line says which.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> X = load_iris().data
    >>> pca = PCA(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.safetensors")
    ...     save(pca, path)
    ...     again = load(path)
    >>> bool((again.transform(X) == pca.transform(X)).all())
    True
    """
    metadata, arrays = _read(path)
    try:
        header = parse(metadata["model"])
        answers = parse(metadata["answers"]).get("answers")
        estimator = _build(header, arrays, answers)
        if type(estimator).__name__ != metadata["class"]:
            raise ModelError(f"its header says {metadata['class'][:60]!r}, it holds {type(estimator).__name__}")
        return estimator
    except ModelError as error:
        raise ModelError(f"{_shown(path)}: {error}.") from error
    except Exception as error:  # a damaged model may fail anywhere; the message names the file
        raise ModelError(f"{_shown(path)}: its contents make no model ({classes.one_line(error)}).") from error


def inspect(path: PathLike) -> ModelCard:
    """Read what the header of a model file says, without making a model of it.

    Parameters
    ----------
    path : str or path
        A model file.

    Returns
    -------
    ModelCard

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from gramian import PCA
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "iris.safetensors")
    ...     save(PCA(2).fit(load_iris().data), path)
    ...     card = inspect(path)
    >>> card.estimator, card.arrays["mean_"]
    ('PCA', (4,))
    """
    metadata, arrays = _read(path)
    names = parse(metadata["columns"]).get("columns") if "columns" in metadata else None
    return ModelCard(
        estimator=metadata["class"],
        versions={key: metadata.get(key, "unknown") for key in ("gramian", "numpy", "scikit-learn")},
        columns=None if names is None else tuple(map(str, names)),
        summary=metadata.get("summary", ""),
        arrays={name: array.shape for name, array in arrays.items()},
        bytes=os.stat(path).st_size,
    )


def _read(path: PathLike) -> tuple[dict[str, str], dict[str, Array]]:
    """Read the text and the arrays of a file; OSError if there is none, ModelError if it is not what it should be."""
    try:
        # A pipe without a writer would block for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb", buffering=0) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ModelError("it is not a regular file")
            metadata, arrays = read_arrays(file, found.st_size)
        _check_format(metadata)
        return metadata, arrays
    except ModelError as error:
        raise ModelError(f"{_shown(path)}: {error}.") from error
    except (ValueError, MemoryError) as error:
        raise ModelError(f"{_shown(path)}: it cannot be read ({classes.one_line(error)}).") from error


def _check_format(metadata: dict[str, str]) -> None:
    if metadata.get("format") != FORMAT:
        raise ModelError("it is not a model file written by gramian.save")
    version = metadata.get("format_version", "")
    if not (version.isascii() and version.isdecimal() and len(version) < 9):
        raise ModelError(f"its format version {version[:20]!r} is no number")
    if int(version) > VERSION:
        raise ModelError(
            f"it was written by a newer gramian ({metadata.get('gramian', 'unknown')[:20]}; format {int(version)}, "
            f"this one reads up to {VERSION}). Install a newer gramian"
        )
    if int(version) < 1 or not {"class", "model", "answers"} <= set(metadata):
        raise ModelError("its header is damaged: it lacks what every model file has")


def _build(tree: object, arrays: dict[str, Array], answers: object) -> BaseEstimator:
    decoder = Decoder(arrays)
    estimator = decoder.decode(tree)
    decoder.check_all_used()
    if not classes.is_estimator(estimator):
        raise ModelError("it does not hold an estimator")
    classes.check(estimator, answers)
    return estimator


def _metadata(estimator: BaseEstimator, tree: object, answers: list[str]) -> dict[str, str]:
    found = {
        "format": FORMAT,
        "format_version": str(VERSION),
        "class": type(estimator).__name__,
        "gramian": gramian.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "summary": str(getattr(classes.steps_of(estimator)[-1], "summary_", "")),
        "answers": json.dumps({"answers": answers}),
    }
    names = getattr(estimator, "feature_names_in_", None)
    if names is not None and len(text := json.dumps({"columns": [str(name) for name in names]})) <= MAX_NAMES_LENGTH:
        found["columns"] = text
    return {**found, "model": json.dumps(tree, separators=(",", ":"), allow_nan=False)}


def _shown(path: PathLike) -> str:
    """A path on one line, also one that is not UTF-8."""
    text = os.fsdecode(path).encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
