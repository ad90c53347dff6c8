"""Plugins that tests write: programs that offer a provider, and settings that name them."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from nigari.providers.handshake import COOKIE, COOKIE_NAME


def write_program(path: Path, *command: str | Path) -> None:
    """Have a path start a command.

    The shell reads it, because a `#!` line cannot name an interpreter with a space in its path.
    """
    words = shlex.join(str(word) for word in command)
    path.write_text(f'#!/bin/sh\nexec {words} "$@"\n')
    path.chmod(0o755)


def write_plugin(folder: Path, name: str, text: str) -> None:
    """Write the plugin of a provider, in Python, into a new folder."""
    folder.mkdir()
    script = folder / f"{name}.py"
    script.write_text(text)
    write_program(folder / f"terraform-provider-{name}", sys.executable, script)


def serving(provider: type) -> str:
    """The text of a plugin that offers a provider of the tests."""
    name = provider.__name__
    return (
        "from nigari.providers.serve import serve\n"
        f"from {provider.__module__} import {name}\n\nserve({name}())\n"
    )


def overriding(settings: Path, source: str, folder: Path) -> dict[str, str]:
    """An environment in which a provider is found in a folder, and Python finds the tests."""
    settings.write_text(
        f'provider_installation {{\n  dev_overrides {{\n    "{source}" = "{folder}"\n  }}\n}}\n'
    )
    return {"TF_CLI_CONFIG_FILE": str(settings), "PYTHONPATH": os.pathsep.join(sys.path)}


@contextlib.contextmanager
def running(source: str, text: str, cwd: Path) -> Iterator[dict[str, str]]:
    """Run a plugin, in a directory, that commands attach to instead of starting it themselves.

    Gives the environment that says so, and that nothing else is configured.
    """
    settings = cwd / "nothing.tfrc"
    settings.touch()
    with subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=cwd,
        env={
            **os.environ,
            COOKIE_NAME: COOKIE,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "PLUGIN_UNIX_SOCKET_DIR": str(cwd),
        },
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        _, version, network, address, *_ = process.stdout.readline().split("|")
        plugin = {
            "Protocol": "grpc",
            "ProtocolVersion": int(version),
            "Pid": process.pid,
            "Test": True,
            "Addr": {"Network": network, "String": address},
        }
        try:
            yield {
                "TF_CLI_CONFIG_FILE": str(settings),
                "TF_REATTACH_PROVIDERS": json.dumps({source: plugin}),
            }
        finally:
            process.terminate()
