"""Common parts of provisioners: how they fail, and how values become their arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from nigari.cty.values import Value
from nigari.record import record

Say = Callable[[str], None]
"""Tells a line of output."""

Arguments = Mapping[str, Value]
"""The arguments of a provisioner: known, without marks, null where they are not set."""


@record
class Machine:
    """The machine that this program runs on, as provisioners see it."""

    environ: Mapping[str, str]
    directory: str
    """The directory of relative paths; empty for the current one."""

    def at(self, path: str) -> str:
        """The path by which the process finds a file."""
        return os.path.join(self.directory, path)


class ProvisionerFailure(Exception):
    """A provisioner failure, as one or more sentences."""


def text_of(value: Value) -> str:
    """A string; empty where it is null."""
    return value.data if isinstance(value.data, str) else ""


def texts_of(value: Value) -> Iterator[str]:
    """The strings of a list, without those that are null."""
    if not value.is_null:
        for each in value.sequence():
            if isinstance(each.data, str):
                yield each.data
