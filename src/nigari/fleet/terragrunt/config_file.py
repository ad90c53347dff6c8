"""One file of Terragrunt, evaluated: its locals, includes, dependencies and settings.

A file that is included is evaluated for the unit that includes it: functions of paths start at the
unit's directory. What a dependency will have as outputs is unknown here, and texts of expressions
refer to its unit.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import cached_property, partial

from nigari.cty.function import Function
from nigari.cty.json import value_to_json
from nigari.cty.types import KIND_MAP, KIND_OBJECT
from nigari.cty.values import DYNAMIC_UNKNOWN, Value, object_value, string
from nigari.diagnostics import Diagnostics
from nigari.fleet.terragrunt.expression_text import (
    Names,
    NotWritten,
    Written,
    expression_text,
)
from nigari.fleet.terragrunt.functions import (
    FromEnvironment,
    OfTheMoment,
    Position,
    terragrunt_functions,
)
from nigari.fleet.terragrunt.settings import Dependency, Input
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression, Reference
from nigari.hcl.interdependent import Graph, from_attribute
from nigari.hcl.native_body import NativeBody
from nigari.hcl.parser import parse_body
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.traversal import Step, TraverseAttr
from nigari.lang.files import DiskFiles
from nigari.lang.functions.table import function_table
from nigari.lang.marks import LanguageMark
from nigari.plain.expressions import as_operand
from nigari.record import record
from nigari.workspace.explain.file_calls import file_calls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_MOST_DEEP: Final = 50
"""Files that read each other end here, with an error."""


@record
class Tree:
    """State shared by all files of a tree."""

    root: str
    """The directory of the fleet, as an absolute path."""
    environ: Mapping[str, str]
    diags: Diagnostics
    sources: dict[str, bytes]
    """The files that were read, as they are named in diagnostics."""
    values: dict[str, Value]
    """The `values` that a stack gives to the files in a directory."""
    units: dict[str, str]
    """The names of units by their directories."""
    temporary: str
    """A directory for what is downloaded."""
    packages: dict[str, str]
    """The directories of packages that were downloaded; empty where that has failed."""


class ConfigFile:
    """A file, perhaps `for_unit` that includes it, perhaps read by the unit in `original`."""

    def __init__(
        self,
        tree: Tree,
        path: str,
        for_unit: ConfigFile | None = None,
        original: str = "",
        depth: int = 0,
    ) -> None:
        self.tree = tree
        self.path = path
        self._for_unit = for_unit
        self.directory: str = os.path.dirname(path) if for_unit is None else for_unit.directory
        """The directory of the unit."""
        self._original = original or self.directory
        self._depth = depth
        self.body: NativeBody = self._parsed()

    def _parsed(self) -> NativeBody:
        name = os.path.relpath(self.path, self.tree.root)
        if self._depth > _MOST_DEEP:
            self.tree.diags.error(
                "Files read each other", f"{name} reads itself, directly or through other files."
            )
            return parse_body(Source(name, ""), Diagnostics())
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except OSError as error:
            self.tree.diags.error("Cannot read a file", f"{name} cannot be read: {error.strerror}.")
            data = b""
        self.tree.sources[name] = data
        return parse_body(Source.from_bytes(name, data), self.tree.diags)

    def blocks(self, type_: str) -> Iterator[Block]:
        """The blocks of one type."""
        return (each for each in self.body.blocks if each.type == type_)

    # -- names ----------------------------------------------------------------------------------

    @cached_property
    def _functions(self) -> Mapping[str, Function]:
        table = function_table(DiskFiles(), os.path.dirname(self.path), deferral=OfTheMoment)
        own = terragrunt_functions(
            Position(
                self.directory,
                self._original,
                self._included_directory,
                self.tree.environ,
                self._other,
                self._tfvars,
            )
        )
        return {**table, **own}

    @cached_property
    def _base(self) -> Scope:
        """The names of functions alone, as `include` blocks have them."""
        return Scope({}, self._functions)

    def _other(self, path: str) -> Value:
        found = ConfigFile(self.tree, path, None, self._original, self._depth + 1)
        return found.exposed

    def _tfvars(self, path: str) -> str:
        path = os.path.normpath(os.path.join(self.directory, path))
        attributes = _assignments(path, self.tree.diags)
        values = {name: each.value(Scope(), self.tree.diags) for name, each in attributes.items()}
        return value_to_json(object_value(values))

    def _included_directory(self, name: str) -> str:
        if self._for_unit is not None:
            return os.path.dirname(self.path)
        found = self.includes
        if not found:
            return self.directory
        chosen = found.get(name) or next(iter(found.values()))
        return os.path.dirname(chosen.path)

    @cached_property
    def includes(self) -> Mapping[str, ConfigFile]:
        """The files that this one includes, by name; empty for the name of one without."""
        found: dict[str, ConfigFile] = {}
        for block in self.blocks("include"):
            path = self._text(block.body, "path", Scope({}, self._include_functions))
            if not path:
                continue
            path = os.path.normpath(os.path.join(self.directory, path))
            found["".join(block.labels)] = ConfigFile(self.tree, path, self, depth=self._depth + 1)
        return found

    @cached_property
    def _include_functions(self) -> Mapping[str, Function]:
        # Which files are included must not depend on which files are included.
        return {name: each for name, each in self._functions.items() if "include" not in name}

    def _text(self, body: object, name: str, scope: Scope) -> str:
        attribute = body.attributes.get(name) if isinstance(body, NativeBody) else None
        value = None if attribute is None else attribute.expr.value(scope, self.tree.diags)
        if value is None or not value.is_wholly_known or value.is_null:
            return ""
        plain = value.unmark_deep()[0].data
        return plain if isinstance(plain, str) else ""

    @cached_property
    def _early(self) -> Scope:
        """The names that locals may use."""
        names: dict[str, object] = {"feature": object_value(self.features)}
        values = self.tree.values.get(self.directory)
        if values is not None:
            names["values"] = values
        if self.includes:
            exposed = {name: each.exposed for name, each in self.includes.items()}
            names["include"] = exposed[""] if [*exposed] == [""] else object_value(exposed)
        return Scope(names, parent=self._base)

    @cached_property
    def own_features(self) -> Mapping[str, Value]:
        """The `feature` blocks of this file alone."""
        found: dict[str, Value] = {}
        for block in self.blocks("feature"):
            default = _attributes(block).get("default")
            if default is not None:
                value = default.expr.value(self._base, self.tree.diags)
                found["".join(block.labels)] = object_value({"value": value})
        return found

    @cached_property
    def features(self) -> Mapping[str, Value]:
        """The `feature` blocks of the unit: of its file and of those that it includes."""
        if self._for_unit is not None:
            return self._for_unit.features
        found: dict[str, Value] = {}
        for each in self.includes.values():
            found.update(each.own_features)
        return {**found, **self.own_features}

    @cached_property
    def locals(self) -> Mapping[str, Attribute]:
        """The attributes of `locals` blocks."""
        return {
            name: each
            for block in self.blocks("locals")
            for name, each in _attributes(block).items()
        }

    @cached_property
    def _local_values(self) -> Mapping[str, Value]:
        graph = Graph(
            [from_attribute(f"local.{name}", each) for name, each in self.locals.items()],
            self.tree.diags,
        )
        values = graph.evaluate(self._early, self.tree.diags)
        return {name.removeprefix("local."): each for name, each in values.items()}

    @cached_property
    def _middle(self) -> Scope:
        """The names that `dependency` blocks may use."""
        return Scope({"local": object_value(self._local_values)}, parent=self._early)

    @cached_property
    def own_dependencies(self) -> Mapping[str, Dependency]:
        """The `dependency` blocks of this file alone."""
        found: dict[str, Dependency] = {}
        for block in self.blocks("dependency"):
            path = self._text(block.body, "config_path", self._middle)
            if not path:
                continue
            attributes = _attributes(block)
            mock = attributes.get("mock_outputs")
            name = "".join(block.labels)
            found[name] = Dependency(
                name,
                os.path.normpath(os.path.join(self.directory, path)),
                mock.expr.value(self._middle, self.tree.diags)
                if mock is not None and self._is(attributes.get("skip_outputs"), self._middle)
                else None,
                "enabled" not in attributes or self._is(attributes["enabled"], self._middle),
                block.def_range,
            )
        return found

    @cached_property
    def dependencies(self) -> Mapping[str, Dependency]:
        """The `dependency` blocks of the unit: of its file and of those that it includes."""
        if self._for_unit is not None:
            return self._for_unit.dependencies
        found: dict[str, Dependency] = {}
        for each in self.includes.values():
            found.update(each.own_dependencies)
        return {**found, **self.own_dependencies}

    def _is(self, attribute: Attribute | None, scope: Scope) -> bool:
        if attribute is None:
            return False
        return attribute.expr.value(scope, self.tree.diags).unmark_deep()[0].data is True

    @cached_property
    def scope(self) -> Scope:
        """The names that everything else may use."""
        return self._with(self.dependencies)

    def _with(self, dependencies: Mapping[str, Dependency]) -> Scope:
        found: dict[str, Value] = {}
        for name, each in dependencies.items():
            path = os.path.relpath(each.directory, self.directory)
            outputs = DYNAMIC_UNKNOWN if each.mock is None else each.mock
            found[name] = object_value({"outputs": outputs, "config_path": string(path)})
        return Scope({"dependency": object_value(found)}, parent=self._middle)

    @cached_property
    def exposed(self) -> Value:
        """The file as the value of `include` and `read_terragrunt_config`. Dependencies of the unit
        that includes it are not known here, because they may depend on this value.
        """
        scope = self._with(self.own_dependencies)
        found = {"locals": object_value(self._local_values)}
        for name, attribute in self.body.attributes.items():
            found[name] = _quiet(attribute, scope)
        if self.own_dependencies:
            found["dependency"] = scope.made_value("dependency")
        generated: dict[str, Value] = {}
        for block in self.body.blocks:
            values = {name: _quiet(each, scope) for name, each in _attributes(block).items()}
            if block.type == "generate":
                generated["".join(block.labels)] = object_value(values)
            elif not block.labels and block.type not in found:
                found[block.type] = object_value(values)
        if self.own_features:
            found["feature"] = object_value(self.own_features)
        return object_value({**found, "generate": object_value(generated)})

    # -- texts ----------------------------------------------------------------------------------

    @cached_property
    def names(self) -> Names:
        """The names of expressions, for their texts."""
        directory = os.path.dirname(self.path)
        return Names(self.scope, self.tree.root, directory, self._referred, refuse)

    @cached_property
    def inputs(self) -> Mapping[str, Input]:
        """The `inputs` of this file alone."""
        attribute, value = self.body.attributes.get("inputs"), self._inputs
        if attribute is None or not _is_object(value):
            return {}
        plain, marks = value.unmark()
        written = {
            key.value(self.scope, Diagnostics()).data: each
            for key, each in attribute.expr.static_map() or ()
        }
        found: dict[str, Input] = {}
        for name, each in plain.mapping().items():
            expr = written.get(name)
            text = (
                partial(self._selected, attribute.expr, name)
                if expr is None
                else partial(expression_text, expr, self.names)
            )
            is_live = expr is not None and bool(file_calls(expr))
            found[name] = Input(each.with_marks(marks), text, is_live)
        return found

    @cached_property
    def _inputs(self) -> Value:
        attribute = self.body.attributes.get("inputs")
        if attribute is None:
            return object_value({})
        return attribute.expr.value(self.scope, self.tree.diags)

    @property
    def spread(self) -> Written | None:
        """The text of `inputs` whose names are known only when the fleet runs."""
        attribute = self.body.attributes.get("inputs")
        if attribute is None or _is_object(self._inputs):
            return None
        return partial(expression_text, attribute.expr, self.names)

    def _selected(self, expr: Expression, name: str) -> str:
        return f"{as_operand(expression_text(expr, self.names), expr)}.{name}"

    def _referred(self, reference: Reference) -> str:
        """The text of a reference to something that depends on outputs of units."""
        steps = reference.steps
        names = [each.name if isinstance(each, TraverseAttr) else "" for each in steps[1:]]
        root = reference.variables()[0].root_name
        if root == "dependency" and names[1:2] == ["outputs"] and names[0] in self.dependencies:
            unit = self._unit(self.dependencies[names[0]])
            return f'unit["{unit}"].outputs{_rest(reference, steps, 3)}'
        if root == "local" and names and names[0] in self.locals:
            return self.local_text(reference, steps, 1)
        is_bare = [*self.includes] == [""]
        if root == "include" and self.includes and len(names) > 2 - is_bare:
            skipped = 0 if is_bare else 1
            file = self.includes.get(names[0] if skipped else "")
            part = names[skipped] if len(names) > skipped else ""
            if file is not None and part == "locals" and names[skipped + 1] in file.locals:
                return file.local_text(reference, steps, skipped + 2)
            if file is not None and part == "inputs" and names[skipped + 1] in file.inputs:
                text = file.inputs[names[skipped + 1]].written()
                return f"({text}){_rest(reference, steps, skipped + 3)}"
            if file is not None and part == "dependency":
                name = names[skipped + 1]
                unit = self._unit(file.dependencies[name])
                return f'unit["{unit}"].outputs{_rest(reference, steps, skipped + 4)}'
        raise NotWritten("it depends on something that is not known before units are applied")

    def local_text(self, reference: Reference, steps: list[Step], position: int) -> str:
        """The text of a reference to a local, whose name is at a position of the steps."""
        step = steps[position]
        assert isinstance(step, TraverseAttr)
        expr = self.locals[step.name].expr
        text = expression_text(expr, self.names)
        return f"{as_operand(text, expr)}{_rest(reference, steps, position + 1)}"

    def _unit(self, dependency: Dependency) -> str:
        name = self.tree.units.get(os.path.realpath(dependency.directory))
        if name is None:
            path = os.path.relpath(dependency.directory, self.tree.root)
            raise NotWritten(f"it comes from {path}, which is no unit of this tree")
        return name


def refuse(value: Value) -> None:
    """Refuse a value that must not, or cannot, be written."""
    for mark in sorted(value.unmark_deep()[1], key=str):
        if isinstance(mark, FromEnvironment):
            raise NotWritten(f"it comes from the environment variable {mark.name}")
        if isinstance(mark, OfTheMoment):
            raise NotWritten(f"it comes from {mark.function}(), which is not called here")
        if mark is LanguageMark.SENSITIVE:
            raise NotWritten("it is sensitive")


def _rest(reference: Reference, steps: list[Step], position: int) -> str:
    """The text of the steps from a position on."""
    return reference.source.text[steps[position - 1].end : reference.end]


def _quiet(attribute: Attribute, scope: Scope) -> Value:
    """A value without diagnostics, which are reported where it counts."""
    diags = Diagnostics()
    value = attribute.expr.value(scope, diags)
    return DYNAMIC_UNKNOWN if diags.has_errors else value


def _is_object(value: Value) -> bool:
    plain = value.unmark()[0]
    return plain.is_known and plain.type.kind in (KIND_OBJECT, KIND_MAP)


def _attributes(block: Block) -> Mapping[str, Attribute]:
    return block.body.attributes if isinstance(block.body, NativeBody) else {}


def _assignments(path: str, diags: Diagnostics) -> Mapping[str, Expression]:
    """The expressions in a file of variables."""
    try:
        with open(path, "rb") as file:
            source = Source.from_bytes(path, file.read())
    except OSError as error:
        diags.error("Cannot read a file", f"{path} cannot be read: {error.strerror}.")
        return {}
    if path.endswith(".json"):
        from nigari.hcl.json_body import parse_json_body

        found = parse_json_body(source, diags).just_attributes(diags)
    else:
        found = parse_body(source, diags).just_attributes(diags)
    return {name: each.expr for name, each in found.items()}


variable_names: Final = _assignments
"""The names of variables that a file sets."""
