"""Programs that are run by ours end with whoever waits for them, and leave no zombies."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Final

import pytest

from nigari.apply.provisioners.local_exec import run_local
from nigari.apply.provisioners.provisioner import Machine
from nigari.backends.stores.kubernetes.cluster import Cluster, LoginProgram, logged_in
from nigari.clouds.aws.credentials import _of_process
from nigari.clouds.azure import AzureIdentity, _of_cli
from nigari.cty.types import DYNAMIC
from nigari.cty.values import FALSE, null, string
from nigari.net.settings import Settings
from nigari.packages.hosts.cli_config import CliConfig, OciDefaults
from nigari.packages.hosts.host_credentials import HostCredentials
from nigari.packages.hosts.oci_credentials import OciCredentialsStore
from nigari.packages.modules.git import GitGetter
from nigari.packages.modules.mercurial import MercurialGetter
from nigari.programs import run_program, wait_for_program
from tests.cli.process import command, environment

HANGS: Final = """#!/bin/sh
{first}
sleep 300 &
echo "$$ $!" > "{mark}.new"
mv "{mark}.new" "{mark}"
wait
sleep 300
"""
NAMES: Final = ("az", "docker-credential-x", "git", "hg", "terraform-credentials-x")


class World:
    """Programs of all names that hang, having told their ids."""

    def __init__(self, path: Path, first: str = "") -> None:
        self.path = path
        self._mark = path / "pids"
        (path / "bin").mkdir()
        self.program = path / "bin" / "hangs"
        self.program.write_text(HANGS.format(first=first, mark=self._mark))
        self.program.chmod(0o755)
        for name in NAMES:
            (path / "bin" / name).symlink_to(self.program)
        self.environ = {**os.environ, "PATH": f"{path}/bin:{os.environ['PATH']}"}

    @property
    def is_started(self) -> bool:
        return self._mark.exists()

    def pids(self) -> tuple[int, int]:
        """Those of the program, and of what it has started."""
        own, started = self._mark.read_text().split()
        return int(own), int(started)

    def check(self) -> None:
        """Nothing of it runs any more."""
        deadline = time.monotonic() + 5
        while any(_state(pid) not in ("", "Z") for pid in self.pids()):
            assert time.monotonic() < deadline, [_state(pid) for pid in self.pids()]
            time.sleep(0.02)


def _state(pid: int) -> str:
    """The letter that the system has for what a process does; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return ""


def _children() -> list[int]:
    """The processes that this one has started and not waited for."""
    told = Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()
    return [int(pid) for pid in told.split()]


async def _store(world: World) -> object:
    defaults = OciDefaults(helper="x")
    return await OciCredentialsStore((), defaults, world.environ).find("example.com", "a")


async def _host(world: World) -> object:
    config = CliConfig(credentials_helper=("x",))
    places = {**world.environ, "TF_PLUGIN_CACHE_DIR": "", "HOME": str(world.path)}
    plugins = world.path / ".terraform.d" / "plugins"
    plugins.mkdir(parents=True)
    (plugins / "terraform-credentials-x").symlink_to(world.program)
    return await HostCredentials(config, places).token("example.com")


async def _local(world: World) -> object:
    given = {name: null(DYNAMIC) for name in ("interpreter", "working_dir", "environment")}
    arguments = {**given, "command": string(f"exec {world.program}"), "quiet": FALSE}
    machine = Machine(world.environ, str(world.path))
    await run_local(arguments, machine, lambda _: None)
    return None


CALLERS: Final[Mapping[str, Callable[[World], Coroutine[object, object, object]]]] = {
    "a program": lambda world: run_program([str(world.program)], world.environ),
    "a line for the shell": lambda world: run_program(f"{world.program}; true", world.environ),
    "credential_process": lambda world: _of_process(str(world.program), world.environ),
    "the Azure CLI": lambda world: _of_cli(AzureIdentity(), "x", world.environ),
    "a kubeconfig": lambda world: logged_in(
        Cluster("", "", "", "", "", "", Settings(), LoginProgram("v1", [str(world.program)], {}))
    ),
    "git": lambda world: GitGetter(world.environ).revision("https://example.com/a.git", False),
    "hg": lambda world: MercurialGetter(world.environ).revision("https://example.com/a", False),
    "a credentials helper of Docker": _store,
    "a credentials helper of hosts": _host,
    "local-exec": _local,
}


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("caller", CALLERS)
def test_cancelled(caller: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    monkeypatch.setenv("PATH", world.environ["PATH"])

    async def work() -> None:
        task = asyncio.ensure_future(CALLERS[caller](world))
        while not world.is_started:
            assert not task.done(), task.result()
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert world.pids()[0] not in _children()
        if caller == "local-exec":
            # What a command has started may go on, as it does with OpenTofu.
            os.kill(world.pids()[1], signal.SIGKILL)

    asyncio.run(work())
    world.check()


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("is_async", [True, False])
def test_one_that_does_not_want_to_end(is_async: bool, tmp_path: Path) -> None:
    world = World(tmp_path, "trap '' TERM INT")
    words = [str(world.program)]

    def run() -> object:
        if is_async:
            return asyncio.run(run_program(words, world.environ, within=1.0))
        return wait_for_program(words, within=1.0)

    with pytest.raises(TimeoutError):
        run()
    world.check()


BACKENDS: Final = {
    "s3": 'bucket = "b"\n key = "k"\n region = "eu-west-1"\n profile = "p"\n skip_credentials_validation = true',
    "azurerm": 'storage_account_name = "abc"\n container_name = "abc"\n key = "k"\n use_azuread_auth = true\n tenant_id = "t"',
    "kubernetes": 'secret_suffix = "x"\n config_path = "kubeconfig"',
}
KUBECONFIG: Final = """
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:1"}}}}]
users: [{{name: u, user: {{exec: {{apiVersion: client.authentication.k8s.io/v1, command: "{program}"}}}}}}]
contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
current-context: x
"""
ENCRYPTED: Final = """
terraform {{
  encryption {{
    {provider}
    method "aes_gcm" "m" {{ keys = key_provider.{kind}.k }}
    state {{ method = method.aes_gcm.m }}
  }}
}}
resource "terraform_data" "a" {{}}
"""
COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    **{
        kind: (f'terraform {{\n backend "{kind}" {{\n {body}\n }}\n}}\n', "init -input=false")
        for kind, body in BACKENDS.items()
    },
    "git": ('module "m" { source = "git::https://example.com/a.git" }', "init"),
    "hg": ('module "m" { source = "hg::https://example.com/a" }', "init"),
    "external keys": (
        ENCRYPTED.format(
            kind="external", provider='key_provider "external" "k" { command = ["hangs"] }'
        ),
        "plan",
    ),
    "aws_kms": (
        ENCRYPTED.format(
            kind="aws_kms",
            provider='key_provider "aws_kms" "k" {\n kms_key_id = "k"\n key_spec = "AES_256"\n'
            ' region = "eu-west-1"\n profile = "p"\n}',
        ),
        "plan",
    ),
}


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
@pytest.mark.parametrize("at_terminal", [False, True])
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_are_interrupted(name: str, at_terminal: bool, tmp_path: Path) -> None:
    """Ctrl-C at a terminal reaches all programs; elsewhere only ours is told to end."""
    world = World(tmp_path)
    configuration, line = COMMANDS[name]
    (tmp_path / "main.tf").write_text(configuration)
    (tmp_path / "kubeconfig").write_text(KUBECONFIG.format(program=world.program))
    (tmp_path / "config").write_text(f"[profile p]\ncredential_process = {world.program}\n")
    settings = {"PATH": world.environ["PATH"], "AWS_CONFIG_FILE": str(tmp_path / "config")}
    keys, screen = pty.openpty() if at_terminal else (-1, -1)
    process = subprocess.Popen(
        [sys.executable, "-c", _AT_TERMINAL, *command(*line.split())]
        if at_terminal
        else command(*line.split()),
        cwd=tmp_path,
        env=environment(**settings),
        stdin=screen if at_terminal else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    with process:
        deadline = time.monotonic() + 30
        while not world.is_started:
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if at_terminal:
            os.write(keys, b"\x03")
        else:
            process.send_signal(signal.SIGINT)
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 130, output
    assert b"Traceback" not in output
    world.check()
    if at_terminal:
        os.close(keys)
        os.close(screen)


_AT_TERMINAL: Final = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
"""Makes its input the terminal of a new session."""
