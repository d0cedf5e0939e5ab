"""Every method of the command line, with the same in Python: table, options, estimator, what needs to be known of y."""

import gramian as g
from gramian import registry

#: name -> (table, options, estimator, columns of y)
METHODS = {
    "pca": ("wine.csv", ["-k", "3"], g.PCA(3), None),
    "kernel-pca": (
        "wine.csv",
        ["--kernel", "rbf(sigma=3)", "--preimage", "auto"],
        g.KernelPCA(2, kernel="rbf(sigma=3)", preimage="auto"),
        None,
    ),
    "probabilistic-pca": ("wine.csv", ["-k", "3"], g.ProbabilisticPCA(3), None),
    "factor-analysis": (
        "wine.csv",
        ["-k", "3", "--rotation", "varimax"],
        g.FactorAnalysis(3, rotation="varimax"),
        None,
    ),
    "ica": ("wine.csv", ["-k", "3", "--seed", "4"], g.ICA(3, random_state=4), None),
    "random-projection": ("wine.csv", ["-k", "3"], g.RandomProjection(3), None),
    "pls": ("diabetes.csv", ["-k", "auto", "--target", "progression"], g.PLSRegression("auto"), ["progression"]),
    "pcr": ("diabetes.csv", ["-k", "3", "--target", "progression"], g.PrincipalComponentRegression(3), ["progression"]),
    "cca": ("linnerud.csv", ["-k", "2", "--y-columns", "Weight:Pulse"], g.CCA(2), ["Weight:Pulse"]),
    "pls-canonical": ("linnerud.csv", ["--y-columns", "Weight,Waist,Pulse"], g.PLSCanonical(2), ["Weight:Pulse"]),
    "pls-svd": ("linnerud.csv", ["--y-columns", "Weight,Waist,Pulse"], g.PLSSVD(2), ["Weight:Pulse"]),
    "kernel-cca": (
        "linnerud.csv",
        ["--y-columns", "W*,Pulse", "--ridge", "0.1,0.2", "--kernel-y", "linear"],
        g.KernelCCA(2, ridge=(0.1, 0.2), kernel_y="linear"),
        ["Weight:Pulse"],
    ),
    "kernel-ridge": (
        "diabetes.csv",
        ["--target", "progression", "--ridge", "0.5"],
        g.KernelRidge(0.5),
        ["progression"],
    ),
    "kernel-svm": ("iris.csv", ["--label", "species", "--C", "2"], g.KernelSVC(2.0), "species"),
    "kernel-kmeans": ("iris.csv", ["-k", "3"], g.KernelKMeans(3), None),
    "kernel-knn": ("iris.csv", ["-k", "7", "--label", "species"], g.KernelKNNClassifier(7), "species"),
    "kernel-knn-regression": (
        "diabetes.csv",
        ["-k", "7", "--target", "progression"],
        g.KernelKNNRegressor(7),
        ["progression"],
    ),
    "kernel-prototypes": ("iris.csv", ["--label", "species"], g.KernelPrototypeClassifier(), "species"),
}

#: What a method needs -> table, options, columns of y, for methods that are not above.
_TABLES = {
    "": ("wine.csv", [], None),
    "target": ("diabetes.csv", ["--target", "progression"], ["progression"]),
    "view": ("linnerud.csv", ["--y-columns", "Weight,Waist,Pulse"], ["Weight:Pulse"]),
    "label": ("iris.csv", ["--label", "species"], "species"),
}
for name, record in registry.METHODS.items():
    table, options, columns = _TABLES[record.needs]
    size = ["-k", "2"] if record.size else []
    model = record.estimator(**({record.size: 2} if record.size else {}))
    METHODS.setdefault(name, (table, [*size, *options], model, columns))
