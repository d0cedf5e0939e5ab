"""The reference has every public name, and every public name has an example, its own or that of its function.

tests/meta runs the examples.
"""

import importlib
import inspect
import re
import subprocess
import sys

import pytest

import gramian
from gramian.kernels import dot_product, stationary
from gramian.plots.display import Display
from gramian.registry import RECORDS

from .pages import ROOT

MODULES = [
    f"gramian{name}"
    for name in ("", ".kernels", ".tables", ".models", ".preimage", ".selection", ".charts", ".plots", ".testing")
]


def public(module):
    """Names that users may rely on: those listed, or those defined in the module itself."""
    found = importlib.import_module(module)
    own = [name for name, value in vars(found).items() if getattr(value, "__module__", "") == module]
    return [name for name in getattr(found, "__all__", own) if not name.startswith("_")]


def listed():
    """Names in the reference, with their modules."""
    names = set()
    for page in (ROOT / "docs" / "api").glob("*.md"):
        for block in re.split(r"\.\. (?=(?:current)?module::)", page.read_text())[1:]:
            module = re.match(r"(?:current)?module:: (\S+)", block).group(1)
            names |= {f"{module}.{name}" for name in re.findall(r"^ {3}([\w.]+)$", block, re.MULTILINE)}
        pages = re.findall(r"^\.\. include:: _(\w+)\.rst$", page.read_text(), re.MULTILINE)  # written by docs/conf.py
        names |= {f"gramian.{record.name}" for record in RECORDS if record.page in pages}
        if "kernels" in pages:
            names |= {f"gramian.kernels.{name}" for name in stationary.__all__ + dot_product.__all__}
    return names


LISTED = listed()
PUBLIC = [(module, name) for module in MODULES for name in public(module)]


def shown_by_its_function(value):
    """Whether a public function, whose example shows it, returns these values, or those a Display draws."""
    if not inspect.isclass(value):
        return False
    functions = (getattr(importlib.import_module(module), name) for module, name in PUBLIC)
    returned = {f.__annotations__.get("return") for f in functions if inspect.isfunction(f) and ">>> " in f.__doc__}
    if issubclass(value, Display):
        return ">>> " in value._compute.__doc__
    return value.__name__ in returned


@pytest.mark.parametrize(("module", "name"), PUBLIC, ids=lambda part: part)
def test_a_public_name_is_in_the_reference_and_has_an_example(module, name):
    value = getattr(importlib.import_module(module), name)
    if inspect.ismodule(value):
        assert f"{module}.{name}" in {entry.rpartition(".")[0] for entry in LISTED}
        return
    homes = [home for home in MODULES if getattr(importlib.import_module(home), name, None) is value]
    assert any(f"{home}.{name}" in LISTED for home in homes)
    assert ">>> " in (value.__doc__ or "") or shown_by_its_function(value)


@pytest.mark.parametrize("name", sorted(LISTED))
def test_what_the_reference_lists_exists_and_says_what_it_is(name):
    module, _, attribute = name.rpartition(".")
    assert getattr(importlib.import_module(module), attribute).__doc__


@pytest.mark.slow
def test_modules_of_the_reference_are_attributes_of_the_package():
    """One ``import gramian`` is enough for every name of the reference; what is slow to load waits until it is used."""
    code = f"""
import functools, sys
import gramian
assert not {{"matplotlib", "jinja2", "plotly", "gramian.plots", "gramian.tables"}} & set(sys.modules)
assert {{"kernels", "selection", "plots", "charts", "tables", "models", "preimage", "testing"}} <= set(dir(gramian))
for name in {sorted(LISTED)}:
    functools.reduce(getattr, name.split(".")[1:], gramian)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(("module", "package", "extra"), [("plots", "matplotlib", "plot"), ("tables", "pyarrow", "io")])
def test_a_module_without_its_package_says_what_to_install(module, package, extra, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[:2] in (["gramian", module], [package])]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delattr(gramian, module, raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(AttributeError, match=rf'gramian.{module} needs {package}: pip install "gramian\[{extra}\]"'):
        getattr(gramian, module)
    assert not hasattr(gramian, module)  # so that help(gramian) goes on
    assert inspect.getmembers(gramian, inspect.isclass)


@pytest.mark.parametrize("name", [name for name in gramian.__all__ if hasattr(getattr(gramian, name), "fit")])
def test_arguments_after_the_first_are_keywords(name):
    """The page for users of scikit-learn says so."""
    parameters = list(inspect.signature(getattr(gramian, name)).parameters.values())
    assert all(parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters[1:])
