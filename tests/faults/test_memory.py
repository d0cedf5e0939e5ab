"""Memory that is limited: a fit stays within a fifth over its forecast; what does not fit is refused before it begins.

What is limited is RLIMIT_AS, addresses. Threads take theirs once: stacks, and buffers of BLAS. The limit is counted from
when those are there; a process that begins under a limit needs 80 MB more for each thread and for itself.
"""

import json

import numpy as np
import pytest

import gramian as g
from gramian.forecasting.forecast import planned
from gramian.forecasting.plan import Job
from gramian.operators.room import THREAD

from .processes import python

FITS = """
import ctypes, gc, json, tempfile
from sklearn.base import clone
from gramian.estimators.validation import ask_first
from gramian.forecasting.forecast import planned
from gramian.forecasting.plan import Job
from gramian.operators.room import THREAD, settle

rng = np.random.default_rng(0)
CASES = {
    "kernel PCA, tiles": (KernelPCA(5, solver="krylov"), 6000, 20, ""),
    "kernel PCA, dense": (KernelPCA(5, solver="dense"), 1000, 20, ""),
    "kernel PCA, landmarks": (KernelPCA(5, landmarks=200), 20_000, 20, ""),
    "kernel ridge, factor": (KernelRidge(solver="cholesky"), 1500, 20, "numbers"),
    "kernel ridge, products": (KernelRidge(solver="cg"), 4000, 20, "numbers"),
    "kernel ridge, linear": (KernelRidge(kernel="linear"), 20_000, 100, "numbers"),
    "kernel ridge, landmarks": (KernelRidge(landmarks=200), 20_000, 20, "numbers"),
    "kernel CCA": (KernelCCA(2, folds=None), 1000, 20, "view"),
    "kernel SVM": (KernelSVC(), 4000, 20, "labels"),
    "kernel k-means": (KernelKMeans(4, n_init=2), 2000, 20, ""),
    "kernel neighbours": (KernelKNNClassifier(), 60_000, 20, "labels"),
    "kernel prototypes": (KernelPrototypeClassifier(), 8000, 60, "labels"),
    "PCA, covariance": (PCA(5, solver="covariance"), 10_000, 600, ""),
    "PCA, dual": (PCA(5, solver="dual"), 300, 20_000, ""),
    "PCA, SVD": (PCA(5, solver="svd"), 2000, 300, ""),
    "PCA, products": (PCA(5, solver="krylov"), 3000, 2000, ""),
    "probabilistic PCA": (ProbabilisticPCA(5), 8000, 600, ""),
    "factor analysis": (FactorAnalysis(3), 4000, 250, ""),
    "ICA": (ICA(8), 60_000, 20, ""),
    "PLS": (PLSRegression(5), 8000, 600, "numbers"),
    "PLS, cross-validated": (PLSRegression("auto"), 10_000, 200, "numbers"),
    "PCR": (PrincipalComponentRegression(5), 4000, 400, "numbers"),
    "CCA": (CCA(2), 8000, 500, "view"),
    "random projection": (RandomProjection(50), 2000, 5000, ""),
    "Standardizer": (Standardizer(), 20_000, 200, ""),
    "PCA of a file": (PCA(5), 40_000, 200, "file"),
}

def data(n, d, kind):
    X = rng.standard_normal((n, d))
    X *= np.linspace(3, 1, d)
    if kind == "file":
        path = os.path.join(tempfile.mkdtemp(), "rows.npy")
        np.save(path, X)
        return (gramian.rows(path),)
    y = X[:, 0] + rng.standard_normal(n)
    second = {"numbers": y, "labels": (y > 0).astype(int), "view": X[:, :3] + rng.standard_normal((n, 3))}
    return (X, second[kind]) if kind else (X,)

def case(name):
    model, n, d, kind = CASES[name]
    rows = data(n, d, kind)
    job = Job(n, d, {"labels": 2, "view": 3}.get(kind, 1), stream=kind == "file", reader=getattr(rows[0], "reader", 0))
    return model, rows, planned(model, job).bytes

def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def warm(model, rows):
    settle(10**12)
    few = [part if hasattr(part, "pieces") else part[:300] for part in rows]
    clone(model).fit(*few)  # compiled loops, and modules that are loaded when needed
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)

def limit(size):
    resource.setrlimit(resource.RLIMIT_AS, (int(size), resource.RLIM_INFINITY))

def outcome(model, rows):
    before = dict(vars(model))
    try:
        model.fit(*rows)
        return "fitted"
    except BaseException as error:
        changed = "" if vars(model) == before else "HALF-FITTED "
        return f"{changed}{type(error).__name__}: {error}"

gramian.config(threads=2)
"""

WITHIN = """
gramian.config(memory="1GB")
model, rows, need = case(sys.argv[1])
warm(model, rows)
limit(used() + 1.2 * need)
print(outcome(model, rows))
"""

SHORT = """
gramian.config(memory="1GB")
model, rows, need = case(sys.argv[1])
warm(model, rows)
start, found = used(), {}
for share in (0.7, 0.5, 0.2):
    limit(start + share * need)
    found[f"limit {share}"] = outcome(clone(model), rows)
    limit(start + 1.2 * share * need)
    with gramian.config(memory=int(share * need)):
        found[f"budget {share}"] = outcome(clone(model), rows)
    limit(start + 10**9)
gramian.config().__exit__(None, None, None)
print(json.dumps(found))
"""

DEFAULT = SHORT.replace('gramian.config(memory="1GB")\n', "")
CASES = [line.split('"')[1] for line in FITS.splitlines() if line.startswith('    "')]


def is_a_refusal(said):
    """Whether it is one line that names what is needed and what there is, and says what to do."""
    named = ("needs" in said or "would take" in said or "take" in said) and ("budget" in said or "limits" in said)
    return said.startswith("ValueError: ") and "\n" not in said and named and ("Use " in said or "Ask " in said)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_fit_stays_within_a_fifth_over_its_forecast(name):
    assert python(FITS + WITHIN, name).strip() == "fitted"


@pytest.mark.slow
@pytest.mark.parametrize("code", [SHORT, DEFAULT], ids=["budget", "default"])
@pytest.mark.parametrize("name", CASES)
def test_with_less_it_fits_by_another_route_or_is_refused(name, code):
    for how, said in json.loads(python(FITS + code, name)).items():
        assert said == "fitted" or is_a_refusal(said), (how, said)
