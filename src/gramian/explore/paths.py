"""Names of files that the page may read and write: in one folder, nowhere else."""

from __future__ import annotations

import re
from pathlib import Path

ENDING = ".safetensors"


class PathError(ValueError):
    """A name that leads out of the folder, or is none."""


def inside(folder: Path, name: object) -> Path:
    """Return the path of a model file in a folder.

    Names are relative, in letters, digits, blanks and ``._-``, with ``/`` between folders that exist; they may not lead
    out, not even through a link, and end in .safetensors.

    >>> inside(Path("."), "model.safetensors").name
    'model.safetensors'
    >>> inside(Path("."), "../model.safetensors")
    Traceback (most recent call last):
    gramian.explore.paths.PathError: '../model.safetensors' leads out of the working folder. Give a name inside it.
    """
    if not isinstance(name, str) or not name.strip():
        raise PathError("Give the model a name, such as model.safetensors.")
    shown = repr(name[:80])
    if not re.fullmatch(r"[\w.\- /]{1,200}", name):
        raise PathError(f"{shown} is no name for a file here. Use letters, digits, blanks and ._-/ only.")
    parts = name.split("/")
    if any(part in ("", ".", "..") or part != part.strip() for part in parts):
        raise PathError(f"{shown} leads out of the working folder. Give a name inside it.")
    if any(part.startswith(".") for part in parts) or not name.endswith(ENDING):
        raise PathError(f"{shown} is no model file. Give a name that ends in {ENDING}.")
    root = folder.resolve()
    path = root.joinpath(*parts)
    if not path.resolve().is_relative_to(root) or path.is_symlink():
        raise PathError(f"{shown} leads out of the working folder through a link. Give a name inside it.")
    if not path.parent.is_dir():
        raise PathError(f"{shown}: there is no such folder.")
    return path


def models_in(folder: Path) -> list[str]:
    """Names of the model files in a folder, the first hundred."""
    found = sorted(path.name for path in folder.glob(f"*{ENDING}") if path.is_file() and not path.is_symlink())
    return [name for name in found if re.fullmatch(r"[\w.\- ]{1,200}", name) and not name.startswith(".")][:100]
