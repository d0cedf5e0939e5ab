"""Fitted estimators of every family in several configurations: what is saved, and rows to ask about."""

import hashlib
import json
import struct
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from tests.cases import kind_of

from gramian import Landmarks, RandomFeatures, kernels
from gramian.registry import RECORDS
from gramian.solvers import Krylov, Power, Randomized

_rng = np.random.default_rng(7)
X = _rng.standard_normal((60, 5)) @ np.diag([3.0, 2.0, 1.5, 1.0, 0.7]) @ _rng.standard_normal((5, 5)) + 2.0
Y = X[:, :2] @ _rng.standard_normal((2, 3)) + 0.3 * _rng.standard_normal((60, 3))
GAPS = X.copy()
GAPS[[3, 17, 40], [1, 0, 4]] = np.nan
POINTS = _rng.standard_normal((1200, 3))
NAMED = pd.DataFrame(X, columns=["länge", "width [cm]", "a b", "c,d", 'quote"'])
CODES = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.7]))
WORDS = np.array(["ape", "bear", "célo"])[CODES]
OBJECTS = WORDS.astype(object)
SPARSE = sp.csr_array(np.where(np.abs(X) > 2, X, 0.0))
GRAM = kernels.RBF(sigma=4.0)(X)
FLOATS = np.asfortranarray(X.astype(np.float32))

K = kernels
#: name -> list of (parameters, X, y)
CONFIGURATIONS = {
    "PCA": [
        ({"n_components": 2}, X, None),
        ({"n_components": 0.9, "scale": True, "whiten": True}, NAMED, None),
        ({"n_components": 2, "missing": "em"}, GAPS, None),
        ({"n_components": 2, "solver": Krylov(tol=1e-9), "random_state": 2**80}, FLOATS, None),
        ({"n_components": 2, "solver": Randomized()}, SPARSE, None),
        ({"n_components": np.int64(1), "center": False, "solver": Power()}, X, None),
    ],
    "ProbabilisticPCA": [({"n_components": 2}, X, None), ({"n_components": 2, "missing": "em"}, GAPS, None)],
    "FactorAnalysis": [
        ({"n_components": 2}, X, None),
        ({"n_components": 2, "rotation": "oblimin"}, NAMED, None),
        ({"n_components": 1, "missing": "em"}, GAPS, None),
    ],
    "ICA": [({"n_components": 2}, X, None), ({"random_state": 3}, FLOATS, None)],
    "Standardizer": [({}, X, None), ({}, NAMED, None)],
    "RandomProjection": [
        ({"n_components": 3}, X, None),
        ({"n_components": 3, "density": 0.5}, SPARSE, None),
        ({"n_components": 2, "density": "auto"}, FLOATS, None),
    ],
    "PLSRegression": [
        ({"n_components": 2}, X, Y),
        ({"n_components": 2, "scale": "x"}, NAMED, Y[:, 0]),
        ({"n_components": "auto", "cv": 5}, X, Y),
        ({"n_components": 2, "missing": "em"}, GAPS, Y),
    ],
    "PrincipalComponentRegression": [({"n_components": 2}, X, Y[:, 0]), ({"n_components": "auto", "cv": 4}, FLOATS, Y)],
    "PLSCanonical": [({"n_components": 2}, X, Y), ({"n_components": 2, "missing": "em"}, GAPS, Y)],
    "PLSSVD": [({"n_components": 2}, X, Y)],
    "CCA": [
        ({"n_components": 2}, NAMED, Y),
        ({"n_components": 2, "ridge": 0.1}, SPARSE, Y),
        ({"n_components": 1, "missing": "em"}, GAPS, Y),
    ],
    "KernelPCA": [
        ({"n_components": 2}, X, None),
        ({"n_components": 2, "kernel": K.Laplacian(gamma=0.2)}, NAMED, None),
        ({"n_components": 2, "kernel": "thin_plate_spline"}, X, None),
        ({"n_components": 2, "kernel": 2 * K.RBF(sigma=3)[0:3] * K.Matern() + K.Linear()[1, 2] ** 2}, X, None),
        ({"n_components": 2, "kernel": "precomputed"}, GRAM, None),
        ({"n_components": 2, "kernel": "sigmoid"}, FLOATS, None),
        ({"n_components": 2, "kernel": "rbf(gamma=median)"}, SPARSE, None),
        ({"n_components": 2, "landmarks": 20}, X, None),
        ({"n_components": 2, "landmarks": RandomFeatures(30)}, FLOATS, None),
    ],
    "KernelRidge": [
        ({}, X, Y),
        ({"kernel": "linear", "ridge": 0.1}, FLOATS, Y[:, 0]),
        ({"kernel": "thin_plate_spline"}, NAMED, Y[:, 0]),
        ({"kernel": "precomputed"}, GRAM, Y),
        ({"kernel": "rbf"}, SPARSE, Y[:, 0]),
        ({"landmarks": Landmarks(points=X[:20])}, X, Y),
    ],
    "KernelSVC": [
        ({}, X, WORDS),
        ({"kernel": "polynomial", "class_weight": {0: 1.0, 1: 2.5}}, NAMED, (CODES > 0).astype(int)),
        ({"kernel": "precomputed"}, GRAM, OBJECTS),
        ({"landmarks": Landmarks(tol=0.05)}, X, WORDS),
    ],
    "KernelKMeans": [
        ({"n_clusters": 3}, X, None),
        ({"n_clusters": 2, "kernel": "linear"}, SPARSE, None),
        ({"n_clusters": 3, "landmarks": 20}, X, None),
    ],
    "KernelKNNClassifier": [
        ({}, X, OBJECTS),
        ({"kernel": "polynomial", "weights": "distance"}, NAMED, WORDS),
        ({}, POINTS, POINTS[:, 0] > 0),
        ({"kernel": "precomputed"}, GRAM, CODES.astype(float)),
        ({"landmarks": 20}, X, OBJECTS),
    ],
    "KernelKNNRegressor": [({}, X, Y), ({"n_neighbors": 2}, POINTS, POINTS[:, 0])],
    "KernelPrototypeClassifier": [({}, X, WORDS), ({"kernel": "linear"}, NAMED, CODES), ({"landmarks": 20}, X, WORDS)],
    "KernelCCA": [
        ({"n_components": 2, "ridge": 0.1}, X, Y),
        ({"n_components": 2, "ridge": 0.1, "scale": True}, FLOATS, Y),
        ({"n_components": 2, "ridge": 0.1, "landmarks": (20, 30)}, X, Y),
    ],
}


_TARGETS = {"none": None, "numbers": Y[:, 0], "labels": WORDS, "view": Y}
for record in RECORDS:
    CONFIGURATIONS.setdefault(record.name, [(dict(record.example), X, _TARGETS[kind_of(record)])])
CLASSES = {record.name: record.estimator for record in RECORDS}


def fit(name, parameters, rows, targets):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = CLASSES[name](**parameters)
        return model.fit(rows) if targets is None else model.fit(rows, targets)


CASES = [
    pytest.param((name, *case), id=f"{name}-{at}")
    for name, cases in CONFIGURATIONS.items()
    for at, case in enumerate(cases)
]


@pytest.fixture(scope="session", params=CASES)
def fitted(request):
    """A fitted estimator, the rows it was fitted to, and the targets."""
    name, parameters, rows, targets = request.param
    return fit(name, parameters, rows, targets), rows, targets


@pytest.fixture(scope="session")
def configurations():
    return CONFIGURATIONS


@pytest.fixture
def named_rows():
    return NAMED


def unpack(data):
    """Header and array bytes of a model file."""
    length = struct.unpack("<Q", data[:8])[0]
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def pack(header, body):
    """A model file with a checksum that is right, whatever it holds."""
    header = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    mark = b'{"__metadata__":{"sha256":"'
    if header.startswith(mark):
        after = header[len(mark) + 64 :]
        zeroed = mark + b"0" * 64 + after
        digest = hashlib.sha256(struct.pack("<Q", len(zeroed)) + zeroed + body).hexdigest().encode()
        header = mark + digest + after
    return struct.pack("<Q", len(header)) + header + body


@pytest.fixture(scope="session")
def forge():
    """Change the header, the tree of the model, or the bytes of a file, and sign it again."""

    def forged(data, header=None, tree=None, body=None):
        found, rest = unpack(data)
        if tree is not None:
            model = json.loads(found["__metadata__"]["model"])
            model = tree(model) or model
            found["__metadata__"]["model"] = json.dumps(model)
        if header is not None:
            found = header(found) or found
        return pack(found, body(rest) if body else rest)

    return forged
