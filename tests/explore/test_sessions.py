"""Tabs and their worker: the newest request wins, others are not disturbed, and long work can be given up."""

import threading
import time

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.explore.choice import Choice
from gramian.explore.datasets import preset
from gramian.explore.session import MAX_TABS, Explorer, Session, Worker


@pytest.fixture
def worker():
    made = Worker()
    yield made
    made.close()


@pytest.fixture
def sessions(tmp_path):
    made = Explorer(preset("rings"), tmp_path)
    yield made
    made.worker.close()


def held(worker):
    """Keep the worker busy; returns the job and what lets it go."""
    gate, started = threading.Event(), threading.Event()

    def work():
        started.set()
        gate.wait(20)
        return "held"

    job = worker.submit("somebody", work)
    assert started.wait(10)
    return job, gate


def test_the_newest_request_of_a_tab_wins_and_other_tabs_keep_their_place(worker):
    first, gate = held(worker)
    old = worker.submit("a", lambda: "old")
    other = worker.submit("b", lambda: "other")
    new = worker.submit("a", lambda: "new")
    assert (old.state, old.over) == ("cancelled", True)
    gate.set()
    assert first.wait(10)
    assert other.wait(10)
    assert new.wait(10)
    assert (first.result, other.result, new.result) == ("held", "other", "new")


def test_a_failure_is_one_line_and_the_worker_lives_on(worker):
    def fail():
        raise ValueError("first\nsecond")

    job = worker.submit("a", fail)
    assert job.wait(10)
    assert (job.state, job.error) == ("failed", "first second")
    after = worker.submit("a", lambda: 1)
    assert after.wait(10)
    assert after.result == 1


def test_a_long_fit_is_cancelled_within_two_seconds(worker):
    X = np.random.default_rng(0).standard_normal((12_000, 20))
    job = worker.submit("a", lambda: KernelPCA(20, kernel="rbf(sigma=4)").fit(X))
    deadline = time.monotonic() + 20
    while job.share == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert 0 < job.share < 1
    start = time.monotonic()
    worker.cancel("a")
    assert job.wait(10)
    assert job.state == "cancelled"
    assert time.monotonic() - start < 2


def test_a_session_shows_what_it_asked_for_and_remembers_it(worker):
    session = Session("key", preset("rings"))
    choice = Choice("kernel-pca", 2, width=-1.6)
    job = session.ask(choice, worker)
    assert job.wait(30)
    assert session.take(job)
    shown, version = session.fit, session.version
    assert session.ask(Choice("kernel-pca", 5, width=-1.6), worker) is None  # another cut of the same fit
    assert session.fit is shown
    assert session.version == version
    assert session.choice.k == 5


def test_a_result_that_nobody_waits_for_any_more_is_not_shown(worker):
    session = Session("key", preset("rings"))
    old = session.ask(Choice("pca"), worker)
    session.ask(Choice("ica"), worker)
    old.wait(10)
    assert not session.take(old)


def test_moving_the_cut_does_not_begin_the_fit_anew(worker):
    session = Session("key", preset("rings"))
    _, gate = held(worker)
    job = session.ask(Choice("kernel-pca", 2), worker)
    assert session.ask(Choice("kernel-pca", 7), worker) is job
    assert session.ask(Choice("kernel-pca", 7, width=1.0), worker) is not job
    gate.set()


def test_giving_up_leaves_the_picture(worker):
    session = Session("key", preset("rings"))
    job = session.ask(Choice("pca"), worker)
    assert job.wait(30)
    session.take(job)
    shown = session.fit
    _, gate = held(worker)
    session.ask(Choice("ica"), worker)
    worker.cancel(session.key)
    session.give_up()
    gate.set()
    assert session.fit is shown
    assert session.message.startswith("Cancelled")


def test_axes_are_turned_so_that_the_picture_stands_still(worker):
    session = Session("key", preset("rings"))
    job = session.ask(Choice("pca"), worker)
    assert job.wait(30)
    session.take(job)
    rows = np.arange(600)
    flipped = session.fit.scores * np.array([-1.0, 1.0])
    np.testing.assert_array_equal(session.signs(flipped, rows), [-1, 1])


def test_keys_cannot_be_guessed_and_unknown_ones_find_nothing(sessions):
    one, two = sessions.open(), sessions.open()
    assert one is not two
    assert len(one.key) == 32
    assert sessions.find(one.key) is one
    assert sessions.open(one.key) is one
    for key in (None, 3, "", "x" * 32, one.key[:-1], [one.key], {"key": one.key}):
        assert sessions.find(key) is None


def test_tabs_are_forgotten_in_the_order_of_their_last_use(sessions):
    first, second = sessions.open(), sessions.open()
    for _ in range(MAX_TABS - 1):
        sessions.find(first.key)
        sessions.open()
    assert sessions.find(first.key) is first
    assert sessions.find(second.key) is None
