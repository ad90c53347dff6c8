"""A tree of Terragrunt as a fleet: the same units, with the same variables, states and order.

Nothing is written here: the result says which files a fleet needs. Whatever has no counterpart is
reported at its place, with the reason and with what to do instead.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qs, urlsplit

from nigari.cty.values import Value
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.fleet.terragrunt.config_file import ConfigFile, Tree, refuse, variable_names
from nigari.fleet.terragrunt.expression_text import NotWritten, Written, literal_text
from nigari.fleet.terragrunt.fleet_text import ImportedUnit, fleet_text
from nigari.fleet.terragrunt.functions import FILE_NAME, FromEnvironment, why_unknown
from nigari.fleet.terragrunt.merging import merged_settings
from nigari.fleet.terragrunt.settings import ExtraArguments, Settings
from nigari.fleet.terragrunt.stacks import GENERATED, STACK_FILE, generate_stack
from nigari.fleet.terragrunt.unit_files import (
    backend_arguments,
    generated_files,
    not_carried_over,
    present_value,
)
from nigari.fleet.units.unit import FILE_NAME as FLEET_FILE
from nigari.fleet.units.unit import Unit
from nigari.fleet.units.working_copy import with_copy
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_PLANS: Final = frozenset(("plan", "apply"))
_CONFIGURATION: Final = (".tf", ".tf.json", ".tofu", ".tofu.json")
_INSTEAD: Final = {
    "before_hook": "a fleet only plans and applies. Run the command before it, for example in CI",
    "after_hook": "a fleet only plans and applies. Run the command after it, for example in CI",
    "error_hook": "a fleet only plans and applies. Run the command after it, for example in CI",
    "prevent_destroy": "set prevent_destroy in the lifecycle blocks of the module",
    "exclude": "select units on the command line, with -only and -except",
    "iam_role": "set assume_role in the provider and in the backend, or env of the unit",
    "errors": "Nigari retries transient failures by itself, and ignores no errors",
    "engine": "Nigari runs the unit itself",
}
_ANYTHING: Final = "it is a setting of Terragrunt itself"


@record
class ImportedTree:
    """Result of an import."""

    units: tuple[ImportedUnit, ...]
    files: Mapping[str, str]
    """The texts of the files that a fleet needs, by their absolute paths."""
    sources: Mapping[str, bytes]


def import_terragrunt(root: str, environ: Mapping[str, str], diags: Diagnostics) -> ImportedTree:
    """Read the tree below a directory."""
    with tempfile.TemporaryDirectory(prefix="nigari-import-") as temporary:
        tree = Tree(
            root=os.path.abspath(root),
            environ=environ,
            diags=diags,
            sources={},
            values={},
            units={},
            temporary=temporary,
            packages={},
        )
        return _imported(tree)


def _imported(tree: Tree) -> ImportedTree:
    root, diags = tree.root, tree.diags
    files = {each: ConfigFile(tree, os.path.join(each, FILE_NAME)) for each in _directories(tree)}
    importing = [_UnitImport(tree, file) for file in files.values()]
    wanted = [each for each in importing if each.is_unit]
    for each in wanted:
        tree.units[os.path.realpath(each.directory)] = each.name
    found: dict[str, str] = {}
    units: list[ImportedUnit] = []
    for each in wanted:
        units.append(each.imported())
        found.update(each.files())
    if units:
        found[os.path.join(root, FLEET_FILE)] = fleet_text(units)
    elif not diags.has_errors:
        diags.error(
            "No units",
            f"There is no {FILE_NAME} with a module below {root}. Name another directory.",
        )
    return ImportedTree(tuple(units), found, tree.sources)


def _directories(tree: Tree) -> Iterator[str]:
    """The directories of units, those of stacks included."""
    for current, directories, names in os.walk(tree.root):
        directories[:] = sorted(each for each in directories if not each.startswith("."))
        if FILE_NAME in names:
            yield current
        if STACK_FILE in names:
            made = generate_stack(tree, current)
            if made:
                tree.diags.append(_generated_now())
            yield from made


def _generated_now() -> Diagnostic:
    return Diagnostic(
        Severity.WARNING,
        "Generated directories are kept",
        f"The units of stacks are in directories {GENERATED}, and nothing generates them again. Commit "
        "them, and take them out of .gitignore.",
    )


class _UnitImport:
    """The import of one unit."""

    def __init__(self, tree: Tree, file: ConfigFile) -> None:
        self._tree = tree
        self.directory: str = file.directory
        path = os.path.relpath(file.directory, tree.root).replace(os.sep, "/")
        self.name: str = "root" if path == "." else path
        self._place = path
        self._settings: Settings = merged_settings(file)
        self._source, self._version = self._module()
        self._unit = self._as_unit()

    @property
    def is_unit(self) -> bool:
        """Return whether there is a module to run, and nothing excludes it."""
        if self._settings.is_excluded:
            self._tree.diags.warning(
                "Not carried over", f"{self.name} is excluded, so it is no unit of the fleet."
            )
            return False
        return bool(self._source) or any(
            each.endswith(_CONFIGURATION) for each in os.listdir(self.directory)
        )

    def _report(self, what: str, reason: str, place: Range | None) -> None:
        self._tree.diags.append(not_carried_over(what, reason, place))

    # -- the module -----------------------------------------------------------------------------

    def _module(self) -> tuple[str, str]:
        """The source of the module as `fleet.hcl` names it, and its version."""
        source = self._settings.source
        if source is None:
            return "", ""
        plain, marks = _plain(source)
        if not isinstance(plain, str):
            reason = why_unknown(source) or "it comes from outputs of other units"
            self._report("terraform.source", reason, self._settings.source_range)
            return "", ""
        names = sorted(each.name for each in marks if isinstance(each, FromEnvironment))
        if names:
            where = self._settings.source_range
            self._tree.diags.append(present_value("terraform.source", names, where))
        if plain in ("", "."):
            return "", ""
        if plain.startswith("tfr:"):
            return _registry_source(plain)
        plain = _whole_address(plain)
        if plain.startswith((".", "/")) or self._is_beside(plain):
            base, found, subdir = plain.partition("//")
            path = os.path.normpath(os.path.join(self.directory, base))
            near = os.path.relpath(path, self._tree.root).replace(os.sep, "/")
            near = near if near.startswith(".") else f"./{near}"
            return f"{near}//{subdir}" if found else near, ""
        return plain, ""

    def _is_beside(self, source: str) -> bool:
        """Return whether a source is the path of a directory, without a dot at its beginning."""
        base = source.partition("//")[0]
        return ":" not in base and os.path.isdir(os.path.join(self.directory, base))

    def _as_unit(self) -> Unit:
        unit = Unit(self.name, self._place, self.directory)
        if not self._source:
            return unit
        place, diags = self._settings.source_range, self._tree.diags
        return with_copy(unit, self._tree.root, self._source, self._version, place, diags)

    # -- the unit -------------------------------------------------------------------------------

    def files(self) -> dict[str, str]:
        """The files that Terragrunt generates for the unit."""
        copy = self._unit.copy
        module = "" if copy is None or copy.remote else copy.module
        root, run_in = self._tree.root, self._unit.path
        found = generated_files(
            self._settings, self.directory, module, run_in, root, self._tree.diags
        )
        is_stored = self._settings.remote_state or any("backend" in each for each in found.values())
        if copy is not None and not is_stored:
            reason = (
                "it has no remote_state, so Terragrunt has its state in .terragrunt-cache, unless the "
                "module has a backend. Move that state to a backend first"
            )
            self._report(self.name, reason, self._settings.source_range)
        return found

    def imported(self) -> ImportedUnit:
        """The unit with its arguments."""
        var_files, env, given = self._extra_arguments()
        texts, literal = self._variables(var_files)
        for name, text in given.items():
            texts[name] = text
            literal.add(name)
        weaker = self._objects(self._settings.weaker)
        stronger = self._objects(self._settings.stronger)
        for what, place in self._settings.others.items():
            self._report(what, _INSTEAD.get(what.split()[0], _ANYTHING), place)
        state = self._settings.remote_state
        backend: Mapping[str, str] = {}
        if state is not None and not state.path:
            run_in, root = self._unit.path, self._tree.root
            backend = backend_arguments(state, run_in, root, self._tree.diags) or {}
        return ImportedUnit(
            name=self.name,
            directory=self._place,
            source=self._source,
            version=self._version,
            variables=texts,
            weaker=weaker,
            stronger=stronger,
            is_literal=frozenset(literal),
            var_files=[os.path.relpath(each, self._tree.root) for each in var_files],
            depends_on=self._ordered([*texts.values(), *weaker, *stronger]),
            env=env,
            backend_config=backend,
        )

    def _variables(self, var_files: list[str]) -> tuple[dict[str, str], set[str]]:
        """The texts of variables, and which of them refer to no unit."""
        stronger = self._set_by_files(var_files)
        texts: dict[str, str] = {}
        literal: set[str] = set()
        for name, each in self._settings.inputs.items():
            if name in stronger:
                continue
            try:
                refuse(each.value)
                if each.value.is_wholly_known and not each.reads_files:
                    texts[name] = literal_text(each.value, self._tree.root)
                    literal.add(name)
                else:
                    texts[name] = each.written()
            except NotWritten as error:
                self._refused_input(name, str(error))
        return texts, literal

    def _objects(self, found: Sequence[Written]) -> list[str]:
        """The texts of objects with variables."""
        texts: list[str] = []
        for each in found:
            try:
                texts.append(each())
            except NotWritten as error:
                self._report(f"inputs of {self.name}", str(error), None)
        return texts

    def _refused_input(self, name: str, reason: str) -> None:
        self._tree.diags.warning(
            "Not carried over",
            f"The variable {name} of {self.name}: {reason}. Set the environment variable "
            f"TF_VAR_{name}, or add it to the variables of the unit.",
        )

    def _set_by_files(self, var_files: list[str]) -> set[str]:
        """The variables that files set, which count more than inputs do for Terragrunt."""
        directories = [self.directory]
        if self._unit.copy is not None and not self._unit.copy.remote:
            directories.append(self._unit.copy.module)
        paths = list(var_files)
        for directory in directories:
            names = filter(_is_automatic, sorted(os.listdir(directory)))
            paths += [os.path.join(directory, name) for name in names]
        return {name for path in paths for name in variable_names(path, self._tree.diags)}

    def _ordered(self, texts: Sequence[str]) -> list[str]:
        """The units that come first without an output of theirs being used."""
        settings = self._settings
        wanted = {os.path.realpath(each): None for each in settings.paths}
        for each in settings.dependencies.values():
            if each.is_enabled:
                wanted[os.path.realpath(each.directory)] = None
        found: list[str] = []
        for directory in wanted:
            name = self._tree.units.get(directory)
            if name is None:
                path = os.path.relpath(directory, self._tree.root)
                self._tree.diags.warning(
                    "Not carried over",
                    f"{self.name} depends on {path}, which is no unit of this tree.",
                )
            elif not any(f'unit["{name}"]' in text for text in texts):
                found.append(name)
        return found

    def _extra_arguments(self) -> tuple[list[str], dict[str, str], dict[str, str]]:
        """Files of variables, environment variables and values from `extra_arguments`."""
        var_files: list[str] = []
        env: dict[str, str] = {}
        given: dict[str, str] = {}
        for each in self._settings.extra_arguments.values():
            if each.commands and not each.commands & _PLANS:
                continue
            var_files += each.var_files
            for name, value in each.env.items():
                try:
                    refuse(value)
                    env[name] = literal_text(value, self._tree.root)
                except (NotWritten, ValueError) as error:
                    self._report(f"env_vars.{name}", str(error), each.range)
            self._command_line(each, var_files, given)
        return var_files, env, given

    def _command_line(
        self, each: ExtraArguments, var_files: list[str], given: dict[str, str]
    ) -> None:
        texts = [_plain(value)[0] for value in each.arguments]
        pending = [text for text in texts if isinstance(text, str)]
        while pending:
            text = pending.pop(0)
            name, _, value = text.lstrip("-").partition("=")
            if name in ("var", "var-file") and not value and pending:
                value = pending.pop(0)
            if name == "var-file" and value:
                var_files.append(os.path.normpath(os.path.join(self.directory, value)))
            elif name == "var" and "=" in value:
                key, _, content = value.partition("=")
                given[key] = f'"{content}"' if '"' not in content else content
            else:
                option = text.partition("=")[0]
                self._report(option, "give it to the commands of the fleet", each.range)


def _is_automatic(name: str) -> bool:
    """Return whether a file of variables is always read."""
    is_named = name.endswith((".auto.tfvars", ".auto.tfvars.json"))
    return is_named or name in ("terraform.tfvars", "terraform.tfvars.json")


def _plain(value: Value) -> tuple[object, frozenset[object]]:
    plain, marks = value.unmark_deep()
    return plain.data if plain.is_wholly_known else None, frozenset(marks)


def _whole_address(source: str) -> str:
    """A source on gitlab.com, which Terragrunt knows by its name alone, as an address."""
    if not source.startswith("gitlab.com/"):
        return source
    address, found, query = source.partition("?")
    project, slashes, subdir = address.partition("//")
    return f"git::https://{project.removesuffix('.git')}.git{slashes}{subdir}{found}{query}"


def _registry_source(text: str) -> tuple[str, str]:
    """A source such as `tfr:///terraform-aws-modules/vpc/aws//subnets?version=5.0.0`."""
    parts = urlsplit(text)
    host = f"{parts.netloc}/" if parts.netloc else ""
    version = "".join(parse_qs(parts.query).get("version", []))
    return host + parts.path.lstrip("/"), version
