"""Mutation tests: small slips are put into the modules that everything rests on, and the tests must notice them.

``python tools/mutants.py [module ...]`` makes every mutant of :mod:`mutations`, runs the quick tests of its module
until one fails, and says which mutants none noticed. Sources are never written to: a process forked for each mutant
imports the changed module from memory. Tests that noticed most go first; counts are kept in ``tools/mutants.json``.
"""

from __future__ import annotations

import argparse
import gc
import importlib.abc
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import hypothesis
import pytest
import sklearn.datasets  # noqa: F401  (here once, so that each fork has it)

from mutations import Mutant, mutants

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tools" / "mutants.json"
#: Quick test files that concern a module, its own first.
TESTS = {
    "gramian.mixing": ["test_mixing.py", "equivalences/test_cca.py"],
    "gramian.operators.centering": ["operators/test_centering.py", "equivalences/test_thin_plate_spline.py"],
    "gramian.operators.moments": ["operators/test_moments.py", "operators/test_compressed.py"],
    "gramian.operators.compressed": [
        "operators/test_compressed.py",
        "laws/test_two_block_routes.py",
        "references/test_nist.py",
    ],
    "gramian.solvers.eigen": ["solvers/test_eigen.py", "laws/test_solvers_and_spaces.py"],
}
#: Seconds after which a mutant counts as noticed: it hangs.
MUTANT_MAX_SECONDS = 120
#: Bytes of address space after which it does: it eats memory. Tests of budgets ask for 9.6 GB, and touch none of it.
MUTANT_MAX_BYTES = 12 << 30


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives one module from code that is in memory."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self.name, self.path, self.code = name, path, code

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        return importlib.util.spec_from_file_location(name, self.path, loader=self) if name == self.name else None

    def exec_module(self, module: ModuleType) -> None:
        exec(self.code, module.__dict__)


class Referee:
    """Runs tests that notice much first, and remembers the one that failed."""

    def __init__(self, killers: Counter[str]) -> None:
        self.killers, self.failed = killers, ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: -self.killers[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed = report.nodeid


def judge(name: str, code: CodeType, files: list[str], killers: Counter[str], answer: int) -> None:
    """Run the tests on a mutant, in a process of its own, and write the name of the test that failed."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MUTANT_MAX_BYTES, MUTANT_MAX_BYTES))
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    sys.meta_path.insert(0, Changed(name, source_of(name), code))
    # No shrinking and no memory of examples: a mutant fails once and is done, and the next run meets the same examples.
    phases = [hypothesis.Phase.explicit, hypothesis.Phase.generate]
    hypothesis.settings.register_profile("mutants", phases=phases, database=None, derandomize=True)
    hypothesis.settings.load_profile("mutants")
    verdict = ""
    for part in (files[:1], files[1:]):  # the module's own tests first: most mutants get no further
        verdict = verdict or attempt(part, killers)
    os.write(answer, verdict.encode())


def attempt(files: list[str], killers: Counter[str]) -> str:
    """Run tests until one fails; return its name, or nothing."""
    referee = Referee(killers)
    # Hypothesis is here before pytest could rewrite its assertions: no matter.
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    status = pytest.main([*options, *files], plugins=[referee])
    return "" if status == pytest.ExitCode.OK else referee.failed or "import"


def warm(room: str) -> None:
    """Import what gramian imports, and forget gramian itself: forks then read its own modules only, compiled."""
    sys.dont_write_bytecode, sys.pycache_prefix = False, room
    importlib.import_module("gramian.testing")
    for name in [name for name in sys.modules if name.partition(".")[0] == "gramian"]:
        del sys.modules[name]
    gc.freeze()


def source_of(name: str) -> Path:
    """Path of a module."""
    return ROOT / "src" / Path(*name.split(".")).with_suffix(".py")


def trial(name: str, chosen: list[Mutant], killers: Counter[str], jobs: int) -> dict[str, str]:
    """Try mutants, so many at a time; return for each the test that noticed it, or nothing."""
    files = [str(ROOT / "tests" / file) for file in TESTS[name]]
    waiting, running, verdicts = list(reversed(chosen)), {}, {}
    while waiting or running:
        while waiting and len(running) < jobs:
            mutant = waiting.pop()
            reading, writing = os.pipe()
            pid = os.fork()
            if pid == 0:
                try:
                    judge(name, mutant.code, files, killers, writing)
                    os._exit(0)
                finally:
                    os._exit(1)
            os.close(writing)
            running[pid] = (mutant, reading, time.monotonic())
        time.sleep(0.05)
        for pid, (mutant, reading, begun) in list(running.items()):
            late = time.monotonic() - begun > MUTANT_MAX_SECONDS
            if late:
                os.killpg(pid, signal.SIGKILL)
            ended, status = os.waitpid(pid, 0 if late else os.WNOHANG)
            if ended:
                said = os.read(reading, 4096).decode()
                verdicts[mutant.text] = "time" if late else said or ("crash" if status else "")
                killers[verdicts[mutant.text]] += 1
                os.close(reading)
                del running[pid]
    return verdicts


def equivalents(name: str, known: set[str]) -> set[str]:
    """Mutants that cannot change a result, as listed with reasons; one that is not made any more is an error."""
    with open(ROOT / "tools" / "equivalent.toml", "rb") as file:
        entries = [entry for entry in tomllib.load(file)["equivalent"] if entry["module"] == name]
    listed = {mutant for entry in entries for mutant in entry["mutants"]}
    if gone := sorted(listed - known):
        raise SystemExit(f"tools/equivalent.toml lists what is no mutant of {name} any more: {gone[0]}")
    return listed


def main() -> int:
    """Try the mutants of the modules named, print a table, and keep what was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("modules", nargs="*", default=list(TESTS), help="such as gramian.mixing; all if none is named")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each Nth mutant only")
    parser.add_argument("--only", default="", metavar="TEXT", help="try mutants whose text has this in it")
    parser.add_argument("--survivors", action="store_true", help="try those only that none noticed the last time")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=85, help="percentage that must be noticed")
    options = parser.parse_args()
    os.environ |= {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.path.insert(0, str(ROOT / "src"))
    os.chdir(ROOT)
    room = tempfile.TemporaryDirectory()
    hypothesis.configuration.set_hypothesis_home_dir(room.name)
    warm(room.name)
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    partial, short = options.every > 1 or options.only or options.survivors, False
    print(f"{'module':30} {'mutants':>8} {'noticed':>8} {'%':>6} {'seconds':>8}", flush=True)
    for name in options.modules:
        before = kept.get(name, {})
        found = mutants(source_of(name).read_text(), str(source_of(name)))
        unfair = equivalents(name, {mutant.text for mutant in found})
        chosen = [m for m in found if m.text not in unfair and options.only in m.text][:: options.every]
        if options.survivors:
            chosen = [m for m in chosen if m.text in before.get("survivors", [m.text])]
        killers, begun = Counter(before.get("killers", {})), time.monotonic()
        sound = Mutant(0, "nothing changed", compile(source_of(name).read_text(), source_of(name), "exec"))
        if fault := trial(name, [sound], Counter(), 1)[sound.text]:
            raise SystemExit(f"{name} as it is fails: {fault}. Mend that first.")
        verdicts = trial(name, chosen, killers, options.jobs)
        survivors = [m.text for m in chosen if not verdicts[m.text]]
        noticed, seconds = len(chosen) - len(survivors), time.monotonic() - begun
        share = 100 * noticed / max(len(chosen), 1)
        print(f"{name:30} {len(chosen):8} {noticed:8} {share:6.1f} {seconds:8.0f}")
        print("".join(f"    {text}\n" for text in survivors), end="", flush=True)
        if not partial:
            short |= share < options.least
            ways = {test: n for test, n in Counter(v for v in verdicts.values() if v).most_common()}
            score = {"mutants": len(chosen), "noticed": noticed, "equivalent": len(unfair)}
            kept[name] = {**score, "killers": ways, "survivors": survivors}
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    return int(short)


if __name__ == "__main__":
    sys.exit(main())
