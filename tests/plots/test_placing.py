"""Places of labels."""

import numpy as np
import pytest

from gramian.plots.placing import medians, push_apart


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
