"""Progress through scikit-learn's callbacks, where the installed version has them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import gramian
from gramian.estimators import callbacks
from gramian.progress import listen, track

X = np.random.default_rng(0).standard_normal((300, 4))
LONG = gramian.KernelPCA(2, kernel="rbf(sigma=2)", solver="krylov")
has_callbacks = pytest.mark.skipif(not callbacks.KNOWN, reason="this scikit-learn has no callbacks")


class Witness:
    """Writes down what it is told."""

    max_propagation_depth = None

    def __init__(self):
        self.said = []

    def setup(self, estimator, context):
        self.said.append("setup")

    def teardown(self, estimator, context):
        self.said.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.said.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, fitted_estimator=None):
        if fitted_estimator is not None:
            fitted_estimator.transform(X)
        self.said.append(f"end {context.task_name}")


@has_callbacks
def test_a_callback_hears_of_the_fit_its_tasks_and_a_hundred_steps_at_most():
    witness = Witness()
    model = clone(LONG).set_callbacks(witness).fit(X)
    said = witness.said
    assert [said[0], said[1], said[-2], said[-1]] == ["setup", "begin fit", "end fit", "teardown"]
    assert "begin eigenvectors" in said
    assert said.count("begin eigenvectors") == said.count("end eigenvectors")
    assert 0 < said.count("end step") <= 100 * said.count("begin eigenvectors")
    assert np.array_equal(model.transform(X), clone(LONG).fit(X).transform(X))


@has_callbacks
def test_scikit_learns_progress_bar_shows_the_tasks(capsys):
    from sklearn.callback import ProgressBar

    clone(LONG).set_callbacks(ProgressBar()).fit(X)
    shown = capsys.readouterr().out
    assert "KernelPCA - fit" in shown
    assert "KernelPCA - eigenvectors" in shown
    assert "100%" in shown


@has_callbacks
def test_callbacks_of_a_pipeline_reach_the_estimator():
    witness = Witness()
    make_pipeline(gramian.Standardizer(), clone(LONG)).set_callbacks(witness).fit(X)
    assert "begin eigenvectors" in witness.said
    assert witness.said[-1] == "teardown"


@has_callbacks
def test_a_failed_fit_tears_callbacks_down_and_leaves_the_estimator_as_it_was():
    witness = Witness()
    model = clone(LONG).set_callbacks(witness).fit(X)
    before, witness.said = dict(vars(model)), []
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X * np.nan)
    assert witness.said[-1] == "teardown"
    assert {key: value is before[key] for key, value in vars(model).items()} == dict.fromkeys(before, True)


@has_callbacks
def test_the_small_fits_of_a_bootstrap_are_not_told():
    from gramian.selection import trust

    witness = Witness()
    model = gramian.PCA(2).set_callbacks(witness).fit(X)
    witness.said = []
    trust(model, X, n_boot=20)
    assert witness.said == []


@has_callbacks
def test_callbacks_are_no_part_of_a_saved_model(tmp_path):
    model = clone(LONG).set_callbacks(Witness()).fit(X)
    gramian.save(model, tmp_path / "model.safetensors")
    loaded = gramian.load(tmp_path / "model.safetensors")
    assert np.array_equal(loaded.transform(X), model.transform(X))
    assert not hasattr(loaded, "_skl_callbacks")


def test_without_callbacks_nothing_is_told_and_estimators_pickle():
    model = pickle.loads(pickle.dumps(clone(LONG).fit(X)))
    assert not [name for name in vars(model) if "callback" in name]


def test_listeners_hear_beside_the_settings():
    settings, here = [], []
    with gramian.config(progress=settings.append), listen(here.append), track("work", 2) as tracker:
        tracker.advance(2)
    with track("silence", 1) as tracker:
        tracker.advance(1)
    assert [(told.task, told.done) for told in here] == [("work", 1.0)]
    assert here == settings
