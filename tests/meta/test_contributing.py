"""CONTRIBUTING.md is tried: what it says of a new kernel, estimator and command is done, to the letter, in a copy."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
pytestmark = pytest.mark.slow


def section(title):
    return re.search(rf"^## {title}\n(.*?)^## ", PAGE, re.MULTILINE | re.DOTALL).group(1)


def files_of(title):
    """Blocks of a section that begin with the name of a file: name -> code."""
    found = re.findall(r"^```python\n# (\S+\.py)\n(.*?)^```", section(title), re.MULTILINE | re.DOTALL)
    assert found, title
    return dict(found)


@pytest.fixture
def copy(tmp_path):
    """The sources, from a checkout or an unpacked archive, without what was built or left over in them."""
    built = shutil.ignore_patterns(
        "__pycache__", "*.pyc", "*.so", "*.egg-info", "_build", "generated", "gallery", "lessons", ".*"
    )
    for name in ("src", "tests", "docs", "examples", "tools", "benchmarks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=built)
    for name in ("pyproject.toml", "CONTRIBUTING.md", "README.md", "CHANGELOG.md", "Makefile"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def write(copy, title):
    """Do what a section says: new files as they are; an import and what follows it into files that are there."""
    for name, code in files_of(title).items():
        path = copy / name
        if not path.exists():
            path.write_text(code)
            continue
        line, added = re.fullmatch(r"(from .*?\n)\n(.*)", code, re.DOTALL).groups()
        text = path.read_text()
        last = list(re.finditer(r"^from gramian\..*\n(?: .*\n)*(?:\)\n)?", text, re.MULTILINE))[-1].end()
        text = text[:last] + line + text[last:]
        if added.startswith("Record("):  # the last of the records
            text, count = re.subn(r"^\)\n(?=\nMETHODS = )", f"    {added.strip()},\n)\n", text, flags=re.MULTILINE)
            assert count == 1
        else:
            text += added
        path.write_text(text)


def run(copy, *words, code=0):
    place = {**os.environ, "PYTHONPATH": str(copy / "src"), "COLUMNS": "120"}
    done = subprocess.run([sys.executable, *words], cwd=copy, env=place, capture_output=True, text=True)
    assert done.returncode == code, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def test_a_kernel_is_a_class_in_one_file(copy):
    page = re.search(r"^```python\n(.*?)^```", section("Add a kernel"), re.MULTILINE | re.DOTALL).group(1)
    path = copy / "src/gramian/kernels/stationary.py"
    text, count = re.subn(r"^__all__ = \[", '__all__ = ["Cauchy", ', path.read_text(), flags=re.MULTILINE)
    assert count == 1
    path.write_text(f"{text}\n\n{page[page.index('@dataclass') :]}")
    table, columns = "examples/data/decathlon.csv", ["--columns", "100m:1500m"]
    chosen = ["--method", "kernel-pca", "--kernel", "cauchy(sigma=3)", "-k", "2", "--preimage", "fixed_point"]
    told = run(copy, "-m", "gramian", "fit", table, *columns, *chosen, "--model", "model.safetensors")
    assert "KernelPCA   cauchy(sigma=3)" in told
    assert "kernel='cauchy(sigma=3)'" in run(copy, "-m", "gramian", "inspect", "model.safetensors")
    run(copy, "-m", "gramian", "report", "model.safetensors", table, "-o", "page.html")
    assert "cauchy(sigma=3)" in (copy / "page.html").read_text()
    code = """
import gramian, gramian.kernels
from gramian.explore.layout import page
assert "Cauchy" in gramian.kernels.__all__ and "'Cauchy'" in str(page().to_plotly_json())
model = gramian.load("model.safetensors")
print(model.kernel_, gramian.forecast(gramian.KernelPCA(2, kernel="cauchy"), 5000, 10).route)
landmarks = gramian.RandomFeatures(50)
print(gramian.KernelPCA(2, kernel="cauchy(sigma=3)", landmarks=landmarks).fit([[0.0], [1.0], [5.0]]).summary_)
"""
    assert "cauchy(sigma=3)" in run(copy, "-c", code)
    words, quick = "cauchy or Cauchy", "not slow and not browser"
    places = [f"tests/{name}" for name in ("docs/test_api.py", "explore", "kernels", "laws/test_kernels.py")]
    passed = run(copy, "-m", "pytest", "-v", "-m", quick, "-k", words, "-p", "no:cacheprovider", *places)
    for place in places:
        assert place in passed, place
    run(copy, "-m", "pytest", "-q", "-m", quick, "-p", "no:cacheprovider", "tests/docs/test_api.py", "tests/kernels")


def test_an_estimator_is_a_module_a_record_and_a_test(copy):
    before = {path for path in copy.rglob("*.py")}
    write(copy, "Add an estimator")
    assert len({path for path in copy.rglob("*.py")} - before) == 2  # the module and its test; the registry was there
    table = "examples/data/decathlon.csv"
    chosen = ["--columns", "100m:1500m", "--method", "whitened-kernel-pca", "-k", "2"]
    assert "whitened-kernel-pca" in run(copy, "-m", "gramian", "fit", "--help")
    assert "WhitenedKernelPCA" in run(copy, "-m", "gramian", "fit", table, *chosen, "--model", "model.safetensors")
    run(copy, "-m", "gramian", "report", "model.safetensors", table, "-o", "page.html")
    assert "Whitened kernel principal component analysis" in (copy / "page.html").read_text()
    assert "WhitenedKernelPCA" in run(copy, "-m", "gramian", "inspect", "model.safetensors")
    code = """
import gramian
from gramian.explore.choice import METHODS
assert "WhitenedKernelPCA" in gramian.__all__ and "whitened-kernel-pca" in METHODS
print(gramian.load("model.safetensors"), gramian.forecast(gramian.WhitenedKernelPCA(2), 5000, 10).route)
"""
    assert "WhitenedKernelPCA" in run(copy, "-c", code)
    words = "WhitenedKernelPCA or whitened_kernel_pca or whitened-kernel-pca"
    quick = "not slow and not browser"
    passed = run(copy, "-m", "pytest", "-v", "-m", quick, "-k", words, "-p", "no:cacheprovider", "tests")
    for folder in (
        "adversarial",
        "cli",
        "docs",
        "estimators",
        "explore",
        "forecasting",
        "models",
        "properties",
        "reports",
    ):
        assert f"tests/{folder}/" in passed, folder
    assert "tests/equivalences/test_whitened_kernel_pca.py" in passed


def test_a_command_is_a_file(copy):
    before = {path for path in copy.rglob("*.py")}
    write(copy, "Add a command")
    assert len({path for path in copy.rglob("*.py")} - before) == 2  # the command and its test
    assert "shape" in run(copy, "-m", "gramian", "--help")
    assert run(copy, "-m", "gramian", "shape", "examples/data/decathlon.csv") == "41 rows, 12 columns\n"
    run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/cli/test_shape.py")
