"""The module lock file, `.nigari.lock.hcl`: the package of each source.

It is beside `.terraform.lock.hcl`, uses the same format, and is Nigari's own: OpenTofu ignores it.
Each entry is for a source with a version constraint, regardless of its callers, because calls may
depend on variables.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from nigari import cty
from nigari.addrs.module_source import split_subdir
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.advice import advice
from nigari.hcl.binary import without_binary
from nigari.hcl.body import Attribute, AttributeSchema, BlockSchema, BodySchema
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.packages.content.merge_conflicts import report_conflict
from nigari.packages.content.package_tree import HASH_SCHEME, PackageOrigin
from nigari.packages.content.whole_file import write_whole
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = ".nigari.lock.hcl"
_HEADER: Final = (
    '# This file is maintained automatically by "nigari init".\n'
    "# It records which packages the modules come from. To move to newer ones, run\n"
    '# "nigari init -upgrade". Manual edits may be lost in future updates.\n'
)
_FIELDS: Final = ("version", "constraints", "location", "revision", "hash")
_FILE: Final = BodySchema(blocks=(BlockSchema("module", ("source",)),))
_MODULE: Final = BodySchema(tuple(AttributeSchema(name) for name in _FIELDS))


@record
class ModuleLock:
    """The locked package of a source."""

    source: str
    """Package address, without secrets and without a directory in it."""
    digest: str
    """Hash of its files, in hexadecimal."""
    constraints: str = ""
    version: str = ""
    """For registry modules."""
    location: str = ""
    """Location from the registry, with the directory in the package."""
    revision: str = ""
    """A commit, digest, or other identifier of the content."""

    @property
    def key(self) -> tuple[str, str]:
        return self.source, self.constraints

    @property
    def origin(self) -> PackageOrigin:
        """The package's origin."""
        location, subdir = split_subdir(self.location) if self.location else ("", "")
        return PackageOrigin(self.revision, location, subdir)


ModuleLocks = Mapping[tuple[str, str], ModuleLock]
NO_LOCKS: Final[ModuleLocks] = MappingProxyType({})


def load_module_locks(directory: str, diags: Diagnostics) -> ModuleLocks | None:
    """Read the locks of a working directory; None if there is no lock file."""
    path = os.path.join(directory, FILE_NAME)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return None
    except OSError as error:
        diags.error("Cannot read the lock file", f"{path} cannot be read: {error.strerror}.")
        return NO_LOCKS
    return parse_module_locks(Source.from_bytes(os.path.normpath(path), data), diags)


def parse_module_locks(source: Source, diags: Diagnostics) -> ModuleLocks:
    """Parse the text of a lock file."""
    locks: dict[tuple[str, str], ModuleLock] = {}
    if report_conflict(source, diags):
        return locks
    for block in parse_body(without_binary(source, diags), diags).content(_FILE, diags).blocks:
        content = block.body.content(_MODULE, diags)
        given = {name: _text(content.attributes.get(name), diags) for name in _FIELDS}
        digest = given["hash"].removeprefix(HASH_SCHEME)
        if given["hash"] == digest or len(digest) != 64:
            _report_hash(block.labels[0], block.type_range, diags)
            continue
        lock = ModuleLock(
            block.labels[0],
            digest,
            given["constraints"],
            given["version"],
            given["location"],
            given["revision"],
        )
        if lock.key in locks:
            _report_duplicate(lock, block.type_range, diags)
            continue
        locks[lock.key] = lock
    return locks


def module_lock_text(locks: ModuleLocks) -> str:
    """Write the text of a lock file."""
    return "\n".join([_HEADER, *(_block(locks[key]) + "\n" for key in sorted(locks))])


def save_module_locks(directory: str, locks: ModuleLocks) -> None:
    """Save a lock file atomically; raise `OSError` on failure."""
    write_whole(Path(directory, FILE_NAME), module_lock_text(locks).encode())


def _block(lock: ModuleLock) -> str:
    given = {
        "version": lock.version,
        "constraints": lock.constraints,
        "location": lock.location,
        "revision": lock.revision,
        "hash": f"{HASH_SCHEME}{lock.digest}",
    }
    fields = {name: text for name, text in given.items() if text}
    width = max(map(len, fields))
    lines = [f"  {name:{width}} = {quoted(text)}" for name, text in fields.items()]
    return "\n".join([f"module {quoted(lock.source)} {{", *lines, "}"])


def _text(attribute: Attribute | None, diags: Diagnostics) -> str:
    if attribute is None:
        return ""
    value = attribute.expr.value(Scope(), diags)
    if value.type is not cty.STRING or value.is_null or not value.is_known:
        diags.error(
            "Invalid lock file",
            f'The argument "{attribute.name}" must be a string.',
            attribute.expr.range,
        )
        return ""
    return str(value.as_string())


def _report_hash(source: str, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid lock file",
        f"The entry for {source} does not have a hash of the form sha256:DIGEST. Restore the file "
        f"from version control, or remove the entry and run {advice().init()}.",
        where,
    )


def _report_duplicate(lock: ModuleLock, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate module lock",
        f"The lock file already has a block for {lock.source} with these constraints. Remove one of "
        "the two.",
        where,
    )
