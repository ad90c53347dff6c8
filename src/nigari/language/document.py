"""One text that is being edited or analysed: what kind of file it is, its tree, its syntax errors.

A document never changes: an edit makes another one. What its names stand for is in
`nigari.language.occurrences`.
"""

from __future__ import annotations

import os
from enum import Enum

from nigari.config.file_names import (
    is_config_file,
    is_mock_file,
    is_query_file,
    is_symbol_file,
    is_test_file,
)
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.fleet.units.unit import FILE_NAME as FLEET_FILE
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body, parse_template
from nigari.hcl.source import BYTE_ORDER_MARK, Source
from nigari.lint.settings import FILE_NAME as LINT_FILE
from nigari.workspace.context.environments import FILE_NAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


class Kind(Enum):
    """The kind of a file, by its name."""

    CONFIGURATION = "configuration"
    VALUES = "values"
    TESTS = "tests"
    MOCKS = "mocks"
    SYMBOLS = "symbols"
    TEMPLATE = "template"
    LOCK = "lock"
    QUERIES = "queries"
    ENVIRONMENTS = "environments"
    FLEET = "fleet"
    LINT = "lint"
    OTHER = "other"
    """HCL of which nothing else is known."""


_OWN_FILES: Final = {
    FILE_NAME: Kind.ENVIRONMENTS,
    FLEET_FILE: Kind.FLEET,
    LINT_FILE: Kind.LINT,
}
LOCK_FILE: Final = ".terraform.lock.hcl"
_TEST_DIRECTORY: Final = "tests"
_MOST_LEVELS: Final = 4
"""The most levels between a module and its variables files."""


def kind_of(path: str) -> Kind:
    """The kind of the file with that name."""
    name = os.path.basename(path)
    if name == LOCK_FILE:
        return Kind.LOCK
    if name in _OWN_FILES:
        return _OWN_FILES[name]
    if is_config_file(name):
        return Kind.CONFIGURATION
    if name.endswith((".tfvars", ".tfvars.json")):
        return Kind.VALUES
    if is_test_file(name):
        return Kind.TESTS
    if is_mock_file(name):
        return Kind.MOCKS
    if is_query_file(name):
        return Kind.QUERIES
    if is_symbol_file(name):
        return Kind.SYMBOLS
    return Kind.TEMPLATE if name.endswith((".tftpl", ".tmpl")) else Kind.OTHER


def module_directory(path: str) -> str:
    """The directory of the module that a file belongs to. Test files may lie in one below it, and
    files of values in any.
    """
    directory, name = os.path.split(path)
    if name.endswith((".tfvars", ".tfvars.json")):
        return _nearest_module(directory)
    if is_test_file(name) and os.path.basename(directory) == _TEST_DIRECTORY:
        return os.path.dirname(directory)
    return directory


def _nearest_module(directory: str) -> str:
    """The directory, or the nearest one around it, that has configuration files."""
    place = directory
    for _ in range(_MOST_LEVELS):
        try:
            if any(is_config_file(each) for each in os.listdir(place)):
                return place
        except OSError:
            break
        place = os.path.dirname(place)
    return directory


class Document:
    """A text and what the parser makes of it."""

    __slots__ = ("body", "has_mark", "kind", "path", "problems", "source")

    def __init__(self, path: str, text: str) -> None:
        """The document at an absolute path. A byte order mark becomes a space, so that offsets of
        the text are those of the source.
        """
        self.has_mark: bool = text.startswith(BYTE_ORDER_MARK)
        """True if the text begins with a byte order mark."""
        if self.has_mark:
            text = " " + text[1:]
        self.path: str = path
        self.kind: Kind = kind_of(path)
        self.source: Source = Source(path, text)
        diags = Diagnostics()
        self.body: NativeBody | None = None
        """The tree; None for the JSON syntax and for templates."""
        if self.is_json:
            from nigari.hcl.json_body import parse_json_body

            parse_json_body(self.source, diags)
        elif self.kind is Kind.TEMPLATE:
            parse_template(self.source, diags)
        else:
            self.body = parse_body(self.source, diags)
        self.problems: tuple[Diagnostic, ...] = tuple(diags.in_order())
        """The syntax errors."""

    @property
    def text(self) -> str:
        """The text, as it is analysed."""
        return self.source.text

    def written(self, text: str) -> str:
        """Convert the text of edits to what is written to a file."""
        return BYTE_ORDER_MARK + text[1:] if self.has_mark else text

    @property
    def directory(self) -> str:
        """The directory of the module that the file belongs to."""
        return module_directory(self.path)

    @property
    def is_json(self) -> bool:
        """Return whether the file uses the JSON syntax."""
        return self.path.endswith(".json")


def read_document(path: str) -> Document | None:
    """The document on disk; None where no file can be read."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return Document(path, data.decode("utf-8", "surrogateescape"))
