"""Files that are either whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PathLike = str | os.PathLike[str]


def check_writable(path: PathLike) -> None:
    """Raise what writing to ``path`` would raise, before the work that leads there; ``"-"`` always passes."""
    if os.fspath(path) == "-":
        return
    target = Path(os.path.realpath(path))
    if target.is_symlink():  # what no number of steps resolves
        raise OSError(errno.ELOOP, "it is a link that leads back to itself; remove the link", os.fspath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "it is a folder", os.fspath(path))
    if not target.parent.is_dir():
        folder = target.parent if os.path.islink(path) else Path(path).parent
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(folder))
    if not os.access(target if _special(target) else target.parent, os.W_OK):
        raise PermissionError(errno.EACCES, "writing is not permitted", os.fspath(path))


@contextmanager
def atomic(path: PathLike) -> Iterator[BinaryIO]:
    """Open a file for writing that takes the place of ``path`` when the block ends well.

    The bytes go to a temporary file in the same folder and reach the disk before it is renamed. If anything fails or
    is interrupted, the old file stays as it was and nothing is left behind. A link stays a link; devices and pipes are
    written directly.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic(Path(folder) / "scores.bin") as file:
    ...         _ = file.write(b"whole")
    ...     (Path(folder) / "scores.bin").read_bytes()
    b'whole'
    """
    check_writable(path)
    target = Path(os.path.realpath(path))
    try:
        if _special(target):
            with open(target, "wb") as file:
                yield file
            return
        with _replacing(target) as file:
            yield file
    except OSError as error:
        # The system names the temporary file, or none; a reader wants to know which of theirs was not written.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error


@contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    temporary = target.with_name(f".gramian-{secrets.token_hex(6)}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk too; where folders cannot be opened (Windows) the system sees to it."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):  # some network file systems cannot
            raise
    finally:
        os.close(handle)


def _special(target: Path) -> bool:
    return target.exists() and not target.is_file()
