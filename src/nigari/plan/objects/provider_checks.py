"""Validation of providers: planned objects against the configuration, results against the plan.

The rules are OpenTofu's (`AssertPlanValid` and `AssertObjectCompatible` in
`internal/plans/objchange`), so that both programs accept the same providers. Old provider SDKs
cannot satisfy them; the caller decides whether a fault is an error. Faults are sentences with a
path; they quote no values, as some are sensitive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nigari.cty.conform import conformance_errors
from nigari.cty.operations import equals, get_attr, length
from nigari.cty.paths import GetAttr, Index, Path
from nigari.cty.refinements import range_excludes
from nigari.cty.types import KIND_DYNAMIC, KIND_OBJECT, KIND_SET
from nigari.cty.values import Value, null, number, string
from nigari.plan.objects.proposed_object import unrefined
from nigari.record import record
from nigari.schema.block import Attribute, Block, NestedAttributes, NestedBlock, Nesting


@record
class ProviderFault:
    """A violation of the rules by a provider, at a path."""

    path: Path
    text: str


def type_faults(block: Block, value: Value) -> list[ProviderFault]:
    """List the parts of a value whose type differs from the schema's.

    Planned and new values must conform exactly: they are stored and decoded by the schema.
    """
    errors = conformance_errors(value.type, block.implied_type)
    return [ProviderFault(error.path, error.message) for error in errors]


def plan_faults(block: Block, prior: Value, config: Value, planned: Value) -> list[ProviderFault]:
    """List the contradictions between a planned object and its configuration (`AssertPlanValid`).

    A provider may only decide values that the configuration leaves open and the schema calls
    computed. The user would otherwise get an object other than the configured one.
    """
    return list(_block_faults(block, prior, config, planned, ()))


def _block_faults(
    block: Block, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[ProviderFault]:
    # AssertPlanValid: an object is planned exactly where one is configured. Presence and absence
    # both need no further comparison.
    if planned.is_null or config.is_null:
        if planned.is_null is not config.is_null:
            yield ProviderFault(path, _presence(planned))
        return
    yield from _attribute_faults(block.attributes, prior, config, planned, path)
    for name, nested in block.blocks.items():
        here = (*path, GetAttr(name))
        given, plan = config.attribute(name), planned.attribute(name)
        before = null(plan.type) if prior.is_null else prior.attribute(name)
        # Providers cannot add, remove or change blocks, so an equal value needs no inspection.
        # Unequal ones may still differ in computed attributes inside.
        if plan == given:
            continue
        # An unknown collection of blocks is a dynamic block with an unknown for_each. The provider
        # cannot know how many there will be, so it must leave it unknown.
        if not given.is_known:
            yield ProviderFault(
                here, "the blocks are not known yet, so nothing can be planned for them"
            )
        # Protocol 6.11: where no computed block is configured, the provider decides, and may leave it
        # open until apply.
        elif nested.computed and given.is_null and not plan.is_null:
            continue
        # Only a dynamic block makes blocks unknown, so a provider never may where they are
        # configured.
        elif not plan.is_known:
            yield ProviderFault(
                here, "blocks cannot be unknown as a whole, only the values in them"
            )
        elif nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
            yield from _block_faults(nested.block, before, given, plan, here)
        # The configuration decodes absent blocks of these nestings to an empty collection, never to
        # null, so the plan must match.
        elif plan.is_null:
            yield ProviderFault(here, "an absence of blocks must be an empty collection, not null")
        # AssertPlanValid cannot pair set elements, which have no keys, and trusts the provider with
        # their content.
        elif nested.nesting is Nesting.SET:
            for element in plan.sequence():
                if not element.is_known:
                    yield ProviderFault(
                        (*here, Index(element)), "a block cannot be unknown as a whole"
                    )
        else:
            yield from _nested_faults(nested.block, before, given, plan, here)


def _nested_faults(
    block: Block, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[ProviderFault]:
    given, before = _elements(config), _elements(prior)
    plan = _elements(planned)
    # Lists are paired by index and maps by key, so the number and keys of blocks must match before
    # their contents are comparable.
    if plan.keys() != given.keys():
        yield ProviderFault(
            path, f"{len(plan)} blocks are planned, and {len(given)} are configured"
        )
        return
    for key, element in plan.items():
        step = string(key) if isinstance(key, str) else number(key)
        here: Path = (*path, Index(step))
        # Blocks are configured one by one, so an element is known even if its arguments are not.
        if not element.is_known:
            yield ProviderFault(here, "a block cannot be unknown as a whole")
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
) -> Iterator[ProviderFault]:
    for name, attribute in attributes.items():
        given, plan = get_attr(config, name), get_attr(planned, name)
        # AssertPlanValid: a computed-only attribute may be planned as anything. With ignore_changes
        # the configuration may even have a value for it, which is no fault of the provider.
        if plan == given or (attribute.computed and not attribute.optional):
            continue
        before = null(plan.type)
        if prior.is_known and not prior.is_null:
            before = prior.attribute(name)
        yield from _value_faults(attribute, before, given, plan, (*path, GetAttr(name)))


def _value_faults(
    attribute: Attribute, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[ProviderFault]:
    # Refinements are ignored here: the provider may know less or more about an unknown value than
    # the configuration, without contradicting it.
    plain = unrefined(planned)
    if plain == unrefined(config):
        return
    # AssertPlanValid: returning the prior value is allowed against the configuration. The provider
    # says that both are equivalent, such as JSON with other spaces, and nothing has to change.
    if not prior.is_null and not config.is_null and plain == unrefined(prior):
        return
    # An optional and computed attribute that is not set gets the provider's default, or is unknown
    # until apply.
    if config.is_null and attribute.computed:
        return
    # Without "computed", nothing may be planned for an argument that is not set: the schema
    # promises that only the configuration decides it.
    if config.is_null:
        if not planned.is_null:
            yield ProviderFault(path, "a value is planned for an argument that is not set")
        return
    # Write-only values are configured but never planned, because plans are stored.
    if planned.is_null and attribute.write_only:
        return
    if attribute.nested is not None:
        yield from _object_faults(attribute.nested, prior, config, planned, path)
        return
    yield ProviderFault(path, "the planned value is neither the configured value nor the prior one")


def _object_faults(
    nested: NestedAttributes, prior: Value, config: Value, planned: Value, path: Path
) -> Iterator[ProviderFault]:
    if planned.is_null:
        yield ProviderFault(path, _presence(planned))
        return
    # The provider may decide parts of a nested object, but not whether the configured object as a
    # whole will exist.
    if not planned.is_known:
        yield ProviderFault(path, "a configured value cannot be planned as unknown")
        return
    if nested.nesting is Nesting.SET:
        # As with blocks, AssertPlanValid cannot pair set elements and only compares their number.
        if _differ_in_number(config, planned):
            yield ProviderFault(path, "the number of objects differs from the configuration")
        return
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        yield from _attribute_faults(nested.attributes, prior, config, planned, path)
        return
    # The parts of an unknown object cannot be planned before it is known.
    if not config.is_known:
        yield ProviderFault(
            path, "the configured value is not known yet, so its parts cannot be planned"
        )
        return
    # Lists are paired by index and maps by key, so the keys must match first.
    given, plan, before = _elements(config), _elements(planned), _elements(prior)
    if given.keys() != plan.keys():
        yield ProviderFault(
            path, f"{len(plan)} objects are planned, and {len(given)} are configured"
        )
        return
    for key, element in plan.items():
        was = before.get(key, null(element.type))
        step = Index(string(key) if isinstance(key, str) else number(key))
        # A null element has no attributes to compare.
        if given[key].is_null or element.is_null:
            continue
        yield from _attribute_faults(nested.attributes, was, given[key], element, (*path, step))


def _differ_in_number(config: Value, planned: Value) -> bool:
    """Check that two sets cannot have the same number of elements once all are known."""
    configured, in_plan = length(config), length(planned)
    if not configured.is_known:
        return range_excludes(configured, in_plan)
    if not in_plan.is_known:
        return range_excludes(in_plan, configured)
    return configured != in_plan


def _presence(planned: Value) -> str:
    if planned.is_null:
        return "nothing is planned for a configured value"
    return "a value is planned where nothing is configured"


# -- after a change ---------------------------------------------------------------------------


def result_faults(block: Block, planned: Value, actual: Value) -> list[ProviderFault]:
    """List the contradictions between a provider's result and its plan (`AssertObjectCompatible`).

    Unknown values may have become anything that their refinements allow; known ones must stay.
    Users approve the plan, and other objects are planned with its values.
    """
    found: list[ProviderFault] = []
    _compare_objects(block, planned, actual, (), found)
    return found


def _compare_objects(
    block: Block, planned: Value, actual: Value, path: Path, found: list[ProviderFault]
) -> None:
    # AssertObjectCompatible: an object exists afterwards exactly if it was planned to.
    if planned.is_null or actual.is_null:
        if planned.is_null is not actual.is_null:
            found.append(ProviderFault(path, _presence_after(planned)))
        return
    for name in block.attributes:
        here = (*path, GetAttr(name))
        _compare(get_attr(planned, name), get_attr(actual, name), here, found)
    for name, nested in block.blocks.items():
        here = (*path, GetAttr(name))
        _compare_blocks(nested, get_attr(planned, name), get_attr(actual, name), here, found)


def _compare_blocks(
    nested: NestedBlock, planned: Value, actual: Value, path: Path, found: list[ProviderFault]
) -> None:
    if nested.nesting in (Nesting.SINGLE, Nesting.GROUP):
        # An unknown block, from a dynamic block, may have become no block.
        if planned.is_known or not actual.is_null:
            _compare_objects(nested.block, planned, actual, path, found)
        return
    # Protocol 6.11: null stands for blocks that are not configured, and only in requests.
    if nested.computed and actual.is_null:
        found.append(ProviderFault(path, "null instead of an empty collection of blocks"))
        return
    # An unknown collection of blocks may become any number of blocks, and old SDKs use null for
    # none.
    if not planned.is_known or not actual.is_known or planned.is_null or actual.is_null:
        return
    if nested.nesting is Nesting.SET:
        _compare_sets(planned, actual, path, found, nested.block)
        return
    was, now = _elements(planned), _elements(actual)
    # The number of known blocks is fixed by the plan.
    if len(was) != len(now):
        found.append(ProviderFault(path, f"{len(now)} blocks instead of {len(was)}"))
        return
    for key, element in was.items():
        if key in now:
            here = (*path, Index(string(key) if isinstance(key, str) else number(key)))
            _compare_objects(nested.block, element, now[key], here, found)


def _compare(planned: Value, actual: Value, path: Path, found: list[ProviderFault]) -> None:
    # A value of undetermined type was planned as anything, type included.
    if planned.type.kind == KIND_DYNAMIC:
        return
    # The type was planned, even if the value was not: others were checked against it.
    if planned.type != actual.type and conformance_errors(actual.type, planned.type):
        found.append(ProviderFault(path, "a value of a different type than planned"))
        return
    # An unknown value may become anything within its refinements, which other results were derived
    # from.
    if not planned.is_known:
        if range_excludes(planned, actual):
            found.append(ProviderFault(path, "not a value that the plan allowed"))
        return
    # Equal in the sense of the language, which ignores refinements and compares numbers by value.
    if planned.is_wholly_known and _are_equal(planned, actual):
        return
    if planned.is_null or actual.is_null:
        found.append(ProviderFault(path, _presence_after(planned)))
    # Every value must be known after apply, as states cannot store unknown values.
    elif not actual.is_known:
        found.append(ProviderFault(path, "not known, although the plan had a value"))
    elif isinstance(planned.data, dict) and isinstance(actual.data, dict):
        _compare_mappings(planned, actual, path, found)
    elif planned.type.kind == KIND_SET:
        _compare_sets(planned, actual, path, found, None)
    elif isinstance(planned.data, tuple) and isinstance(actual.data, tuple):
        one, other = planned.sequence(), actual.sequence()
        if len(one) != len(other):
            found.append(ProviderFault(path, f"{len(other)} elements instead of {len(one)}"))
            return
        for position, (was, now) in enumerate(zip(one, other, strict=True)):
            _compare(was, now, (*path, Index(number(position))), found)
    else:
        found.append(ProviderFault(path, "not the value that was planned"))


def _are_equal(planned: Value, actual: Value) -> bool:
    if planned == actual:
        return True
    if planned.type != actual.type:
        return False
    truth = equals(planned, actual)
    return truth.is_known and truth.as_bool()


def _presence_after(planned: Value) -> str:
    return "present, although it should not be" if planned.is_null else "no longer present"


def _compare_mappings(
    planned: Value, actual: Value, path: Path, found: list[ProviderFault]
) -> None:
    one, other = planned.mapping(), actual.mapping()
    is_object = planned.type.kind == KIND_OBJECT
    for key in sorted(one.keys() | other.keys()):
        here = (*path, GetAttr(key) if is_object else Index(string(key)))
        if key not in other:
            found.append(ProviderFault(here, "no longer present"))
        elif key not in one:
            found.append(ProviderFault(here, "present, although it was not planned"))
        else:
            _compare(one[key], other[key], here, found)


def _compare_sets(
    planned: Value, actual: Value, path: Path, found: list[ProviderFault], block: Block | None
) -> None:
    """Compare sets, whose elements have no keys: each must be compatible with one of the other set.

    Planned elements may turn out to be equal, so their number may shrink, but never grow.
    """
    was, now = planned.sequence(), actual.sequence()
    same = set(was) & set(now)
    if any(each not in same and not _has_counterpart([each], now, block) for each in was):
        found.append(ProviderFault(path, "a planned element is missing"))
    elif any(each not in same and not _has_counterpart(was, [each], block) for each in now):
        found.append(ProviderFault(path, "an element that was not planned"))
    elif len(was) < len(now):
        found.append(ProviderFault(path, "more elements than were planned"))


def _has_counterpart(
    planned: Sequence[Value], actual: Sequence[Value], block: Block | None
) -> bool:
    """Check whether any actual value is compatible with any planned one."""
    for was in planned:
        for now in actual:
            faults: list[ProviderFault] = []
            if block is None:
                _compare(was, now, (), faults)
            else:
                _compare_objects(block, was, now, (), faults)
            if not faults:
                return True
    return False
