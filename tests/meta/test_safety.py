"""No text is run and no pickle is read: by the sources as they stand, and by what is tried in tests/models."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src" / "gramian").rglob("*.py"))
CALLS = {"eval", "exec", "compile", "__import__", "import_module", "system", "popen"}
MODULES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "yaml", "subprocess", "code"}


def unsafe(tree):
    """Calls that run text, imports that read it as objects, and words that allow either."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            owner = getattr(getattr(node.func, "value", None), "id", "")
            named = name == "import_module" and all(ours(given) for given in node.args)
            if name in CALLS and (name, owner) != ("compile", "re") and not named:
                yield name
            if any(word.arg in ("shell", "allow_pickle") and getattr(word.value, "value", 1) for word in node.keywords):
                yield f"{name} with an open door"
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in MODULES)
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in MODULES:
            yield node.module


def ours(given):
    """Whether a module is named in the source: whole, or as a part of this package."""
    if isinstance(given, ast.JoinedStr):
        first = given.values[0]
        return isinstance(first, ast.Constant) and first.value.startswith("gramian.")
    return isinstance(given, ast.Constant)


def test_nothing_is_run_that_was_read():
    found = {str(path.relative_to(ROOT)): list(unsafe(ast.parse(path.read_text()))) for path in SOURCES}
    assert {name: calls for name, calls in found.items() if calls} == {}


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "import_module(name)",
        "import_module(f'{name}')",
        "import_module(f'gramian_{name}')",
        "import pickle",
        "from yaml import load",
        "np.load(f, allow_pickle=True)",
        "run(x, shell=True)",
    ],
)
def test_the_search_finds(text):
    assert list(unsafe(ast.parse(text)))


def test_asserts_only_tell_the_type_checker_what_is_there():
    """They are gone under PYTHONOPTIMIZE: nothing may hang on one but a type."""
    nodes = ((path, node) for path in SOURCES for node in ast.walk(ast.parse(path.read_text())))
    asserts = [
        (str(path.relative_to(ROOT)), ast.unparse(node.test)) for path, node in nodes if isinstance(node, ast.Assert)
    ]
    assert [(name, text) for name, text in asserts if not text.endswith(" is not None")] == []
