"""Uses of a file: the blocks that are written in it, the variables that it sets, and the blocks that
read it with functions such as `file` and `templatefile`.

Paths are worked out as far as that is possible before anything runs. Where a path is not known,
every file counts that begins with what is known of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from nigari.cty.refinements import string_prefix
from nigari.cty.types import STRING
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics, Range
from nigari.eval.core.instances import Frame
from nigari.eval.core.module_tree import NO_INSTANCE_DATA, InstanceData
from nigari.hcl.expressions import Expression
from nigari.plan.order.block_references import Block
from nigari.record import record
from nigari.workspace.explain.file_calls import (
    LISTING,
    called_with,
    expressions_of,
    file_calls,
    frames_of,
    function_name,
)
from nigari.workspace.explain.queries import ValueQueries

Locate = Callable[[str], str]
"""Gives the path of a file for one that is written in the configuration."""
EXPANSION = "(instances)"
"""The name of the block that decides the instances of a module."""


@record
class _Written:
    """Something that is declared in a module instance."""

    block: Block
    range: Range | None
    expressions: list[Expression]
    instances: tuple[InstanceData, ...] = (NO_INSTANCE_DATA,)


def blocks_of_file(evaluation: ValueQueries, path: str, locate: Locate) -> list[Block]:
    """The blocks that a change of a file is felt by first."""
    looking = _Looking(evaluation, path, locate)
    found = [each.block for frame in frames_of(evaluation) for each in looking.felt_in(frame)]
    return list(dict.fromkeys(found))


class _Looking:
    """Looks for one file."""

    def __init__(self, evaluation: ValueQueries, path: str, locate: Locate) -> None:
        self._evaluation = evaluation
        self._locate = locate
        self._path = os.path.realpath(locate(path))

    def felt_in(self, frame: Frame) -> Iterator[_Written]:
        for each in self._declared(frame):
            if self._is_in(each.range) or self._reads(frame, each):
                yield each

    def _is_in(self, where: Range | None) -> bool:
        return where is not None and self._is_it(where.filename)

    def _is_it(self, path: str) -> bool:
        return os.path.realpath(self._locate(path)) == self._path

    def _reads(self, frame: Frame, written: _Written) -> bool:
        for expr in written.expressions:
            for call in file_calls(expr):
                for data in written.instances:
                    value = called_with(self._evaluation, frame, call.arguments[0], data)
                    if self._is_meant(value, function_name(call) == LISTING):
                        return True
        return False

    def _is_meant(self, path: Value, is_directory: bool) -> bool:
        if not path.is_known:
            known = string_prefix(path) if path.type == STRING else ""
            return bool(known) and self._path.startswith(self._beginning(known))
        if path.is_null or path.type != STRING:
            return False
        if is_directory:
            directory = os.path.realpath(self._locate(path.as_string()))
            return self._path.startswith(os.path.join(directory, ""))
        return self._is_it(path.as_string())

    def _beginning(self, text: str) -> str:
        head, slash, tail = text.rpartition("/")
        return os.path.join(os.path.realpath(self._locate(head if slash else ".")), "") + tail

    def _declared(self, frame: Frame) -> Iterable[_Written]:
        module, path = frame.module, frame.instance.variant
        for addr, resource in module.resources.items():
            exprs = expressions_of(resource.body)
            instances: tuple[InstanceData, ...] = (NO_INSTANCE_DATA,)
            if any(map(file_calls, exprs)):
                found = self._evaluation.resource_instances(frame, resource).instances
                instances = tuple(found.values()) or instances
            yield _Written((path, str(addr)), resource.range, exprs, instances)
        for name, variable in module.variables.items():
            default = [] if variable.default is None else [variable.default]
            yield _Written((path, f"var.{name}"), variable.range, default)
            given = self._evaluation.run.inputs.get(name) if frame.instance.addr.is_root else None
            if given is not None:
                yield _Written((path, f"var.{name}"), given.range, [])
        for name, local in module.locals.items():
            yield _Written((path, f"local.{name}"), local.expr.range, [local.expr])
        for name, output in module.outputs.items():
            yield _Written((path, f"output.{name}"), output.range, [output.expr])
        for name, check in module.checks.items():
            yield _Written((path, f"check.{name}"), check.range, [])
        for name, call in module.calls.items():
            called = frame.instance.children.get(name, {}).values()
            for inner in {each.variant for each in called}:
                yield _Written((inner, EXPANSION), call.range, [])
                for argument, attribute in call.body.just_attributes(Diagnostics()).items():
                    yield _Written((inner, f"var.{argument}"), None, [attribute.expr])
