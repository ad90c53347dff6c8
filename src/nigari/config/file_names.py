"""Names of configuration files, which decide which files of a directory are read.

Decides which of two files with the same name takes precedence, and which are override files.
Deliberately unknown here: the content of files.
"""

from __future__ import annotations

from nigari.lang.files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ENDINGS: Final = (".tf", ".tofu", ".tf.json", ".tofu.json")
_TEST_ENDINGS: Final = (".tftest.hcl", ".tofutest.hcl", ".tftest.json", ".tofutest.json")
_QUERY_ENDINGS: Final = (".tfquery.hcl", ".tofuquery.hcl", ".tfquery.json", ".tofuquery.json")
_SYMBOL_ENDING: Final = ".sym.hcl"
_MOCK_ENDINGS: Final = (".tfmock.hcl", ".tofumock.hcl", ".tfmock.json", ".tofumock.json")


def has_module(files: Files, directory: str) -> bool:
    """Check for configuration files in a directory."""
    try:
        entries = files.entries(directory)
    except OSError:
        return False
    return any(is_config_file(entry.name) for entry in entries if not entry.is_directory)


def config_files(names: list[str]) -> tuple[list[str], list[str]]:
    """Select the files to read and the override files, each in order."""
    found = sorted([name for name in names if is_config_file(name)])
    present = set(found)
    primary: list[str] = []
    override: list[str] = []
    for name in found:
        stem, ending = _split(name)
        if ending.startswith(".tf") and f"{stem}{ending.replace('.tf', '.tofu')}" in present:
            continue
        is_override = stem == "override" or stem.endswith("_override")
        (override if is_override else primary).append(name)
    return primary, override


def is_config_file(name: str) -> bool:
    """Check for a file name of a module."""
    return name.endswith(_ENDINGS) and not _is_ignored(name)


def is_test_file(name: str) -> bool:
    """Check for a file name of module tests."""
    return name.endswith(_TEST_ENDINGS) and not _is_ignored(name)


def is_mock_file(name: str) -> bool:
    """Check for a file name of test mocks."""
    return name.endswith(_MOCK_ENDINGS) and not _is_ignored(name)


def is_query_file(name: str) -> bool:
    """Check for a file name of queries."""
    return name.endswith(_QUERY_ENDINGS) and not _is_ignored(name)


def is_symbol_file(name: str) -> bool:
    """Check for a file name of a symbol library."""
    return name.endswith(_SYMBOL_ENDING) and not _is_ignored(name)


def test_files(names: list[str]) -> list[str]:
    """Select the test files to read: one named for OpenTofu takes precedence."""
    found = sorted([name for name in names if is_test_file(name)])
    return [
        name
        for name in found
        if ".tftest." not in name or name.replace(".tftest.", ".tofutest.") not in found
    ]


def _is_ignored(name: str) -> bool:
    """Check for hidden files and editor backups."""
    return name.startswith(".") or name.endswith("~") or (name[0] == "#" and name[-1] == "#")


def _split(name: str) -> tuple[str, str]:
    """Split a file name into its stem and extension."""
    ending = max((each for each in _ENDINGS if name.endswith(each)), key=len)
    return name[: -len(ending)], ending
