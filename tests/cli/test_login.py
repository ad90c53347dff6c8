"""Logging in and out, with a real OAuth server and a real browser (a small program)."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.cli.login_host import BY_PASSWORD, HOST, PASSWORD_HOST, Login
from tests.net_world.server import json_answer


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
