"""The examples run, and say what they promise."""

import runpy
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, capsys, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_fat_in_meat_is_calibrated_and_reported(capsys, monkeypatch, tmp_path):
    text = run("calibrate_meat.py", capsys, monkeypatch, "--picture", tmp_path / "calibration.png")
    assert "best by cross-validation: second derivative, SNV" in text
    assert "PLSRegression  162 x 100   8 components" in text
    test = next(line for line in text.splitlines() if line.startswith("test  "))
    assert float(test.split("RMSE")[1].split()[0]) < 0.8  # percent of fat; its standard deviation is 12.7
    assert (tmp_path / "calibration.png").stat().st_size > 10_000
