"""The backend `inmem`: states in the memory of this process, for tests."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.backends.backend_spec import BackendSpec, attributes, store_of
from nigari.backends.protocol import Around
from nigari.schema.block import Block


def _no_address(_config: Mapping[str, object], _workspace: str, _around: Around) -> None:
    """Each process has states of its own."""


SPEC: BackendSpec = BackendSpec(
    block=Block(attributes(strings="lock_id")),
    open=store_of(__name__),
    shown="lock_id",
    identify=_no_address,
    is_shared=False,
)
