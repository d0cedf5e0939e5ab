"""The tutorials run as they stand, and come to the conclusions that they state."""

import re
import runpy

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

from gramian import HeywoodWarning
from gramian.kernels.base import REGISTRY

from .pages import ROOT

FOLDER = ROOT / "docs" / "tutorials"


@pytest.fixture
def lesson(monkeypatch, capsys):
    """Run a tutorial from its own folder; gives its names and what it printed."""
    matplotlib.use("Agg")
    monkeypatch.chdir(FOLDER)
    kernels = dict(REGISTRY)

    def run(name):
        names = runpy.run_path(f"lesson_{name}.py")
        assert plt.get_fignums()
        return names, capsys.readouterr().out

    yield run
    plt.close("all")
    REGISTRY.clear()
    REGISTRY.update(kernels)


def test_fat_is_calibrated(lesson):
    names, text = lesson("calibration")
    error = float(re.search(r"n = 48 +RMSEP ([\d.]+)", text).group(1))
    assert error < 0.8  # percent of fat; its standard deviation is 12.7
    assert names["model"].n_components_ < names["plain"].n_components_


@pytest.mark.slow
def test_traits_are_found_behind_the_answers(lesson):
    names, text = lesson("questionnaire")
    assert re.findall(r"^3 factors +RMSEA 0.0[0-4]", text, re.MULTILINE)
    found = names["model"].loadings_[:, names["order"]] * names["signs"]
    assert np.abs(found - names["loadings"]).max() < 0.12
    with pytest.warns(HeywoodWarning):
        names["FactorAnalysis"](5, missing="em").fit(names["table"])
    assert float(names["found"][0, 1]) == pytest.approx(0.4, abs=0.1)


def test_mice_held_out_tell_what_is_there(lesson):
    names, text = lesson("genes_and_lipids")
    curves = names["curves"]
    assert "correlations are 1 by construction" in text
    assert max(curves["mice as they are"]) > 0.6
    assert max(curves["lipids of other mice"]) < 0.3
    assert min(curves["training rows"]) > 0.9


@pytest.mark.slow
def test_a_kernel_for_the_circle(lesson):
    names, text = lesson("own_kernel")
    steps = [float(step) for step in re.findall(r"turn of the year: ([\d.]+)", text)]
    assert steps[0] < 0.01 < 0.3 < steps[1]
    assert names["off"] < 0.5
    assert np.ptp(names["errors"].min(axis=1)) < 0.03
    assert -names["search"].best_score_ == pytest.approx(1.5, rel=0.1)


def test_every_tutorial_is_tested(request):
    here = request.path.read_text()
    assert all(f'lesson("{path.stem.removeprefix("lesson_")}")' in here for path in FOLDER.glob("lesson_*.py"))
