"""Wheel and source distribution: what is in them, and that one makes the other."""

import os
import subprocess
import sys
import tarfile
import zipfile

import pytest

import gramian

from .processes import ROOT

pytestmark = pytest.mark.slow
#: Files that are not Python and belong to the package.
DATA = {
    str(path.relative_to(ROOT / "src"))
    for path in (ROOT / "src" / "gramian").rglob("*")
    if path.is_file() and path.suffix != ".py" and path.parent.name != "__pycache__"
}


def run(*command, cwd):
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    constrained = {**bare, "PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run([*map(str, command)], cwd=cwd, env=constrained, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The source distribution, the wheel made from it, and a wheel made from the folder."""
    out = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--outdir", out / "both", ROOT, cwd=out)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out / "wheel", ROOT, cwd=out)
    return {path.parent.name + path.suffix: path for path in out.glob("*/*")}


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_source_distribution_makes_the_same_wheel(built):
    assert contents(built["both.whl"]) == contents(built["wheel.whl"])


def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = set(contents(built["wheel.whl"]))
    sources = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src" / "gramian").rglob("*.py")}
    described = {name for name in names if name.startswith(f"gramian-{gramian.__version__}.dist-info/")}
    assert names - described == sources | DATA
    assert "gramian/py.typed" in DATA
    assert {name.rsplit(".", 1)[-1] for name in DATA} == {"typed", "css", "js", "jinja"}


def test_the_source_distribution_holds_tests_and_what_make_needs(built):
    with tarfile.open(built["both.gz"]) as archive:
        names = {name.split("/", 1)[-1] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "floor.txt", "LICENSE", "README.md", "tests/conftest.py"} <= names
    assert not [name for name in names if name.startswith((".git/", ".venv", "demo/")) or name.endswith(".pyc")]
