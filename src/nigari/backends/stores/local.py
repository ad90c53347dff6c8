"""The backend `local`: states in files of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nigari.backends.backend_spec import (
    AddressArgument,
    ArgumentProblems,
    BackendSpec,
    Environment,
    StateAddress,
    attributes,
)
from nigari.backends.protocol import Around
from nigari.cty.values import Value
from nigari.schema.block import Block


def _problems(value: Value, _environ: Environment) -> ArgumentProblems:
    for name in ("path", "workspace_dir"):
        if value.attribute(name).data == "":
            yield name, f"The {name} is empty. Set it, or leave the argument out."


def _address(config: Mapping[str, object], workspace: str, around: Around) -> StateAddress:
    from nigari.backends.local import LocalBackend, local_paths

    storage = LocalBackend(around.directory, local_paths(config)).storage(workspace)
    path = os.path.realpath(os.path.join(around.directory, storage.location))
    # The path suffices: a reader of the file need not know the writer's workspace.
    return "local", (("path", path),)


SPEC: BackendSpec = BackendSpec(
    block=Block(attributes(strings="path workspace_dir")),
    shown="path workspace_dir",
    address=(
        AddressArgument("path"),
        AddressArgument("workspace_dir"),
    ),
    identify=_address,
    rules=_problems,
    is_shared=False,
)
