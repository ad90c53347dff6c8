"""What a provider may plan, and what it may give back after a change.

A plan may not contradict the configuration, and a result may not contradict its plan. Libraries of
old providers cannot keep these rules; who asks decides whether to insist. Problems are sentences
with a path; values in them are not shown, since some of them are secret.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from nigari.cty.conform import conformance_errors
from nigari.cty.operations import equals
from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.types import KIND_OBJECT, KIND_SET
from nigari.cty.values import Value, null, number, string
from nigari.plan.proposed import unrefined
from nigari.record import record
from nigari.schema.block import Attribute, Block, NestedAttributes, Nesting


@record
class Fault:
    """One way in which a provider breaks the rules."""

    path: Path
    text: str


def type_faults(block: Block, value: Value) -> list[Fault]:
    """Where a value is not of the type that the schema asks for."""
    errors = conformance_errors(value.type, block.implied_type)
    return [Fault(error.path, error.message) for error in errors]


def object_fault(block: Block, value: Value) -> str:
    """What is wrong with an object that was read or opened, as the end of a sentence."""
    faults = type_faults(block, value)
    if faults:
        return f"does not fit its schema: {faults[0].text}"
    if value.is_null:
        return "is null"
    return "" if value.is_wholly_known else "is not known as a whole"


def plan_faults(block: Block, prior: Value, config: Value, planned: Value) -> list[Fault]:
    """Where a planned object contradicts the configuration."""
    return list(_block_faults(block, prior, config, planned, ()))


def _block_faults(
    block: Block, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[Fault]:
    if planned.is_null or config.is_null:
        if planned.is_null is not config.is_null:
            yield Fault(path, _presence(planned))
        return
    yield from _attribute_faults(block.attributes, prior, config, planned, path)
    for name, nested in block.blocks.items():
        here = (*path, GetAttr(name))
        given, plan = config.attribute(name), planned.attribute(name)
        before = null(plan.type) if prior.is_null else prior.attribute(name)
        if plan == given:
            continue
        if not given.is_known:
            yield Fault(here, "the blocks are not known yet, so nothing can be planned for them")
        elif not plan.is_known:
            yield Fault(here, "blocks are never unknown as a whole, only values in them are")
        elif nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            yield from _block_faults(nested.block, before, given, plan, here)
        elif plan.is_null:
            yield Fault(here, "no blocks are an empty collection, not null")
        elif nested.nesting is Nesting.SET:
            for element in plan.sequence():
                if not element.is_known:
                    yield Fault((*here, Index(element)), "a block is never unknown as a whole")
        else:
            yield from _nested_faults(nested.block, before, given, plan, here)


def _nested_faults(
    block: Block, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[Fault]:
    given, before = _elements(config), _elements(prior)
    plan = _elements(planned)
    if plan.keys() != given.keys():
        yield Fault(path, f"{len(plan)} blocks are planned, and {len(given)} are configured")
        return
    for key, element in plan.items():
        step = string(key) if isinstance(key, str) else number(key)
        here: Path = (*path, Index(step))
        if not element.is_known:
            yield Fault(here, "a block is never unknown as a whole")
            continue
        was = before.get(key, null(block.implied_type))
        yield from _block_faults(block, was, given[key], element, here)


def _elements(value: Value) -> dict[int | str, Value]:
    if not value.is_known or value.is_null:
        return {}
    if isinstance(value.data, dict):
        return dict(value.mapping().items())
    return dict(enumerate(value.sequence()))


def _attribute_faults(
    attributes: Mapping[str, Attribute], prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[Fault]:
    for name, attribute in attributes.items():
        given, plan = config.attribute(name), planned.attribute(name)
        if plan == given or (attribute.computed and not attribute.optional):
            continue
        before = null(plan.type)
        if prior.is_known and not prior.is_null:
            before = prior.attribute(name)
        yield from _value_faults(attribute, before, given, plan, (*path, GetAttr(name)))


def _value_faults(
    attribute: Attribute, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[Fault]:
    plain = unrefined(planned)
    if plain == unrefined(config):
        return
    if not prior.is_null and not config.is_null and plain == unrefined(prior):
        return
    if config.is_null and attribute.computed:
        return
    if config.is_null:
        if not planned.is_null:
            yield Fault(path, "a value is planned for an argument that is not set")
        return
    if planned.is_null and attribute.write_only:
        return
    if attribute.nested is not None:
        yield from _object_faults(attribute.nested, prior, config, planned, path)
        return
    yield Fault(path, "the planned value is neither what is configured nor what there was before")


def _object_faults(
    nested: NestedAttributes, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[Fault]:
    if planned.is_null:
        yield Fault(path, _presence(planned))
        return
    if not planned.is_known:
        yield Fault(path, "what is configured cannot be planned as unknown")
        return
    if not config.is_known or nested.nesting is Nesting.SET:
        return
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        yield from _attribute_faults(nested.attributes, prior, config, planned, path)
        return
    given, plan, before = _elements(config), _elements(planned), _elements(prior)
    if given.keys() != plan.keys():
        yield Fault(path, f"{len(plan)} objects are planned, and {len(given)} are configured")
        return
    for key, element in plan.items():
        was = before.get(key, null(element.type))
        step = Index(string(key) if isinstance(key, str) else number(key))
        if given[key].is_null or element.is_null or not given[key].is_known:
            continue
        yield from _attribute_faults(nested.attributes, was, given[key], element, (*path, step))


def _presence(planned: Value) -> str:
    if planned.is_null:
        return "nothing is planned for what is configured"
    return "something is planned for what is not configured"


# -- after a change ---------------------------------------------------------------------------


def result_faults(planned: Value, actual: Value, path: Path = ()) -> list[Fault]:
    """Where what a provider has made is not what it had planned.

    What was unknown may have become anything; everything else must be as it was planned.
    """
    found: list[Fault] = []
    _compare(planned, actual, path, found)
    return found


def _compare(planned: Value, actual: Value, path: Path, found: list[Fault]) -> None:
    if not planned.is_known:
        if actual.is_null and planned.refinements.not_null:
            found.append(Fault(path, "null, although the plan said that it would not be"))
        return
    if planned.is_wholly_known:
        same = planned == actual
        if not same and planned.type == actual.type:
            truth = equals(planned, actual)
            same = truth.is_known and truth.as_bool()
        if same:
            return
    if not actual.is_known:
        found.append(Fault(path, "still unknown after the change"))
    elif planned.is_null or actual.is_null:
        what = "there, although it should not be" if planned.is_null else "not there any more"
        found.append(Fault(path, what))
    elif isinstance(planned.data, dict) and isinstance(actual.data, dict):
        _compare_mappings(planned, actual, path, found)
    elif planned.type.kind == KIND_SET:
        if len(planned.sequence()) < len(actual.sequence()):
            found.append(Fault(path, "more elements than were planned"))
    elif isinstance(planned.data, tuple) and isinstance(actual.data, tuple):
        one, other = planned.sequence(), actual.sequence()
        if len(one) != len(other):
            found.append(Fault(path, f"{len(other)} elements, where {len(one)} were planned"))
            return
        for position, (was, now) in enumerate(zip(one, other, strict=True)):
            _compare(was, now, (*path, Index(number(position))), found)
    else:
        found.append(Fault(path, "not the value that was planned"))


def _compare_mappings(planned: Value, actual: Value, path: Path, found: list[Fault]) -> None:
    one, other = planned.mapping(), actual.mapping()
    is_object = planned.type.kind == KIND_OBJECT
    for key in one.keys() | other.keys():
        here = (*path, GetAttr(key) if is_object else Index(string(key)))
        if key not in other:
            found.append(Fault(here, "not there any more"))
        elif key not in one:
            found.append(Fault(here, "there, although it was not planned"))
        else:
            _compare(one[key], other[key], here, found)
