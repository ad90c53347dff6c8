"""The dependency lock file `.terraform.lock.hcl`: the selected version of each provider.

It is written in the canonical form of `tofu`, except that comments are preserved: those before a
block, and those on or above a line that still exists. Checksums are plain text here and verified
elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType

from nigari import cty
from nigari.addrs.provider import Provider, default_provider, parse_provider
from nigari.diagnostics import Diagnostics, Range
from nigari.diagnostics.advice import advice
from nigari.hcl.binary import without_binary
from nigari.hcl.body import Attribute, AttributeSchema, Block, BlockSchema, BodySchema
from nigari.hcl.parser import parse_body
from nigari.hcl.quoting import quoted
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.lang.versions import (
    ProviderConstraints,
    Version,
    parse_exact_version,
    parse_provider_constraints,
)
from nigari.lazy import lazy_pattern
from nigari.record import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Final

_PREDECESSOR: Final = ("registry.terraform.io", "hashicorp")

FILE_NAME: Final = ".terraform.lock.hcl"

# depsfile.SaveLocksToFile writes these lines, even over those of other programs.
_HEADER: Final = (
    '# This file is maintained automatically by "tofu init".',
    "# Manual edits may be lost in future updates.",
)
_OTHER_HEADERS: Final = (
    '# This file is maintained automatically by "terraform init".',
    '# This file is maintained automatically by "nigari init".',
)
_FILE: Final = BodySchema(
    blocks=(BlockSchema("provider", ("source_addr",)), BlockSchema("module", ("path",)))
)
_PROVIDER: Final = BodySchema(
    (
        AttributeSchema("version", required=True),
        AttributeSchema("constraints"),
        AttributeSchema("hashes"),
    )
)
_COMMENT: Final = lazy_pattern(r'((?:[^"#/]|"(?:[^"\\]|\\.)*"|/(?![/*]))*)((?:#|//|/\*).*)?')


@record
class Comments:
    """Comments of a block: before it, and above and beside its lines (by the line's content)."""

    before: tuple[str, ...] = ()
    above: tuple[tuple[str, tuple[str, ...]], ...] = ()
    beside: tuple[tuple[str, str], ...] = ()


@record
class ProviderLock:
    """The selected version of a provider, its constraints, and the allowed checksums of its
    packages.
    """

    provider: Provider
    version: Version
    constraints: ProviderConstraints
    hashes: tuple[str, ...] = ()
    """Sorted and distinct."""
    comments: Comments = Comments()


@record
class Locks:
    """The content of a lock file."""

    providers: Mapping[Provider, ProviderLock] = MappingProxyType({})
    header: tuple[str, ...] = ()
    """Comments at the top of the file, except for the standard ones."""
    footer: tuple[str, ...] = ()

    def same_choices(self, other: Locks) -> bool:
        """Check that both select the same versions with the same checksums; constraints are
        ignored.
        """
        return _choices(self) == _choices(other)


def _choices(locks: Locks) -> dict[Provider, tuple[Version, tuple[str, ...]]]:
    return {provider: (lock.version, lock.hashes) for provider, lock in locks.providers.items()}


def adopt_predecessors(locks: Locks, diags: Diagnostics) -> Locks:
    """Reuse versions that Terraform locked for its own registry, as OpenTofu does.

    The packages of the two registries differ, so checksums are not reused.
    """
    providers = dict(locks.providers)
    adopted: list[str] = []
    for provider, lock in sorted(locks.providers.items()):
        ours = default_provider(provider.type)
        if (provider.hostname, provider.namespace) == _PREDECESSOR and ours not in providers:
            providers[ours] = ProviderLock(ours, lock.version, lock.constraints)
            adopted.append(f"  - {provider} selects the version of {ours}")
    if adopted:
        diags.warning(
            "Lock file entries of Terraform reused",
            "The dependency lock file has entries for the registry of Terraform, whose versions "
            "are reused:\n"
            + "\n".join(adopted)
            + "\n\nTheir checksums are not, because the packages "
            "of the two registries differ.",
        )
    return replace(locks, providers=providers)


def may_write(old: Locks, new: Locks, readonly: bool, diags: Diagnostics) -> bool:
    """Decide whether to write the lock file; with `-lockfile=readonly` never, which is reported."""
    if new.same_choices(old):
        return False
    if not readonly:
        return True
    # As in OpenTofu: a new or removed provider is an error, further checksums are only a warning.
    if new.providers.keys() != old.providers.keys():
        diags.error(
            "Lock file out of date",
            "The configuration requires providers that the dependency lock file does not have, "
            f"and the lock file is read-only. Run init without {advice().option('-lockfile=readonly')}.",
        )
    else:
        diags.warning(
            "Lock file not updated",
            "There is new information about providers for the dependency lock file, but it is "
            f"read-only, so it was not updated. Run init without {advice().option('-lockfile=readonly')} to record it.",
        )
    return False


def load_locks(path: str | os.PathLike[str], diags: Diagnostics) -> Locks:
    """Read the lock file at `path`; a missing file has no locks."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return Locks()
    except OSError as error:
        diags.error("Cannot read the lock file", f"{path} cannot be read: {error.strerror}.")
        return Locks()
    return parse_locks(Source.from_bytes(os.fspath(path), data), diags)


def parse_locks(source: Source, diags: Diagnostics) -> Locks:
    """Parse the text of a lock file."""
    from nigari.packages.content.merge_conflicts import report_conflict

    if report_conflict(source, diags):
        return Locks()
    source = without_binary(source, diags)
    content = parse_body(source, diags).content(_FILE, diags)
    locks: dict[Provider, ProviderLock] = {}
    header: tuple[str, ...] = ()
    end = 0
    for block in content.blocks:
        before = _comment_lines(source.text[end : block.start])
        if end == 0:
            header, before = _split_header(source.text[: block.start])
        end = block.end
        # The block type is reserved for locking modules.
        if block.type == "module":
            _report_module_lock(block.type_range, diags)
            continue
        lock = _provider_lock(block, before, diags)
        if lock is None:
            continue
        if lock.provider in locks:
            _report_duplicate(lock.provider, block.type_range, diags)
            continue
        locks[lock.provider] = lock
    if end == 0:
        header, _ = _split_header(source.text)
        return Locks(locks, header)
    return Locks(locks, header, _comment_lines(source.text[end:]))


def lock_text(locks: Locks) -> str:
    """Write the text of a lock file."""
    lines = [*_HEADER, *locks.header]
    for provider in sorted(locks.providers):
        lines += ["", *_block_lines(locks.providers[provider])]
    if locks.footer:
        lines += ["", *locks.footer]
    return "\n".join(lines) + "\n"


def save_locks(path: Path, locks: Locks) -> None:
    """Save a lock file atomically; raise `OSError` on failure."""
    from nigari.packages.content.whole_file import write_whole

    mode = path.stat().st_mode & 0o777 if path.exists() else None
    write_whole(path, lock_text(locks).encode(), mode)


def _block_lines(lock: ProviderLock) -> list[str]:
    code = [f'provider "{lock.provider}" {{']
    if lock.constraints:
        # hclwrite aligns the equals signs of adjacent lines.
        code.append(f'  version     = "{lock.version}"')
        code.append(f'  constraints = "{lock.constraints.text}"')
    else:
        code.append(f'  version = "{lock.version}"')
    if lock.hashes:
        code.append("  hashes = [")
        code += [f'    "{checksum}",' for checksum in lock.hashes]
        code.append("  ]")
    code.append("}")
    above, beside = dict(lock.comments.above), dict(lock.comments.beside)
    lines = list(lock.comments.before)
    for line in code:
        key = _line_key(line)
        indent = line[: len(line) - len(line.lstrip())]
        lines += [indent + comment for comment in above.get(key, ())]
        lines.append(f"{line} {beside[key]}" if key in beside else line)
    return lines


def _line_key(code: str) -> str:
    """Return the key of a line in a block: an argument's name, a checksum, or a bracket."""
    code = code.strip().rstrip(",")
    return code.partition("=")[0].strip() if code[:1] not in '"]}' else code.strip('"')


def _block_comments(block: Block, before: tuple[str, ...]) -> Comments:
    above: list[tuple[str, tuple[str, ...]]] = []
    beside: list[tuple[str, str]] = []
    waiting: list[str] = []
    for line in block.source.text[block.start : block.end].splitlines():
        match = _COMMENT.match(line)
        assert match is not None
        code, comment = match[1].strip(), (match[2] or "").strip()
        if not code:
            waiting += [comment] if comment else []
            continue
        key = _line_key(code)
        if waiting:
            above.append((key, tuple(waiting)))
            waiting = []
        if comment:
            beside.append((key, comment))
    return Comments(before, tuple(above), tuple(beside))


def _comment_lines(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _split_header(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the comments at the top of a file into those of the file and those of the first block."""
    usual = (*_HEADER, *_OTHER_HEADERS)
    lines = [line.strip() for line in text.splitlines() if line.strip() not in usual]
    while lines and not lines[0]:
        lines.pop(0)
    last_gap = max((i for i, line in enumerate(lines) if not line), default=-1)
    file, block = lines[: last_gap + 1], lines[last_gap + 1 :]
    return tuple(line for line in file if line), tuple(block)


def _provider_lock(
    block: Block, before: tuple[str, ...], diags: Diagnostics
) -> ProviderLock | None:
    provider = _provider_address(block, diags)
    if provider is None:
        return None
    content = block.body.content(_PROVIDER, diags)
    given = content.attributes
    version = _version(given["version"], diags) if "version" in given else None
    constraints: ProviderConstraints | None = ProviderConstraints()
    if "constraints" in given:
        constraints = _constraints(given["constraints"], diags)
    hashes = _hashes(given["hashes"], diags) if "hashes" in given else ()
    if version is None or constraints is None or hashes is None:
        return None
    comments = _block_comments(block, before)
    return ProviderLock(provider, version, constraints, tuple(sorted(set(hashes))), comments)


def _provider_address(block: Block, diags: Diagnostics) -> Provider | None:
    text, where = block.labels[0], block.label_ranges[0]
    provider = parse_provider(text, Diagnostics(), where)
    # depsfile: built-in providers have no packages, and legacy addresses no namespace.
    if provider is None or provider.is_builtin or provider.is_legacy:
        diags.error(
            "Invalid provider in the lock file",
            f"{quoted(text)} is not a provider that can be locked. The lock file names a "
            "provider by its full address, as hostname/namespace/type.",
            where,
        )
        return None
    if str(provider) != text:
        diags.error(
            "Abbreviated provider in the lock file",
            f'The lock file must name this provider by its full address, "{provider}".',
            where,
        )
        return None
    return provider


def _version(attribute: Attribute, diags: Diagnostics) -> Version | None:
    text = _text(attribute, diags)
    if text is None:
        return None
    version = parse_exact_version(text)
    # depsfile: versions must be normalized, as "tofu init" writes them.
    if version is None or str(version) != text:
        diags.error(
            "Invalid version in the lock file",
            f"{quoted(text)} is not a complete version number, such as 1.2.3.",
            attribute.expr.range,
        )
        return None
    return version


def _constraints(attribute: Attribute, diags: Diagnostics) -> ProviderConstraints | None:
    text = _text(attribute, diags)
    if text is None:
        return None
    if not text:
        return ProviderConstraints()
    constraints = parse_provider_constraints(text, diags, attribute.expr.range)
    # depsfile: constraints must be normalized too.
    if constraints is not None and constraints.text != text:
        diags.error(
            "Unusual version constraints in the lock file",
            f'The lock file must write these constraints as "{constraints.text}".',
            attribute.expr.range,
        )
        return None
    return constraints


def _hashes(attribute: Attribute, diags: Diagnostics) -> tuple[str, ...] | None:
    value = attribute.expr.value(Scope(), diags)
    if value.is_null or not value.is_wholly_known or value.type.kind != cty.KIND_TUPLE:
        _report_hashes(attribute.expr.range, diags)
        return None
    hashes: list[str] = []
    for element in value.elements():
        # getproviders.ParseHash: a scheme, a colon and a text. Unknown schemes are preserved.
        if element.is_null or element.type != cty.STRING or ":" not in element.as_string()[1:]:
            _report_hashes(attribute.expr.range, diags)
            return None
        hashes.append(element.as_string())
    if not hashes:
        _report_hashes(attribute.expr.range, diags)
        return None
    return tuple(hashes)


def _text(attribute: Attribute, diags: Diagnostics) -> str | None:
    value = attribute.expr.value(Scope(), diags)
    if value.is_known and not value.is_null and value.type == cty.STRING:
        return value.as_string()
    if not diags.has_errors:
        diags.error(
            "Invalid argument in the lock file",
            f"{attribute.name} must be a string.",
            attribute.expr.range,
        )
    return None


def _report_hashes(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Invalid checksums in the lock file",
        'hashes must be a list of at least one checksum, each a string such as "h1:…".',
        where,
    )


def _report_duplicate(provider: Provider, where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Duplicate provider lock",
        f"The lock file already has a block for {provider.display}. Remove one of the two.",
        where,
    )


def _report_module_lock(where: Range, diags: Diagnostics) -> None:
    diags.warning(
        "Module lock ignored",
        "The dependency lock file has an entry for a module, perhaps written by another version "
        "of the program. It has no effect here.",
        where,
    )
