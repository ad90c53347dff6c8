"""Planning rules, so that a resource type only has to implement creation and changes.

The configuration is completed with defaults and with the results of the prior object; on a change,
results become unknown. This includes nested objects, which are paired with the prior ones: in a
list by index, in a map by key, in a set by their arguments.
"""

from collections.abc import Callable, Iterator

from nigari import cty
from nigari.cty.paths import index_step
from nigari.providers.python.fields import Field, Fields, Objects
from nigari.schema.block import Nesting


def completed(fields: Fields, config: cty.Value, prior: cty.Value | None) -> cty.Value:
    """Complete the configured object with its defaults and the results of the prior one."""
    values: dict[str, cty.Value] = {}
    for field in fields.fields:
        given = config.attribute(field.name)
        before = None if prior is None or prior.is_null else prior.attribute(field.name)
        if field.is_write_only:
            given = cty.null(field.type)
        elif field.is_result:
            given = cty.null(field.type) if before is None else before
        elif given.is_null and field.default is not None:
            given = field.default
        if isinstance(field.holds, Objects) and not field.is_result:
            given = _completed_objects(field.holds, given, before)
        values[field.name] = given
    return cty.object_value(values)


def _completed_objects(holds: Objects, given: cty.Value, prior: cty.Value | None) -> cty.Value:
    if given.is_null or not given.is_known:
        return given
    if prior is not None and (prior.is_null or not prior.is_known):
        prior = None
    if holds.is_one:
        return completed(holds.fields, given, prior)
    if holds.nesting is Nesting.MAP:
        before = {} if prior is None else prior.mapping()
        return holds.keyed(
            {key: _element(holds, each, before.get(key)) for key, each in given.mapping().items()}
        )
    was = [] if prior is None else list(prior.elements())
    if holds.nesting is Nesting.LIST:
        return holds.collected(
            [
                _same_element(holds, each, was[index] if index < len(was) else None)
                for index, each in enumerate(given.elements())
            ]
        )
    known = {arguments(holds.fields, each): each for each in was if not each.is_null}
    found: list[cty.Value] = []
    for each in given.elements():
        new = _element(holds, each, None)
        same = None if new.is_null else known.get(arguments(holds.fields, new))
        found.append(new if same is None else same)
    return holds.collected(found)


def _element(holds: Objects, given: cty.Value, prior: cty.Value | None) -> cty.Value:
    if given.is_null or not given.is_known:
        return given
    return completed(holds.fields, given, prior)


def _same_element(holds: Objects, given: cty.Value, prior: cty.Value | None) -> cty.Value:
    """Complete a list element; if its arguments differ from the prior one, its results are new."""
    made = _element(holds, given, prior)
    if prior is None or prior.is_null or made.is_null or not made.is_known:
        return made
    if arguments(holds.fields, made) == arguments(holds.fields, prior):
        return made
    return _element(holds, given, None)


def arguments(fields: Fields, value: cty.Value) -> cty.Value:
    """Replace an object's results by null."""
    return _mapped(fields, value, lambda field, part: cty.null(part.type))


def opened(fields: Fields, value: cty.Value, keeps: bool) -> cty.Value:
    """Make the results of a changing object unknown, except for those that survive changes."""

    def result(field: Field, part: cty.Value) -> cty.Value:
        if keeps and field.keeps and not part.is_null:
            return part
        return cty.unknown(field.type)

    return _mapped(fields, value, result)


def with_prior_results(fields: Fields, planned: cty.Value, prior: cty.Value) -> cty.Value:
    """Replace unknown results of a planned object by the prior ones."""
    before = completed(fields, planned, prior)

    def result(path: cty.Path, part: cty.Value) -> cty.Value:
        if part.is_known:
            return part
        try:
            had = cty.apply_path(before, path)
        except cty.CtyError:
            return part
        return part if had.is_null or not had.is_known else had

    return cty.transform(planned, result)


def results(fields: Fields, value: cty.Value) -> list[cty.Value]:
    """List all results of an object, including those of nested objects."""
    found: list[cty.Value] = []

    def note(field: Field, part: cty.Value) -> cty.Value:
        found.append(part)
        return part

    _mapped(fields, value, note)
    return found


_Result = Callable[[Field, cty.Value], cty.Value]


def _mapped(fields: Fields, value: cty.Value, result: _Result) -> cty.Value:
    """Replace all results of an object, including those of nested objects."""
    values = dict(value.mapping())
    for field in fields.fields:
        part = values[field.name]
        if field.is_result:
            values[field.name] = result(field, part)
        elif isinstance(field.holds, Objects):
            values[field.name] = _mapped_objects(field.holds, part, result)
    return cty.object_value(values)


def _mapped_objects(holds: Objects, value: cty.Value, result: _Result) -> cty.Value:
    if value.is_null or not value.is_known:
        return value
    if holds.is_one:
        return _mapped(holds.fields, value, result)

    def element(each: cty.Value) -> cty.Value:
        is_open = each.is_null or not each.is_known
        return each if is_open else _mapped(holds.fields, each, result)

    if holds.nesting is Nesting.MAP:
        return holds.keyed({key: element(each) for key, each in value.mapping().items()})
    return holds.collected([element(each) for each in value.elements()])


def changed_fields(fields: Fields, planned: cty.Value, prior: cty.Value) -> list[Field]:
    """List the arguments that an update changes."""
    return [
        field
        for field in fields.fields
        if not field.is_result
        and not field.is_write_only
        and not field.is_limit
        and planned.attribute(field.name) != prior.attribute(field.name)
    ]


def replacing(fields: Fields, planned: cty.Value, prior: cty.Value) -> Iterator[cty.Path]:
    """Yield the paths of changed arguments that replace the object, including nested ones."""
    for field in changed_fields(fields, planned, prior):
        path: cty.Path = (cty.GetAttr(field.name),)
        after, before = planned.attribute(field.name), prior.attribute(field.name)
        if field.replaces:
            yield path
        elif isinstance(field.holds, Objects):
            for step in _replacing_objects(field.holds, after, before):
                yield path + step


def _replacing_objects(holds: Objects, after: cty.Value, before: cty.Value) -> Iterator[cty.Path]:
    for value in (after, before):
        if value.is_null or not value.is_known:
            return
    if holds.is_one:
        yield from replacing(holds.fields, after, before)
    elif holds.nesting is Nesting.SET:
        # Set elements have no keys by which a change in one of them could be detected.
        if any(field.replaces for field in holds.fields.fields):
            yield ()
    else:
        is_map = holds.nesting is Nesting.MAP
        was = dict(before.mapping().items() if is_map else enumerate(before.elements()))
        now = after.mapping().items() if is_map else enumerate(after.elements())
        for key, each in now:
            old = was.get(key)
            if old is not None and not old.is_null and not each.is_null and each.is_known:
                for step in replacing(holds.fields, each, old):
                    yield (index_step(key), *step)


def with_write_only(fields: Fields, planned: cty.Value, config: cty.Value) -> cty.Value:
    """Add the configuration's write-only values to a planned object."""
    if not fields.block.has_write_only or config.is_null or planned.is_null:
        return planned
    values = dict(planned.mapping())
    for field in fields.fields:
        given, part = config.attribute(field.name), values[field.name]
        if field.is_write_only:
            values[field.name] = given
        elif isinstance(field.holds, Objects) and not given.is_null and not part.is_null:
            values[field.name] = _objects_with_write_only(field.holds, part, given)
    return cty.object_value(values)


def _objects_with_write_only(holds: Objects, planned: cty.Value, config: cty.Value) -> cty.Value:
    fields = holds.fields
    if holds.is_one:
        return with_write_only(fields, planned, config)
    if holds.nesting is Nesting.MAP:
        given = config.mapping()
        return holds.keyed(
            {key: with_write_only(fields, p, given[key]) for key, p in planned.mapping().items()}
        )
    if holds.nesting is Nesting.SET:
        return planned
    pairs = zip(planned.elements(), config.elements(), strict=True)
    return holds.collected([with_write_only(fields, p, c) for p, c in pairs])
