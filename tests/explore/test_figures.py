"""Pictures of the page, as the numbers that go to the browser."""

import base64
from dataclasses import replace

import numpy as np
import pytest

from gramian.explore import drawing
from gramian.explore.choice import Choice
from gramian.explore.datasets import preset
from gramian.explore.drawing import POINTS_MAX_WITHOUT_WEBGL as DRAWN
from gramian.explore.drawing import Cloud, View, scores, thinned
from gramian.explore.fitting import fit


def numbers(sent):
    return np.frombuffer(base64.b64decode(sent["bdata"]), "<f4") if isinstance(sent, dict) else sent


def cloud_of(scores, second=None, signs=(1, 1)):
    return Cloud(scores, second, np.arange(len(scores)), np.array(signs), ["first", "second"])


@pytest.fixture
def cloud(rng):
    return cloud_of(rng.standard_normal((600, 2)), rng.standard_normal((600, 2)))


def test_a_row_and_its_neighbours_have_rings_in_both_views(cloud):
    focus = [7, 3, 500]
    *_, first, second = scores(preset("rings"), cloud, View(), focus)["data"]
    for ring, expected in ((first, cloud.scores), (second, cloud.second)):
        np.testing.assert_allclose(
            np.column_stack([numbers(ring["x"]), numbers(ring["y"])]), expected[focus], rtol=1e-6
        )
        assert ring["marker"]["line"]["width"] == [3.0, 1.2, 1.2]  # the row itself first
    assert (second["xaxis"], second["yaxis"]) == ("x2", "y2")


def test_a_key_of_several_lines_has_room_above_the_picture(cloud):
    data = preset("digits").opened
    wide, phone = View(kind="group", column="digit"), View(kind="group", column="digit", phone=True)
    rows = cloud_of(np.zeros((len(data.X), 2)))
    tops = [
        scores(data, replace(rows, paint=drawing.paint(data, None, view), wrong=np.array([3])), view, [5])
        for view in (wide, phone)
    ]
    assert [shown["layout"]["margin"]["t"] for shown in tops] == [58, 96]
    names = [trace.get("name") for trace in tops[0]["data"]]
    assert names == [None, None, *map(str, range(10)), "wrong"]  # previews move the second trace, a row in focus


def test_in_space_there_is_a_third_axis_and_no_ring(rng):
    shown = scores(preset("rings"), cloud_of(rng.standard_normal((600, 3))), View(space=True), [7, 3])
    assert [trace["type"] for trace in shown["data"]] == ["scatter3d"]
    assert {"xaxis", "yaxis", "zaxis"} <= shown["layout"]["scene"].keys()


def test_without_webgl_points_are_thinned_and_say_which_rows_they_are(rng):
    cloud = cloud_of(rng.standard_normal((3 * DRAWN, 2)), rng.standard_normal((3 * DRAWN, 2)))
    assert thinned(cloud, View()) is cloud
    few = thinned(cloud, View(webgl=False))
    assert len(np.unique(few.rows)) == DRAWN
    np.testing.assert_array_equal(few.scores, cloud.scores[few.rows])
    np.testing.assert_array_equal(few.second, cloud.second[few.rows])


def test_colours_are_groups_with_a_key_or_a_column_with_a_bar(cloud):
    data = preset("rings").opened
    (group,) = data.groups

    def drawn(view):
        return scores(data, replace(cloud, paint=drawing.paint(data, None, view)), view, [])["data"]

    points, *_, one, other = drawn(View(kind="group", column=group))
    words, codes = np.unique(data.groups[group], return_inverse=True)
    np.testing.assert_array_equal(numbers(points["marker"]["color"]), codes)
    assert [one["name"], other["name"]] == [str(word) for word in words]
    name = data.table.columns[1]
    marker = drawn(View(kind="column", column=name))[0]["marker"]
    np.testing.assert_allclose(numbers(marker["color"]), data.X[:, 1], rtol=1e-6)
    assert marker["colorbar"]["title"]["text"] == name


def test_an_axis_is_turned_with_its_sign_and_zero_where_there_is_no_component(rng):
    shown = scores(preset("rings"), cloud_of(rng.standard_normal((600, 2)), signs=(-1, 1)), View(x=1, y=6), [])
    assert shown["layout"]["xaxis"]["autorange"] == "reversed"
    assert shown["layout"]["yaxis"]["title"]["text"] == "(no such component)"
    assert not numbers(shown["data"][0]["y"]).any()


def test_a_plane_is_drawn_with_the_way_from_each_row_to_its_twin():
    data = preset("rings").only(("x", "y"))
    at = drawing.sample(len(data.X))
    rebuilt = data.X[at] + [1.0, -2.0]
    before, ways, after = drawing.row(data, "plane", [0], rebuilt)["data"]
    assert len(numbers(before["x"])) == 600
    np.testing.assert_allclose(np.column_stack([numbers(after["x"]), numbers(after["y"])]), rebuilt, rtol=1e-6)
    x, y = (numbers(ways[name]).reshape(-1, 3) for name in "xy")
    np.testing.assert_allclose(x[:, 1] - x[:, 0], 1.0, atol=1e-5)
    np.testing.assert_allclose(y[:, 1] - y[:, 0], -2.0, atol=1e-5)
    assert np.isnan([x[:, 2], y[:, 2]]).all()  # one way is not joined to the next


def test_a_curve_stands_beside_its_neighbours_and_its_twin():
    data = preset("digits")
    *near, row, twin = drawing.row(data, "curve", [4, 8, 15], data.X[[16]])["data"]
    shown = [numbers(one["y"]) for one in (*near, row, twin)]
    np.testing.assert_array_equal(shown, data.X[[8, 15, 4, 16]])


def test_loadings_of_two_kernels_are_correlations_of_both_views():
    data = preset("exercises")
    found = fit(data, Choice("kernel-cca", 2, second=data.half(), ridge=0.1))
    names, weights, what = drawing.column_numbers(data, found)
    x, y = data.views(found.choice.second)
    assert (names, what) == ([*x.columns, *y.columns], "correlation")
    expected = [np.corrcoef(column, found.scores[:, 0])[0, 1] for column in x.values.T]
    expected += [np.corrcoef(column, found.second[:, 0])[0, 1] for column in y.values.T]
    np.testing.assert_allclose(weights[:, 0], expected, atol=1e-5)


def test_what_is_not_there_is_said():
    shown = drawing.components_of(["a", "b"], np.eye(2), "loading", [7], "bars")
    assert shown["data"] == []
    assert shown["layout"]["annotations"][0]["text"] == "There is no such component."
