"""The providers that `init` installs for a stored state: those of Terraform's registry are replaced."""

from __future__ import annotations

import pytest

from nigari.addrs.provider import DEFAULT_REGISTRY_HOST, Provider
from nigari.packages.providers.requirement import Requirement
from nigari.workspace.configuration.requirements import stored_requirements

_THEIRS = Provider("registry.terraform.io", "hashicorp", "null")
_OURS = Provider(DEFAULT_REGISTRY_HOST, "hashicorp", "null")
_OTHER = Provider("example.com", "hashicorp", "null")
_OFF = {"OPENTOFU_STATEFILE_PROVIDER_ADDRESS_TRANSLATION": "0"}


@pytest.mark.parametrize(
    ("stored", "named", "environ", "wanted"),
    [
        ([_THEIRS], [_OURS], {}, [_OURS]),
        ([_THEIRS], [], {}, [_OURS]),
        ([_THEIRS, _OURS], [], {}, [_OURS]),
        ([_THEIRS], [_THEIRS], {}, [_THEIRS]),
        ([_THEIRS], [_OURS], _OFF, [_THEIRS]),
        ([_OTHER], [_OURS], {}, [_OTHER]),
    ],
    ids=[
        "named by both",
        "in the state alone",
        "both stored",
        "named",
        "switched off",
        "elsewhere",
    ],
)
def test_stored_requirements(
    stored: list[Provider], named: list[Provider], environ: dict[str, str], wanted: list[Provider]
) -> None:
    addresses = [f'provider["{each.hostname}/hashicorp/null"]' for each in stored]
    found = stored_requirements(addresses, [Requirement(each) for each in named], environ)
    assert [each.provider for each in found] == wanted
