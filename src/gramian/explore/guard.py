"""Who may talk to the server: a browser on this machine that was given the address."""

from __future__ import annotations

import hmac
import secrets

from flask import Flask, Response, redirect, request

#: Bytes of a request: an upload in base 64, and some room.
MAX_REQUEST_BYTES = 48 * 10**6
#: Bytes of an address.
MAX_ADDRESS_LENGTH = 2000
HOST_NAMES = ("127.0.0.1", "localhost")
POST_PATH = "/_dash-update-component"


class Guard:
    """Refuses every request that does not come from a page of this server.

    A request passes if its Host is this server (a name that was bound to this machine later is not), if it was not sent
    by another site (Origin, Sec-Fetch-Site), if it is not too large, and if it carries the cookie. The cookie is given
    in exchange for the token of the address that the command printed.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self._pass = secrets.token_urlsafe(32)
        self._cookie = f"gramian-{port}"
        self._hosts = {f"{name}:{port}" for name in HOST_NAMES}
        self.address = f"http://127.0.0.1:{port}/?token={self.token}"

    def protect(self, server: Flask, policy: str) -> None:
        """Stand before every route of a server; ``policy`` says where its pages may take scripts from."""
        server.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST_BYTES
        server.before_request(self._check)

        @server.after_request
        def close(response: Response) -> Response:
            response.headers["Content-Security-Policy"] = policy
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["X-Frame-Options"] = "DENY"
            response.headers["Referrer-Policy"] = "no-referrer"
            response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
            response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
            return response

    def _check(self) -> Response | None:
        why = self._outside()
        if why is not None:
            return _refused(*why)
        given = request.args.getlist("token")
        if given:
            return self._exchange(given)
        if not hmac.compare_digest(_bytes(request.cookies.get(self._cookie, "")), _bytes(self._pass)):
            return _refused(403, "Open the address that gramian explore printed; it carries a token.")
        return None

    def _outside(self) -> tuple[int, str] | None:
        """What is wrong with a request, whoever sent it."""
        hosts = request.headers.getlist("Host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 403, "This server answers on 127.0.0.1 and localhost only."
        if request.method not in ("GET", "HEAD", "POST"):
            return 405, "Only GET, HEAD and POST are known here."
        if len(request.full_path) > MAX_ADDRESS_LENGTH or "\0" in request.path or "\\" in request.path:
            return 400, "This server has no such address."
        if ".." in request.path.split("/"):
            return 400, "This server has no such address."
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return 403, "The request comes from another site."
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{hosts[0].lower()}":
            return 403, "The request comes from another site."
        return self._wrong_post(origin) if request.method == "POST" else None

    def _wrong_post(self, origin: str | None) -> tuple[int, str] | None:
        if request.path != POST_PATH:
            return 405, "Nothing is sent to this address."
        if origin is None:
            return 403, "The request does not say where it comes from."
        if request.mimetype != "application/json":
            return 415, "Only JSON is taken."
        if request.content_length is None:
            return 411, "The request does not say how long it is."
        if request.content_length > MAX_REQUEST_BYTES:
            return 413, f"The request is larger than {MAX_REQUEST_BYTES // 10**6} MB."
        return None

    def _exchange(self, given: list[str]) -> Response:
        """A cookie for the token; the address without it, so that it is in no history and on no screen."""
        if request.method != "GET" or request.path != "/" or len(given) != 1:
            return _refused(403, "The token belongs to the first address only.")
        if not hmac.compare_digest(_bytes(given[0]), _bytes(self.token)):
            return _refused(403, "The token is not that of this server. Use the address it printed.")
        response: Response = redirect("/", 303)  # type: ignore[assignment]
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="Strict", path="/")
        return response


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _refused(code: int, why: str) -> Response:
    return Response(f"{why}\n", code, mimetype="text/plain")
