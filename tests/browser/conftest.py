"""A browser without a network, which remembers what its console said."""

import re
import shutil
from importlib.resources import files

import pytest

DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}
SWITCHES = ("--no-sandbox", "--disable-background-networking", "--enable-unsafe-swiftshader")


def pytest_collection_modifyitems(items):
    for item in items:
        if "browser" in item.path.parts:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium():
    """Debian's chromium, headless, with WebGL in software."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the extra 'browser' is not installed")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("chromium is not installed; `make test-browser` installs it")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium):
    """Open an address; when the test ends, no page may have complained or asked for anything beyond this machine.

    A test that provokes a complaint passes a pattern for it: ``open_page(address, forgive="409")``.
    """
    contexts, complaints = [], []

    def open_it(address, *, viewport=DESKTOP, forgive=None, **options):
        context = chromium.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()

        def complain(text):
            if forgive is None or not re.search(forgive, text):
                complaints.append(text)

        page.on("console", lambda said: complain(said.text) if said.type in {"error", "warning"} else None)
        page.on("pageerror", lambda error: complain(str(error)))
        page.on("request", lambda asked: None if _near(asked.url) else complain(f"asked for {asked.url}"))
        page.goto(address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def accessibility():
    """Return a function that lists what axe finds wrong with a page: rule and place."""
    script = (files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")

    def violations(page):
        page.evaluate(script)
        found = page.evaluate("axe.run()")
        return [f"{v['id']}: {node['html'][:160]}" for v in found["violations"] for node in v["nodes"]]

    return violations


def _near(address):
    return re.match(r"(file|data|blob|about):|https?://(127\.0\.0\.1|localhost)[:/]", address) is not None
