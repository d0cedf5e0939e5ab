"""How quick the explorer is: from slider to picture, at 200,000 points, and with ten clients at once.

``make bench-explore``: chromium without a screen, WebGL in software, on this machine, beside whatever else it does.
"""

from __future__ import annotations

import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from playwright.sync_api import Page, sync_playwright

from gramian.explore.choice import CONTROLS
from gramian.explore.control_callbacks import LOADING

SWITCHES = ["--no-sandbox", "--disable-background-networking", "--enable-unsafe-swiftshader"]
MOVES, CLIENTS, QUESTIONS = 30, 10, 10
#: Remembers when the pointer moved last, and when each picture was on the screen.
WATCH = """() => {
    window.moved = 0; window.pictures = [];
    document.addEventListener('pointermove', () => { window.moved = performance.now(); }, true);
    document.querySelector('#scores .js-plotly-plot').on('plotly_afterplot', () =>
        requestAnimationFrame(() => requestAnimationFrame(() => window.pictures.push(performance.now()))));
}"""


def clusters(n: int, d: int) -> np.ndarray:
    """Ten clusters whose columns matter less and less, as pixels of digits do."""
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((10, d)) * 3
    return (centres[rng.integers(10, size=n)] + rng.standard_normal((n, d))) * 1.05 ** -np.arange(d)


@contextmanager
def explorer(X: np.ndarray) -> Iterator[str]:
    """A server for a table, as the command starts it; yields its address."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "points.npy"), X)
        command = [sys.executable, "-m", "gramian", "explore", "points.npy", "--no-browser"]
        with subprocess.Popen(
            command, cwd=folder, env=os.environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server:
            assert server.stdout is not None
            try:
                yield server.stdout.readline().strip()
            finally:
                server.terminate()


def choose(page: Page, name: str, words: str) -> None:
    page.click(f"#{name}")
    page.get_by_role("option", name=words, exact=True).click()


def settled(page: Page, words: str) -> None:
    page.wait_for_function(
        "words => document.getElementById('status')?.textContent.includes(words)", arg=words, timeout=300_000
    )
    page.wait_for_function("document.querySelector('#scores .js-plotly-plot')?.data?.[0]?.x !== undefined")


def drag(page: Page) -> list[float]:
    """Seconds from each move of the width's handle to the picture that answers it."""
    box = page.locator("#width-box [role=slider]").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    taken = []
    for at in range(1, MOVES + 1):
        page.wait_for_timeout(60)
        seen = page.evaluate("window.pictures.length")
        page.mouse.move(x - 3 * at, y)
        page.wait_for_function("seen => window.pictures.length > seen", arg=seen, polling=50, timeout=20_000)
        taken.append(page.evaluate("(window.pictures.at(-1) - window.moved) / 1000"))
    return taken


def release(page: Page) -> float:
    """Seconds from letting the handle go to the exact picture."""
    said, start = page.inner_text("#code"), time.perf_counter()
    page.mouse.up()
    page.wait_for_function(
        "said => document.getElementById('code').textContent !== said", arg=said, polling=20, timeout=300_000
    )
    return time.perf_counter() - start


def slider(page: Page, n: int, d: int) -> None:
    with explorer(clusters(n, d)) as address:
        start = time.perf_counter()
        page.goto(address)
        settled(page, "PCA ·")
        opened = time.perf_counter() - start
        start = time.perf_counter()
        choose(page, "method", "Kernel PCA")
        settled(page, "Kernel PCA ·")
        first = time.perf_counter() - start
        page.wait_for_timeout(1500)
        page.evaluate(WATCH)
        taken = drag(page)
        exact = release(page)
        print(
            f"{n:>7,} x {d:<3} page {opened:5.1f} s   kernel PCA {first:5.1f} s   "
            f"slider to picture {statistics.median(taken):.3f} s (worst of {len(taken)} {max(taken):.3f})   "
            f"release to final picture {exact:.1f} s",
            flush=True,
        )


class Client:
    """A browser's questions without the browser: one tab that drags a slider."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.origin = f"http://{parts.netloc}"
        self.line = http.client.HTTPConnection(parts.netloc, timeout=120)
        self.line.request("GET", f"/?{parts.query}")
        answer = self.line.getresponse()
        answer.read()
        self.cookie = str(answer.headers["Set-Cookie"]).partition(";")[0]
        asked = self._get("/_dash-dependencies")
        served = [part for part in asked if not part.get("clientside_function")]
        self.known = {tuple(f"{one['id']}.{one['property']}" for one in part["inputs"]): part for part in served}
        self.values: dict[str, Any] = {}
        self.ask("tab.modified_timestamp")
        self.values["address.data"] = {"hash": "", "opens": True}
        self.ask(*LOADING.split())
        self.values |= {"method.value": "kernel-pca", "kernel.value": "rbf"}
        self.fit = ["loaded.data", *(f"{name}.value" for name in CONTROLS)]
        self.ask(*self.fit)

    def _get(self, path: str) -> Any:
        self.line.request("GET", path, headers={"Cookie": self.cookie})
        return json.loads(self.line.getresponse().read())

    def ask(self, *inputs: str) -> Any:
        """Ask the callback that has these inputs, with the values that this tab holds; keep what it answers."""
        part = self.known[inputs]
        names = part["output"].strip(".").split("...")
        outputs: Any = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
        body = {
            "output": part["output"],
            "outputs": outputs if part["output"].startswith("..") else outputs[0],
            "inputs": [self._value(one) for one in part["inputs"]],
            "changedPropIds": [inputs[0]],
            "state": [self._value(one) for one in part.get("state", [])],
        }
        headers = {"Cookie": self.cookie, "Origin": self.origin, "Content-Type": "application/json"}
        self.line.request("POST", "/_dash-update-component", json.dumps(body), headers)
        answer = self.line.getresponse()
        text = answer.read()
        if answer.status != 200:
            return None
        found = json.loads(text)["response"]
        for name, properties in found.items():
            self.values |= {f"{name}.{key}": value for key, value in properties.items()}
        return found

    def _value(self, one: dict[str, str]) -> dict[str, Any]:
        return {**one, "value": self.values.get(f"{one['id']}.{one['property']}")}

    def settle(self) -> None:
        """Wait for the exact fit."""
        while not self.values.get("tick.disabled"):
            time.sleep(0.25)
            self.ask("tick.n_intervals")

    def drag(self) -> list[float]:
        """Seconds of each of some previews."""
        taken = []
        for at in range(QUESTIONS):
            self.values["ask.data"] = {"width": 0.05 * (at + 1), "number": at}
            start = time.perf_counter()
            found = self.ask("ask.data")
            taken.append(time.perf_counter() - start)
            assert found is not None
            assert "scores" in found
        return taken


def clients(n: int, d: int) -> None:
    with explorer(clusters(n, d)) as address:
        tabs = [Client(address) for _ in range(CLIENTS)]
        for tab in tabs:
            tab.settle()
        alone = tabs[0].drag()
        with ThreadPoolExecutor(CLIENTS) as pool:
            start = time.perf_counter()
            taken = [one for part in pool.map(Client.drag, tabs) for one in part]
            whole = time.perf_counter() - start
    print(
        f"{n:>7,} x {d:<3} one client: preview {statistics.median(alone):.3f} s   {CLIENTS} at once: "
        f"{statistics.median(taken):.3f} s (worst {max(taken):.3f}), {len(taken) / whole:.0f} previews a second",
        flush=True,
    )


def main() -> None:
    print(f"{os.cpu_count()} processors, of which others keep {os.getloadavg()[0]:.1f} busy", flush=True)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=SWITCHES)
        for n, d in ((5000, 3), (5000, 64), (200_000, 8)):
            context = browser.new_context(viewport={"width": 1280, "height": 900})
            context.set_default_timeout(120_000)
            slider(context.new_page(), n, d)
            context.close()
        browser.close()
    clients(5000, 64)


if __name__ == "__main__":
    main()
