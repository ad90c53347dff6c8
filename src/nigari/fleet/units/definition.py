"""`fleet.hcl`: units that cannot be found by looking, evaluated before anything runs.

    locals { environments = { dev = "eu-west-1", prod = "us-east-1" } }

    unit "network" {
      for_each  = local.environments
      directory = "network"
      variables = { region = each.value }
    }

Only the variables of a unit, and what it depends on, may refer to other units: see
`nigari.fleet.units.unit_values`.
"""

from __future__ import annotations

import os
from typing import Final

from nigari.cty.types import (
    BOOL,
    DYNAMIC,
    KIND_LIST,
    KIND_MAP,
    KIND_OBJECT,
    KIND_SET,
    KIND_TUPLE,
    STRING,
    ListType,
    MapType,
)
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.fleet.units.unit import (
    FILE_NAME,
    Unit,
    fleet_directory,
    instance_name,
    settings_file,
)
from nigari.fleet.units.unit_values import DeclaredValues, UnitValues
from nigari.fleet.units.working_copy import with_copy
from nigari.hcl.body import AttributeSchema, Block, BlockSchema, BodySchema, Content
from nigari.lang.files import CachedFiles, Files
from nigari.record import replace
from nigari.workspace.context.nigari_files import BlockInstance, OwnFile, parse_own_file
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.states.backend import read_overrides

_BLOCKS: Final = (BlockSchema("fleet"), BlockSchema("unit", ("name",)))
_FLEET: Final = BodySchema((AttributeSchema("exclude"), AttributeSchema("discover")))
_UNIT: Final = BodySchema(
    (
        AttributeSchema("directory", True),
        *(
            AttributeSchema(name)
            for name in (
                "workspace",
                "environment",
                "var_files",
                "variables",
                "labels",
                "depends_on",
                "env",
                "backend_config",
                "source",
                "version",
                "ignore_undeclared",
            )
        ),
    )
)


class FleetDefinition:
    """The content of `fleet.hcl`."""

    def __init__(
        self,
        where: WorkingDirectory,
        diags: Diagnostics,
        data: bytes | None,
        files: Files | None = None,
    ) -> None:
        """`files` are what functions read, if not the files of this machine."""
        self.where = where
        self.diags = diags
        self.sources: dict[str, bytes] = {}
        self.exclude: tuple[str, ...] = ()
        self.discovers: bool = True
        """True to search for units beside the declared ones."""
        self.declared: dict[str, Unit] = {}
        self.values: UnitValues = UnitValues()
        """The inputs of units, and their dependencies."""
        if data is not None:
            self.sources[FILE_NAME] = data
            # What was read is sent along with the expressions that read it.
            read = files or CachedFiles(where.root)
            self._read(parse_own_file(where, FILE_NAME, data, _BLOCKS, diags, read))

    # -- reading --------------------------------------------------------------------------------

    def _read(self, file: OwnFile) -> None:
        for block in file.blocks_of("fleet"):
            self._read_settings(file, block)
        blocks: dict[str, Block] = {}
        for block in file.blocks_of("unit"):
            first = blocks.setdefault(block.labels[0], block)
            if first is not block:
                self._report_duplicate(block, first)
                continue
            for instance in file.instances(block, self.diags):
                self._declare(instance)

    def _read_settings(self, file: OwnFile, block: Block) -> None:
        instance = BlockInstance(block, block.body, file.scope)
        content = block.body.content(_FLEET, self.diags)
        self.exclude += self._texts(instance, content, "exclude")
        self.discovers = self._is_set(instance, content, "discover", default=True)

    def _declare(self, instance: BlockInstance) -> None:
        block, errors = instance.block, self.diags.error_count
        content = instance.body.content(_UNIT, self.diags)
        name = instance_name(block.labels[0], instance.key)
        key = None if instance.key is None else str(instance.key)
        workspace = self._text(instance, content, "workspace")
        environment = self._text(instance, content, "environment")
        directory = self._directory(instance, content)
        if self.diags.error_count > errors:
            return
        path = os.path.normpath(self.where.at(directory))
        unit = Unit(
            name=name,
            directory=directory,
            path=path,
            # Instances of one block have a state each; environments have their own ways to that.
            workspace=workspace if workspace is not None or environment else key,
            var_files=tuple(
                settings_file(self.where.at(), path, each)
                for each in self._texts(instance, content, "var_files")
            ),
            labels=self._texts(instance, content, "labels"),
            environ=self._environ(instance, content),
            environment_name=environment or "",
            block=block.labels[0],
            range=block.def_range,
            backend=self._backend(instance, content, path),
            fleet_data=fleet_directory(self.where.root),
            ignores_undeclared=self._is_set(instance, content, "ignore_undeclared"),
        )
        source = self._text(instance, content, "source")
        if source is not None:
            version = self._text(instance, content, "version") or ""
            place = content.attributes["source"].expr.range
            unit = with_copy(unit, self.where.root, source, version, place, self.diags)
        attributes = content.attributes
        self.declared[name] = unit
        self.values.declare(
            name,
            DeclaredValues(
                instance.scope,
                attributes.get("variables"),
                attributes.get("depends_on"),
                unit.block,
                key,
            ),
        )

    def _report_duplicate(self, block: Block, first: Block) -> None:
        self.diags.error(
            "Duplicate unit",
            f"There is already a unit {block.labels[0]}, at {first.def_range}. Give one of them "
            "another name.",
            block.def_range,
        )

    def _is_set(
        self, instance: BlockInstance, content: Content, name: str, default: bool = False
    ) -> bool:
        attribute = content.attributes.get(name)
        value = None if attribute is None else instance.value(attribute, BOOL, self.diags)
        return default if value is None else value.data is True

    def _text(self, instance: BlockInstance, content: Content, name: str) -> str | None:
        attribute = content.attributes.get(name)
        value = None if attribute is None else instance.value(attribute, STRING, self.diags)
        return None if value is None else value.unmark_deep()[0].as_string()

    def _texts(self, instance: BlockInstance, content: Content, name: str) -> tuple[str, ...]:
        attribute = content.attributes.get(name)
        if attribute is None:
            return ()
        value = instance.value(attribute, ListType(STRING), self.diags)
        plain = () if value is None else value.unmark_deep()[0].elements()
        return tuple(each.as_string() for each in plain if not each.is_null)

    def _directory(self, instance: BlockInstance, content: Content) -> str:
        attribute = content.attributes.get("directory")
        text = self._text(instance, content, "directory")
        if attribute is None or text is None:
            return "."
        directory = os.path.normpath(text or ".").replace(os.sep, "/")
        if not os.path.isdir(self.where.at(directory)):
            self.diags.error(
                "No such directory",
                f'There is no directory "{directory}", seen from the directory of {FILE_NAME}.',
                attribute.expr.range,
            )
        return directory

    def _backend(
        self, instance: BlockInstance, content: Content, path: str
    ) -> tuple[tuple[str, Value], ...]:
        """Arguments of the backend: an object, or texts such as `-backend-config` takes."""
        attribute = content.attributes.get("backend_config")
        value = None if attribute is None else instance.value(attribute, DYNAMIC, self.diags)
        if attribute is None or value is None:
            return ()
        plain = value.unmark_deep()[0]
        if plain.type.kind in (KIND_OBJECT, KIND_MAP):
            return tuple(sorted(plain.mapping().items()))
        if plain.type.kind in (KIND_TUPLE, KIND_LIST, KIND_SET):
            texts = self._texts(instance, content, "backend_config")
            given = [
                each if "=" in each else settings_file(self.where.at(), path, each)
                for each in texts
            ]
            problems = Diagnostics()
            found = read_overrides(given, self.sources, problems)
            for each in problems:
                # A file that cannot be read has no place of its own.
                place = attribute.expr.range if each.subject is None else each.subject
                self.diags.append(replace(each, subject=place))
            return tuple(sorted((name, each.value) for name, each in found.items()))
        self.diags.error(
            "Invalid value",
            'The argument "backend_config" must be an object with backend arguments, or a list of '
            f"what -backend-config takes, not {plain.type.with_article()}.",
            attribute.expr.range,
        )
        return ()

    def _environ(self, instance: BlockInstance, content: Content) -> tuple[tuple[str, str], ...]:
        found: dict[str, str] = {}
        attribute = content.attributes.get("env")
        value = (
            None if attribute is None else instance.value(attribute, MapType(STRING), self.diags)
        )
        if value is not None:
            plain = value.unmark_deep()[0].mapping()
            found.update({name: each.as_string() for name, each in plain.items()})
        return tuple(sorted(found.items()))
