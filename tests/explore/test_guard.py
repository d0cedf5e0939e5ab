"""Every door is tried: tokens, hosts, origins, sizes, methods, paths. All of these requests must be refused."""

import io
import json

import pytest

from gramian.explore.guard import MAX_REQUEST_BYTES

from .conftest import HOST, ORIGIN, PORT

UPDATE = "/_dash-update-component"
BODY = json.dumps({"output": "z-box.hidden", "outputs": {"id": "z-box", "property": "hidden"},
                   "inputs": [{"id": "space", "property": "value", "value": ["on"]}],
                   "changedPropIds": ["space.value"], "state": []})  # fmt: skip
ROUTES = [
    "/",
    "/any/page",
    "/_dash-layout",
    "/_dash-dependencies",
    "/_reload-hash",
    "/_favicon.ico",
    "/assets/explore.css",
    "/assets/explore.js",
    "/_dash-component-suites/dash/deps/react@18.v3_1_1m1.js",
    "/_dash-component-suites/dash/dash-renderer/build/dash_renderer.min.js",
    "/_dash-component-suites/dash/dcc/dash_core_components.js",
]


def get(client, path="/", **headers):
    return client.get(path, headers={"Host": HOST, **headers})


def post(client, body=BODY, path=UPDATE, **headers):
    return client.post(
        path, data=body, headers={"Host": HOST, "Origin": ORIGIN, "Content-Type": "application/json", **headers}
    )


def test_who_has_the_address_comes_in(member):
    assert get(member).status_code == 200
    assert get(member, "/_dash-layout").status_code == 200
    answer = post(member)
    assert answer.status_code == 200
    assert answer.json == {"response": {"z-box": {"hidden": False}}, "multi": True} or "z-box" in answer.text


def test_the_token_leaves_the_address_and_the_cookie_is_closed_to_scripts_and_other_sites(served, client):
    answer = get(client, f"/?token={served[1].token}")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert served[1].token not in cookie


@pytest.mark.parametrize("path", ROUTES)
def test_no_route_answers_without_the_cookie(client, path):
    answer = get(client, path)
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/?token=",
        "/?token=wrong",
        "/?token={token}x",
        "/?token={half}",
        "/?token={upper}",
        "/?token={token}&token={token}",
        "/?token=wrong&token={token}",
        "/?Token={token}",
        "/_dash-layout?token={token}",
        "/other?token={token}",
        "/?token=%00",
        "/?token=%F0%9F%92%A9",
        "/?token={token}%00",
    ],
)
def test_a_wrong_token_or_a_token_at_a_wrong_place_is_refused(served, client, path):
    token = served[1].token
    answer = get(client, path.format(token=token, half=token[:20], upper=token.swapcase()))
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "cookie", ["", "wrong", "{token}", "{cookie}x", "{half}", '"', "\u20ac", "a" * 5000], ids=range(8)
)
def test_a_wrong_cookie_is_refused(served, client, cookie):
    guard = served[1]
    given = cookie.format(token=guard.token, cookie=guard._pass, half=guard._pass[:10])
    assert get(client, Cookie=f"gramian-{PORT}={given}").status_code == 403


def test_the_cookie_of_another_port_is_refused(served, client):
    assert get(client, Cookie=f"gramian-{PORT + 1}={served[1]._pass}").status_code == 403


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.evil.example:{PORT}",
        "127.0.0.1",
        "localhost",
        f"127.0.0.1:{PORT + 1}",
        f"127.0.0.2:{PORT}",
        f"0.0.0.0:{PORT}",
        f"[::1]:{PORT}",
        f"2130706433:{PORT}",
        f"127.1:{PORT}",
        f"user@127.0.0.1:{PORT}",
        f"127.0.0.1:{PORT}, evil.example",
        f"127.0.0.1:{PORT}.",
        "",
    ],
)
def test_another_host_is_refused_even_with_the_cookie(member, host):
    assert member.get("/", headers={"Host": host}).status_code in (400, 403)
    assert post(member, Host=host).status_code in (400, 403)


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        f"http://evil.example:{PORT}",
        f"https://{HOST}",
        f"http://{HOST}.evil.example",
        f"http://127.0.0.1:{PORT + 1}",
        "http://127.0.0.1",
        f"http://localhost:{PORT}",
        f"http://{HOST}/",
        "file://",
        "chrome-extension://abcdef",
    ],
)
def test_another_origin_is_refused_even_with_the_cookie(member, origin):
    assert post(member, Origin=origin).status_code == 403
    assert get(member, Origin=origin).status_code == 403


@pytest.mark.parametrize("site", ["cross-site", "same-site", "nonsense"])
def test_what_another_site_makes_the_browser_send_is_refused(member, site):
    assert get(member, **{"Sec-Fetch-Site": site}).status_code == 403
    assert post(member, **{"Sec-Fetch-Site": site}).status_code == 403


def test_a_post_that_does_not_say_where_it_comes_from_is_refused(member):
    answer = member.post(UPDATE, data=BODY, headers={"Host": HOST, "Content-Type": "application/json"})
    assert answer.status_code == 403


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"])
def test_forms_that_any_site_can_send_are_refused(member, kind):
    assert post(member, **{"Content-Type": kind}).status_code == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "PROPFIND", "CONNECT"])
def test_other_methods_are_refused(member, method):
    assert member.open("/", method=method, headers={"Host": HOST}).status_code == 405


@pytest.mark.parametrize("path", ["/", "/_dash-layout", "/assets/explore.css", "/save"])
def test_nothing_is_posted_elsewhere(member, path):
    assert post(member, path=path).status_code == 405


def test_what_is_too_large_is_refused_before_it_is_read(member):
    answer = member.post(
        UPDATE,
        input_stream=NeverRead(),
        headers={"Host": HOST, "Origin": ORIGIN},
        content_type="application/json",
        environ_overrides={"CONTENT_LENGTH": str(MAX_REQUEST_BYTES + 1)},
    )
    assert answer.status_code == 413


def test_what_does_not_say_its_length_is_refused(member):
    answer = member.post(
        UPDATE,
        input_stream=NeverRead(),
        headers={"Host": HOST, "Origin": ORIGIN, "Transfer-Encoding": "chunked"},
        content_type="application/json",
        environ_overrides={"CONTENT_LENGTH": ""},
    )
    assert answer.status_code == 411


@pytest.mark.parametrize(
    "path",
    [
        "/../../etc/passwd",
        "/assets/../server.py",
        "/assets/..%2fserver.py",
        "/assets/%2e%2e/server.py",
        "/assets/....//server.py",
        "/assets//etc/passwd",
        "/assets/%00",
        "/assets/explore.css%00.py",
        "/assets\\..\\server.py",
        "/_dash-component-suites/dash/../../../etc/passwd",
        "/_dash-component-suites/os/__init__.py",
        "/_dash-component-suites/gramian/explore/server.py",
        "/_dash-component-suites/dash/dash.py",
        "/" + "a" * 3000,
    ],
)
def test_no_file_is_had_through_the_address(member, path):
    answer = get(member, path)
    text = answer.get_data(as_text=True)
    assert answer.status_code in (400, 403, 404, 500) or "_dash-app-content" in text or "react-entry-point" in text
    assert "root:" not in text
    assert "import" not in text.partition("<script")[0]


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        "null",
        "{",
        '"text"',
        json.dumps({"output": "os.system", "inputs": []}),
        json.dumps({"output": "..page.data...tab.data..", "inputs": []}),
        json.dumps({"output": "z-box.hidden", "inputs": "many", "outputs": []}),
    ],
)
def test_what_is_no_question_of_the_page_is_no_answer(member, body, capsys):
    answer = post(member, body)
    assert answer.status_code in (400, 404, 411, 500)
    assert "Traceback" not in answer.text
    assert "gramian/explore" not in answer.text
    assert "Traceback" not in capsys.readouterr().err


def test_every_answer_says_where_the_page_may_take_things_from(member, client):
    for answer in (get(member), get(member, "/_dash-dependencies"), get(client, Cookie="x=y")):
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


def test_the_page_asks_nothing_of_the_world(member):
    text = get(member).get_data(as_text=True)
    assert "https://" not in text
    assert "unpkg" not in text


class NeverRead(io.RawIOBase):
    """A body that must not be read."""

    def tell(self):
        return 0

    def seek(self, *place):
        return 0

    def read(self, *size):
        raise AssertionError("the body was read")

    def readline(self, *size):
        raise AssertionError("the body was read")
