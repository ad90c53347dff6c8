"""Logging in and out with both programs, at the same host: the same files and verdicts."""

import contextlib
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.login_host import BY_PASSWORD, HOST, PASSWORD_HOST, Login
from tests.net_world.server import json_answer
from tests.real import program

pytestmark = pytest.mark.real


@pytest.fixture
def places(tmp_path: Path) -> Iterator[tuple[Login, Login]]:
    """One user for OpenTofu, one for us."""
    made: list[Login] = []
    for name in ("theirs", "ours"):
        (tmp_path / name / ".terraform.d").mkdir(parents=True)
        made.append(Login(tmp_path / name))
    yield made[0], made[1]
    for each in made:
        each.server.close()
        each.proxy.close()


def their_run(place: Login, *command: str, typed: str = "") -> tuple[int, str]:
    done = subprocess.run(
        [str(program("tofu")), *command],
        env=place.environ,
        cwd=place.home,
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def at_terminal(place: Login, command: list[str], lines: list[str]) -> tuple[int, str]:
    """Type each line when the program asks for it; what it shows, and how it ends."""
    person, machine = pty.openpty()
    with subprocess.Popen(
        command,
        env=place.environ,
        cwd=place.home,
        stdin=machine,
        stdout=machine,
        stderr=machine,
        start_new_session=True,
    ) as process:
        os.close(machine)
        shown, left = b"", list(lines)
        with contextlib.suppress(OSError):  # the end of a terminal
            while piece := os.read(person, 1 << 12):
                shown += piece
                if left and shown.count(b"Enter a value") > len(lines) - len(left):
                    time.sleep(0.3)  # passwords are typed when they are not shown any more
                    os.write(person, f"{left.pop(0)}\n".encode())
        os.close(person)
        return process.wait(timeout=60), shown.decode()


def both(places: tuple[Login, Login], *command: str, typed: str = "") -> int:
    theirs, ours = places
    their_status, their_text = their_run(theirs, *command, typed=typed)
    our_status, our_text = ours.run(*command, typed=typed)
    about = f"--- theirs\n{their_text}\n--- ours\n{our_text}"
    assert our_status == their_status, about
    files = [each.file.read_bytes() if each.file.exists() else b"" for each in places]
    assert files[1] == files[0], about
    modes = [each.file.stat().st_mode if each.file.exists() else 0 for each in places]
    assert modes[1] == modes[0], about
    return our_status


def test_in_and_out(places: tuple[Login, Login]) -> None:
    assert both(places, "login", HOST, typed="yes\n") == 0
    # What the browser and the program ask for is the same, up to what is random.
    asked = [[sorted(each) for each in place.oauth.asked] for place in places]
    assert asked[0] == asked[1]
    assert both(places, "login", HOST, typed="yes\n") == 0
    assert both(places, "logout", HOST) == 0
    assert both(places, "logout", HOST) == 0


def test_other_members_stay(places: tuple[Login, Login]) -> None:
    for place in places:
        place.file.write_text('{"credentials": {"b.example.com": {"token": "x"}}, "more": [1]}')
    assert both(places, "login", HOST, typed="yes\n") == 0
    assert both(places, "logout", "b.example.com") == 0


@pytest.mark.parametrize("typed", ["no\n", "YES\n", "\n"])
def test_consent(places: tuple[Login, Login], typed: str) -> None:
    assert both(places, "login", HOST, typed=typed) == (0 if typed == "YES\n" else 1)


@pytest.mark.parametrize(
    "services",
    [
        {},
        {"login.v2": {}},
        {"login.v1": {"authz": "/a", "token": "/t"}},
        {"login.v1": {"client": "x", "grant_types": ["password"], "token": "/t"}},
        {"login.v1": "/x"},
    ],
)
def test_hosts_without_a_usable_login(
    places: tuple[Login, Login], services: dict[str, object]
) -> None:
    for place in places:
        place.oauth.services = services
    assert both(places, "login", HOST, typed="yes\n") == 1


def test_a_refused_token(places: tuple[Login, Login]) -> None:
    for place in places:
        place.oauth.token_answer = json_answer({"error": "access_denied"}, 400)
    assert both(places, "login", HOST, typed="yes\n") == 1


@pytest.mark.parametrize(("word", "status"), [("pass & word", 0), ("n0t th1s", 1)])
def test_a_password(places: tuple[Login, Login], word: str, status: int) -> None:
    ours = [sys.executable, "-m", "nigari"]
    for place, command in zip(places, ([str(program("tofu"))], ours), strict=True):
        place.oauth.services = dict(BY_PASSWORD)
        given, shown = at_terminal(place, [*command, "login", PASSWORD_HOST], ["yes", "mona", word])
        assert given == status, shown
        assert word not in shown
    assert places[0].stored() == places[1].stored()
    asked = [{tuple(sorted(each.items())) for each in place.oauth.asked} for place in places]
    assert asked[0] == asked[1]


def test_what_a_person_wrote_stays(places: tuple[Login, Login]) -> None:
    for place in places:
        (place.home / ".tofurc").write_text(f'credentials "{HOST}" {{\n  token = "t"\n}}\n')
    assert both(places, "login", HOST, typed="yes\n") == 1
    assert both(places, "logout", HOST) == 1


def test_a_helper(places: tuple[Login, Login]) -> None:
    for place in places:
        plugin = place.home / ".terraform.d" / "plugins" / "terraform-credentials-keys"
        plugin.parent.mkdir()
        plugin.write_text('#!/bin/sh\necho "$@" $(cat) >> $HOME/log\necho {}\n')
        plugin.chmod(0o755)
        (place.home / ".tofurc").write_text('credentials_helper "keys" {\n  args = ["-q"]\n}\n')
    assert both(places, "login", HOST, typed="yes\n") == 0
    assert both(places, "logout", HOST) == 0
    logs = [(place.home / "log").read_text().replace(" ", "") for place in places]
    assert logs[1] == logs[0]
