"""Numbers from R: kernel k-means on kernlab's full kernel embedding, feature-space neighbours and class means."""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gramian import KernelKMeans, KernelKNNClassifier, KernelPrototypeClassifier
from gramian.kernels import parse

DATA = Path(__file__).parent / "data"


def reference(name):
    content = json.loads((DATA / f"{name}.json").read_text())
    return content["data"], {case["name"]: case for case in content["cases"]}


IRIS, CLUSTERS = reference("kkmeans_iris")
X = np.array(IRIS["X"], dtype=float)
START = np.array(IRIS["init_labels"], dtype=int) - 1
KERNELS = {
    "rbf_0.1": "rbf(gamma=0.1)",
    "rbf_1": "rbf(gamma=1)",
    "poly2": "polynomial(degree=2)",
    "laplacian_L2": "laplacian(gamma=0.5, norm=l2)",
    "linear": "linear",
}


@pytest.mark.parametrize("name", KERNELS)
def test_lloyd_on_the_full_embedding(name):
    case = CLUSTERS[f"embed_{name}"]
    out = case["outputs"]
    model = KernelKMeans(3, kernel=KERNELS[name], init=START).fit(X)
    assert np.array_equal(model.labels_, np.array(out["labels"]) - 1)
    assert_allclose(model.inertia_, out["objective_feature_space"], rtol=case["suggested_rtol"])
    K = parse(KERNELS[name])(X)
    members = np.eye(3)[model.labels_]
    objective = np.trace(K) - (np.einsum("ik,ij,jk->k", members, K, members) / members.sum(axis=0)).sum()
    assert_allclose(model.inertia_, objective, rtol=1e-11)


@pytest.mark.parametrize("name", KERNELS)
def test_restarts_reach_the_best_of_two_hundred(name):
    out = CLUSTERS[f"embed_{name}"]["outputs"]
    assert KernelKMeans(3, kernel=KERNELS[name], n_init=30).fit(X).inertia_ <= out["best_of_200"] * (1 + 1e-9)


@pytest.mark.parametrize("name", ["rbf_0.1", "rbf_1", "linear"])
def test_kernlab_is_an_upper_bound(name):
    bound = CLUSTERS[name]["outputs"]["objective_feature_space"]
    assert KernelKMeans(3, kernel=KERNELS[name], init=START).fit(X).inertia_ <= bound * (1 + 1e-9)


SPLIT, NEIGHBOURS = reference("kernel_knn_prototype_iris")
TRAIN, TEST = np.array(SPLIT["Xtr"], dtype=float), np.array(SPLIT["Xte"], dtype=float)
LABELS = np.array(SPLIT["ytr"])
SPACES = {
    "rbf_0.5_k5": "rbf(gamma=0.5)",
    "poly2_k5": "polynomial(degree=2)",
    "laplacian_L2_k5": "laplacian(gamma=0.5, norm=l2)",
    "linear_k5": "linear",
}


@pytest.mark.parametrize("name", SPACES)
def test_neighbours_in_feature_space(name):
    case = NEIGHBOURS[name]
    out = case["outputs"]
    model = KernelKNNClassifier(5, kernel=SPACES[name]).fit(TRAIN, LABELS)
    distances, indices = model.kneighbors(TEST)
    expected = np.array(out["sqdist_to_neighbours"])
    assert_allclose(distances**2, expected, rtol=case["suggested_rtol"], atol=1e-12)
    every, order = model.kneighbors(TEST[:5], n_neighbors=75)
    assert_allclose(
        every**2, np.take_along_axis(np.array(out["kernel_sqdist_first5rows"]), order, axis=1), rtol=1e-6, atol=1e-12
    )
    if out["kth_gap_min"] > 0:
        theirs = np.array(out["neighbours_1based_in_train"]) - 1
        assert np.array_equal(np.sort(indices, axis=1), np.sort(theirs, axis=1))


@pytest.mark.parametrize("name", SPACES)
def test_distances_to_class_means(name):
    case = NEIGHBOURS[name]
    out = case["outputs"]
    model = KernelPrototypeClassifier(kernel=SPACES[name]).fit(TRAIN, LABELS)
    column = [list(model.classes_).index(label) for label in out["class_order"]]
    squares = np.array(out["class_mean_sqdist"])
    assert_allclose(model.distances(TEST)[:, column] ** 2, squares, rtol=case["suggested_rtol"])
    assert np.array_equal(model.predict(TEST), np.array(out["class_order"])[squares.argmin(axis=1)])


def test_votes_of_plain_neighbours():
    out = NEIGHBOURS["class_knn_k5_euclid"]["outputs"]
    clear = np.array(out["prob"]) > 0.5
    for kernel in ("rbf(gamma=0.5)", "linear"):
        model = KernelKNNClassifier(5, kernel=kernel).fit(TRAIN, LABELS)
        predicted = model.predict(TEST)
        # R counts all rows that tie with the fifth; where five suffice the votes are the same.
        same = clear & (model.kneighbors(TEST, 6)[0][:, 5] > model.kneighbors(TEST)[0][:, 4] * (1 + 1e-9))
        assert same.sum() > 50
        assert np.array_equal(predicted[same], np.array(out["pred"])[same])
