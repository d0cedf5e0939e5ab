"""Models are kept in one folder; no name leads out of it."""

import os

import pytest

from gramian.explore.model_files import PathError, inside, models_in


@pytest.mark.parametrize(
    "name",
    [
        "../model.safetensors",
        "a/../../model.safetensors",
        "/etc/model.safetensors",
        "//host/model.safetensors",
        "..",
        ".",
        "",
        "   ",
        "./model.safetensors",
        "a//model.safetensors",
        "model.safetensors/",
        "model.safetensors\0.csv",
        "model\0.safetensors",
        "..\\model.safetensors",
        "C:\\model.safetensors",
        "C:model.safetensors",
        "~/model.safetensors",
        "$HOME/model.safetensors",
        "model.pkl",
        "model",
        ".safetensors",
        ".hidden.safetensors",
        ".ssh/model.safetensors",
        "line\nend.safetensors",
        "mod\u202eel.safetensors",
        "%2e%2e/model.safetensors",
        "nowhere/model.safetensors",
        "out/model.safetensors",
        "link.safetensors",
        "gone.safetensors",
        "a" * 300 + ".safetensors",
        " model.safetensors",
        None,
        17,
        ["model.safetensors"],
    ],
    ids=repr,
)
def test_names_that_lead_out_are_refused(tmp_path, name):
    folder = tmp_path / "work"
    folder.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "model.safetensors").write_bytes(b"secret")
    (folder / "out").symlink_to(outside)
    (folder / "link.safetensors").symlink_to(outside / "model.safetensors")
    (folder / "gone.safetensors").symlink_to(tmp_path / "nowhere")
    with pytest.raises(PathError, match=r"\.$"):
        inside(folder, name)


def test_names_inside_are_taken(tmp_path):
    (tmp_path / "deep").mkdir()
    for name in ("model.safetensors", "deep/model.safetensors", "my model-2.safetensors", "Mädchen.safetensors"):
        assert inside(tmp_path, name) == tmp_path.resolve() / name


def test_only_models_are_listed(tmp_path):
    for name in ("b.safetensors", "a.safetensors", "table.csv", ".hidden.safetensors"):
        (tmp_path / name).touch()
    (tmp_path / "link.safetensors").symlink_to(tmp_path / "a.safetensors")
    os.mkdir(tmp_path / "folder.safetensors")
    assert models_in(tmp_path) == ["a.safetensors", "b.safetensors"]
