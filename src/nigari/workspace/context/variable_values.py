"""Values for input variables from everywhere they can come from, the strongest last.

In this order a later one wins: what `init` remembers, `TF_VAR_` environment variables,
`terraform.tfvars`, `terraform.tfvars.json`, `*.auto.tfvars` and `*.auto.tfvars.json` by name, then
the files and the values of the selected environment, `-var` and `-var-file` in the order
given, and last what a Python program gives.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence

from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.inputs import InputKind, InputValue
from nigari.hcl.binary import without_binary
from nigari.hcl.body import Body
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.source import Source
from nigari.lang.files import DiskFiles
from nigari.workspace.context.options import GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.workspace.context.environment import Environment

ENVIRONMENT_PREFIX = "TF_VAR_"
_REMEMBERED = "nigari.variables.json"


def read_variables(
    where: WorkingDirectory,
    workspace: str,
    given: GivenVariables,
    diags: Diagnostics,
    tests: str = "",
    files: DiskFiles | None = None,
) -> VariableReader:
    """The values of variables from everywhere they can come from.

    For tests, the files in the directory of `tests` count more than those beside the configuration.
    `files` are read in place of those on disk.
    """
    reader = VariableReader(where, diags, files)
    if not given.is_all:
        if os.path.exists(where.data(_REMEMBERED)):
            from nigari.workspace.context.remembered_variables import load_remembered

            reader.inputs.update(load_remembered(where.data_directory, workspace, diags))
        reader.read_environment(where.environ)
        reader.read_automatic_files(where.name)
        if tests and os.path.normpath(tests) != ".":
            reader.read_automatic_files(os.path.join(where.name, tests))
        if where.environment is not None:
            reader.read_declared(where.environment, where.name)
    reader.read_flags(given.flags)
    reader.inputs.update(given.values)
    return reader


class VariableReader:
    """Collects values, and the sources of the files they were in."""

    def __init__(
        self, where: WorkingDirectory, diags: Diagnostics, files: DiskFiles | None = None
    ) -> None:
        self.inputs: dict[str, InputValue] = {}
        self.sources: dict[str, bytes] = {}
        self._files = where.files if files is None else files
        self._diags = diags

    @property
    def remembered(self) -> list[str]:
        """The variables with remembered values, unless another is given."""
        kind = InputKind.REMEMBERED
        return [name for name, given in self.inputs.items() if given.kind is kind]

    def read_environment(self, environ: Mapping[str, str]) -> None:
        """Take the `TF_VAR_` variables of the environment."""
        for name, text in environ.items():
            if name.startswith(ENVIRONMENT_PREFIX):
                given = InputValue(InputKind.ENVIRONMENT, f"the environment variable {name}", text)
                self._put(name.removeprefix(ENVIRONMENT_PREFIX), given)

    def read_automatic_files(self, directory: str) -> None:
        """Take the files of a directory that count without being named."""
        directory = os.path.normpath(directory)
        try:
            names = [entry.name for entry in self._files.entries(directory)]
        except OSError:
            return
        usual = [n for n in ("terraform.tfvars", "terraform.tfvars.json") if n in names]
        automatic = [n for n in names if n.endswith((".auto.tfvars", ".auto.tfvars.json"))]
        for name in usual + sorted(automatic):
            self.read_file(os.path.normpath(os.path.join(directory, name)))

    def read_declared(self, environment: Environment, directory: str) -> None:
        """Take the files and the values of an environment."""
        self.sources.update(environment.sources)
        for path in environment.var_files:
            path = os.path.normpath(os.path.join(directory, path))
            self.read_file(path, named_by=environment.range)
        origin = next(iter(environment.sources), environment.title)
        for name, setting in environment.variables.items():
            given = InputValue(
                InputKind.FLAG, origin, value=setting.value, written_at=setting.range
            )
            self._put(name, given)

    def read_flags(self, given: Sequence[tuple[str, str]]) -> None:
        """Take `-var` and `-var-file` in their order."""
        for flag, text in given:
            if flag == "var-file":
                self.read_file(text, is_named=True)
                continue
            name, equals, value = text.partition("=")
            if not equals or not name:
                # The text may be a secret, as in -var password:hunter2, so it is not repeated.
                self._diags.error(
                    "Invalid -var option",
                    "The value of an option -var is not of the form name=value, as in "
                    "-var region=eu.",
                )
                continue
            if name != name.strip():
                self._diags.error(
                    "Invalid -var option",
                    f'The name "{name}" contains a space. Write no spaces around the equals sign.',
                )
                continue
            self._put(name, InputValue(InputKind.FLAG, "the option -var", value))

    def read_file(self, path: str, is_named: bool = False, named_by: Range | None = None) -> None:
        """Take the values in a `.tfvars` or `.tfvars.json` file.

        One that is named may be a pipe, which the user fills.
        """
        try:
            if is_named and _is_pipe(self._files.at(path)):
                with open(self._files.at(path), "rb") as file:
                    data = file.read()
            else:
                data = self._files.read(path)
        except OSError as error:
            self._diags.error(
                "Cannot read a variables file",
                f"{path} cannot be read: {error.strerror}.",
                named_by,
            )
            return
        self.sources[path] = data
        errors = self._diags.error_count
        source = without_binary(Source.from_bytes(path, data), self._diags)
        body: Body
        if path.endswith(".json"):
            from nigari.hcl.json_body import parse_json_body

            body = parse_json_body(source, self._diags)
        else:
            body = parse_body(source, self._diags)
        if self._diags.error_count > errors:
            return
        if isinstance(body, NativeBody) and _report_declarations(body, self._diags):
            return
        for name, attribute in body.just_attributes(self._diags).items():
            self._put(name, InputValue(InputKind.FILE, path, expr=attribute.expr))

    def _put(self, name: str, given: InputValue) -> None:
        self.inputs.pop(name, None)
        self.inputs[name] = given


def _report_declarations(body: NativeBody, diags: Diagnostics) -> bool:
    """Report variables that are declared where they can only be set; whether there are any."""
    found = [block for block in body.blocks if block.type == "variable"]
    for block in found:
        name = block.labels[0] if block.labels else "NAME"
        diags.error(
            "Variable declared in a variables file",
            f"A variables file only sets variables. To declare {name}, move this block to a .tf "
            f"file, such as variables.tf. To set it here, write its name, an equals sign and the "
            f"value: {name} = ...",
            block.def_range,
        )
    return bool(found)


def _is_pipe(path: str) -> bool:
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False
