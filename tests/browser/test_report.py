"""Reports in a browser without a network: drawn without complaint, accessible, readable at any width, in any light."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits, load_iris

import gramian as g

from .conftest import DESKTOP, PHONE

DATA = Path(__file__).parents[2] / "examples" / "data"


def decathlon(path):
    table = pd.read_csv(DATA / "decathlon.csv")
    X = table.loc[:, "100m":"1500m"].set_index(table.iloc[:, 0].astype(str))
    beside = table[["Rank", "Points", "Competition"]]
    g.report(g.PCA(3, scale=True).fit(X), path, X, colour=table["Competition"], supplementary_columns=beside)


def digits(path):
    X, y = load_digits(return_X_y=True)
    g.report(g.PCA(10).fit(X), path, X, y)


def meats(path):
    table = pd.read_csv(DATA / "meats.csv")
    X, y = table.filter(like="x_"), table["fat"]
    model = g.PLSRegression(6).fit(X[:172], y[:172])
    g.report(model, path, X[:172], y[:172], test=(X[172:], y[172:]), supplementary_rows=X[172:])


def views(path):
    X, Y = (pd.read_csv(DATA / f"nutrimouse_{name}.csv").select_dtypes("number") for name in ("gene", "lipid"))
    g.report(g.CCA(2, ridge=0.1).fit(X, Y), path, X, Y)


def classes(path):
    X, y = load_iris(return_X_y=True)
    g.report(g.KernelSVC(kernel="rbf(sigma=1)").fit(X[:, :2], y), path, X[:, :2], y)


WIDE = {"width": 1400, "height": 900}
PAGES = {"decathlon": decathlon, "digits": digits, "meats": meats, "views": views, "classes": classes}


@pytest.fixture(scope="session")
def page_of(tmp_path_factory):
    """Addresses of reports, each made when it is first asked for."""
    folder, made = tmp_path_factory.mktemp("reports"), {}

    def address(name):
        if name not in made:
            PAGES[name](folder / f"{name}.html")
            made[name] = (folder / f"{name}.html").as_uri()
        return made[name]

    return address


def drawn(page):
    """Wait until every picture is drawn, and return how many there are."""
    page.wait_for_function("[...document.querySelectorAll('.plot')].every(plot => plot.querySelector('.main-svg'))")
    return page.locator(".plot").count()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", PAGES)
def test_pictures_are_drawn_and_nothing_is_wider_than_the_screen(name, viewport, page_of, open_page, tmp_path):
    page = open_page(page_of(name), viewport=viewport)
    assert drawn(page) >= 1
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    widths = page.evaluate("[...document.querySelectorAll('.plot .main-svg')].map(svg => svg.clientWidth)")
    assert max(widths) <= viewport["width"]
    page.screenshot(path=tmp_path / f"{name}.png", full_page=True)
    assert (tmp_path / f"{name}.png").stat().st_size > 20_000


@pytest.mark.parametrize(
    ("name", "options"),
    [("decathlon", {}), ("classes", {"viewport": PHONE}), ("meats", {"color_scheme": "dark"})],
    ids=["light", "phone", "dark"],
)
def test_a_report_is_accessible(name, options, page_of, open_page, accessibility):
    page = open_page(page_of(name), **options)
    drawn(page)
    for details in page.locator("details").all():
        details.evaluate("details => { details.open = true }")
    assert accessibility(page) == []


def test_a_wide_screen_has_two_columns_and_a_phone_one(page_of, open_page):
    sides = "[...document.querySelectorAll('.columns .part')].map(part => Math.round(part.getBoundingClientRect().x))"
    for viewport, count in ((WIDE, 2), (PHONE, 1)):
        page = open_page(page_of("decathlon"), viewport=viewport)
        drawn(page)
        assert len(set(page.evaluate(sides))) == count
        lone = "[...document.querySelectorAll('.alone')].filter(block => block.querySelector('.plot')).length"
        assert page.evaluate(lone) == 0


def test_the_keyboard_leads_through_the_page(page_of, open_page):
    page = open_page(page_of("decathlon"))
    drawn(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    page.keyboard.press("Tab")
    reached = page.evaluate("document.activeElement.tagName")
    assert reached in ("BUTTON", "SUMMARY", "A", "DIV")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_switch_turns_pictures_dark_too(page_of, open_page):
    page = open_page(page_of("decathlon"))
    drawn(page)
    colour = "getComputedStyle(document.body).backgroundColor"
    ink = "getComputedStyle(document.querySelector('.plot .xtick text')).fill"
    before = page.evaluate(colour), page.evaluate(ink)
    page.get_by_role("button", name="Switch to dark colours").click()
    after = page.evaluate(colour), page.evaluate(ink)
    assert (before[0], after[0]) == ("rgb(255, 255, 255)", "rgb(20, 23, 26)")
    assert before[1] != after[1]
    page.get_by_role("button", name="Switch to light colours").click()
    assert (page.evaluate(colour), page.evaluate(ink)) == before


def test_it_prints_light_and_without_buttons(page_of, open_page):
    page = open_page(page_of("meats"), color_scheme="dark")
    drawn(page)
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("button:visible, nav:visible, details:visible").count() == 0
    page.wait_for_function("getComputedStyle(document.querySelector('.plot .xtick text')).fill === 'rgb(0, 0, 0)'")
    pages = page.pdf(format="A4")
    assert pages.startswith(b"%PDF")


def test_tables_and_pictures_can_be_kept(page_of, open_page, tmp_path):
    page = open_page(page_of("decathlon"), accept_downloads=True)
    drawn(page)
    with page.expect_download() as kept:
        page.get_by_role("link", name="Download table-of-scores.csv").click()
    kept.value.save_as(tmp_path / "scores.csv")
    scores = pd.read_csv(tmp_path / "scores.csv")
    table = pd.read_csv(DATA / "decathlon.csv").loc[:, "100m":"1500m"]
    np.testing.assert_allclose(scores.iloc[:, 1:], g.PCA(3, scale=True).fit_transform(table))
    with page.expect_download() as kept:
        page.get_by_role("button", name=re.compile("Save the picture What each component holds")).click()
    kept.value.save_as(tmp_path / "scree.svg")
    assert (tmp_path / "scree.svg").read_text(encoding="utf-8").startswith("<svg")


def test_names_with_markup_are_shown_as_they_are(open_page, tmp_path):
    names = ["<script>alert(1)</script>", "</script><b>", "a & b"]
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((30, 3)) * [3, 2, 1], columns=names)
    labels = np.array(["<img src=x onerror=alert(1)>", "</script>"])[np.arange(30) % 2]
    g.report(g.PCA(2).fit(X), tmp_path / "nasty.html", X, labels)
    page = open_page((tmp_path / "nasty.html").as_uri())
    drawn(page)
    assert page.locator("b").count() == 0
    assert page.locator("img").count() == 0
    shown = page.locator(".plot .annotation-text").all_text_contents()
    assert "<script>alert(1)</script>" in shown
    assert "</script>" in " ".join(page.locator(".plot .legendtext").all_text_contents())
