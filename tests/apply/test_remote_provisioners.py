"""`remote-exec` and `file` on a real ssh server that the test starts."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from tests.apply.ssh_host import PASSWORD, USER, SshHost, login
from tests.cli.in_process import applied


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    return folder


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


@pytest.fixture
def usual_mask() -> Iterator[None]:
    """New files are for everyone to read, whatever this machine says."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SshHost]:
    monkeypatch.setenv("HOME", str(tmp_path))  # where there are no settings for ssh
    with SshHost() as running:
        yield running


def _resource(body: str, input_: str = '"x"') -> str:
    return f'resource "terraform_data" "a" {{\n  input = {input_}\n{body}\n}}\n'


def _status() -> str | None:
    state = json.loads(Path("terraform.tfstate").read_text())
    found = state["resources"][0]["instances"][0].get("status")
    return None if found is None else str(found)


def test_the_path_of_a_script_is_no_command(here: Path, there: Path, host: SshHost) -> None:
    odd = f'"{there}/a script; touch marked; .sh"'
    body = f"""
{login(host, there, script_path=odd)}
  provisioner "remote-exec" {{
    inline = ["echo made > {there}/log"]
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert (there / "log").read_text() == "made\n"
    assert sorted(each.name for each in there.iterdir()) == ["a script; touch marked; .sh", "log"]
    assert not list(Path().glob("marked*"))


def test_inline(here: Path, there: Path, host: SshHost) -> None:
    body = f"""
{login(host, there)}
  provisioner "remote-exec" {{
    inline = ["echo made ${{self.input}} > {there}/log", "echo said"]
  }}
  provisioner "remote-exec" {{
    when   = destroy
    inline = ["echo ends ${{self.input}} >> {there}/log"]
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert "terraform_data.a (remote-exec): said" in said
    status, said = applied(["-destroy"], {})
    assert status == 0, said
    assert (there / "log").read_text() == "made x\nends x\n"
    scripts = list(there.glob("script_*.sh"))
    assert [each.read_bytes() for each in scripts] == [b"", b""]
    assert all(each.stat().st_mode & 0o777 == 0o777 for each in scripts)


def test_scripts_from_files(here: Path, there: Path, host: SshHost) -> None:
    Path("one.sh").write_text(f"#!/bin/sh\necho one >> {there}/log\n")
    Path("two.sh").write_text(f"echo two >> {there}/log\n")
    body = f"""
{login(host, there)}
  provisioner "remote-exec" {{
    script = "one.sh"
  }}
  provisioner "remote-exec" {{
    scripts = ["two.sh", "one.sh"]
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert (there / "log").read_text() == "one\ntwo\none\n"


@pytest.mark.usefixtures("usual_mask")
def test_files(here: Path, there: Path, host: SshHost) -> None:
    Path("folder/inner").mkdir(parents=True)
    Path("folder/a").write_text("A")
    Path("folder/inner/b").write_bytes(bytes(range(256)) * 1000)
    for name in ("whole", "inside"):
        (there / name).mkdir()
    body = f"""
{login(host, there)}
  provisioner "file" {{
    content     = "some ${{self.input}}"
    destination = "{there}/content"
  }}
  provisioner "file" {{
    source      = "folder/a"
    destination = "{there}/copy of a"
  }}
  provisioner "file" {{
    source      = "folder"
    destination = "{there}/whole"
  }}
  provisioner "file" {{
    source      = "folder/"
    destination = "{there}/inside"
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert (there / "content").read_text() == "some x"
    assert (there / "copy of a").read_text() == "A"
    assert (there / "copy of a").stat().st_mode & 0o777 == 0o644
    assert (there / "whole/folder/a").read_text() == "A"
    assert (there / "inside/inner/b").read_bytes() == bytes(range(256)) * 1000


_ECHO = 'provisioner "remote-exec" {\n    inline = ["echo hello"]\n  }\n'


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"password": "", "private_key": 'file("key")'}, ""),
        ({"host_key": 'chomp(file("host_key"))'}, ""),
        ({"host_key": 'chomp(file("other_key"))', "timeout": '"1s"'}, "not trusted"),
        ({"password": '"wrong"', "timeout": '"1s"'}, "Permission denied"),
        ({"private_key": '"nonsense"'}, "private key of the connection cannot be read"),
        ({"port": "1", "timeout": '"1s"'}, "Cannot connect to 127.0.0.1"),
        ({"type": '"winrm"'}, "winrm are not supported"),
        ({"type": '"telnet"'}, 'no connection type "telnet"'),
        ({"timeout": '"soon"'}, "a duration such as 5m"),
        ({"target_platform": '"beos"'}, "unix or windows"),
        ({"agent": "true"}, "there is none: SSH_AUTH_SOCK"),
        ({"host": '""'}, "host of the connection is empty"),
    ],
)
def test_logging_in(
    here: Path, there: Path, host: SshHost, more: dict[str, str], wanted: str
) -> None:
    Path("key").write_text(host.private_user_key)
    Path("host_key").write_text(host.public_host_key)
    Path("other_key").write_text(host.user_key.export_public_key().decode())
    Path("main.tf").write_text(_resource(login(host, there, **more) + _ECHO))
    status, said = applied([], {})
    if not wanted:
        assert status == 0, said
        assert "(remote-exec): hello" in said
        return
    assert status == 1
    assert wanted in " ".join(said.replace("│", " ").split())
    assert _status() == "tainted"


def test_a_local_user_without_a_name(
    here: Path, there: Path, host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "")
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    Path("main.tf").write_text(_resource(login(host, there) + _ECHO))
    status, said = applied([], {})
    assert status == 0, said


def test_own_connection_is_laid_over_that_of_the_resource(
    here: Path, there: Path, host: SshHost
) -> None:
    body = f"""
{login(host, there, password='"wrong"')}
  provisioner "remote-exec" {{
    inline = ["echo hello"]
    connection {{
      password = "{PASSWORD}"
    }}
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said


def test_bastion(here: Path, there: Path, host: SshHost) -> None:
    with SshHost() as bastion:
        way = login(host, there, bastion_host='"127.0.0.1"', bastion_port=str(bastion.port))
        Path("main.tf").write_text(_resource(way + _ECHO))
        status, said = applied([], {})
        assert status == 0, said
        assert bastion.tunnels == [host.port]


def test_no_connection(here: Path) -> None:
    Path("main.tf").write_text(_resource(_ECHO))
    status, said = applied([], {})
    assert status == 1
    assert "no connection block" in said


def test_failure_that_does_not_matter(here: Path, there: Path, host: SshHost) -> None:
    body = f"""
{login(host, there)}
  provisioner "remote-exec" {{
    inline     = ["exit 7"]
    on_failure = continue
  }}
  provisioner "remote-exec" {{
    inline = ["echo after"]
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert "exited with 7" in said
    assert "(remote-exec): after" in said
    assert _status() is None


def test_secrets_are_not_shown(here: Path, there: Path, host: SshHost) -> None:
    body = f"""
{login(host, there)}
  provisioner "remote-exec" {{
    inline = ["echo ${{sensitive("confidential")}}", "exit 1"]
  }}
"""
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 1
    assert "confidential" not in said
    assert "The output is not shown" in said


def test_the_password_may_be_a_secret(here: Path, there: Path, host: SshHost) -> None:
    body = login(host, there, password=f'sensitive("{PASSWORD}")') + _ECHO
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], {})
    assert status == 0, said
    assert "(remote-exec): hello" in said


def test_what_a_provisioner_uses_comes_first(here: Path, there: Path, host: SshHost) -> None:
    body = login(host, there, user="terraform_data.user.output") + _ECHO
    Path("main.tf").write_text(
        f'resource "terraform_data" "user" {{\n  input = "{USER}"\n}}\n' + _resource(body)
    )
    status, said = applied(["-parallelism=1"], {})
    assert status == 0, said


# -- other ways to get in ---------------------------------------------------------------------


@pytest.fixture
def agent(tmp_path: Path, host: SshHost, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent that has the user's key, behind others."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("needs the programs ssh-agent and ssh-add")
    socket = tmp_path / "agent.sock"
    process = subprocess.Popen(["ssh-agent", "-D", "-a", str(socket)], stdout=subprocess.DEVNULL)
    try:
        while not socket.exists():
            assert process.poll() is None
            time.sleep(0.02)
        monkeypatch.setenv("SSH_AUTH_SOCK", str(socket))
        others = [asyncssh.generate_private_key("ssh-ed25519", f"other {n}") for n in range(3)]
        for number, key in enumerate([*others, host.user_key]):
            path = tmp_path / f"key_{number}"
            key.write_private_key(path, "openssh")
            path.chmod(0o600)
            subprocess.run(["ssh-add", str(path)], check=True, capture_output=True)
        host.user_key.write_public_key(tmp_path / "mine.pub")
        yield tmp_path / "mine"
    finally:
        process.terminate()
        process.wait(10)


@pytest.mark.parametrize("more", [{"agent": "true"}, {"agent": ""}, {"agent_identity": "mine"}])
def test_agent(here: Path, there: Path, host: SshHost, agent: Path, more: dict[str, str]) -> None:
    if "agent_identity" in more:
        more = {"agent": "true", "agent_identity": f'"{agent}"'}
    body = login(host, there, password="", **more) + _ECHO
    Path("main.tf").write_text(_resource(body))
    status, said = applied([], os.environ)
    assert status == 0, said


def test_certificate(here: Path, there: Path, host: SshHost) -> None:
    authority = asyncssh.generate_private_key("ssh-ed25519")
    key = asyncssh.generate_private_key("ssh-ed25519")
    certificate = authority.generate_user_certificate(key, "somebody", principals=[USER])
    host.authority = authority
    Path("key").write_text(key.export_private_key("pkcs8-pem").decode())
    Path("certificate").write_bytes(certificate.export_certificate())
    more = {"password": "", "private_key": 'file("key")', "certificate": 'file("certificate")'}
    Path("main.tf").write_text(_resource(login(host, there, **more) + _ECHO))
    status, said = applied([], {})
    assert status == 0, said


class _Proxy(socketserver.ThreadingTCPServer):
    """Connects to whatever it is asked to, and remembers who asked."""

    daemon_threads = True

    def __init__(self) -> None:
        self.heads: list[str] = []
        super().__init__(("127.0.0.1", 0), _ProxyConnection)


class _ProxyConnection(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, _Proxy)
        lines = iter(self.rfile.readline, b"\r\n")
        head = [line.decode().strip() for line in lines]
        self.server.heads += head
        name, _, port = head[0].split()[1].rpartition(":")
        with socket.create_connection((name, int(port))) as further:
            self.wfile.write(b"HTTP/1.1 200 Fine\r\n\r\n")
            forth = threading.Thread(target=self._pump, args=(self.connection, further))
            forth.start()
            self._pump(further, self.connection)
            forth.join(10)

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def test_proxy(here: Path, there: Path, host: SshHost) -> None:
    with _Proxy() as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        more = {
            "proxy_host": '"127.0.0.1"',
            "proxy_port": str(proxy.server_address[1]),
            "proxy_user_name": '"u"',
            "proxy_user_password": '"p"',
        }
        Path("main.tf").write_text(_resource(login(host, there, **more) + _ECHO))
        status, said = applied([], {})
        proxy.shutdown()
    assert status == 0, said
    assert proxy.heads[0] == f"CONNECT 127.0.0.1:{host.port} HTTP/1.1"
    assert "Proxy-Authorization: Basic dTpw" in proxy.heads


def test_a_host_that_takes_its_time(here: Path, there: Path) -> None:
    """A host that was just made answers after a while."""
    late = SshHost()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        late.port = taken.getsockname()[1]
    Path("main.tf").write_text(_resource(login(late, there, timeout='"20s"') + _ECHO))
    timer = threading.Timer(0.5, late.__enter__)
    timer.start()
    status, said = applied([], {})
    timer.join()
    late.__exit__(None, None, None)
    assert status == 0, said
