"""The functions that Terragrunt adds to those of the language.

Functions that run a command or ask a cloud give an unknown value, with a mark that says so: their
results are of the moment, and often secret. A value from the environment is marked for the same
reason, unless the default counts.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping

from nigari.cty.function import Function, FunctionError, Parameter
from nigari.cty.types import BOOL, DYNAMIC, STRING, ListType, Type
from nigari.cty.values import Value, list_value, string, unknown
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FILE_NAME: Final = "terragrunt.hcl"
_NEED_VARS: Final = "apply console destroy import plan push refresh"
_NEED_LOCKING: Final = "apply destroy import plan refresh taint untaint"
_NEED_INPUT: Final = "apply import init plan refresh"
_NEED_PARALLELISM: Final = "apply plan destroy"


@record
class FromEnvironment:
    """Marks what comes from an environment variable."""

    name: str
    is_set: bool = True


@record
class OfTheMoment:
    """Marks the result of a function that cannot be called now."""

    function: str


@record
class Position:
    """Directories and files that path functions refer to."""

    directory: str
    """The directory of the unit, for a file that it includes too."""
    original: str
    """The directory of the unit that reads the file, perhaps through others."""
    included: Callable[[str], str]
    """The directory of the file that the unit includes under a name."""
    environ: Mapping[str, str]
    read: Callable[[str], Value]
    """The values of another file of Terragrunt."""
    tfvars: Callable[[str], str]
    """The values of a file of variables, as JSON."""


def why_unknown(value: Value) -> str:
    """The reason for which a value is not known, unless outputs of other units are in it; or ""."""
    for mark in sorted(value.unmark_deep()[1], key=str):
        if isinstance(mark, FromEnvironment) and not mark.is_set:
            return f"the environment variable {mark.name} is not set"
        if isinstance(mark, OfTheMoment):
            return f"it comes from {mark.function}(), which is not called here"
    return ""


def terragrunt_functions(position: Position) -> dict[str, Function]:
    """The functions in a file at this position."""
    calls = _Calls(position)
    text = Parameter("text", STRING)
    here, repository = position.directory, calls.repository
    found = {
        "find_in_parent_folders": _texts(calls.find_above),
        "path_relative_to_include": _texts(calls.path_from_included),
        "path_relative_from_include": _texts(calls.path_to_included),
        "get_parent_terragrunt_dir": _texts(calls.included_directory),
        "get_env": _texts(calls.environment),
        "get_platform": _texts(lambda _: string(sys.platform)),
        "get_repo_root": _texts(lambda _: string(repository())),
        "get_path_from_repo_root": _texts(lambda _: _relative(here, repository())),
        "get_path_to_repo_root": _texts(lambda _: _relative(repository(), here)),
        "get_terragrunt_dir": _texts(lambda _: string(here)),
        "get_original_terragrunt_dir": _texts(lambda _: string(position.original)),
        "get_default_retryable_errors": _texts(lambda _: list_value(STRING, []), ListType(STRING)),
        "mark_as_read": _texts(lambda given: given[0]),
        "read_tfvars_file": _texts(lambda given: string(position.tfvars(given[0].as_string()))),
        "read_terragrunt_config": Function(
            (text,), Parameter("default", DYNAMIC, allow_null=True), DYNAMIC, calls.other_file
        ),
    }
    for words, name in (
        (_NEED_VARS, "vars"),
        (_NEED_LOCKING, "locking"),
        (_NEED_INPUT, "input"),
        (_NEED_PARALLELISM, "parallelism"),
    ):
        commands = list_value(STRING, map(string, words.split()))
        found[f"get_terraform_commands_that_need_{name}"] = _constant(commands)
    for name, type_ in _OF_THE_MOMENT.items():
        found[name] = _constant(unknown(type_).mark(OfTheMoment(name)))
    return found


_OF_THE_MOMENT: Final = {
    "constraint_check": BOOL,
    "get_aws_account_alias": STRING,
    "get_aws_account_id": STRING,
    "get_aws_caller_identity_arn": STRING,
    "get_aws_caller_identity_user_id": STRING,
    "get_terraform_cli_args": ListType(STRING),
    "get_terraform_command": STRING,
    "get_terragrunt_source_cli_flag": STRING,
    "get_working_dir": STRING,
    "mark_glob_as_read": ListType(STRING),
    "run_cmd": STRING,
    "sops_decrypt_file": STRING,
}


ONLY_TERRAGRUNT: Final = frozenset(
    (
        *_OF_THE_MOMENT,
        "find_in_parent_folders",
        "get_env",
        "get_parent_terragrunt_dir",
        "path_relative_from_include",
        "path_relative_to_include",
        "read_terragrunt_config",
        "read_tfvars_file",
    )
)
"""Functions that `fleet.hcl` does not have."""


def _texts(implementation: Callable[[list[Value]], Value], result: Type = STRING) -> Function:
    """A function of any number of texts."""
    return Function((), Parameter("texts", STRING), result, lambda args, _: implementation(args))


def _constant(value: Value) -> Function:
    """A function that always has the same result."""
    return _texts(lambda _: value, value.type)


def _relative(path: str, start: str) -> Value:
    return string(os.path.relpath(path, start).replace(os.sep, "/"))


class _Calls:
    """Implementations of the functions whose results depend on the position."""

    def __init__(self, position: Position) -> None:
        self._position = position

    def repository(self) -> str:
        """The directory of the repository."""
        directory = self._position.directory
        while not os.path.exists(os.path.join(directory, ".git")):
            above = os.path.dirname(directory)
            if above == directory:
                raise FunctionError("this directory is not in a git repository")
            directory = above
        return directory

    def find_above(self, args: list[Value]) -> Value:
        """Find a file in the directories above that of the unit."""
        name = args[0].as_string() if args else FILE_NAME
        directory = self._position.directory
        while (above := os.path.dirname(directory)) != directory:
            directory = above
            if os.path.exists(os.path.join(directory, name)):
                return string(os.path.join(directory, name))
        if len(args) > 1:
            return args[1]
        raise FunctionError(f'there is no "{name}" in a directory above')

    def path_from_included(self, args: list[Value]) -> Value:
        return _relative(self._position.directory, self._included(args))

    def path_to_included(self, args: list[Value]) -> Value:
        return _relative(self._included(args), self._position.directory)

    def included_directory(self, args: list[Value]) -> Value:
        return string(self._included(args))

    def _included(self, args: list[Value]) -> str:
        return self._position.included(args[0].as_string() if args else "")

    def environment(self, args: list[Value]) -> Value:
        """The value of an environment variable, which is marked; or the default."""
        name = args[0].as_string() if args else ""
        found = self._position.environ.get(name)
        if found is not None:
            return string(found).mark(FromEnvironment(name))
        if len(args) > 1:
            return args[1]
        return unknown(STRING).mark(FromEnvironment(name, is_set=False))

    def other_file(self, args: list[Value], _: Type) -> Value:
        path = os.path.normpath(os.path.join(self._position.directory, args[0].as_string()))
        if os.path.isdir(path):
            path = os.path.join(path, FILE_NAME)
        if os.path.isfile(path):
            return self._position.read(path)
        if len(args) > 1:
            return args[1]
        raise FunctionError(f'there is no file "{args[0].as_string()}"')
