"""Real plugins that both programs attach to, instead of starting them for every command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from nigari.providers.handshake import COOKIE, COOKIE_NAME
from scripts.peers import cache

UNANSWERED: Final = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
"""An environment in which nothing that is asked of the network is answered."""
_SOURCES: Final = {
    **{
        name: f"hashicorp/{name}"
        for name in (
            "random",
            "local",
            "time",
            "null",
            "tls",
            "http",
            "archive",
            "cloudinit",
            "dns",
        )
    },
    "kubernetes": "hashicorp/kubernetes",
    "helm": "hashicorp/helm",
    "hcloud": "hetznercloud/hcloud",
    "github": "integrations/github",
    "postgresql": "cyrilgdn/postgresql",
}
"""Not `external`, which would run programs of the repositories."""


@contextmanager
def real_plugins() -> Iterator[dict[str, object]]:
    """Those that `make peers` has built, as `TF_REATTACH_PROVIDERS` names them."""
    found: dict[str, object] = {}
    with ExitStack() as stack:
        for name, source in _SOURCES.items():
            path = cache() / "bin" / f"terraform-provider-{name}"
            if path.is_file():
                found[f"registry.opentofu.org/{source}"] = stack.enter_context(_running(str(path)))
        yield found


@contextmanager
def _running(path: str) -> Iterator[dict[str, object]]:
    environ = {**os.environ, **UNANSWERED, COOKIE_NAME: COOKIE, "PLUGIN_PROTOCOL_VERSIONS": "5,6"}
    with subprocess.Popen(
        [path], env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        _, version, network, address, *_ = process.stdout.readline().split("|")
        try:
            yield {
                "Protocol": "grpc",
                "ProtocolVersion": int(version),
                "Pid": process.pid,
                "Test": True,
                "Addr": {"Network": network, "String": address},
            }
        finally:
            process.terminate()
