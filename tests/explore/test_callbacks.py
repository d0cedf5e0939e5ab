"""The page without a browser: a tab that holds the values of the controls and asks what a browser would ask."""

import base64
import csv
import io
import time

import numpy as np
import pytest

from gramian.explore.choice import CONTROLS, LOOKS
from gramian.explore.datasets import PRESETS, preset

from .conftest import HOST, ORIGIN

FIT = ("loaded.data", *(f"{name}.value" for name in CONTROLS))
LOAD = ("address.data", "chosen-table.data", "columns.value", "upload.contents", "undo.n_clicks")
SCORES = ("theme.data", "shown.data", *(f"{name}.value" for name in ("x", "y", "z", "space", "colour")),
          "biplot.value", "named.value", "screen.data", "focus.data")  # fmt: skip
REMEMBER = ("loaded.data", *(f"{name}.value" for name in (*CONTROLS, *LOOKS)))


class Tab:
    """Values of the page, and the callbacks that change them."""

    def __init__(self, client, address=""):
        self.client = client
        asked = client.get("/_dash-dependencies", headers={"Host": HOST}).json
        self.known = {}
        for part in asked:
            self.known.setdefault(tuple(f"{one['id']}.{one['property']}" for one in part["inputs"]), []).append(part)
        self.values = {"address.data": {"hash": address, "opens": True}}
        self.ask("tab.modified_timestamp")
        self.ask(*LOAD)

    def ask(self, *inputs, by=None, **given):
        """Ask the callbacks with these inputs; keep and return what they answer, None if nothing."""
        self.values |= {name.replace("__", "."): value for name, value in given.items()}
        answers = [self._ask(part, by or inputs[0]) for part in self.known[inputs] if "clientside_function" not in part
                   or not part["clientside_function"]]  # fmt: skip
        told = [answer for answer in answers if answer is not None]
        return {name: found for answer in told for name, found in answer.items()} if told else None

    def _ask(self, part, by):
        names = part["output"].strip(".").split("...")
        outputs = [dict(zip(("id", "property"), name.rsplit(".", 1), strict=True)) for name in names]
        body = {
            "output": part["output"],
            "outputs": outputs if part["output"].startswith("..") else outputs[0],
            "inputs": [self._value(one) for one in part["inputs"]],
            "changedPropIds": [by],
            "state": [self._value(one) for one in part.get("state", [])],
        }
        answer = self.client.post("/_dash-update-component", json=body, headers={"Host": HOST, "Origin": ORIGIN})
        if answer.status_code == 204:
            return None
        assert answer.status_code == 200, answer.text
        for name, properties in answer.json["response"].items():
            self.values |= {f"{name}.{key}": value for key, value in properties.items()}
        return answer.json["response"]

    def _value(self, one):
        return {**one, "value": self.values.get(f"{one['id']}.{one['property']}")}

    def settle(self):
        """Ask for the fit, and again until it is there."""
        self.ask(*REMEMBER)
        self.ask(*FIT)
        deadline = time.monotonic() + 30
        while not self.values["tick.disabled"] and time.monotonic() < deadline:
            time.sleep(0.02)
            self.ask("tick.n_intervals")
        return self.values["status.children"]

    def pictures(self):
        """Draw all pictures."""
        self.ask(*SCORES)
        self.ask("theme.data", "cut.data")
        self.ask("theme.data", "shown.data", "x.value", "y.value")
        self.ask("theme.data", "cut.data", "focus.data", "rows-as.value")
        self.ask("cut.data")
        self.ask("shown.data")
        self.ask("results-pick.value", "cut.data")

    def choose(self, table):
        """Take a table for teaching."""
        self.ask(*LOAD, by="chosen-table.data", **{"chosen-table.data": {"key": table}})

    def set(self, **values):
        """Release some controls."""
        self.values |= {f"{name}.value": value for name, value in values.items()}
        return self.settle()


def numbers(packed):
    return np.frombuffer(base64.b64decode(packed["bdata"]), dtype="<f4")


@pytest.fixture
def tab(member):
    return Tab(member)


@pytest.mark.slow
def test_a_table_arrives_and_is_drawn(tab):
    assert tab.values["about.children"] == "Two rings: 600 rows, 2 columns."
    assert tab.settle().startswith("Kernel PCA · rbf(sigma=")
    tab.pictures()
    assert len(numbers(tab.values["scores.figure"]["data"][0]["x"])) == 600
    assert len(numbers(tab.values["scree.figure"]["data"][0]["y"])) == 20
    assert {trace["name"] for trace in tab.values["row.figure"]["data"] if trace.get("showlegend", True)} == {
        "rows",
        "rebuilt",
    }
    namespace = {}
    exec(tab.values["code.children"], namespace)
    shown = numbers(tab.values["scores.figure"]["data"][0]["y"])
    np.testing.assert_allclose(namespace["scores"][:, 1], shown, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PRESETS if name != "rings"])
def test_every_table_for_teaching_can_be_chosen(tab, name):
    tab.choose(name)
    assert tab.values["about.children"].startswith(preset(name).title)
    assert tab.settle()
    assert tab.values["status.className"] == ""
    tab.pictures()


@pytest.mark.slow
def test_a_preview_moves_the_points_and_the_rest_follows(tab):
    tab.settle()
    tab.pictures()
    before = numbers(tab.values["scores.figure"]["data"][0]["x"])
    said = tab.ask("ask.data", ask__data={"width": -1.0, "number": 7})
    assert said["drawn"]["data"] == 7
    moves = {tuple(one["location"]): one["params"]["value"] for one in said["scores"]["figure"]["operations"]}
    after = numbers(moves["data", 0, "x"])
    assert len(after) == len(before)
    assert not np.allclose(before, after)
    followed = tab.ask("drawn.data")
    assert set(followed) == {"scree", "row", "loadings"}
    tab.values["width.value"] = -1.0
    tab.settle()
    tab.ask(*SCORES)
    exact = numbers(tab.values["scores.figure"]["data"][0]["x"])
    assert abs(np.corrcoef(after, exact)[0, 1]) > 0.99
    assert "scores" not in tab.ask("ask.data", ask__data={"width": -1.0, "number": 8})  # it is there already


@pytest.mark.slow
def test_the_cut_is_dragged(tab):
    tab.settle()
    tab.pictures()
    moved = {"shapes[0].x0": 6.4, "shapes[0].x1": 6.4}
    tab.ask("scree.relayoutData", scree__relayoutData=moved)
    assert tab.values["k.value"] == 6
    tab.settle()
    tab.ask("cut.data")
    assert "n_components=6" in tab.values["code.children"]
    assert tab.ask("scree.relayoutData", scree__relayoutData={"autosize": True}) is None


def test_chosen_rows_are_listed_and_exported(tab):
    tab.settle()
    tab.ask("picked.data", "shown.data", picked__data=[5, 3, 3, 599, 600, -1, "x", None, 2.0, True])
    assert tab.values["export.disabled"] is False
    file = tab.ask("export.n_clicks")["file"]["data"]
    rows = list(csv.DictReader(io.StringIO(file["content"])))
    assert [row["row"] for row in rows] == ["3", "4", "6", "600"]
    np.testing.assert_allclose([float(row["x"]) for row in rows], preset("rings").X[[2, 3, 5, 599], 0])
    assert tab.ask("export.n_clicks", picked__data=[]) is None


def test_a_click_finds_the_nearest_rows(tab):
    tab.settle()
    found = tab.ask("scores.clickData", scores__clickData={"points": [{"pointNumber": 17}]})["focus"]["data"]["rows"]
    X = preset("rings").X
    assert found == np.argsort(np.linalg.norm(X - X[17], axis=1))[:7].tolist()
    for nonsense in (
        None,
        {},
        {"points": []},
        {"points": [{"pointNumber": 10**9}]},
        {"points": [{"pointNumber": "a"}]},
    ):
        assert tab.ask("scores.clickData", scores__clickData=nonsense) is None


def test_tabs_do_not_share_and_a_reload_finds_its_own(member):
    one, two = Tab(member), Tab(member)
    assert one.values["page.data"] != two.values["page.data"]
    two.choose("moons")
    two.settle()
    one.settle()
    for tab in (one, two):
        tab.ask("cut.data")
    assert "make_circles" in one.values["code.children"]
    assert "make_moons" in two.values["code.children"]
    tab = two
    tab.values = {"tab.data": two.values["tab.data"], "address.data": {"hash": two.values["state.data"], "opens": True}}
    tab.ask("tab.modified_timestamp")
    tab.ask(*LOAD)
    assert tab.values["about.children"].startswith("Two moons")


def test_a_tab_that_is_not_known_is_told_nothing(tab):
    tab.settle()
    for key in (None, "x" * 32, 5, ["page"]):
        tab.values["page.data"] = key
        assert tab.ask(*FIT) is None
        assert tab.ask(*SCORES) is None
        assert tab.ask("export.n_clicks") is None


def test_what_goes_wrong_is_said_in_a_line_and_the_picture_stays(tab):
    tab.settle()
    shown = tab.values["shown.data"]
    for text in ("rbf(", "__import__('os').system('true')", "rbf(sigma=-1)", "nonsense", "precomputed"):
        tab.values["text.value"] = text
        said = tab.settle()
        assert tab.values["status.className"] == "error", text
        assert "\n" not in said
    assert tab.values["shown.data"] == shown


def test_a_table_is_sent_and_a_wrong_one_leaves_the_old(tab):
    def send(name, content):
        data = "data:;base64," + base64.b64encode(content).decode()
        tab.ask(*LOAD, by="upload.contents", upload__contents=data, upload__filename=name)

    send("small.csv", b"a,b,c\n1,2,3\n4,5,7\n1,0,2\n5,5,5\n")
    assert tab.values["about.children"].startswith("small.csv: 4 rows, 3 columns")
    assert tab.settle().startswith("PCA")
    send("wrong.csv", b"\x00\x01")
    assert "wrong.csv" in tab.values["upload-says.children"]
    assert (tab.values["start.hidden"], tab.values["work.hidden"]) == (False, True)  # where the upload is
    assert tab.values["about.children"].startswith("small.csv")
    tab.ask(*LOAD, by="columns.value", columns__value=["a", "c"])
    assert tab.values["about.children"].startswith("small.csv: 4 rows, 2 columns")


def test_models_are_kept_in_the_folder_and_nowhere_else(tab, tmp_path):
    tab.settle()
    (tmp_path / "evil.safetensors").write_bytes(b"\x80\x04cos\nsystem\n(S'true'\ntR.")
    for name in ("../out.safetensors", "/etc/out.safetensors", "a\0.safetensors", "model.pkl", "", None):
        tab.ask("save.n_clicks", name__value=name)
        assert "saved" not in tab.values["model-says.children"]
        tab.ask("open.n_clicks", models__value=name)
        assert "is open" not in tab.values["model-says.children"]
    assert [path.name for path in tmp_path.iterdir()] == ["evil.safetensors"]
    tab.ask("open.n_clicks", models__value="evil.safetensors")
    assert "evil.safetensors" in tab.values["model-says.children"]
    tab.ask("save.n_clicks", name__value="good.safetensors")
    assert "is saved" in tab.values["model-says.children"]
    assert "good.safetensors" in tab.values["models.options"]
    tab.ask("open.n_clicks", models__value="good.safetensors")
    assert "is open: KernelPCA" in tab.values["model-says.children"]
    tab.settle()
    tab.ask("cut.data")
    assert "load('good.safetensors')" in tab.values["code.children"]


@pytest.mark.slow
def test_cancelling_leaves_the_picture(tab):
    tab.settle()
    tab.choose("digits")
    tab.ask(*FIT)
    tab.ask("cancel.n_clicks")
    assert tab.values["tick.disabled"] is True
    assert tab.values["cancel.hidden"] is True
    assert tab.settle().startswith("Kernel PCA")
