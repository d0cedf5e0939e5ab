"""A thousand fits in one process: neither memory nor threads, open files or temporary files grow."""

import pytest

from .processes import ROOT, python

SOAK = """
import gc, glob, tempfile
from sklearn.base import clone
sys.path.insert(0, sys.argv[1])
from tests.cases import ESTIMATORS, answer, fitted

names = list(ESTIMATORS)

def state():
    gc.collect()
    pages = int(open("/proc/self/statm").read().split()[1])
    left = glob.glob(os.path.join(tempfile.gettempdir(), "*"))
    return pages * resource.getpagesize(), threading.active_count(), len(os.listdir("/proc/self/fd")), len(left)

for turn in range(1000):
    answer(fitted(names[turn % len(names)]))
    if turn == 199:
        first = state()
print(*(now - then for now, then in zip(state(), first)))
"""


@pytest.mark.slow
def test_a_thousand_fits_leave_nothing_behind(tmp_path):
    """The last 800 fits and answers may add 8 MB to the resident set: 10 kB for each, less than one table of theirs."""
    grown, threads, files, temporary = map(int, python(SOAK, ROOT, TMPDIR=str(tmp_path), timeout=280).split())
    assert grown < 8e6
    assert (threads, files, temporary) == (0, 0, 0)
