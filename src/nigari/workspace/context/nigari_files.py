"""Files of our own beside a configuration, such as `environments.hcl`: HCL that is evaluated when it
is read.

Such a file may have `locals` blocks, all functions of the language but those whose result differs
from call to call, `path`, and blocks with `for_each`. There are no variables: nothing outside the
file and the files it reads decides what it says. Which blocks there are, and what they mean, is for
the caller to say.

    file = read_own_file(where, "environments.hcl", (BlockSchema("environment", ("name",)),), diags)
    for block in file.blocks_of("environment"):
        for instance in file.instances(block, diags):
            content = instance.body.content(SCHEMA, diags)
            name = instance.value(content.attributes["workspace"], STRING, diags)
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from nigari.addrs.keys import InstanceKey
from nigari.addrs.module import ROOT_MODULE
from nigari.cty.convert import convert
from nigari.cty.errors import CtyError
from nigari.cty.paths import path_text
from nigari.cty.types import Type
from nigari.cty.values import Value, object_value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.causes import CauseKind, UnknownCause, causes_within
from nigari.eval.core.expansion import Asked, expand_for_each
from nigari.hcl.binary import without_binary
from nigari.hcl.body import Attribute, AttributeSchema, Block, BlockSchema, Body, BodySchema
from nigari.hcl.interdependent import Graph, from_attribute
from nigari.hcl.parser import parse_body
from nigari.hcl.reference_values import scope_values
from nigari.hcl.scope import Scope
from nigari.hcl.source import Source
from nigari.hcl.static import expr_part
from nigari.lang.files import Files
from nigari.lang.functions.table import function_table
from nigari.record import record
from nigari.workspace.context.working_directory import WorkingDirectory, home_directory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_LOCALS: Final = "locals"
_FOR_EACH: Final = BodySchema((AttributeSchema("for_each"),))


@record
class BlockInstance:
    """A block of the file, or one of those that its `for_each` asks for."""

    block: Block
    body: Body
    """The content of the block, without `for_each`."""
    scope: Scope
    """The values of the names in it."""
    key: InstanceKey = None
    """The key of the instance; None where the block has no `for_each`."""

    def value(self, attribute: Attribute, type_: Type, diags: Diagnostics) -> Value | None:
        """The value of an argument, wholly known and of that type; None after reporting why not."""
        errors = diags.error_count
        value = attribute.expr.value(self.scope, diags)
        if diags.error_count > errors:
            return None
        if not value.is_wholly_known:
            _report_unknown(attribute, value, diags)
            return None
        try:
            value = convert(value, type_)
        except CtyError as error:
            _report_unfit(self, attribute, error, diags)
            return None
        if value.is_null:
            diags.error(
                "Invalid value",
                f'The argument "{attribute.name}" is null. Leave it out instead, or give it a '
                "value.",
                attribute.expr.range,
                values=scope_values(attribute.expr, self.scope),
            )
            return None
        return value


@record
class OwnFile:
    """A file that has been read, with the values of its locals."""

    path: str
    """As it is written: seen from the root of the working directory."""
    data: bytes
    """Its text, for showing diagnostics."""
    blocks: Sequence[Block]
    """All blocks but `locals`, in the order they are written."""
    scope: Scope
    """The values of the names in the file: locals, paths and functions."""

    def blocks_of(self, type_: str) -> list[Block]:
        """The blocks of one type, in order."""
        return [block for block in self.blocks if block.type == type_]

    def instances(self, block: Block, diags: Diagnostics) -> list[BlockInstance]:
        """The block itself, or the instances that its `for_each` asks for, by key; none after
        reporting what is wrong with it.
        """
        content, body = block.body.partial_content(_FOR_EACH, diags)
        attribute = content.attributes.get("for_each")
        if attribute is None:
            return [BlockInstance(block, body, self.scope)]
        errors = diags.error_count
        value = attribute.expr.value(self.scope, diags)
        if diags.error_count > errors:
            return []
        if not value.is_known:
            _report_unknown(attribute, value, diags)
            return []
        expansion = expand_for_each(value, Asked(attribute.expr, lambda: self.scope, diags))
        if expansion.deferred_by is not None:
            _report_unknown(attribute, value, diags)
            return []
        instances: list[BlockInstance] = []
        for key, data in expansion.instances.items():
            assert data.each_key is not None
            assert data.each_value is not None
            each = object_value({"key": data.each_key, "value": data.each_value})
            instances.append(
                BlockInstance(block, body, Scope({"each": each}, parent=self.scope), key)
            )
        return instances


def read_own_file(
    where: WorkingDirectory, name: str, blocks: Sequence[BlockSchema], diags: Diagnostics
) -> OwnFile | None:
    """The file of that name in the directory, with the blocks that it may have; None where there is
    no such file, or after reporting why it cannot be read.
    """
    path = os.path.normpath(os.path.join(where.name, name))
    try:
        data = where.files.read(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        diags.error("Cannot read a file", f"{path} cannot be read: {error.strerror or error}.")
        return None
    return parse_own_file(where, path, data, blocks, diags)


def parse_own_file(
    where: WorkingDirectory,
    path: str,
    data: bytes,
    blocks: Sequence[BlockSchema],
    diags: Diagnostics,
    files: Files | None = None,
) -> OwnFile:
    """A file whose text is known already. Its functions read `files`, if there are any but those of
    the directory.
    """
    schema = BodySchema((), (BlockSchema(_LOCALS), *blocks))
    content = parse_body(without_binary(Source.from_bytes(path, data), diags), diags).content(
        schema, diags
    )
    found = [block for block in content.blocks if block.type != _LOCALS]
    scope = _scope(where, files or where.files, content.blocks_of(_LOCALS), diags)
    return OwnFile(path, data, found, scope)


def _scope(
    where: WorkingDirectory, files: Files, locals_: Sequence[Block], diags: Diagnostics
) -> Scope:
    functions = function_table(
        files,
        where.name,
        root=where.absolute_root,
        home_directory=home_directory(where.environ),
        deferral=_impure,
    )
    paths = {"module": where.name, "root": where.name, "cwd": where.current}
    base = Scope({"path": paths}, functions)
    attributes = [
        attribute for block in locals_ for attribute in block.body.just_attributes(diags).values()
    ]
    graph = Graph([from_attribute(f"local.{each.name}", each) for each in attributes], diags)
    values = graph.evaluate(base, diags)
    found = {name.removeprefix("local."): value for name, value in values.items()}
    return Scope({"local": object_value(found)}, parent=base)


def _impure(name: str) -> UnknownCause:
    return UnknownCause(CauseKind.IMPURE_FUNCTION, ROOT_MODULE, f"{name}()")


def _report_unknown(attribute: Attribute, value: Value, diags: Diagnostics) -> None:
    """A value that is not known; where it comes from a local with an error, that says enough."""
    names = [each.name for each in causes_within(value) if each.kind is CauseKind.IMPURE_FUNCTION]
    if names:
        diags.error(
            "Value is not static",
            f'The argument "{attribute.name}" depends on {names[0]}, whose result differs from '
            "call to call. Write a value that stays the same.",
            attribute.expr.range,
        )


def _report_unfit(
    instance: BlockInstance, attribute: Attribute, error: CtyError, diags: Diagnostics
) -> None:
    part = f"{path_text(error.path)}: " if error.path else ""
    diags.error(
        "Invalid value",
        f'Invalid value for the argument "{attribute.name}": {part}{error.message}.',
        expr_part(attribute.expr, error.path).range,
        values=scope_values(attribute.expr, instance.scope),
    )
