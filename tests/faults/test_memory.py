"""Memory that is limited: a fit stays within a fifth over its forecast; what does not fit is refused before it begins.

What is limited is RLIMIT_AS, addresses. Threads take theirs once: stacks, and buffers of BLAS. The limit is counted
from when those are there; a process that begins under a limit needs 80 MB more for each thread and for itself.
"""

import json
import re

import pytest

import gramian
from gramian import ICA, PCA
from gramian.estimators.fit_memory import UNBUDGETED_MAX_BYTES

from .processes import python

FITS = """
import ctypes, gc, json, tempfile
from sklearn.base import clone
from gramian.estimators import fit_memory, random_projection
from gramian.costs.plan import Job
from gramian.estimators.fit_memory import plan_of
from gramian.estimators.fit_memory import THREAD_BYTES, settle

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
    return model, rows, plan_of(model, job).bytes

def used():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def warm(model, rows):
    settle(10**12)
    few = [part if hasattr(part, "pieces") else part[: min(300, len(part) // 2)] for part in rows]
    clone(model).fit(*few)  # compiled loops, and modules that are loaded when needed

def trimmed():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return used()

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
limit(trimmed() + 1.2 * need)
print(outcome(model, rows))
"""

SHORT = """
with gramian.config(memory="1GB"):
    model, rows, need = case(sys.argv[1])
warm(model, rows)
found = {}
for share in (0.7, 0.5, 0.2):
    limit(trimmed() + share * need)
    found[f"{share}, nothing set"] = outcome(clone(model), rows)
    for how, budget, spare in (("a large budget", 10**9, 1.0), ("a budget within it", int(share * need), 1.2)):
        limit(trimmed() + spare * share * need)
        with gramian.config(memory=budget):
            found[f"{share}, {how}"] = outcome(clone(model), rows)
print(json.dumps(found))
"""

CASES = [line.split('"')[1] for line in FITS.splitlines() if line.startswith('    "')]


def limited(code, *arguments):
    """What code prints in a process without addresses in reserve: no arenas, and freed arrays give theirs back."""
    return python(FITS + code, *arguments, timeout=300, MALLOC_ARENA_MAX="1", MALLOC_MMAP_THRESHOLD_="131072")


def is_a_refusal(said):
    """Whether it is one line that names what is needed and what there is, and says what to do."""
    return re.fullmatch(r"ValueError: .*(needs?|takes?) .*(budget|limits) .*\. (Use|Ask for|Choose) .*\.", said)


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_fit_stays_within_a_fifth_over_its_forecast(name):
    assert limited(WITHIN, name).strip() == "fitted"


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_with_less_it_fits_by_another_route_or_is_refused(name):
    for how, said in json.loads(limited(SHORT, name)).items():
        assert said == "fitted" or is_a_refusal(said), (how, said)


DEEP = """
gramian.config(memory="1GB")
found = {}
for name in ("PCA, dual", "PCA, SVD", "random projection", "ICA"):
    trimmed()
    model, rows, need = case(name)
    warm(model, rows)
    fit_memory.refuse_if_too_large = random_projection._check_room = lambda *given: None
    limit(trimmed() + 0.5 * need)
    found[name] = outcome(model, rows)
    limit(trimmed() + 2 * need)
    found[name] += ", then " + outcome(model, rows)
print(json.dumps(found))
"""


@pytest.mark.slow
def test_memory_that_runs_out_all_the_same_leaves_nothing_half_fitted():
    """Nobody asks first here: as if the limit had come down during the fit."""
    for name, said in json.loads(limited(DEEP)).items():
        assert re.match(r"_?\w*MemoryError: ", said), (name, said)  # nor was the forecast twice what it takes
        assert said.endswith(", then fitted"), (name, said)


FRESH = """
model, rows, need = case("kernel PCA, dense")
limit(used() + float(sys.argv[1]) * THREAD_BYTES + 1.2 * need)
print(outcome(model, rows))
"""


@pytest.mark.slow
@pytest.mark.parametrize("threads", [3, 2, 0.5])
def test_a_process_that_begins_under_a_limit_counts_its_threads(threads):
    """Two threads and the process itself have their room, or there is none."""
    said = limited(FRESH, threads).strip()
    assert said == "fitted" if threads == 3 else is_a_refusal(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "shape"),
    [(PCA(5, solver="dual"), (1200, 2000)), (ICA(), (60_000, 20)), (PCA(5, solver="svd"), (6000, 200))],
    ids=lambda given: str(given)[:12],
)
def test_what_does_not_fit_the_budget_is_refused_with_what_would(model, shape, rng):
    X = rng.standard_normal(shape)
    with gramian.config(memory="20MB"):
        with pytest.raises(ValueError, match=r"needs .* the memory budget is 20 MB\. Use ") as caught:
            model.fit(X)
        assert is_a_refusal(f"ValueError: {caught.value}")
        assert not [name for name in vars(model) if name.endswith("_")]
        rows = int(re.search(r"at most ([\d,]+) rows", str(caught.value))[1].replace(",", ""))
        model.fit(X[:rows])
    memory = re.search(r"memory='(.*)'", str(caught.value))[1]
    with gramian.config(memory=memory):
        model.fit(X)


def test_small_fits_are_not_held_to_a_budget(rng):
    with gramian.config(memory="10kB"):
        PCA(2).fit(rng.standard_normal((200, 5)))
        assert gramian.forecast(PCA(2), 200, 5).bytes < UNBUDGETED_MAX_BYTES


@pytest.mark.slow
def test_limits_of_the_process_bound_a_budget_that_was_set():
    code = """
from gramian.config import memory_budget
gramian.config(memory="100GB")
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, -1))
assert 10**8 < memory_budget() < 1_500_000_000
model = KernelPCA(2).fit(np.random.default_rng(0).standard_normal((3000, 3)))
try:
    KernelPCA(5, solver="dense").fit(np.random.default_rng(0).standard_normal((6500, 3)))
except ValueError as error:
    print(model.summary_.facts["solver"], error)
"""
    assert is_a_refusal("ValueError: " + python(code).strip().removeprefix("krylov "))
