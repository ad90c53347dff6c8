"""Provisioners while nothing runs: their arguments against schemas."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from nigari.config.blocks.provisioner import Provisioner
from nigari.cty.values import Value
from nigari.diagnostics import Diagnostics
from nigari.eval.core.instances import ResourceNode
from nigari.eval.core.module_tree import InstanceData
from nigari.eval.core.scope import evaluate_body
from nigari.eval.core.worklist import Need
from nigari.hcl.body import Body
from nigari.hcl.suggestion import did_you_mean
from nigari.schema.block import Block
from nigari.schema.decode import decoder_spec
from nigari.schema.provisioners import CONNECTION, EXCLUSIVE, NOT_EMPTY, PROVISIONERS


def provisioner_stages(
    node: ResourceNode, data: InstanceData
) -> list[Callable[[], Sequence[Need]]]:
    """The checks of one provisioner or connection after the other."""
    stages: list[Callable[[], Sequence[Need]]] = []
    resource = node.resource
    for provisioner in resource.provisioners:
        schema = PROVISIONERS.get(provisioner.type)
        if schema is None:
            report_provisioner(provisioner, node.frame.run.diags)
            continue
        check_type = partial(_check_provisioner, provisioner)
        stages.append(partial(_check_body, node, data, provisioner.body, schema, check_type))
        body = provisioner.connection_over(resource.connection)
        if body is not None:
            stages.append(partial(_check_body, node, data, body, CONNECTION))
    return stages


def _check_body(
    node: ResourceNode,
    data: InstanceData,
    body: Body,
    schema: Block,
    check: Callable[[Value, Diagnostics], None] | None = None,
) -> Sequence[Need]:
    frame = node.frame
    compiled = frame.instance.compiled.body(body, decoder_spec(schema))
    diags = frame.run.diags
    errors = diags.error_count
    value = evaluate_body(frame, compiled, data, node.element, node)
    if not isinstance(value, Value):
        return value
    if check is not None and diags.error_count == errors:
        check(value.unmark_deep()[0], diags)
    return ()


def _check_provisioner(provisioner: Provisioner, config: Value, diags: Diagnostics) -> None:
    """Check that the arguments of a provisioner are compatible."""
    exclusive = EXCLUSIVE.get(provisioner.type, ())
    given = [name for name in exclusive if not config.attribute(name).is_null]
    if exclusive and len(given) != 1:
        diags.error(
            "Conflicting arguments" if given else "Missing argument",
            f"A {provisioner.type} provisioner needs exactly one of {', '.join(exclusive)}.",
            provisioner.range,
        )
    for name in NOT_EMPTY.get(provisioner.type, ()):
        if config.attribute(name).data in (None, ""):
            diags.error(
                "Empty argument",
                f"The {name} of a {provisioner.type} provisioner cannot be empty.",
                provisioner.range,
            )


def report_provisioner(provisioner: Provisioner, diags: Diagnostics) -> None:
    """A provisioner of an unknown type."""
    hint = did_you_mean(provisioner.type, PROVISIONERS)
    diags.error(
        "Unknown provisioner",
        f'There is no provisioner "{provisioner.type}".{hint} Supported provisioners: '
        f"{', '.join(PROVISIONERS)}.",
        provisioner.range,
    )
