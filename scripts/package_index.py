"""The Python package index, at the address that pip uses by default."""

from __future__ import annotations

import json
import urllib.request
from typing import Any, Final

# pip has no public interface for these, and the sources name no hosts.
from pip._internal.models.index import PyPI

FILES: Final = f"https://{PyPI.file_storage_domain}/packages/"


def project(name: str) -> dict[str, Any]:
    """Ask the index about a package: its newest release, and the files of all releases."""
    with urllib.request.urlopen(f"{PyPI.pypi_url}/{name}/json", timeout=60) as response:
        found: dict[str, Any] = json.load(response)
    return found
