"""Ctrl-C during the fit of each slow estimator: it stops within two seconds, and the model is the one before."""

import pytest

from .processes import python

INTERRUPTED = """
rng = np.random.default_rng(0)
rows = lambda n, d: rng.standard_normal((n, d)) * np.linspace(3, 1, d)
signs = lambda X: (X[:, 0] + rng.standard_normal(len(X)) > 0).astype(int)
CASES = {
    "kernel PCA, power": (lambda: KernelPCA(100, solver="power"), rows(6000, 10), None),
    "kernel PCA, krylov": (lambda: KernelPCA(100, kernel="rbf(sigma=1)", solver="krylov"), rows(20_000, 20), None),
    "kernel PCA, landmarks": (lambda: KernelPCA(5, landmarks=1500), rows(200_000, 20), None),
    "kernel ridge, products": (lambda: KernelRidge(1e-8, kernel="rbf(sigma=1)", solver="cg"), rows(15_000, 10), "y"),
    "kernel SVM": (lambda: KernelSVC(C=1e4), rows(20_000, 10), "c"),
    "kernel k-means": (lambda: KernelKMeans(30, n_init=20), rows(15_000, 10), None),
    "kernel CCA": (lambda: KernelCCA(20, kernel="rbf(sigma=1)", folds=None), rows(9000, 10), "v"),
    "ICA": (lambda: ICA(), rows(400_000, 40), None),
    "probabilistic PCA, EM": (lambda: ProbabilisticPCA(5, method="em", missing="em"), rows(20_000, 60), "gaps"),
    "kernel PCA, dense": (lambda: KernelPCA(None, solver="dense"), rows(6000, 10), None),
    "PCA, svd": (lambda: PCA(solver="svd"), rows(4000, 4000), None),
    "PCA, dual": (lambda: PCA(solver="dual"), rows(5000, 6000), None),
    "PLS SVD": (lambda: PLSSVD(3), rows(4000, 3000), "w"),
    "kernel PCA, many landmarks": (lambda: KernelPCA(5, landmarks=6000), rows(7000, 10), None),
    "PCA, power": (lambda: PCA(100, solver="power"), rows(20_000, 200), None),
}
make, X, kind = CASES[sys.argv[1]]
if kind == "gaps":
    X[rng.random(X.shape) < 0.3] = np.nan
y = {"y": X[:, 0] + rng.standard_normal(len(X)), "c": signs(X), "v": X[:, :3] + 1.0, "w": X[:, ::-1]}.get(kind)
part = slice(0, 300)
model = make()
for name in {"n_components", "n_clusters", "landmarks"} & set(model.get_params(deep=False)):
    value = getattr(model, name)
    if isinstance(value, int) and not isinstance(value, bool):
        setattr(model, name, min(value, 5))
fit = lambda part: model.fit(X[part]) if y is None else model.fit(X[part], y[part])
fit(part)
model.set_params(**make().get_params(deep=False))
before = dict(vars(model))
struck = []
def strike():
    struck.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(1.0, strike).start()
try:
    fit(slice(None))
    print("ended before it was interrupted")
except KeyboardInterrupt:
    late = time.monotonic() - struck[0]
    kept = vars(model).keys() == before.keys() and all(vars(model)[name] is before[name] for name in before)
    print("stopped" if late < 2 else f"stopped after {late:.1f} s", kept)
"""
CASES = [line.split('"')[1] for line in INTERRUPTED.splitlines() if line.startswith('    "')]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_an_interrupt_stops_a_fit_and_keeps_the_model(name):
    """F6."""
    assert python(INTERRUPTED, name) == "stopped True\n"
