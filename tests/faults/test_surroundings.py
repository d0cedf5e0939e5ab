"""Homes, caches and folders that cannot be written, other locales and hash seeds, and Python without asserts."""

import os
import subprocess
import sys

import pytest

from .processes import ROOT, python

FIT = """
X = np.random.default_rng(0).standard_normal((80, 5)) @ np.diag([5.0, 4, 3, 2, 1])
y = (X[:, 0] > 0).astype(int)
found = [PCA(2).fit(X).transform(X), KernelPCA(2).fit(X).transform(X), KernelSVC().fit(X, y).decision_function(X)]
print(*(float(A.sum()).hex() for A in found), str(gramian.KernelPCA(2, kernel="rbf(sigma=1.5)").fit(X).kernel_))
"""
#: Locales with a decimal comma and with another i, where they are installed; a name that is not there must not matter.
LOCALES = ["C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"]


@pytest.fixture(scope="module")
def plain():
    return python(FIT)


@pytest.mark.parametrize("locale", [pytest.param(name, marks=pytest.mark.slow) for name in LOCALES])
def test_locales_change_nothing(plain, locale):
    start = "import locale, contextlib\nwith contextlib.suppress(locale.Error): locale.setlocale(locale.LC_ALL, '')\n"
    assert python(start + FIT, LC_ALL=locale) == plain


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["0", "12345"])
def test_hash_seeds_change_nothing(plain, seed):
    assert python(FIT, PYTHONHASHSEED=seed) == plain


@pytest.mark.slow
def test_python_without_asserts_and_docstrings(plain):
    assert python(FIT, options=["-OO"]) == plain


@pytest.mark.slow
def test_the_command_line_without_asserts_and_docstrings(tmp_path):
    """Help comes from docstrings, which are gone: commands must still work."""
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,4\n3,5,1\n0,1,1\n7,2,2\n")
    command = [sys.executable, "-OO", "-m", "gramian"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    for arguments in (["--version"], ["--help"], ["fit", "t.csv", "-k", "2", "-o", "s.csv"], ["doctor", "t.csv"]):
        done = subprocess.run(
            [*command, *arguments], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "s.csv").exists()


@pytest.mark.slow
def test_nothing_is_written_anywhere(plain, tmp_path):
    """No home, no cache, no temporary folder: each is a file, so that root cannot write there either."""
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file")
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "NUMBA_CACHE_DIR", "TMPDIR", "PYTHONPYCACHEPREFIX"), nowhere)
    assert python(FIT, **places) == plain
    assert os.listdir(tmp_path) == ["file"]
