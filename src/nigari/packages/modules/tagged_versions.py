"""Versions of modules that are tags of a repository."""

from __future__ import annotations

from collections.abc import Iterable

from nigari.lang.versions import Version, parse_version


def tagged_versions(tags: Iterable[str]) -> dict[Version, str]:
    """Return the tags that are versions: `v1.2.3` or `1.2.3`, with `_` for `+` in OCI registries."""
    found: dict[Version, str] = {}
    # A tag with v and one without may name one version. The latter wins.
    for tag in sorted(tags, key=lambda tag: tag.startswith("v")):
        version = parse_version(tag.removeprefix("v").replace("_", "+"))
        if version is not None:
            found.setdefault(version, tag)
    return found
