"""Every link of a page leads somewhere; every page can be found; built pages are checked by the same program."""

import re
import sys

import pytest

from .pages import FENCE, ROOT, all_pages

DOCS = ROOT / "docs"
LINK = re.compile(r"(?<!\!)\[[^\]\n]*\]\(([^)\s]+)\)")
#: Pages that the build makes, and what it makes them of.
MADE = {"lessons": DOCS / "tutorials", "gallery": ROOT / "examples"}


def anchors(text):
    """Anchors of the headings of a page, by the rule of GitHub and MyST."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def source(path):
    """The file a link means: itself, a page without its ending, or what a page is made of."""
    for name, folder in MADE.items():
        if path.is_relative_to(DOCS / name):
            made = path.relative_to(DOCS / name).with_suffix("")
            return folder / ("GALLERY_HEADER.rst" if made.name == "index" else f"{made}.py")
    return path if path.exists() else path.with_name(path.name + ".md")


def broken(page):
    """Links of a page that lead nowhere."""
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        name, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        found = source((page.parent / name).resolve()) if name else page
        if not found.exists() or (anchor and anchor not in anchors(found.read_text())):
            yield target


@pytest.mark.parametrize("page", all_pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken(page)) == []


def test_a_link_to_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[good](#a-heading) [bad](#another) [gone](gone.md) [away](https://example.org)\n")
    assert list(broken(page)) == ["#another", "gone.md"]


def test_every_page_is_in_a_table_of_contents():
    listed = set()
    for page in all_pages():
        for fence in FENCE.finditer(page.read_text()):
            if fence["kind"].strip() == "{toctree}":
                entries = [line for line in fence["body"].split() if not line.startswith(":")]
                listed |= {file for entry in entries for file in page.parent.glob(f"{entry}.md")}
    alone = [page for page in all_pages() if page.is_relative_to(DOCS) and page not in listed]
    assert alone == [DOCS / "index.md"]


def test_broken_built_pages_are_found(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(DOCS / "_ext")
    monkeypatch.delitem(sys.modules, "check_built", raising=False)
    from check_built import problems

    (tmp_path / "index.html").write_text('<p id="here"><a href="#here">a</a><a href="other.html#no">b</a></p>')
    (tmp_path / "other.html").write_text('<img src="gone.png"><script src="https://example.org/x.js"></script>')
    assert problems(tmp_path) == [
        "index.html: other.html#no has no such anchor",
        "other.html: gone.png is not there",
        "other.html: fetches https://example.org/x.js",
    ]
