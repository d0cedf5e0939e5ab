"""``gramian explore`` prints an address, serves it, and ends when it is told to."""

import http.client
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

pytest.importorskip("dash", reason="the extra 'explore' is not installed")


@pytest.fixture
def started(here):
    command = [sys.executable, "-m", "gramian", "explore", "flowers.csv", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


@pytest.mark.slow
def test_it_prints_its_address_serves_it_there_only_and_ends_on_ctrl_c(started):
    process, address = started
    parts = urlsplit(address)
    assert (parts.scheme, parts.hostname, parts.path) == ("http", "127.0.0.1", "/")
    assert len(parts.query.removeprefix("token=")) >= 32
    line = http.client.HTTPConnection(parts.netloc, timeout=30)
    line.request("GET", "/")
    assert b"carries a token" in line.getresponse().read()
    line.request("GET", f"/?{parts.query}")
    answer = line.getresponse()
    answer.read()
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    line.request("GET", "/", headers={"Cookie": cookie})
    answer = line.getresponse()
    assert answer.status == 200
    assert b"gramian" in answer.read()
    line.close()
    for name in {socket.gethostbyname(socket.gethostname()), "127.0.0.2"} - {"127.0.0.1"}:
        with pytest.raises(OSError):
            socket.create_connection((name, parts.port), timeout=5)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    assert "Traceback" not in process.stderr.read()


def test_what_cannot_be_served_is_said_in_a_line(gramian, here):
    (here / "few.csv").write_text("a,b\n1,2\n")
    for table, words in (("nowhere.csv", "no such file"), ("few.csv", "at least three"), (".", "is a folder")):
        code, out, err = gramian("explore", table, "--no-browser")
        assert (code, out) == (1, "")
        assert words in err
        assert len(err.splitlines()) == 1


def test_a_port_that_is_taken(gramian):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = gramian("explore", "flowers.csv", "--no-browser", "--port", port)
    assert code == 1
    assert f"port {port} is not free" in err


def test_without_dash_the_extra_is_named(gramian, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("gramian.explore")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "dash", None)
    code, _, err = gramian("explore", "flowers.csv", "--no-browser")
    assert code == 1
    assert 'pip install "gramian[explore]"' in err
