"""Logging in and out, with a real OAuth server and a real browser (a small program)."""

import base64
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.net_world.certificates import Authority
from tests.net_world.server import NOT_FOUND, Answer, Asked, Proxy, Server, json_answer, redirect

HOST = "app.example.com"
PASSWORD_HOST = "app.terraform.io"
"""The only host that may ask for passwords."""
BY_PASSWORD = {
    "login.v1": {
        "client": "tofu",
        "grant_types": ["password"],
        "token": "/oauth/token",
        "scopes": ["read", "write"],
    }
}


class OAuthServer:
    """Gives a code to whoever comes, and a token for the code with the right proof."""

    def __init__(self) -> None:
        self.challenges: dict[str, str] = {}
        self.services: dict[str, object] = {
            "login.v1": {
                "client": "tofu",
                "grant_types": ["authz_code"],
                "authz": "/oauth/authorize?tenant=1",
                "token": "/oauth/token",
                "ports": [20000, 20100],
                "scopes": ["read", "write"],
            }
        }
        self.token_answer = json_answer({"access_token": "s3cret", "token_type": "bearer"})
        self.asked: list[dict[str, str]] = []

    def answer(self, asked: Asked) -> Answer:
        parts = urlsplit(asked.path)
        if parts.path == "/.well-known/terraform.json":
            return json_answer(self.services)
        if parts.path == "/oauth/authorize":
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            self.asked.append(query)
            self.challenges["the-code"] = query["code_challenge"]
            back = urlencode({"code": "the-code", "state": query["state"]})
            return redirect(f"{query['redirect_uri']}?{back}")
        if parts.path == "/oauth/token":
            form = {n: v[0] for n, v in parse_qs(asked.body.decode()).items()}
            self.asked.append(form)
            if form["grant_type"] == "password":
                is_known = (form["username"], form["password"]) == ("mona", "pass & word")
                wrong = json_answer({"error": "invalid_grant"}, 401)
                return self.token_answer if is_known else wrong
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            assert self.challenges.pop(form["code"]) == challenge
            return self.token_answer
        if parts.path == "/api/account/details":
            if asked.headers.get("authorization") != "Bearer by-hand":
                return json_answer({"errors": [{"status": "401", "title": "unauthorized"}]}, 401)
            return json_answer({"data": {"attributes": {"username": "mona"}}})
        return NOT_FOUND


class Login:
    """A user at a machine with a browser."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.oauth = OAuthServer()
        authority = Authority(home)
        self.server = Server(self.oauth.answer, authority.certificate([HOST, PASSWORD_HOST]))
        self.proxy = Proxy({HOST: self.server.port, PASSWORD_HOST: self.server.port})
        self.environ = {
            **{n: v for n, v in os.environ.items() if not n.startswith(("TF_", "XDG_"))},
            "PYTHONPATH": os.pathsep.join(sys.path),
            "HOME": str(home),
            "HTTPS_PROXY": self.proxy.url,
            "NO_PROXY": "",
            "SSL_CERT_FILE": str(authority.path),
            "BROWSER": "test-browser",
            "PATH": f"{home}{os.pathsep}{os.environ['PATH']}",
        }
        browser = home / "test-browser"
        browser.write_text(
            f"#!{sys.executable}\nimport sys, urllib.request\n"
            "urllib.request.urlopen(sys.argv[1]).read()\n"
        )
        browser.chmod(0o755)
        self.file = home / ".terraform.d" / "credentials.tfrc.json"

    def run(self, *command: str, typed: str = "") -> tuple[int, str]:
        done = subprocess.run(
            [sys.executable, "-m", "nigari", *command],
            env=self.environ,
            cwd=self.home,
            input=typed,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def stored(self) -> object:
        return json.loads(self.file.read_text())["credentials"] if self.file.exists() else None


@pytest.fixture
def login(tmp_path: Path) -> Iterator[Login]:
    made = Login(tmp_path)
    yield made
    made.server.close()
    made.proxy.close()


def test_login_by_browser_and_logout(login: Login) -> None:
    status, text = login.run("login", HOST, typed="Yes\n")
    assert (status, login.stored()) == (0, {HOST: {"token": "s3cret"}}), text
    assert str(login.file) in text
    asked, form = login.oauth.asked
    assert {k: v for k, v in asked.items() if k not in ("state", "code_challenge")} == {
        "tenant": "1",
        "response_type": "code",
        "client_id": "tofu",
        "redirect_uri": asked["redirect_uri"],
        "scope": "read write",
        "code_challenge_method": "S256",
    }
    port = urlsplit(asked["redirect_uri"]).port
    assert port is not None
    assert 20000 <= port < 20100
    assert asked["redirect_uri"] == f"http://localhost:{port}/login"
    assert form["grant_type"] == "authorization_code"
    assert form["client_id"] == "tofu"
    status, text = login.run("logout", HOST.upper())
    assert (status, login.stored()) == (0, {})
    assert "still valid" in text
    status, text = login.run("logout", HOST)
    assert status == 0
    assert "There is no stored token" in text


def test_nothing_happens_without_consent(login: Login) -> None:
    for typed in ("no\n", ""):
        status, text = login.run("login", HOST, typed=typed)
        assert (status, login.stored()) == (1, None)
        assert "Login cancelled" in text
    assert login.oauth.asked == []


def test_login_needs_a_person(login: Login) -> None:
    status, text = login.run("login", "-input=false", HOST)
    assert status == 1
    assert "Login requires input" in text
    assert login.server.log == []


def test_a_host_that_gives_no_token(login: Login) -> None:
    login.oauth.token_answer = json_answer({"error": "access_denied"}, 400)
    status, text = login.run("login", HOST, typed="yes\n")
    assert (status, login.stored()) == (1, None)
    assert "status 400, saying: access_denied." in text


def test_a_token_made_by_hand(login: Login) -> None:
    login.oauth.services = {"tfe.v2": "/api/"}
    status, text = login.run("login", HOST, typed="yes\n by-hand \n")
    assert (status, login.stored()) == (0, {HOST: {"token": "by-hand"}}), text
    assert f"https://{HOST}/app/settings/tokens?source=terraform-login" in text
    assert "belongs to mona" in text
    status, text = login.run("login", HOST, typed="yes\nwrong\n")
    assert status == 1
    assert "does not know this token" in text


def test_login_by_password(login: Login) -> None:
    login.oauth.services = dict(BY_PASSWORD)
    status, text = login.run("login", PASSWORD_HOST, typed="yes\nmona\nwrong\n")
    assert (status, login.stored()) == (1, None)
    assert "invalid_grant" in text
    status, text = login.run("login", PASSWORD_HOST, typed="yes\nmona\npass & word\n")
    assert (status, login.stored()) == (0, {PASSWORD_HOST: {"token": "s3cret"}}), text
    assert "pass & word" not in text
    assert login.oauth.asked[-1] == {
        "client_id": "tofu",
        "grant_type": "password",
        "username": "mona",
        "password": "pass & word",
        "scope": "read write",
    }


@pytest.mark.parametrize("typed", ["yes\n", "yes\nmona\n", "no\n"])
def test_no_password_no_login(login: Login, typed: str) -> None:
    login.oauth.services = dict(BY_PASSWORD)
    status, text = login.run("login", PASSWORD_HOST, typed=typed)
    assert (status, login.stored(), login.oauth.asked) == (1, None, [])
    assert "Login cancelled" in text


@pytest.mark.parametrize(
    ("services", "words"),
    [
        ({}, "app.example.com has no login"),
        ({"login.v2": {}}, "offers login.v2, but not login.v1"),
        ({"login.v1": {"authz": "/a", "token": "/t"}}, "client is missing"),
        ({"login.v1": {"client": "x", "token": "/t"}}, "authz is missing"),
        ({"login.v1": {"client": "x", "authz": "/a", "token": "/t", "ports": [1, 2]}}, "ports"),
        ({"login.v1": {"client": "x", "grant_types": ["other"]}}, "offers no kind of login"),
        (
            {"login.v1": {"client": "x", "grant_types": ["password"], "token": "/t"}},
            "no kind of login",
        ),
        ({"login.v1": "/x"}, "with an object"),
    ],
)
def test_hosts_without_a_usable_login(
    login: Login, services: dict[str, object], words: str
) -> None:
    login.oauth.services = services
    status, text = login.run("login", HOST, typed="yes\n")
    assert status == 1
    assert words in text


def test_what_a_person_wrote_stays(login: Login) -> None:
    (login.home / ".tofurc").write_text(f'credentials "{HOST}" {{\n  token = "t"\n}}\n')
    for command in ("login", "logout"):
        status, text = login.run(command, HOST, typed="yes\n")
        assert status == 1
        assert "Credentials are configured by hand" in text


@pytest.mark.parametrize("command", ["login", "logout"])
@pytest.mark.parametrize("arguments", [(), ("a", "b"), ("not a host",)])
def test_one_host_is_named(login: Login, command: str, arguments: tuple[str, ...]) -> None:
    status, _ = login.run(command, *arguments, typed="yes\n")
    assert status == 1


def test_events_for_programs(login: Login) -> None:
    _, text = login.run("logout", "-json", HOST)
    assert "There is no stored token" in text
