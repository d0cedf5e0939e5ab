"""Wheel and source distribution: what is in them, that one makes the other, and that they work once installed."""

import os
import subprocess
import sys
import tarfile
import venv
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


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory):
    """The folder of commands of a new environment that has the wheel and what the command line needs, nothing else."""
    folder = tmp_path_factory.mktemp("installed") / "venv"
    venv.create(folder, with_pip=True)
    pip = (folder / "bin" / "python", "-m", "pip", "install", "--quiet")
    # Modules are compiled when they are imported, and most never are.
    run(*pip, "--no-compile", f"{built['wheel.whl']}[cli]", cwd=folder)
    return folder / "bin"


def test_an_installed_wheel_works(installed, tmp_path):
    code = (
        "import gramian, numpy as np; X = np.random.default_rng(0).standard_normal((50, 4)); "
        "print(gramian.__version__, gramian.KernelPCA(2).fit(X).transform(X).shape, gramian.__file__)"
    )
    said = run(installed / "python", "-c", code, cwd=tmp_path)
    assert said.startswith(f"{gramian.__version__} (50, 2) {installed.parent}")
    assert run(installed / "gramian", "--version", cwd=tmp_path) == f"gramian {gramian.__version__}\n"
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,4\n3,5,1\n0,1,1\n7,2,2\n")
    run(installed / "gramian", "fit", "t.csv", "-k", "2", "-o", "s.csv", "-q", cwd=tmp_path)
    assert (tmp_path / "s.csv").read_text().startswith("PC1,PC2\n")


def test_what_is_installed_agrees_with_what_it_needs(installed, tmp_path):
    assert run(installed / "python", "-m", "pip", "check", cwd=tmp_path) == "No broken requirements found.\n"


def test_the_source_distribution_can_be_installed(built, installed, tmp_path):
    target = tmp_path / "there"
    install = ("-m", "pip", "install", "--quiet", "--no-deps", "--target", target)
    run(installed / "python", *install, built["both.gz"], cwd=tmp_path)
    wheel = contents(built["wheel.whl"])
    assert {name: (target / name).read_bytes() for name in wheel if name.startswith("gramian/")} == {
        name: data for name, data in wheel.items() if name.startswith("gramian/")
    }
