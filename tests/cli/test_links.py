"""Outputs that are links: a link stays a link, and one that leads nowhere useful is refused in one line (F12)."""

import os

import pytest

from gramian.files import atomic, check_writable


def _self(folder):
    (folder / "out").symlink_to("out")


def _ring(folder):
    (folder / "out").symlink_to("b")
    (folder / "b").symlink_to(folder / "c")
    (folder / "c").symlink_to("out")


def _to_ring(folder):
    (folder / "out").symlink_to("b")
    (folder / "b").symlink_to("b")


def _folder(folder):
    (folder / "target").mkdir()
    (folder / "out").symlink_to("target")


def _missing_folder(folder):
    (folder / "out").symlink_to("nowhere/file")


BAD = {"self": _self, "ring": _ring, "to a ring": _to_ring, "folder": _folder, "missing folder": _missing_folder}


def _state(folder):
    return {path.name: os.readlink(path) if path.is_symlink() else "" for path in sorted(folder.iterdir())}


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_a_link_that_cannot_be_written_to_is_refused_and_stays(tmp_path, make):
    make(tmp_path)
    before = _state(tmp_path)
    path = tmp_path / "out"
    with pytest.raises(OSError) as refusal:
        check_writable(path)
    assert str(refusal.value.filename).startswith(str(tmp_path))
    with pytest.raises(OSError), atomic(path) as file:
        file.write(b"x")
    assert _state(tmp_path) == before


def test_a_link_to_a_file_that_is_not_there_yet_makes_the_file(tmp_path):
    (tmp_path / "out").symlink_to("target")
    with atomic(tmp_path / "out") as file:
        file.write(b"x")
    assert (tmp_path / "out").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"


@pytest.mark.parametrize("make", [_self, _ring, _missing_folder], ids=["self", "ring", "missing folder"])
def test_every_output_of_the_command_line_refuses_such_a_link_in_one_line(here, gramian, make):
    assert gramian("fit", "flowers.csv", "-k", 2, "--model", "m.safetensors", "-o", "s.csv", "-q")[0] == 0
    make(here)
    before = _state(here)
    for command in (
        ("fit", "flowers.csv", "-k", 2, "-q", "-o"),
        ("fit", "flowers.csv", "-k", 2, "-q", "--stream", "-o"),
        ("fit", "flowers.csv", "-k", 2, "-q", "--model"),
        ("transform", "m.safetensors", "flowers.csv", "-q", "-o"),
        ("inverse", "m.safetensors", "s.csv", "-q", "-o"),
        ("report", "m.safetensors", "flowers.csv", "-q", "-o"),
        ("demo", "-o"),
    ):
        code, out, err = gramian(*command, "out")
        assert (code, out, err.count("\n")) == (1, "", 1), command
        assert err.startswith("error: ")
        assert _state(here) == before
