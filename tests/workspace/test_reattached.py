"""Which plugins run already, by the names that `TF_REATTACH_PROVIDERS` gives them."""

from __future__ import annotations

import json

import pytest

from nigari.addrs.provider import parse_provider
from nigari.diagnostics import Diagnostics
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.plugins.providers import InstalledProviders

_ENTRY = {"Protocol": "grpc", "ProtocolVersion": 5, "Addr": {"Network": "unix", "String": "/x"}}


@pytest.mark.parametrize(
    ("key", "provider", "is_attached"),
    [
        ("simple", "hashicorp/simple", True),
        ("hashicorp/simple", "simple", True),
        ("registry.opentofu.org/hashicorp/simple", "simple", True),
        ("simple", "other/simple", False),
        ("other/simple", "simple", False),
        ("example.com/hashicorp/simple", "simple", False),
        ("Simple", "simple", True),
        ("a/b/c/d", "simple", False),
    ],
)
def test_names(key: str, provider: str, is_attached: bool) -> None:
    environ = {"TF_REATTACH_PROVIDERS": json.dumps({key: _ENTRY})}
    wanted = parse_provider(provider, Diagnostics())
    assert wanted is not None
    assert InstalledProviders(WorkingDirectory(environ)).is_attached(wanted) is is_attached
