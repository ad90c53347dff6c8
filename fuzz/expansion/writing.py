"""The files of a model, with module calls that have instances, or with a call for each of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, Protocol

from fuzz.expansion.model import (
    ABOVE,
    FACT,
    INNER,
    OWN_KEY,
    TOKEN,
    Call,
    Instance,
    Key,
    Model,
    Origin,
    Outside,
    Passing,
    Source,
    Style,
    Thing,
    address,
    literal,
)
from fuzz.story.configuration import LOG
from tests.real.case_files import MAIN, Files

_MODULES: Final = ".terraform/modules/modules.json"
_REQUIRED: Final = (
    'terraform {\n  required_providers {\n    world = { source = "hashicorp/world"% }\n  }\n}\n'
)
_COMMAND: Final = f'"echo ${{self.name}} ${{self.value}} >> {LOG}; test ${{self.note}} != bad"'
_CONDITION: Final = (
    '    postcondition {\n      condition = self.note != "bad"\n      error_message = "no"\n    }'
)
_CHECK: Final = (
    'check "sound" {{\n  assert {{\n    condition = {}\n    error_message = "no"\n  }}\n}}\n'
)
_REPETITIONS: Final = {
    "count": ("count", "2"),
    "for_each": ("for_each", 'toset(["k", "l"])'),
    "later": ("for_each", f"toset([substr(md5(var.{ABOVE}), 0, 4)])"),
}
_INNER_PASSED: Final = {Passing.WHOLE: "world.all = world.all", Passing.OWN: "world = world.own"}
_NAMES: Final = {"count": ", count.index", "for_each": ", each.key", "later": ", each.key"}
_ARGUMENTS: Final = {
    "destroy": "destroy",
    "first": "create_before_destroy",
    "ignored": "ignore_changes",
    "guard": "prevent_destroy",
}
_PLACES: Final = "places"
_LATE: Final = f"jsondecode(data.world_fact.{_PLACES}.value)"
ENVIRONMENT: Final = "prod"


class _Form(Protocol):
    """What a source says, which is written in two ways."""

    def setting(self, name: str) -> str:
        """A setting of the instance."""

    def inner(self, source: Source) -> Iterator[str]:
        """The calls that the source has."""

    def inner_outputs(self) -> str:
        """What those calls give."""

    def inner_addresses(self) -> str:
        """Those calls, as a list of addresses."""

    def selected(self) -> str:
        """The provider configuration of an instance that selects it."""


class _Compact:
    """One text for all instances of a source."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def setting(self, name: str) -> str:
        ways = {
            Style.OBJECT: f"var.s.{name}",
            Style.VARIABLES: f"var.{name}",
            Style.LOCALS: f"local.{name}",
            Style.DEFAULTS: f"var.{name}",
        }
        return ways[self._model.style]

    def inner(self, source: Source) -> Iterator[str]:
        yield _compact_call(
            self._model,
            Call(INNER, self._model.inner_kind, {}),
            (self.setting("inner"), "../"),
            _reference(self, source, source.inner_needs),
            _passed_on(self._model, source),
        )

    def inner_outputs(self) -> str:
        return f'join(",", [for each in module.{INNER} : each.o])'

    def inner_addresses(self) -> str:
        return f"module.{INNER}"

    def selected(self) -> str:
        return f"world.all[{self.setting('place')}]"


class _Literal:
    """A text for one instance of a source."""

    def __init__(self, model: Model, instance: Instance, directory: str) -> None:
        self._model = model
        self._instance = instance
        self._directory = directory

    def setting(self, name: str) -> str:
        value = self._instance.settings[name]
        if name == "ignored" and isinstance(value, list):
            return f"[{', '.join(value)}]"
        is_word = name in ("when", "lenient", "ignored")
        return str(value) if is_word else json.dumps(value)

    def inner(self, source: Source) -> Iterator[str]:
        above = _reference(self, source, source.inner_needs)
        passed = _passed_on(self._model, source)
        for key in self._instance.inner:
            yield _literal_call((INNER, key), f"../{self._directory}_", above, passed)

    def inner_outputs(self) -> str:
        return f'join(",", [{", ".join(f"{each}.o" for each in self._addresses())}])'

    def inner_addresses(self) -> str:
        return ", ".join(self._addresses())

    def _addresses(self) -> list[str]:
        return [literal(address(INNER, key)) for key in sorted(self._instance.inner)]

    def selected(self) -> str:
        return "world.all"


# The two texts.


def compact_files(model: Model) -> Files:
    """The configuration with what only nigari has."""
    found = {MAIN: "\n".join(_compact_root(model))}
    values = {each.name: _values(each) for each in model.calls}
    assigned = "".join(f"{name} = {value}\n" for name, value in values.items())
    if model.origin is Origin.MODULE:
        found[f"names/{MAIN}"] = "\n".join(
            f'output "{name}" {{\n  value = {value}\n}}\n' for name, value in values.items()
        )
    elif model.origin is Origin.FILE:
        found["terraform.tfvars"] = assigned
    elif model.origin is Origin.ENVIRONMENT:
        found["environments.hcl"] = (
            f'environment "{ENVIRONMENT}" {{\n  variables = {{\n{assigned}  }}\n}}\n'
        )
    form = _Compact(model)
    for source in (*model.sources.values(), *model.leaves.values()):
        found[f"{source.name}/{MAIN}"] = "\n".join(_source(model, source, form))
    return found


def literal_files(model: Model) -> Files:
    """The same, written out."""
    found = {MAIN: "\n".join(_literal_root(model))}
    installed = [("", ".")]
    for call in model.calls:
        for key, instance in call.instances.items():
            name = literal(address(call.name, key)).removeprefix("module.")
            found |= _written_out(model, name, instance, model.sources, installed)
    entries = [
        {"Key": key, "Source": f"{'../' if '.' in key else './'}{path}", "Dir": path}
        for key, path in installed
    ]
    entries[0]["Source"] = ""
    found[_MODULES] = json.dumps({"Modules": entries})
    return found


def _written_out(
    model: Model,
    name: str,
    instance: Instance,
    sources: dict[str, Source],
    installed: list[tuple[str, str]],
) -> Files:
    """The directory of one instance and those of its inner ones, which are beside it."""
    source = sources[instance.source]
    directory = name.replace(".", "_")
    form = _Literal(model, instance, directory)
    installed.append((name, directory))
    found = {f"{directory}/{MAIN}": "\n".join(_source(model, source, form))}
    for key, each in instance.inner.items() if source.has_inner else ():
        below = literal(address(INNER, key)).removeprefix("module.")
        found |= _written_out(model, f"{name}.{below}", each, model.leaves, installed)
    return found


# Root modules.


def _compact_root(model: Model) -> Iterator[str]:
    yield _REQUIRED.replace("%", "")
    yield 'provider "world" {\n  label = "root"\n}\n'
    yield from _late_places(model)
    yield _compact_provider(model)
    origins = {Origin.LOCAL: "local.", Origin.MODULE: "module.names."}
    origin = origins.get(model.origin, "var.")
    if model.origin is Origin.MODULE:
        yield 'module "names" {\n  source = "./names"\n}\n'
    for call, above in _with_above(model, _compact_outputs):
        if model.origin is Origin.LOCAL:
            yield f"locals {{\n  {call.name} = {_values(call)}\n}}\n"
        elif origin == "var.":
            default = f"  default = {_values(call)}\n" if model.origin is Origin.DEFAULT else ""
            yield f'variable "{call.name}" {{\n  type = any\n{default}}}\n'
        each = "each.value" if call.kind == "for_each" else f"{origin}{call.name}[count.index]"
        passed = {
            Passing.KEYED: f"world = world.by[{each}.place]",
            Passing.WHOLE: "world.all = world.by",
        }
        place = (f"{origin}{call.name}", "./")
        yield _compact_call(model, call, place, above, passed.get(model.passing, ""))
    for number, (old, new) in enumerate(model.renames):
        if model.has_static_moves:
            keys = [re.sub(r".*\[|\]$", "", each) for each in (old, new)]
            yield f"locals {{\n  from{number} = {keys[0]}\n  to{number} = {keys[1]}\n}}\n"
            old, new = (
                re.sub(r"\[.*", f"[local.{name}{number}]", each)
                for name, each in (("from", old), ("to", new))
            )
        yield f"moved {{\n  from = {old}\n  to   = {new}\n}}\n"
    for goal, identifier in model.imports:
        yield f'import {{\n  to = {goal}\n  id = "{identifier}"\n}}\n'
    yield from _around(
        model, [_compact_outputs(model, each) for each in model.calls], lambda text: text
    )


def _literal_root(model: Model) -> Iterator[str]:
    yield _REQUIRED.replace("%", "")
    yield 'provider "world" {\n  label = "root"\n}\n'
    yield from _late_places(model)
    for key, label in {**model.past_places, **model.places}.items():
        is_late = model.has_late_places and key in model.places
        text = f"{_LATE}[{json.dumps(key)}]" if is_late else json.dumps(label)
        yield f'provider "world" {{\n  alias = "by_{key}"\n  label = {text}\n}}\n'
    for call, above in _with_above(model, _literal_outputs):
        for key, each in call.instances.items():
            place = f"world.by_{each.settings['place']}"
            passed = {Passing.KEYED: f"world = {place}", Passing.WHOLE: f"world.all = {place}"}
            yield _literal_call((call.name, key), "./", above, passed.get(model.passing, ""))
    for old, new in model.renames:
        yield f"moved {{\n  from = {literal(old)}\n  to   = {literal(new)}\n}}\n"
    for goal, identifier in model.imports:
        yield f'import {{\n  to = {literal(goal)}\n  id = "{identifier}"\n}}\n'
    yield from _around(model, [_literal_outputs(model, each) for each in model.calls], literal)


def late_facts(model: Model) -> dict[str, str]:
    """What the data source says that knows the instances of the provider, if there is one."""
    first = next(iter(model.places), "")
    known = [*model.places.values()] if isinstance(first, int) else model.places
    return {_PLACES: json.dumps(known)} if model.has_late_places else {}


def _late_places(model: Model) -> Iterator[str]:
    if model.has_late_places:
        yield f'data "world_fact" "{_PLACES}" {{\n  key = "{_PLACES}"\n}}\n'


def _with_above(model: Model, outputs: Callable[[Model, Call], str]) -> Iterator[tuple[Call, str]]:
    """The calls, with what each gets from what is before it."""
    calls = {each.name: each for each in model.calls}
    for call in model.calls:
        given = "world_thing.before.id"
        yield call, outputs(model, calls[call.after]) if call.after else given


def _compact_outputs(model: Model, call: Call) -> str:
    return f'join(",", [for each in module.{call.name} : "${{each.o}}${{try(each.extra, "")}}"])'


def _literal_outputs(model: Model, call: Call) -> str:
    found = []
    for key in sorted(call.instances, key=str):
        module = literal(address(call.name, key))
        has_extra = model.sources[call.instances[key].source].has_extra
        found.append(f'"${{{module}.o}}{f"${{{module}.extra}}" if has_extra else ""}"')
    return f'join(",", [{", ".join(found)}])'


def _around(model: Model, outputs: list[str], written: Callable[[str], str]) -> Iterator[str]:
    """What the root module has before and after its calls."""
    yield (
        f'resource "world_thing" "before" {{\n  name  = "before"\n  value = "{model.before}"\n}}\n'
    )
    used = {
        Outside.APART: ['"apart"'] * len(outputs),
        Outside.WHOLE: outputs,
        Outside.PART: [f"{written(each.addresses()[0])}.o" for each in model.calls],
    }[model.outside]
    yield (
        f'resource "world_thing" "after" {{\n  name  = "after"\n  value = join("+", '
        f"[{', '.join(used)}])\n}}\n"
    )
    for call, value in zip(model.calls, used, strict=True):
        yield f'output "{call.name}" {{\n  value = {value}\n}}\n'


# Calls.


def _passed_on(model: Model, source: Source) -> str:
    """What a source passes on to what it calls."""
    # What others than the root module call has the provider of its caller.
    is_called = source.name in model.leaves and model.passing is Passing.OWN
    return "" if is_called else _INNER_PASSED.get(model.passing, "")


def _compact_call(model: Model, call: Call, place: tuple[str, str], above: str, passed: str) -> str:
    values, way = place
    each = "each.value" if call.kind == "for_each" else f"{values}[count.index]"
    repeated = values if call.kind == "for_each" else f"length({values})"
    lines = [
        f'module "{call.name}" {{',
        f"  {call.kind} = {repeated}",
        f'  source = "{way}${{{each}.source}}"',
    ]
    if model.style is Style.VARIABLES:
        lines += [f"  {name} = {each}.{name}" for name in _all_names(model)]
    else:
        lines.append(f"  s = {each}")
    return "\n".join([*lines, *_ending(above, passed)])


def _literal_call(one: tuple[str, Key], way: str, above: str, passed: str) -> str:
    below = literal(address(*one)).removeprefix("module.")
    lines = [f'module "{below}" {{', f'  source = "{way}{below}"']
    return "\n".join([*lines, *_ending(above, passed)])


def _ending(above: str, passed: str) -> Iterator[str]:
    yield f"  {ABOVE} = {above}"
    if passed:
        yield f"  providers = {{\n    {passed}\n  }}"
    yield "}\n"


def _compact_provider(model: Model) -> str:
    first = next(iter(model.places), "")
    if isinstance(first, int):
        labels = _LATE if model.has_late_places else json.dumps([*model.places.values()])
        repeated, label = f"count = length({labels})", f"{labels}[count.index]"
    else:
        labels = _LATE if model.has_late_places else json.dumps(model.places)
        repeated, label = f"for_each = {labels}", "each.value"
    return f'provider "world" {{\n  alias = "by"\n  {repeated}\n  label = {label}\n}}\n'


def _values(call: Call) -> str:
    """The value that the instances of a call are made of."""
    return json.dumps(_repeated(call.instances))


def _repeated(instances: dict[Key, Instance]) -> object:
    found = {key: _value(each) for key, each in instances.items()}
    return [*found.values()] if isinstance(next(iter(found), ""), int) else found


def _value(instance: Instance) -> dict[str, object]:
    return {
        "source": instance.source,
        **instance.settings,
        "inner": _repeated(instance.inner),
    }


def _all_names(model: Model) -> Iterable[str]:
    some = next(iter(model.calls[0].instances.values()))
    return (*some.settings, "inner")


# Sources.


def _source(model: Model, source: Source, form: _Form) -> Iterator[str]:
    is_whole = model.passing is Passing.WHOLE
    yield _REQUIRED.replace("%", ", configuration_aliases = [world.all]" if is_whole else "")
    yield f'variable "{ABOVE}" {{\n  type = string\n}}\n'
    if isinstance(form, _Compact):
        yield from _variables(model)
    if model.passing is Passing.OWN and source in model.sources.values():
        label = form.setting("tag")
        yield f'provider "world" {{\n  alias = "own"\n  label = {label}\n}}\n'
        provider = "world.own"
    elif model.passing is Passing.WHOLE:
        provider = form.selected()
    else:
        provider = ""
    for thing in source.things:
        yield _thing(source, thing, form, provider)
    if source.fact_needs:
        yield _asked(form, provider, f'data "world_fact" "{FACT}"', source, source.fact_needs)
    if source.token_needs:
        block = f'ephemeral "world_token" "{TOKEN}"'
        yield _asked(form, provider, block, source, source.token_needs)
    if source.has_inner:
        yield from form.inner(source)
    for old, new in source.moves:
        start = old.replace(OWN_KEY, form.setting("key"))
        yield f"moved {{\n  from = {start}\n  to   = {new}\n}}\n"
    for name, is_destroyed in source.removals:
        destroy = form.setting("destroy") if is_destroyed is None else json.dumps(is_destroyed)
        yield f"removed {{\n  from = {name}\n  lifecycle {{\n    destroy = {destroy}\n  }}\n}}\n"
    # The value of a whole call depends on all that is in it, even on what is given to it.
    everything = [ABOVE, *(each.name for each in source.things)]
    if source.fact_needs:
        everything.append(FACT)
    found = [_reference(form, source, each) for each in everything]
    if source.has_inner:
        found.append(form.inner_outputs())
    yield f'output "o" {{\n  value = join(",", [{", ".join(found)}])\n}}\n'
    if source.has_extra:
        yield f'output "extra" {{\n  value = {found[1]}\n}}\n'
    if source.has_check:
        condition = f'{form.setting("value")} != "v3" && {found[1]} != ""'
        yield _CHECK.format(condition)


def _asked(form: _Form, provider: str, block: str, source: Source, needed: str) -> str:
    """A block that asks the provider for something about the instance and what it needs."""
    chosen = f"  provider = {provider}\n" if provider else ""
    key = f'join("-", [{form.setting("tag")}, {_reference(form, source, needed)}])'
    return f"{block} {{\n{chosen}  key = {key}\n}}\n"


def _variables(model: Model) -> Iterator[str]:
    names = _all_names(model)
    if model.style is Style.VARIABLES:
        yield from (f'variable "{name}" {{\n  type = any\n}}\n' for name in names)
        return
    yield 'variable "s" {\n  type = any\n}\n'
    if model.style is Style.DEFAULTS:
        yield from (f'variable "{name}" {{\n  default = var.s.{name}\n}}\n' for name in names)
    elif model.style is Style.LOCALS:
        lines = "\n".join(f"  {name} = var.s.{name}" for name in names)
        yield f"locals {{\n{lines}\n}}\n"


def _thing(source: Source, thing: Thing, form: _Form, provider: str) -> str:
    ending = _NAMES.get(thing.repetition, "")
    needed = [each for each in thing.needs if each != TOKEN]
    values = [form.setting("value"), *(_reference(form, source, each) for each in needed)]
    lines = [f'resource "world_thing" "{thing.name}" {{']
    if thing.repetition:
        lines.append(f"  {' = '.join(_REPETITIONS[thing.repetition])}")
    if provider:
        lines.append(f"  provider = {provider}")
    lines += [
        f'  name = join("-", [{form.setting("tag")}, "{thing.name}"{ending}])',
        f'  value = join("+", [{", ".join(values)}])',
        f"  force = {form.setting('force')}",
        f"  note = {form.setting('note')}",
    ]
    if TOKEN in thing.needs and source.token_needs:
        lines.append(f"  hint = ephemeral.world_token.{TOKEN}.value")
    if thing.follows:
        followed = [_followed(form, source, each) for each in thing.follows]
        lines.append(f"  depends_on = [{', '.join(each for each in followed if each)}]")
    return "\n".join([*lines, *_lifecycle(source, thing, form), "}", ""])


def _lifecycle(source: Source, thing: Thing, form: _Form) -> Iterator[str]:
    trigger = source.thing(thing.triggered_by)
    if thing.settings & _ARGUMENTS.keys() or thing.has_condition or trigger:
        yield "  lifecycle {"
        if trigger:
            yield f"    replace_triggered_by = [{trigger.address}]"
        if thing.has_condition:
            yield _CONDITION
        for setting, argument in _ARGUMENTS.items():
            if setting in thing.settings:
                yield f"    {argument} = {form.setting(setting)}"
        yield "  }"
    if thing.settings & {"when", "lenient"}:
        yield '  provisioner "local-exec" {'
        if "when" in thing.settings:
            yield f"    when = {form.setting('when')}"
        if "lenient" in thing.settings:
            yield f"    on_failure = {form.setting('lenient')}"
        yield f"    command = {_COMMAND}\n  }}"


def _reference(form: _Form, source: Source, name: str) -> str:
    """The value of a thing of a source, of what is above it, or of its inner calls."""
    if name == ABOVE:
        return f"var.{ABOVE}"
    if name == INNER:
        return form.inner_outputs() if source.has_inner else '"none"'
    if name == FACT:
        return f"data.world_fact.{FACT}.value" if source.fact_needs else '"none"'
    thing = source.thing(name)
    if thing is None:
        return '"gone"'
    ways = {"": "@.id", "count": 'join(",", @[*].id)'}
    return ways.get(thing.repetition, 'join(",", values(@)[*].id)').replace("@", thing.address)


def _followed(form: _Form, source: Source, name: str) -> str:
    if name == INNER:
        return form.inner_addresses() if source.has_inner else ""
    if name == FACT:
        return f"data.world_fact.{FACT}" if source.fact_needs else ""
    thing = source.thing(name)
    return "" if thing is None else thing.address
