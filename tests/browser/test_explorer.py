"""The explorer as somebody uses it: send, choose, drag, lasso, export, cancel, reload, two tabs, a wrong file."""

import csv
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_circles

pytest.importorskip("dash", reason="the extra 'explore' is not installed")

from gramian.explore.datasets import MAX_UPLOAD_BYTES
from gramian.explore.server import serving
from gramian.registry import METHODS

from .conftest import DESKTOP, PHONE

ROOT = Path(__file__).parents[2]
#: What the driver of WebGL in software says of itself.
DRIVER = "GPU stall due to ReadPixels|Canvas2D: Multiple readback"
#: Tables for teaching: what their code says, and how many rows they have.
TABLES = {
    "Two rings": ("make_circles", 600),
    "Two moons": ("make_moons", 600),
    "Handwritten digits": ("load_digits", 1797),
    "Exercises and bodies (two views)": ("load_linnerud", 20),
}
#: Requests of each page that are not answered yet.
WAITING = {}
NO_WEBGL = """const plain = HTMLCanvasElement.prototype.getContext;
HTMLCanvasElement.prototype.getContext = function(kind, ...more) {
    return String(kind).includes('webgl') ? null : plain.call(this, kind, ...more);
};"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working folder of the server: a table to send, a long one, a wrong one."""
    place = tmp_path_factory.mktemp("explore")
    X, inner = make_circles(300, factor=0.4, noise=0.06, random_state=1)
    lines = [f"{x:.6f},{y:.6f},{'in' if at else 'out'}" for (x, y), at in zip(X, inner, strict=True)]
    (place / "circles.csv").write_text("\n".join(["east,north,side", *lines]) + "\n")
    (place / "wrong.csv").write_bytes(bytes(range(256)) * 40)
    (place / "wrong.pkl").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    rng = np.random.default_rng(0)
    (place / "bars.csv").write_text("who!a!b\nx!1!2\ny!2!1\nz!3!5\nu!4!1\n")
    (place / "large.csv").write_bytes(b"a,b\n" + b"1,2\n" * (MAX_UPLOAD_BYTES // 4))
    rows = [f"{at},{at * at % 7},{at % 5},{at if at < 4 else ''}" for at in range(30)]
    (place / "gaps.csv").write_text("\n".join(["a,b,c,rare", *rows]))
    np.save(place / "long.npy", rng.standard_normal((14_000, 20)))
    return place


@pytest.fixture(scope="module")
def address(folder):
    """A server of its own process, as the command starts it."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])}
    table = str(ROOT / "examples" / "data" / "decathlon.csv")
    command = [sys.executable, "-m", "gramian", "explore", table, "--no-browser"]
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process.stdout.readline().strip()
        process.terminate()
        said = process.stderr.read()
    assert "error" not in said, said


@pytest.fixture(scope="module")
def alone(folder):
    """A server without a table."""
    with serving(folder=folder) as served:
        threading.Thread(target=served.run, daemon=True).start()
        yield served.address
        served.stop()


@pytest.fixture
def page(open_page, address):
    opened = open_page(address, forgive=DRIVER)
    opened.set_default_timeout(60_000)
    return ready(opened)


def ready(page, words="PCA"):
    """Wait for the first picture."""
    if page not in WAITING:
        waiting = WAITING[page] = set()
        page.on("request", lambda asked: waiting.add(asked))
        page.on("requestfinished", lambda asked: waiting.discard(asked))
        page.on("requestfailed", lambda asked: waiting.discard(asked))
    page.wait_for_function("words => document.getElementById('status')?.textContent.includes(words)", arg=words)
    page.wait_for_function("document.querySelector('#scores .js-plotly-plot')?.data?.[0]?.x !== undefined")
    page.wait_for_function("document.getElementById('code').textContent.includes('model')")
    quiet(page)
    return page


def choose(page, name, words):
    page.click(f"#{name}")
    page.get_by_role("option", name=words, exact=True).click()


def take(page, words):
    """Choose a table for teaching."""
    page.click("#tables")
    page.locator(".lesson", has_text=words).click()


def load(page, words):
    """Choose a table for teaching, and wait for its pictures."""
    said, count = TABLES[words]
    take(page, words)
    told(page, said)
    drawn(page, count)


def drawn(page, count):
    """Wait until the picture of the scores has so many points."""
    page.wait_for_function(
        "count => document.querySelector('#scores .js-plotly-plot')._fullData[0].x.length === count", arg=count
    )
    quiet(page)


def told(page, words):
    """Wait until the code says this."""
    page.wait_for_function(
        "words => document.getElementById('code').textContent.includes(words)", arg=words, timeout=60_000
    )
    quiet(page)


def settled(page, words):
    """Wait until the status says this, and the pictures have caught up."""
    page.wait_for_function(
        "words => document.getElementById('status').textContent.includes(words)", arg=words, timeout=60_000
    )
    quiet(page)


def quiet(page):
    """Wait until the page has asked nothing for a while, and all it asked is answered."""
    asked = "performance.getEntriesByType('resource').filter(one => one.name.includes('_dash-update')).length"
    count, since = -1, 0.0
    while time.monotonic() - since < 0.5:
        page.wait_for_timeout(50)
        now = (page.evaluate(asked), len(WAITING.get(page, ())))
        if now != count or now[1]:
            count, since = now, time.monotonic()


def points(page, trace=0):
    """Coordinates on the screen."""
    xs, ys = page.evaluate(
        "at => { const t = document.querySelector('#scores .js-plotly-plot')._fullData[at];"
        " return [Array.from(t.x), Array.from(t.y)]; }",
        trace,
    )
    return np.column_stack([xs, ys])


def status(page):
    return page.inner_text("#status")


def code(page):
    return page.inner_text("#code")


def handle(page, name):
    box = page.locator(f"#{name}-box [role=slider]").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def lasso(page, left=0.3, right=0.97, top=0.05, bottom=0.95):
    area = page.locator("#scores .nsewdrag").first.bounding_box()
    at = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    spots = [(area["x"] + x * area["width"], area["y"] + y * area["height"]) for x, y in at]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for spot in spots[1:]:
        page.mouse.move(*spot, steps=6)
    page.mouse.up()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_page_opens_and_everybody_can_use_it(open_page, address, accessibility, viewport):
    page = ready(open_page(address, viewport=viewport, forgive=DRIVER))
    assert "token" not in page.url
    assert "41 rows, 12 columns" in page.inner_text("#about")
    assert len(points(page)) == 41
    buttons = page.eval_on_selector_all(".modebar-btn", "all => all.map(one => one.dataset.title)")
    assert "Lasso Select" in buttons
    assert not [title for title in buttons if re.search("share|cloud|edit", title, re.IGNORECASE)]
    assert accessibility(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_kernels_and_their_parameters_are_accessible_too(page, accessibility):
    load(page, "Handwritten digits")
    page.click("#kernel")
    page.keyboard.press("Escape")
    page.wait_for_timeout(500)  # the list folds up
    assert accessibility(page) == []


def test_a_method_is_chosen_and_the_code_says_so(page):
    assert "PCA(n_components=2, scale=True)" in code(page)
    choose(page, "method", "Factor analysis")
    told(page, "FactorAnalysis(n_components=2)")
    assert "Factor analysis ·" in status(page)
    page.get_by_text("scale columns to unit variance").click()
    page.wait_for_function("!document.getElementById('code').textContent.includes('Standardizer')")


def test_keys_move_a_slider(page):
    page.locator("#k-box [role=slider]").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.getElementById('code').textContent.includes('n_components=3')")
    assert "Components kept: 3" in page.inner_text("#k-label")


def test_a_table_is_sent_and_a_wrong_one_refused(page, folder):
    page.click("#tables")
    page.set_input_files("#upload input[type=file]", folder / "circles.csv")
    page.wait_for_function("document.getElementById('about').textContent.includes('circles.csv: 300 rows, 2 columns')")
    page.wait_for_function("document.getElementById('code').textContent.includes('circles.csv')")
    drawn(page, 300)
    assert page.is_hidden("#start")
    page.click("#tables")
    for name, words in (("wrong.csv", "wrong.csv"), ("wrong.pkl", "are not read"), ("large.csv", "up to 32 MB")):
        page.set_input_files("#upload input[type=file]", folder / name)
        page.wait_for_function("words => document.getElementById('upload-says').textContent.includes(words)", arg=words)
        assert page.is_visible("#upload-says")
    assert "circles.csv" in page.inner_text("#about")
    page.click("#tables")
    page.wait_for_selector("#scores", state="visible")


def test_a_file_that_is_read_wrongly_is_told_how_it_is_written(page, folder):
    page.click("#tables")
    page.set_input_files("#upload input[type=file]", folder / "bars.csv")
    page.wait_for_function("document.getElementById('upload-says').textContent.includes('say the column separator')")
    page.click("summary")
    page.fill("#read-separator", "!")
    page.fill("#read-ids", "who")
    with page.expect_file_chooser() as chooser:
        page.click("#send")
    chooser.value.set_files(folder / "bars.csv")
    page.wait_for_function("document.getElementById('about').textContent.includes('bars.csv: 4 rows, 2 columns')")
    told(page, "separator='!', ids='who'")


def test_undo_the_link_and_the_browser_bring_back_what_was_shown(page, address):
    first = points(page)
    choose(page, "method", "Factor analysis")
    told(page, "FactorAnalysis(n_components=2")
    before = page.evaluate("location.href")
    choose(page, "x", "2")
    page.wait_for_function("before => location.href !== before", arg=before)
    quiet(page)
    link = page.evaluate("location.href")
    page.click("#undo")
    page.wait_for_function("document.getElementById('x-value').textContent.startsWith('1')")
    page.click("#undo")
    told(page, "import PCA")
    assert page.is_disabled("#undo")
    np.testing.assert_allclose(points(page), first)
    other = page.context.new_page()  # the link needs the cookie of this browser, and carries no token
    other.goto(link)
    told(ready(other, "Factor analysis"), "FactorAnalysis(n_components=2")
    assert other.inner_text("#x-value").startswith("2")
    page.go_back()
    told(page, "FactorAnalysis")


def test_a_link_to_an_upload_of_another_tab_says_so(page):
    other = page.context.new_page()
    other.goto(page.url.partition("#")[0] + "#table=%22upload%3Amine.csv%22")
    other.wait_for_function("document.getElementById('upload-says')?.textContent.includes('mine.csv is not here')")


def test_without_a_table_there_are_tables_to_choose_from(open_page, alone, accessibility):
    for options in ({}, {"viewport": PHONE, "color_scheme": "dark"}):
        page = open_page(alone, forgive=DRIVER, **options)
        page.wait_for_selector("#upload input[aria-label]", state="attached")
        assert page.is_hidden("#work")
        assert page.locator(".lesson").count() == 9
        assert accessibility(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        page.locator(".lesson", has_text="Two rings").click()
        ready(page, "Kernel PCA")
        assert len(points(page)) == 600


def test_controls_of_a_phone_are_in_a_drawer_below_the_picture(open_page, address, accessibility):
    page = ready(open_page(address, viewport=PHONE, forgive=DRIVER))
    assert page.is_hidden("#method")
    picture = page.locator("#scores").bounding_box()
    assert picture["y"] + picture["height"] < PHONE["height"]
    page.click("#drawer")
    page.wait_for_timeout(600)
    picture, drawer = (page.locator(name).bounding_box() for name in ("#scores", "#controls"))
    assert picture["y"] + picture["height"] <= drawer["y"] + 2
    assert accessibility(page) == []
    choose(page, "method", "Factor analysis")
    told(page, "FactorAnalysis")
    page.click("#drawer")
    page.wait_for_timeout(600)
    assert page.is_hidden("#method")


def test_the_page_turns_dark_and_its_pictures_with_it(open_page, address, accessibility):
    page = ready(open_page(address, color_scheme="dark", forgive=DRIVER))
    colours = (
        "[getComputedStyle(document.body).color, getComputedStyle(document.querySelector('#scree .xtick text')).fill]"
    )
    assert page.evaluate(colours) == ["rgb(230, 233, 236)"] * 2
    assert accessibility(page) == []
    page.click("#dark")
    page.wait_for_function(f"String({colours}) === 'rgb(27, 31, 36),rgb(34, 34, 34)'")
    page.reload()
    page.wait_for_function("getComputedStyle(document.body).color === 'rgb(27, 31, 36)'")


@pytest.mark.parametrize("method", [name for name, record in METHODS.items() if record.needs in ("target", "label")])
def test_numbers_and_classes_are_predicted(page, method, accessibility):
    take(page, "Flowers (iris)")
    told(page, "load_iris")
    record = METHODS[method]
    kind = "number" if record.needs == "target" else "class"
    choose(page, "method", f"{record.title} (predicts a {kind})")
    told(page, record.name)
    words = "RMSE" if record.needs == "target" else "correct"
    page.wait_for_function("words => document.getElementById('judged-hint').textContent.includes(words)", arg=words)
    page.wait_for_function("document.querySelector('#judged .js-plotly-plot')?.data?.length > 0")
    assert page.locator("#results tbody tr").count() > 0
    assert accessibility(page) == []


def test_a_biplot_has_names_of_rows_and_columns(page):
    page.get_by_text("names of rows").click()
    page.wait_for_function("document.querySelectorAll('#scores .annotation-text').length > 10")
    rows = set(page.locator("#scores .annotation-text").all_text_contents())
    page.get_by_text("columns as arrows (biplot)").click()
    page.wait_for_function("document.querySelectorAll('#scores .annotation-arrow-g').length === 12")
    shown = set(page.locator("#scores .annotation-text").all_text_contents())
    assert "Casarsa" in rows & shown
    assert {"Points", "Rank", "Discus"} <= shown - rows


def test_columns_are_chosen_before_rows_with_gaps_are_left_out(page, folder):
    page.click("#tables")
    page.set_input_files("#upload input[type=file]", folder / "gaps.csv")
    page.wait_for_function("document.getElementById('about').textContent.includes('gaps.csv: 30 rows, 3 columns')")
    drawn(page, 30)
    choose(page, "columns", "rare (26 values missing)")
    page.keyboard.press("Escape")
    page.wait_for_function("document.getElementById('about').textContent.includes('4 rows, 4 columns')")
    drawn(page, 4)


def test_dragging_the_width_moves_the_points_and_letting_go_is_exact(page):
    load(page, "Two rings")
    before, said = points(page), code(page)
    x, y = handle(page, "width")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 12, y, steps=4)
    quiet(page)
    during = points(page)
    assert not np.allclose(before, during)
    assert code(page) == said  # the code is that of exact pictures
    page.mouse.up()
    page.wait_for_function("said => document.getElementById('code').textContent !== said", arg=said)
    quiet(page)
    after = points(page)
    assert np.corrcoef(during[:, 0], after[:, 0])[0, 1] ** 2 > 0.95
    namespace = {}
    exec(code(page), namespace)
    np.testing.assert_allclose(namespace["scores"][:, :2], after, rtol=1e-3, atol=1e-4)


def test_the_cut_is_dragged_on_the_scree_plot(page):
    load(page, "Handwritten digits")
    assert "n_components=10" in code(page)
    line = page.locator("#scree .shapelayer path").first.bounding_box()
    area = page.locator("#scree .nsewdrag").first.bounding_box()
    x, y = line["x"] + line["width"] / 2, area["y"] + area["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - area["width"] * 5 / 20.6, y, steps=8)
    page.mouse.up()
    page.wait_for_function("document.getElementById('code').textContent.includes('n_components=5,')")
    assert "Components kept: 5" in page.inner_text("#k-label")


def test_a_lasso_lists_rows_and_exports_them(page):
    load(page, "Two rings")
    scores = points(page)
    lasso(page)
    page.wait_for_selector("#chosen table")
    count = int(re.match(r"[\d,]+", page.inner_text("#chosen .hint")).group().replace(",", ""))
    assert 0 < count < 600
    with page.expect_download() as caught:
        page.click("#export")
    with open(caught.value.path(), newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == count
    assert {row["ring"] for row in rows} <= {"inner", "outer"}
    at = np.array([int(row["row"]) for row in rows]) - 1
    np.testing.assert_allclose([float(row["PC1"]) for row in rows], scores[at, 0], rtol=1e-5)


def test_a_click_shows_neighbours_and_their_images(page):
    load(page, "Handwritten digits")
    assert page.evaluate("document.querySelector('#row .js-plotly-plot').data.length") == 2
    area = page.locator("#scores .nsewdrag").first.bounding_box()
    spot = page.evaluate(
        "() => { const p = document.querySelector('#scores .js-plotly-plot'), f = p._fullLayout;"
        " return [f.xaxis.d2p(p._fullData[0].x[7]) + f._size.l, f.yaxis.d2p(p._fullData[0].y[7]) + f._size.t]; }"
    )
    frame = page.locator("#scores .js-plotly-plot").bounding_box()
    page.mouse.move(frame["x"] + spot[0] + 1, frame["y"] + spot[1] + 1)
    page.wait_for_timeout(300)
    page.mouse.click(frame["x"] + spot[0], frame["y"] + spot[1])
    page.wait_for_function("document.querySelector('#row .js-plotly-plot').data.length === 8")
    assert area["width"] > 0


def test_two_views_stand_side_by_side(page):
    load(page, "Exercises and bodies (two views)")
    assert len(points(page, 0)) == len(points(page, 1)) == 20
    assert "CCA(n_components=2" in code(page)
    namespace = {}
    exec(code(page), namespace)
    np.testing.assert_allclose(namespace["y_scores"][:, :2], points(page, 1), rtol=1e-3, atol=1e-4)
    choose(page, "method", "Kernel canonical correlation (two views)")
    told(page, "KernelCCA(")


def test_three_dimensions(page):
    load(page, "Handwritten digits")
    page.get_by_text("in three dimensions").click()
    page.wait_for_function("document.querySelector('#scores .js-plotly-plot')._fullData[0].type === 'scatter3d'")
    assert page.evaluate("document.querySelector('#scores .js-plotly-plot')._fullData[0].z.length") > 0


def test_a_browser_without_webgl_sees_points_too(chromium, address):
    context = chromium.new_context(viewport=DESKTOP)
    context.add_init_script(NO_WEBGL)
    page = context.new_page()
    page.goto(address)
    ready(page)
    page.wait_for_function("document.querySelector('#scores .js-plotly-plot')._fullData[0].type === 'scatter'")
    assert len(points(page)) == 41
    page.get_by_text("in three dimensions").click()
    page.wait_for_function("document.getElementById('scores-hint').textContent.includes('need WebGL')")
    context.close()


def test_long_work_shows_progress_and_is_cancelled(page, folder):
    page.set_input_files("#upload input[type=file]", folder / "long.npy")
    page.wait_for_function("document.getElementById('about').textContent.includes('14,000 rows')")
    settled(page, "PCA ·")
    choose(page, "method", "Kernel PCA")
    settled(page, "landmarks")
    page.get_by_text("exact: all rows, no landmarks (slow)").click()
    page.wait_for_selector("#cancel:not([hidden])", timeout=20_000)
    page.wait_for_function("Number(document.getElementById('progress').value) > 0", timeout=60_000)
    page.click("#cancel")
    settled(page, "Cancelled")
    assert page.is_hidden("#cancel")
    choose(page, "method", "PCA")  # and the worker is free again
    settled(page, "PCA · 14,000")


def test_a_reload_keeps_what_was_chosen(page):
    load(page, "Two moons")
    said = code(page)
    page.reload()
    ready(page, "Kernel PCA ·")
    told(page, said)
    assert "Two moons" in page.inner_text("#about")


def test_two_tabs_do_not_disturb_each_other(page, address):
    other = page.context.new_page()
    other.goto(address)
    ready(other)
    load(other, "Two rings")
    load(page, "Two moons")
    assert "make_circles" in code(other)
    assert "make_moons" in code(page)
    choose(other, "method", "PCA")
    told(other, "import PCA")
    assert "KernelPCA" in code(page)


def test_a_model_is_saved_and_opened(page, folder):
    load(page, "Two rings")
    saved, said = points(page), code(page)
    page.fill("#name", "../rings.safetensors")
    page.click("#save")
    page.wait_for_function("document.getElementById('model-says').textContent.includes('leads out')")
    page.fill("#name", "rings.safetensors")
    page.click("#save")
    page.wait_for_function("document.getElementById('model-says').textContent.includes('is saved')")
    assert (folder / "rings.safetensors").exists()
    choose(page, "method", "PCA")
    told(page, "import PCA")
    choose(page, "models", "rings.safetensors")
    page.click("#open")
    told(page, "load('rings.safetensors')")
    page.wait_for_function(
        "x => Math.abs(document.querySelector('#scores .js-plotly-plot')._fullData[0].x[0] - x) < 1e-4",
        arg=saved[0, 0],
    )
    np.testing.assert_allclose(points(page), saved, rtol=1e-4, atol=1e-5)
    assert "KernelPCA" in said


def test_ten_clients_at_once(chromium, address):
    contexts = [chromium.new_context(viewport=DESKTOP) for _ in range(10)]
    pages = []
    for context in contexts:
        context.set_default_timeout(120_000)
        pages.append(context.new_page())
        pages[-1].goto(address)
        ready(pages[-1])
    for at, page in enumerate(pages):  # all ask before any is answered
        take(page, "Two rings" if at % 2 else "Two moons")
    for at, page in enumerate(pages):
        told(page, "make_circles" if at % 2 else "make_moons")
        assert "Kernel PCA ·" in status(page)
    for context in contexts:
        context.close()


def test_quick_methods_follow_the_slider_and_the_summary_speaks_of_what_is_kept(page):
    load(page, "Exercises and bodies (two views)")
    assert "2 pairs" in page.inner_text("#summary").splitlines()[0]
    before, said = points(page), code(page)
    x, y = handle(page, "ridge")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y, steps=4)
    quiet(page)
    page.wait_for_function(  # it moves, or the page says that it will
        """x => document.getElementById('slider-says').textContent
        || Math.abs(document.querySelector('#scores .js-plotly-plot')._fullData[0].x[0] - x) > 1e-6""",
        arg=float(before[0, 0]),
    )
    assert code(page) == said
    page.mouse.up()
    page.wait_for_function("said => document.getElementById('code').textContent !== said", arg=said)
    quiet(page)
    assert not np.allclose(before, points(page))


def test_names_of_columns_stand_in_full_beside_their_bars(page):
    for name in ("loadings", "row"):
        frame = page.locator(f"#{name} .js-plotly-plot").bounding_box()
        labels = page.locator(f"#{name} .ytick text")
        assert "Points" in labels.all_text_contents()
        boxes = [label.bounding_box() for label in labels.all()]
        assert all(box["x"] >= frame["x"] for box in boxes)
        tops = sorted(box["y"] for box in boxes)
        assert min(np.diff(tops)) > 9
        key = page.locator(f"#{name} .annotation-text").first.bounding_box()
        bars = page.locator(f"#{name} .barlayer").bounding_box()
        assert key["y"] + key["height"] <= bars["y"]
        assert key["x"] + key["width"] <= frame["x"] + frame["width"]
