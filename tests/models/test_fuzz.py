"""Thousands of damaged and forged model files: each is refused, or gives a model that answers.

Runs in a process of its own, whose memory, time and system calls are watched::

    python tests/models/test_fuzz.py 10000 1
"""

import json
import random
import resource
import runpy
import struct
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from gramian import PCA, KernelPCA, models
from gramian.models.classes import CLASSES, ask, hints_of, steps_of

CONFTEST = Path(__file__).with_name("conftest.py")
#: Estimators to damage, and which of their configurations.
BASES = [("PCA", 0), ("PCA", 2), ("FactorAnalysis", 0), ("RandomProjection", 1), ("KernelPCA", 0), ("KernelPCA", 3)]
BASES += [
    ("PLSRegression", 2),
    ("PLSRegression", 3),
    ("CCA", 0),
    ("KernelPCA", 6),
    ("KernelSVC", 0),
    ("KernelRidge", 0),
]
BASES += [("KernelKNNClassifier", 0), ("KernelKMeans", 0)]
MOST_MEMORY = 4 * 2**30
#: What a file has no business with. Reading its own path is all that load may ask of the system.
FORBIDDEN = {"os.system", "os.exec", "os.posix_spawn", "os.spawn", "subprocess.Popen", "exec", "compile", "import"}
FORBIDDEN |= {"pickle.find_class", "ctypes.dlopen", "os.mkdir", "os.remove", "os.rename", "os.chmod", "socket.connect"}
SPOILS = [None, True, -1, 0, 1, 2**40, 10**12, -(2**63), 1e300, "", "x", "os.system", [], [1, 2], {}, {"tuple": []}]
SPOILS += [
    {"float": "nan"},
    {"float": "inf"},
    {"int": "9" * 40},
    {"array": "mean_"},
    {"array": "nowhere"},
    {"dict": []},
]
SPOILS += [{"object": "kernels.Linear", "state": {}}, {"object": "kernels.Precomputed", "state": {}}]
SPOILS += [{"object": "estimators.PCA", "state": {}}, {"scalar": ["float64", 2.5]}, {"slice": [None, None, 0]}]


def flip(data, rng):
    spoiled = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        spoiled[rng.randrange(len(spoiled))] ^= 1 << rng.randrange(8)
    return bytes(spoiled)


def cut(data, rng):
    at = rng.randrange(len(data) + 1)
    return rng.choice(
        [data[:at], data[at:], data + data[:at], data[:at] + data[at + 1 :], data[:at] + b"\0" + data[at:]]
    )


def lengthen(data, rng):
    length = rng.choice([0, 1, 7, len(data), len(data) - 8, len(data) - 7, 2**20, 2**31, 2**40, 2**63, 2**64 - 1])
    return struct.pack("<Q", length) + data[8:]


def flip_and_sign(data, rng):
    """Flip bits of header or arrays, and sign the file again: the checksum has nothing to say."""
    length = struct.unpack("<Q", data[:8])[0]
    header, body = data[8 : 8 + length], data[8 + length :]
    if rng.random() < 0.5 and body:
        return pack(header, flip(body, rng))
    return pack(header[:91] + flip(header[91:], rng), body)


def places(node, found):
    """All (container, key) of a JSON tree."""
    keys = list(node) if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ()
    for key in keys:
        found.append((node, key))
        places(node[key], found)
    return found


def edit(node, rng):
    for _ in range(rng.choice([1, 1, 2, 3])):
        found = places(node, [])
        holder, key = rng.choice(found)
        other_holder, other = rng.choice(found)
        match rng.randrange(6):
            case 0 | 1:
                holder[key] = json.loads(json.dumps(rng.choice(SPOILS)))
            case 2:
                del holder[key]
            case 3:
                holder[key] = json.loads(json.dumps(other_holder[other]))
            case 4 if isinstance(holder[key], int):
                holder[key] = holder[key] + rng.choice([-1, 1, 2**31])
            case 4 if isinstance(holder[key], float):
                holder[key] = -holder[key] * rng.choice([1e-300, 1.0, 1e300])
            case _ if isinstance(holder, dict):
                holder[rng.choice(["transform", "__class__", "fit", "x", str(other)])] = holder.pop(key)
    return node


def edit_model(data, rng):
    header, body = unpack(data)
    header["__metadata__"]["model"] = json.dumps(edit(json.loads(header["__metadata__"]["model"]), rng))
    return pack(header, body)


def edit_header(data, rng):
    header, body = unpack(data)
    metadata = header.pop("__metadata__")
    return pack({"__metadata__": metadata if rng.random() < 0.8 else edit(metadata, rng), **edit(header, rng)}, body)


def reshape(data, rng):
    """Give arrays other shapes, types and places that still fill the file."""
    header, body = unpack(data)
    tables = [entry for name, entry in header.items() if name != "__metadata__"]
    one, other = rng.choice(tables), rng.choice(tables)
    match rng.randrange(4):
        case 0:
            one["shape"] = one["shape"][::-1]
        case 1:
            one["shape"] = [int(np.prod(one["shape"]))]
        case 2:
            one["dtype"] = {"F64": "I64", "I64": "F64", "F32": "I32", "I32": "F32"}.get(one["dtype"], "U8")
        case 3:
            for key in ("dtype", "shape", "data_offsets"):
                one[key], other[key] = other[key], one[key]
    return pack(header, body)


MUTATIONS = [flip, cut, lengthen, flip_and_sign, edit_model, edit_model, edit_model, edit_header, reshape]


def judge(path):
    """Load one file: what went wrong; nothing if it was refused, None if it is a model."""
    try:
        model = models.load(path)
    except (ValueError, OSError) as error:
        line = str(error)
        if "MemoryError" in line or "allocate" in line:
            return f"an attempt to take memory: {line}"
        return "" if line.startswith(f"{path}: ") and "\n" not in line else f"an unclear refusal: {line!r}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    if type(model).__name__ not in {"Pipeline", *conftest["CLASSES"]}:
        return f"loaded {type(model)}"
    if hasattr(steps_of(model)[-1], "summary_") and (answers := ask(model)) and all(answers.values()):
        return "loaded a model that answers nothing"
    return None


def campaign(count, seed):
    rng, events = random.Random(seed), []
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))  # what asks for more shall fail, not the machine
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path, bases = Path(folder, "m"), []
        for name, which in BASES:
            if name in conftest["CLASSES"]:
                models.save(conftest["fit"](name, *conftest["CONFIGURATIONS"][name][which]), path)
                judge(path)
                bases.append(path.read_bytes())
        models.save(make_pipeline(PCA(3), KernelPCA(2)).fit(conftest["X"]), path)
        bases.append(path.read_bytes())
        repr(PCA())  # scikit-learn imports its printer when an error names an estimator
        for cls in CLASSES.values():  # types of fields are written as text, which Python compiles once
            hints_of(cls)
        faults, loaded, slowest = [], 0, 0.0
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        watching = False
        sys.addaudithook(
            lambda event, arguments: (
                events.append((event, str(arguments)[:200])) if watching and event in FORBIDDEN else None
            )
        )
        at = 0
        while at < count:
            mutation = rng.choice(MUTATIONS)
            try:
                data = mutation(rng.choice(bases), rng)
            except (ValueError, KeyError, TypeError, IndexError):
                continue  # this edit of this place makes no file: another one
            at += 1
            path.write_bytes(data)
            start, watching = time.perf_counter(), True
            fault = judge(path)
            watching = False
            slowest = max(slowest, time.perf_counter() - start)
            loaded += fault is None
            if fault:
                faults.append(f"{at} {mutation.__name__}: {fault}")
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "files": at,
        "faults": faults[:10],
        "events": events[:10],
        "slowest": slowest,
        "megabytes": (after - before) / 1024,
        "largest": max(map(len, bases)),
        "loaded": loaded,
    }


def run(count, seed):
    done = subprocess.run(
        [sys.executable, __file__, str(count), str(seed)], capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def check(report):
    assert report["faults"] == []
    assert report["events"] == []
    assert report["slowest"] < 5
    assert report["megabytes"] < 64
    assert 0 < report["loaded"] < report["files"] / 2


@pytest.mark.slow
def test_some_hundred_damaged_files():
    check(run(400, 1))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_ten_thousand_damaged_files(seed):
    check(run(2500, seed))


if __name__ == "__main__":
    sys.path.insert(0, str(CONFTEST.parents[2]))  # as in pytest: what is beside the tests is imported by its name
    conftest = runpy.run_path(str(CONFTEST))
    pack, unpack = conftest["pack"], conftest["unpack"]
    print(json.dumps(campaign(int(sys.argv[1]), int(sys.argv[2]))))
