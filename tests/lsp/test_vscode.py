"""The extension for VS Code says what the server can do: settings, commands, names of files.

What it looks like was seen in an editor; `make extension` checks its types and packages it.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from nigari.language.document import LOCK_FILE, Kind, kind_of
from nigari.language.hints import LEVELS
from nigari.lsp.features.commands import COMMANDS
from nigari.lsp.features.lenses import LENSES
from nigari.version import VERSION

_FOLDER: Final = Path(__file__).resolve().parents[2] / "editors" / "vscode"
_MANIFEST: Final[dict[str, Any]] = json.loads((_FOLDER / "package.json").read_text())
_CONTRIBUTED: Final = _MANIFEST["contributes"]
_SOURCE: Final = (_FOLDER / "src" / "extension.ts").read_text()


def test_settings_are_those_of_the_server() -> None:
    properties = _CONTRIBUTED["configuration"]["properties"]
    assert set(properties["nigari.inlayHints"]["enum"]) == set(LEVELS)
    assert set(properties["nigari.lenses"]["items"]["enum"]) == set(LENSES)
    passed_on = re.search(r"const {([^}]*)} = vscode", _SOURCE)
    assert passed_on is not None
    names = {f"nigari.{each.strip()}" for each in passed_on[1].split(",")}
    assert set(properties) - names == {"nigari.path", "nigari.trace.server"}


def test_commands_exist() -> None:
    declared = {each["command"] for each in _CONTRIBUTED["commands"]}
    handled = set(re.findall(r'^    "(nigari\.\w+)":', _SOURCE, re.MULTILINE))
    assert declared <= handled
    # A command of the server is registered by the client library, so it must not be taken.
    assert not handled & set(COMMANDS)
    assert set(re.findall(r'"(nigari\.(?:init|plan|test|explain))"', _SOURCE)) == set(COMMANDS)


@pytest.mark.parametrize("language", _CONTRIBUTED["languages"], ids=lambda each: str(each["id"]))
def test_files_are_known_to_the_server(language: dict[str, Any]) -> None:
    names = [f"x{each}" for each in language.get("extensions", ())]
    assert all(kind_of(each) is not Kind.OTHER for each in names + language.get("filenames", []))


def test_every_kind_of_file_has_a_language() -> None:
    languages = _CONTRIBUTED["languages"]
    names = [f"x{each}" for language in languages for each in language.get("extensions", ())]
    names += [each for language in languages for each in language.get("filenames", ())]
    assert LOCK_FILE in names
    assert {kind_of(each) for each in names} == set(Kind) - {Kind.OTHER}


def test_version() -> None:
    """The marketplace takes three numbers and nothing else."""
    assert VERSION.startswith(_MANIFEST["version"])
