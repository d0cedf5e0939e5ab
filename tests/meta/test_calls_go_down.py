"""Calls go down: during fits, answers and texts of every estimator no layer calls a function of one above it."""

import sys
import threading
import tomllib
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest

import gramian
from tests import cases

ROOT = Path(__file__).parents[2]
SOURCES = str(ROOT / "src" / "gramian") + "/"
#: Functions that a low layer may call although they stand higher: they are handed to it as arguments.
HANDED_DOWN: dict[tuple[str, str], str] = {}


def _heights():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["type"] == "layers")["layers"]
    return {
        name.strip(): len(layers) - at for at, line in enumerate(layers) for name in line.replace(":", "|").split("|")
    }


HEIGHTS = _heights()


def _package(code):
    """First part of the module's name inside gramian; None for code of others."""
    if not code.co_filename.startswith(SOURCES):
        return None
    return code.co_filename[len(SOURCES) :].split("/")[0].removesuffix(".py")


def _caller(frame):
    """The next frame of the library that called this one; None if there is none."""
    frame = frame.f_back
    while frame is not None and _package(frame.f_code) is None:
        frame = frame.f_back
    return frame


@contextmanager
def upward_calls():
    """Collect calls from a layer to a higher one, in all threads."""
    found = Counter()

    def watch(frame, event, argument):
        if event != "call" or (callee := _package(frame.f_code)) not in HEIGHTS or frame.f_code.co_name == "<module>":
            return
        above = _caller(frame)
        caller = None if above is None else _package(above.f_code)
        if caller in HEIGHTS and HEIGHTS[callee] > HEIGHTS[caller]:
            found[f"{caller}: {above.f_code.co_qualname}", f"{callee}: {frame.f_code.co_qualname}"] += 1

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


ANSWERS = ("transform", "predict", "predict_proba", "decision_function", "score_samples", "inverse_transform")


@pytest.mark.parametrize("name", cases.ESTIMATORS)
def test_no_layer_calls_one_above_it(name):
    with upward_calls() as found, warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)
        model = cases.fitted(name)
        answers = {answer: getattr(model, answer)(cases.X) for answer in ANSWERS[:-1] if hasattr(model, answer)}
        if hasattr(model, "inverse_transform") and "transform" in answers:
            model.inverse_transform(answers["transform"])
        str(model.summary_), repr(model), model._repr_mimebundle_(), gramian.forecast(model, 1000, 5)
    assert {calls: count for calls, count in found.items() if calls not in HANDED_DOWN} == {}
