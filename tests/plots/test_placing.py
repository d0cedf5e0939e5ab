"""Places of labels."""

import numpy as np
import pytest

from gramian.charts.placing import beside, medians, push_apart


def overlaps(centres, sizes):
    room = (sizes[:, None] + sizes[None]) / 2
    hit = (np.abs(centres[:, None] - centres[None]) < room - 1e-6).all(axis=2)
    return hit[np.triu_indices(len(centres), 1)].any()


@pytest.mark.parametrize("same_place", [True, False])
def test_boxes_end_apart(rng, same_place):
    centres = np.zeros((8, 2)) if same_place else rng.standard_normal((8, 2))
    sizes = rng.uniform(0.5, 2, (8, 2))
    assert overlaps(centres, sizes)
    assert not overlaps(push_apart(centres, sizes), sizes)


def test_boxes_with_room_stay_and_the_input_is_not_changed():
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    before = centres.copy()
    np.testing.assert_array_equal(push_apart(centres, np.ones((3, 2))), before)
    push_apart(centres, np.full((3, 2), 10.0))
    np.testing.assert_array_equal(centres, before)


def test_boxes_move_the_shorter_way():
    moved = push_apart(np.array([[0.0, 0.0], [0.1, 0.8]]), np.ones((2, 2)))
    np.testing.assert_allclose(moved, [[0, -0.1], [0.1, 0.9]])


def test_the_name_of_a_ring_stands_on_the_ring(rng):
    angles = rng.uniform(0, 2 * np.pi, 200)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    points = np.vstack([ring, 0.1 * rng.standard_normal((50, 2)) + 5])
    places = medians(points, np.repeat([0, 1], [200, 50]), 2)
    np.testing.assert_allclose(np.linalg.norm(places[0]), 1)
    np.testing.assert_allclose(places[1], np.median(points[200:], axis=0), atol=0.1)


def test_boxes_stay_in_the_room_that_there_is(rng):
    centres, sizes = rng.uniform(0, 10, (12, 2)), np.full((12, 2), 1.5)
    room = np.array([[0.0, 0.0], [10.0, 10.0]])
    moved = push_apart(centres, sizes, room=room)
    assert not overlaps(moved, sizes)
    assert (moved >= 0.75 - 1e-6).all()
    assert (moved <= 9.25 + 1e-6).all()


def test_a_box_stands_beside_its_place_where_it_covers_nothing(rng):
    anchors = np.array([[5.0, 5.0]])
    size, room = np.array([[2.0, 1.0]]), np.array([[0.0, 0.0], [10.0, 10.0]])
    above = rng.uniform([2, 5.2], [8, 7], (50, 2))  # points all over the upper side
    (centre,) = beside(anchors, size, gap=0.1, posts=above, room=room, towards=np.zeros((1, 2)))
    assert centre[1] < 5
    assert not (np.abs(above - centre) < size / 2).all(axis=1).any()


def test_a_box_goes_where_it_wishes_if_nothing_is_there():
    places, none = np.zeros((2, 2)) + [[0], [5]], np.empty((0, 2))
    room = np.array([[-9.0, -9.0], [9.0, 9.0]])
    found = beside(
        places, np.ones((2, 2)), gap=0.5, posts=none, room=room, towards=np.array([[-1.0, 0.0], [0.0, -1.0]])
    )
    np.testing.assert_allclose(found, [[-1, 0], [5, 4]])
