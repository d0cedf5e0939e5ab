"""Calls go down: during fits, answers and texts of every estimator no layer calls a function of one above it."""

import sys
import threading
import tomllib
import warnings
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import cases

import gramian
from gramian import lapack

ROOT = Path(__file__).parents[2]
SOURCES = str(ROOT / "src" / "gramian") + "/"
#: Packages whose functions are handed local functions of higher layers as arguments, and call them.
HANDED_DOWN = {
    "engine": "works through tiles on threads; whoever has tiles says what is done with one",
    "costs": "adds the seconds that a matrix takes to be made",
    "spaces": "asks how many of the components are to be kept",
}
#: Methods and functions of higher layers that are called as arguments.
ARGUMENTS = {
    ("engine: Exponential.__init__", "kernels: squared_euclidean"): "the distance is an argument",
    ("engine: Pairs.tile_in", "kernels: Mapped.tile"): "pairs that are made of other pairs",
    **{
        ("kernels: PreparedRows.once", f"operators: EuclideanSearch.{made}"): "what is made of rows is an argument"
        for made in ("__init__.<locals>.<lambda>", "_pairs.<locals>.right")
    },
}
ANSWERS = ("transform", "predict", "predict_proba", "decision_function", "score_samples")


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


def _is_allowed(caller, callee):
    local = "<locals>" in callee and caller.split(":")[0] in HANDED_DOWN
    return local or (caller, callee) in ARGUMENTS


@pytest.mark.parametrize("name", cases.ESTIMATORS)
def test_no_layer_calls_one_above_it(name):
    with upward_calls() as found, warnings.catch_warnings():
        warnings.simplefilter("ignore", gramian.GramianWarning)
        model = cases.fitted(name)
        answers = {answer: getattr(model, answer)(cases.X) for answer in ANSWERS if hasattr(model, answer)}
        if hasattr(model, "inverse_transform") and "transform" in answers:
            model.inverse_transform(answers["transform"])
        str(model.summary_), repr(model), model._repr_mimebundle_(), gramian.forecast(model, 1000, 5)
    assert [calls for calls in found if not _is_allowed(*calls)] == []


def test_a_call_upwards_is_seen():
    with upward_calls() as found:
        lapack.interruptible(gramian.doctor, cases.X)
    assert ("lapack: interruptible", "selection: doctor") in found
