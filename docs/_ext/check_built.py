"""Check built pages: every link, anchor and picture is there, and nothing is fetched from another host.

``python docs/_ext/check_built.py docs/_build/html``
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes that make a browser fetch something by itself.
FETCHED = {("script", "src"), ("img", "src"), ("link", "href"), ("source", "src"), ("iframe", "src")}


class Page(HTMLParser):
    """Anchors of a page, and what it points to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.targets: list[tuple[str, str]] = []
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note ids, links and sources."""
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.anchors.add(value)
            if key in ("href", "src") and value:
                self.targets.append((tag, value))


def problems(folder: Path) -> list[str]:
    """What is broken, a line each."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for tag, target in page.targets:
            parts = urlsplit(target)
            if parts.scheme in ("http", "https") or parts.netloc:
                if any(tag == fetching for fetching, _ in FETCHED):
                    found.append(f"{name}: fetches {target}")
                continue
            if parts.scheme:
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.exists():
                found.append(f"{name}: {target} is not there")
            elif parts.fragment and there in pages and unquote(parts.fragment) not in pages[there].anchors:
                found.append(f"{name}: {target} has no such anchor")
    for style in sorted(folder.rglob("*.css")):
        text = style.read_text(errors="replace")
        if "url(http" in text or "url(//" in text or "@import" in text:
            found.append(f"{style.relative_to(folder)}: fetches from another host")
    return found


if __name__ == "__main__":
    broken = problems(Path(sys.argv[1]))
    print("\n".join(broken) or "every link, anchor and picture is there; nothing is fetched from elsewhere")
    sys.exit(bool(broken))
