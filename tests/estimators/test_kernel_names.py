"""Parameters of kernels by their nested names, in searches and pipelines, whether the kernel is text or an object."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from gramian import (
    KernelCCA,
    KernelPCA,
    KernelRidge,
)
from gramian.kernels import RBF, Function, Linear, parse
from gramian.registry import RECORDS

RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 3))
Y = X[:, :2] + 0.1 * RNG.standard_normal((40, 2))
LABELS = X[:, 0] > 0
BY_NEED = {"": None, "target": Y, "view": Y, "label": LABELS}
TARGETS = {record.estimator: BY_NEED[record.needs] for record in RECORDS if record.has("kernel")}
every = pytest.mark.parametrize("estimator", TARGETS, ids=lambda cls: cls.__name__)
TEXTS = ["rbf", "rbf(gamma=0.5)", "2*rbf(sigma=1) + linear", "rbf(sigma=1)[0:2]*laplacian + polynomial(degree=2)**2"]


def first_width(names):
    return next(name for name in names if name.endswith("sigma"))


@every
@pytest.mark.parametrize("text", TEXTS)
def test_text_has_the_names_of_the_kernel_that_it_stands_for(estimator, text):
    by_text, by_object = estimator(kernel=text), estimator(kernel=parse(text))
    names = by_object.get_params()
    assert estimator(**by_text.get_params()).get_params() == by_text.get_params()
    assert by_text.kernel == text
    width = first_width(names)
    changed = by_text.set_params(**{width: 3.5})
    assert changed.kernel == by_object.set_params(**{width: 3.5}).kernel
    assert changed.get_params()[width] == 3.5
    assert changed.get_params().keys() == names.keys()
    assert clone(changed).kernel == changed.kernel
    assert parse(text) != changed.kernel


@every
@pytest.mark.filterwarnings("ignore::gramian.GramianWarning")
def test_grid_search_over_a_width_of_text(estimator):
    model, target = estimator(kernel="rbf(sigma=1)"), TARGETS[estimator]
    scoring = None if hasattr(model, "score") else lambda model, X, y=None: model.kernel_.sigma
    search = GridSearchCV(model, {"kernel__sigma": [0.5, 2.0]}, cv=2, scoring=scoring, error_score="raise")
    search.fit(X, target)
    assert search.best_estimator_.kernel_ == RBF(sigma=search.best_params_["kernel__sigma"])
    assert model.kernel == "rbf(sigma=1)"


def test_a_pipeline_reaches_them_too():
    pipeline = make_pipeline(KernelPCA(2, kernel="2*rbf(sigma=1) + linear"), KernelRidge(kernel="laplacian"))
    names = {"kernelpca__kernel__left__kernel__sigma": [1.0, 2.0], "kernelridge__kernel__gamma": [0.1]}
    best = GridSearchCV(pipeline, names, cv=2, error_score="raise").fit(X, Y[:, 0]).best_estimator_
    assert best[0].kernel.left.kernel.sigma in (1.0, 2.0)
    assert best[1].kernel_.gamma == 0.1


def test_the_kernel_of_the_second_view_has_names_of_its_own():
    model = KernelCCA(1, kernel="rbf", kernel_y="rbf(sigma=1)").set_params(kernel_y__sigma=4.0)
    assert model.kernel == "rbf"
    assert model.fit(X, Y).kernel_y_ == RBF(sigma=4.0)
    with pytest.raises(ValueError, match=r"kernel_y__sigma cannot be set: kernel_y is None.*Set kernel_y to a kernel"):
        KernelCCA().set_params(kernel_y__sigma=4.0)


def test_a_new_kernel_and_its_parameters_in_one_call_in_any_order():
    assert KernelPCA().set_params(kernel__degree=4, kernel="polynomial").kernel.degree == 4
    assert parse("rbf + linear").set_params(left__gamma=2.0, left="laplacian") == parse("laplacian(gamma=2.0) + linear")


@every
@pytest.mark.parametrize(
    ("kernel", "name", "complaint"),
    [
        ("rbf", "width", "'width' is not a parameter of rbf. Known: sigma, gamma"),
        ("rbf + linear", "sigma", "'sigma' is not a parameter.*Known: left, right, left__sigma, left__gamma"),
        ("2*rbf", "kernel__width", "'width' is not a parameter of rbf. Known: sigma, gamma"),
        ("rbf", "sigma__more", "'sigma__more' is not a parameter of rbf. Known: sigma, gamma"),
        ("precomputed", "sigma", "'sigma' is not a parameter of precomputed. Known: none"),
        (
            lambda A, B: A @ B.T,
            "sigma",
            "kernel__sigma cannot be set: kernel is the function .* Set kernel to a kernel",
        ),
        ("rbf", "sigma", "sigma=-1 of the rbf kernel must be a positive number"),
    ],
)
def test_what_is_no_parameter_is_refused_and_changes_nothing(estimator, kernel, name, complaint):
    model = estimator(kernel=kernel)
    with pytest.raises(ValueError, match=complaint):
        model.set_params(**{f"kernel__{name}": -1})
    assert model.kernel is kernel


def test_text_that_is_no_kernel_is_refused():
    model = KernelPCA(kernel="rbff")
    with pytest.raises(ValueError, match="Did you mean 'rbf'"):
        model.set_params(kernel__sigma=2.0)
    with pytest.raises(ValueError, match="Did you mean 'rbf'"):
        model.fit(X)


def test_an_object_is_changed_itself_as_scikit_learn_does_it():
    kernel = RBF(sigma=1.0) + Linear()
    assert KernelPCA(kernel=kernel).set_params(kernel__left__sigma=2.0).kernel is kernel
    assert kernel.left.sigma == 2.0
    assert KernelPCA(kernel=Function(np.dot)).get_params()["kernel__function"] is np.dot
