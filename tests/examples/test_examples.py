"""The examples run, and say what they promise."""

import ast
import runpy
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
GALLERY = sorted(EXAMPLES.glob("plot_*.py"))
#: Pages of the gallery that take over two seconds.
SLOW = {
    *("plot_paired_texts", "plot_random_projection", "plot_denoise_digits", "plot_probabilistic_pca"),
    *("plot_pca_four_ways", "plot_collinear_regressors", "plot_digits_subspaces", "plot_features_or_kernel"),
    "plot_every_display",
}


@pytest.fixture
def pictures(monkeypatch):
    """Figures are drawn for nobody, and put away afterwards."""
    before = plt.get_backend()
    plt.switch_backend("Agg")
    monkeypatch.setattr(plt, "show", lambda: None)
    yield plt.get_fignums
    plt.close("all")
    plt.switch_backend(before)


def by_speed(path):
    return pytest.param(path, marks=pytest.mark.slow if path.stem in SLOW else (), id=path.stem)


@pytest.mark.slow
@pytest.mark.parametrize("path", [by_speed(path) for path in GALLERY])
def test_a_page_of_the_gallery_draws_what_it_claims(path, pictures):
    """Claims are the page's own assertions; warnings are errors here."""
    runpy.run_path(str(path), run_name="__main__")
    assert pictures()
    for number in pictures():
        plt.figure(number).canvas.draw()


@pytest.mark.parametrize("path", GALLERY, ids=lambda path: path.stem)
def test_a_page_of_the_gallery_has_a_title_a_paragraph_and_a_claim(path):
    page = ast.parse(path.read_text())
    title, line, blank, *paragraph = ast.get_docstring(page).splitlines()
    assert line == "=" * len(title)
    assert not blank
    assert paragraph
    assert all(paragraph), "one paragraph, without an empty line"
    assert any(isinstance(node, ast.Assert) for node in page.body)


def run(name, capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.slow
def test_fat_in_meat_is_calibrated_and_reported(capsys, monkeypatch, tmp_path):
    text = run("calibrate_meat.py", capsys, monkeypatch, "--picture", tmp_path / "calibration.png")
    assert "best by cross-validation: second derivative, SNV" in text
    assert "PLSRegression  145 x 100   8 components" in text
    test = next(line for line in text.splitlines() if line.startswith("test  "))
    assert float(test.split("RMSEP")[1].split()[0]) < 0.8  # percent of fat; its standard deviation is 12.7
    assert (tmp_path / "calibration.png").stat().st_size > 10_000
