"""What the package promises as a whole: imports, layers, standing alone."""

import ast
import doctest
import importlib
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

import gramian

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "gramian").rglob("*.py"))


def run(*code):
    command = [sys.executable, "-c", "; ".join(code)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_importing_gramian_adds_at_most_a_third_of_a_second_to_scikit_learn():
    # Time of the processor: what else the machine does is no fault of the import. The first compiles the sources.
    run("import gramian")
    clock = "import time; start = time.process_time(); import gramian; gramian.PCA; print(time.process_time() - start)"
    seconds = [float(run("import sklearn.base, sklearn.utils.validation", clock)) for _ in range(3)]
    assert statistics.median(seconds) <= 0.3


def test_importing_gramian_loads_nothing_heavy_or_optional():
    theirs = "import sys, sklearn.base, sklearn.utils.validation; theirs = {*sys.modules}"
    ours = set(run(theirs, "import gramian; gramian.PCA", "print(*{*sys.modules} - theirs)").split())
    heavy = {
        "numba",
        "llvmlite",
        "plotly",
        "jinja2",
        "pyarrow",
        "matplotlib",
        "typer",
        "rich",
        "pandas",
        "polars",
        "dask",
        "onnx",
        "safetensors",
        "gramian.tables",
        "gramian.charts",
        "gramian.plots",
        "gramian.cli",
    }
    assert "gramian" in ours
    assert not heavy & ours


def test_the_version_is_printed_without_loading_the_library():
    asked = "import sys; sys.argv = ['gramian', '--version']; from gramian.cli import main; main()"
    version, loaded = run(asked, "print(*sys.modules)").split("\n", 1)
    assert version == f"gramian {gramian.__version__}"
    assert not {"numpy", "scipy", "sklearn", "typer", "gramian.api"} & set(loaded.split())


@pytest.mark.parametrize("part", ["gramian.kernels", "gramian.cli", "gramian.reports", "gramian.solvers"])
def test_a_part_may_be_imported_before_the_whole(part):
    names = run(f"import {part}", "import gramian", "print(gramian.PCA.__name__, gramian.config.__name__)")
    assert names.split() == ["PCA", "config"]


def test_names_that_are_not_there_are_refused():
    with pytest.raises(AttributeError, match="module 'gramian' has no attribute 'pca'"):
        gramian.pca  # noqa: B018
    assert not hasattr(gramian, "__wrapped__")
    assert {"PCA", "load", "report", "tables", "config"} <= set(dir(gramian))


def test_imports_run_one_way():
    done = subprocess.run(
        [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout


def test_every_public_name_is_there_and_documented():
    for module in (gramian, gramian.kernels):
        for name in module.__all__:
            assert getattr(module, name).__doc__, name


def test_sources_import_at_the_top():
    """An import inside a function is for an optional or slow dependency; these are the ones there are."""
    allowed = {
        "numba",
        "gramian.engine.llvm_loops",
        "gramian.engine.coordinate_steps",
        "gramian.cli.app",
        "gramian.plots",  # draws the pictures of gramian demo
        "gramian.reports.writing",  # writes the page of gramian report
        "gramian.explore.server",
        "gramian.tables.row_streams",  # needs pyarrow
        "gramian.operators.dask_rows",
        "gramian.operators.dask_tasks",
        "dask.dataframe.dispatch",  # needs pandas
        "distributed",
        "h5py",
        "jinja2",
        "matplotlib.pyplot",
        "onnx",
        "openpyxl",
        "pandas",
        "plotly.offline",
        "polars",
        "sklearn.callback",
        "sklearn.model_selection",  # 0.05 s to import
        "sklearn.pipeline",
        "zarr",
    }
    found = {str(path.relative_to(ROOT)): imports_inside(ast.parse(path.read_text())) - allowed for path in SOURCES}
    assert {name: inside for name, inside in found.items() if inside} == {}


def imports_inside(tree):
    """Modules that functions import."""
    functions = (node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
    inside = [node for f in functions for node in ast.walk(f) if isinstance(node, (ast.Import, ast.ImportFrom))]
    return {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name for node in inside}


def test_the_version_is_one(capsys):
    assert re.fullmatch(r"\d+\.\d+\.\d+", gramian.__version__)
    assert f"## {gramian.__version__}" in (ROOT / "CHANGELOG.md").read_text()


#: Package -> its modules. The command line has no docstring examples; tests/cli runs it.
PACKAGES = {
    name: [path for path in SOURCES if path.relative_to(ROOT / "src" / "gramian").parts[0] == name]
    for name in sorted(
        {path.relative_to(ROOT / "src" / "gramian").parts[0] for path in SOURCES} - {"cli", "__main__.py"}
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("package", PACKAGES)
def test_docstring_examples_run(package):
    failed = []
    for path in PACKAGES[package]:
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts).removesuffix(".__init__")
        failed += [name] * doctest.testmod(importlib.import_module(name)).failed
    assert failed == []
