"""Names of configuration files: they alone decide which files of a directory are read.

Which of two with the same name wins, and which are override files, is decided here. What is in a
file is unknown.
"""

from __future__ import annotations

from nigari.lang.files import Files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_ENDINGS: Final = (".tf", ".tofu", ".tf.json", ".tofu.json")
_TEST_ENDINGS: Final = (".tftest.hcl", ".tofutest.hcl", ".tftest.json", ".tofutest.json")
_MOCK_ENDINGS: Final = (".tfmock.hcl", ".tofumock.hcl", ".tfmock.json", ".tofumock.json")


def has_module(files: Files, directory: str) -> bool:
    """Whether a directory has any configuration files."""
    try:
        entries = files.entries(directory)
    except OSError:
        return False
    return any(is_config_file(entry.name) for entry in entries if not entry.is_directory)


def config_files(names: list[str]) -> tuple[list[str], list[str]]:
    """The names of the files that count, and of the override files, each in order."""
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
    """Whether a file of this name is part of a module."""
    return name.endswith(_ENDINGS) and not _is_ignored(name)


def is_test_file(name: str) -> bool:
    """Whether a file of this name holds tests of a module."""
    return name.endswith(_TEST_ENDINGS) and not _is_ignored(name)


def is_mock_file(name: str) -> bool:
    """Whether a file of this name holds mocks for tests."""
    return name.endswith(_MOCK_ENDINGS) and not _is_ignored(name)


def test_files(names: list[str]) -> list[str]:
    """The names of the test files that count: one named for this language wins."""
    found = sorted([name for name in names if is_test_file(name)])
    return [
        name
        for name in found
        if ".tftest." not in name or name.replace(".tftest.", ".tofutest.") not in found
    ]


def _is_ignored(name: str) -> bool:
    """Whether a file is hidden, or left behind by an editor."""
    return name.startswith(".") or name.endswith("~") or (name[0] == "#" and name[-1] == "#")


def _split(name: str) -> tuple[str, str]:
    """A file name without its ending, and the ending."""
    ending = max((each for each in _ENDINGS if name.endswith(each)), key=len)
    return name[: -len(ending)], ending
