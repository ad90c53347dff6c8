"""Random models, and random changes of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from copy import deepcopy
from enum import Enum
from typing import Final, TypeVar

from fuzz.expansion.model import (
    ABOVE,
    FACT,
    INNER,
    INSTANCES,
    OWN_KEY,
    STATIC,
    TOKEN,
    Call,
    Instance,
    Key,
    Model,
    Origin,
    Outside,
    Passing,
    Setting,
    Settings,
    Source,
    Style,
    Thing,
    address,
)

_T = TypeVar("_T")
_NAMES: Final = ("x", "y", "z", "w")
_KEYS: Final = ("a", "b", "d", "e", "f", "g")
_INNER_KEYS: Final[dict[str, tuple[Key, ...]]] = {"for_each": ("i", "j"), "count": (0, 1)}
_LEAVES: Final = ("leaf", "twig")
_LABELS: Final = {"eu": "in-eu", "us": "in-us", "as": "in-as"}


class Feature(Enum):
    """What a story may have, besides a call with instances."""

    SOURCES = "instances from several sources"
    VERSIONS = "a source that moves or removes what another one has"
    NESTING = "calls inside of sources"
    REPETITION = "resources that are repeated in one source only"
    STATIC = "static settings of instances"
    PROVIDERS = "a provider for each instance"
    CALLS = "several calls"
    CONDITIONS = "conditions of resources, and checks"
    DATA = "data sources"
    TRIGGERS = "resources that are replaced with others"
    EPHEMERAL = "ephemeral resources"
    LATE = "instances of a provider that are known only when planning"
    MOVES = "static keys where things have moved"
    ROUNDS = "resources whose keys depend on others"


class Chances:
    """Makes models and changes them, by chance."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._births = 0
        # A story with few features shows what others would hide.
        share = self.choice([0.2, 0.5, 0.8])
        self._features = {each for each in Feature if self.happens(share)}
        if not self.happens(0.4):
            self._features -= {Feature.ROUNDS}
        self._statics = [each for each in STATIC if self.happens(0.5)]

    def happens(self, share: float) -> bool:
        return self._chance.random() < share

    def choice(self, choices: Sequence[_T]) -> _T:
        return self._chance.choice(choices)

    # Models.

    def model(self) -> Model:
        passing = self.choice([Passing.KEYED, Passing.WHOLE, Passing.OWN])
        if Feature.PROVIDERS not in self._features:
            passing = Passing.NONE
        places: dict[Key, str] = dict(_LABELS.items())
        if self.happens(0.3):
            places = dict(enumerate(_LABELS.values()))
        leaves = {name: self._source(name) for name in _LEAVES}
        sources = {"one": self._source("one")}
        if Feature.SOURCES in self._features:
            sources["two"] = self._source("two")
        if Feature.VERSIONS in self._features:
            sources["three"] = self._version(self.choice([*sources.values()]))
        found = Model(
            sources=sources,
            leaves=leaves,
            calls=[],
            style=self.choice([*Style]),
            origin=self.choice([*Origin]),
            passing=passing,
            places=places,
            outside=self.choice([*Outside]),
            inner_kind=self.choice([*_INNER_KEYS]),
            has_late_places=Feature.LATE in self._features,
            has_static_moves=Feature.MOVES in self._features,
            has_rounds=Feature.ROUNDS in self._features,
        )
        for name in ("m", "n") if Feature.CALLS in self._features else ("m",):
            after = found.calls[0].name if found.calls and self.happens(0.6) else ""
            if found.outside is Outside.APART:
                after = ""
            kind = self.choice(["for_each", "for_each", "count"])
            call = Call(name, kind, {}, after)
            found.calls.append(call)
            for number in range(self.choice([1, 2, 2, 3])):
                key = _KEYS[number] if kind == "for_each" else number
                call.instances[key] = self._instance(found)
        return found

    def _source(self, name: str) -> Source:
        may_nest = Feature.NESTING in self._features and name != _LEAVES[0]
        found = Source(name, has_inner=may_nest and self.happens(0.7))
        names = self._chance.sample(_NAMES, self.choice([1, 2, 2, 3]))
        for each in names:
            found.things.append(self._thing(each, found))
        if found.has_inner:
            self._nest(found)
        if Feature.DATA in self._features and self.happens(0.6):
            self._inform(found)
        if Feature.EPHEMERAL in self._features and self.happens(0.6):
            found.things[-1].needs.append(TOKEN)
            found.token_needs = self._known_before(found)
        found.has_check = Feature.CONDITIONS in self._features and self.happens(0.3)
        found.has_extra = Feature.SOURCES in self._features and self.happens(0.3)
        return found

    def _inform(self, source: Source) -> None:
        """Have a data source before the last thing of a source."""
        source.things[-1].needs.append(FACT)
        source.fact_needs = self._known_before(source)

    def _known_before(self, source: Source) -> str:
        """The name of something that does not depend on the last thing of a source."""
        return self.choice([ABOVE, ABOVE, *(each.name for each in source.things[:-1])])

    def _nest(self, source: Source) -> None:
        """Have an inner call before the last thing of a source, or after any of them."""
        names = [each.name for each in source.things]
        if len(names) > 1 and self.happens(0.5):
            last = source.things[-1]
            (last.needs if self.happens(0.6) else last.follows).append(INNER)
            names.pop()
        source.inner_needs = self.choice([ABOVE, *names])

    def _thing(self, name: str, source: Source) -> Thing:
        """A resource that depends on some before it, so that there is no cycle."""
        before = [each.name for each in source.things]
        found = Thing(name)
        found.repetition = self.choice(self._repetitions())
        for other in before:
            if self.happens(0.5):
                (found.needs if self.happens(0.7) else found.follows).append(other)
        if self.happens(0.3):
            found.needs.append(ABOVE)
        if Feature.STATIC in self._features:
            found.settings = {each for each in self._statics if self.happens(0.5)}
        if source.name in _LEAVES:
            # Instances of inner calls go with the source of an outer one.
            found.settings.discard("guard")
        if before and Feature.TRIGGERS in self._features and self.happens(0.3):
            found.triggered_by = self.choice(before)
        found.has_condition = Feature.CONDITIONS in self._features and self.happens(0.5)
        return found

    def _repetitions(self) -> list[str]:
        found = ["", ""]
        if Feature.REPETITION in self._features:
            found += ["count", "for_each"]
        if Feature.ROUNDS in self._features:
            found.append("later")
        return found

    def _version(self, source: Source) -> Source:
        """The next version of a source, in which something has another name, or is gone."""
        found = deepcopy(source)
        found.name = "three"
        free = [name for name in _NAMES if found.thing(name) is None]
        thing = self.choice(found.things)
        if self.happens(0.5) and free:
            new = self.choice(free)
            move = thing.address, f"world_thing.{new}"
            if thing.repetition == "for_each" and Feature.MOVES in self._features:
                move = f"{move[0]}[{OWN_KEY}]", f"{move[1]}{INSTANCES[thing.repetition][0]}"
            found.moves.append(move)
            self._rename(found, thing.name, new)
            thing.name = new
        elif len(found.things) > 1:
            found.things.remove(thing)
            found.removals.append((thing.address, self.choice([None, None, False, True])))
        return found

    def _rename(self, source: Source, old: str, new: str) -> None:
        for each in source.things:
            each.needs = [new if name == old else name for name in each.needs]
            each.follows = [new if name == old else name for name in each.follows]
            each.triggered_by = new if each.triggered_by == old else each.triggered_by
        source.inner_needs = new if source.inner_needs == old else source.inner_needs
        source.fact_needs = new if source.fact_needs == old else source.fact_needs
        source.token_needs = new if source.token_needs == old else source.token_needs

    def _instance(self, model: Model) -> Instance:
        found = Instance(self.choice([*model.sources]), self._settings(model))
        for key in _INNER_KEYS[model.inner_kind][: self.choice([1, 1, 2])]:
            found.inner[key] = self._inner_instance(model, found)
        return found

    def _inner_instance(self, model: Model, outer: Instance) -> Instance:
        """An instance of a call in a source, with one of the call that its own source may have."""
        settings = {**self._settings(model), "place": outer.settings["place"]}
        found = Instance(self.choice([*model.leaves]), settings)
        settings = {**self._settings(model), "place": outer.settings["place"]}
        found.inner[_INNER_KEYS[model.inner_kind][0]] = Instance(_LEAVES[0], settings)
        return found

    def _settings(self, model: Model) -> Settings:
        self._births += 1
        return {"tag": f"t{self._births}"} | {
            name: self._setting(model, name)
            for name in ("value", "force", "note", "place", "key", *STATIC)
        }

    def _setting(self, model: Model, name: str) -> Setting:
        ways: dict[str, Sequence[Setting]] = {
            "value": ("v1", "v2", "v3"),
            "force": ("f1", "f2"),
            "note": ("plain",) * 9 + ("bad",),
            "place": [*model.places],
            "key": ("k", "l"),
            "destroy": (True, True, False),
            "first": (True, False),
            "ignored": ([], ["value"], ["note", "force"], "all"),
            "guard": (False, False, False, True),
            "when": ("create", "destroy"),
            "lenient": ("continue", "fail"),
        }
        if name == "note" and model.outside is Outside.PART:
            return "plain"
        return self.choice(ways[name])

    # Changes.

    def change(self, model: Model) -> None:
        """Change something, for good."""
        call = self.choice(model.calls)
        ways = [
            self._change_source,
            self._change_source,
            self._swap,
            self._set,
            self._set,
            self._add,
            self._remove,
            self._rename_key,
            self._change_inner,
            self._edit,
            self._relocate,
        ]
        self.choice(ways)(model, call)

    def _some(self, call: Call) -> Instance:
        return self.choice([*call.instances.values()])

    def _change_source(self, model: Model, call: Call) -> None:
        self._some(call).source = self.choice([*model.sources])

    def _swap(self, model: Model, call: Call) -> None:
        first, second = self._some(call), self._some(call)
        first.source, second.source = second.source, first.source

    def _set(self, model: Model, call: Call) -> None:
        instance = self._some(call)
        if instance.inner and self.happens(0.3):
            instance = self.choice([*instance.all()])
        names = ("value", "value", "force", "note", *STATIC)
        name = self.choice(names)
        instance.settings[name] = self._setting(model, name)

    def _relocate(self, model: Model, call: Call) -> None:
        """Have another provider configuration."""
        instance, place = self._some(call), self.choice([*model.places])
        for each in instance.all():
            each.settings["place"] = place

    def _add(self, model: Model, call: Call) -> None:
        key = self._free_key(model, call)
        if key is not None:
            call.instances[key] = self._instance(model)

    def _free_key(self, model: Model, call: Call) -> Key | None:
        """A key that no instance has, nor is said to have had."""
        if call.kind == "count":
            return len(call.instances)
        moved = {old for old, _ in model.renames}
        free = [key for key in _KEYS if key not in call.instances]
        return next((key for key in free if address(call.name, key) not in moved), None)

    def _remove(self, model: Model, call: Call) -> None:
        last = call.kind == "count"
        keys = [*call.instances]
        key = keys[-1] if last else self.choice(keys)
        if len(keys) > 1 and not model.is_steady:
            call.past.add(key)
            del call.instances[key]
            self._forget_places(model)

    def _forget_places(self, model: Model) -> None:
        """Remove instances of the provider together with all that they manage."""
        used = {each.settings["place"] for call in model.calls for each in call.instances.values()}
        for place in reversed([*model.places]):
            if place in used:
                if isinstance(place, int):
                    break
                continue
            if len(model.places) > 1 and self.happens(0.7):
                model.past_places[place] = model.places.pop(place)
            elif isinstance(place, int):
                break

    def _rename_key(self, model: Model, call: Call) -> None:
        call.past |= call.instances.keys()
        free = [each for each in _KEYS if each not in call.past]
        # A move that a plan did not come to leaves the old instance behind.
        if call.kind == "count" or not free or model.is_steady:
            return
        key = free[0]
        old = self.choice([*call.instances])
        call.instances[key] = call.instances.pop(old)
        if self.happens(0.7):
            model.renames.append((address(call.name, old), address(call.name, key)))

    def _change_inner(self, model: Model, call: Call) -> None:
        instance = self._some(call)
        keys = _INNER_KEYS[model.inner_kind]
        free = [key for key in keys if key not in instance.inner]
        if free and self.happens(0.4):
            instance.inner[free[0]] = self._inner_instance(model, instance)
        elif len(instance.inner) > 1 and self.happens(0.4):
            del instance.inner[keys[1] if model.inner_kind == "count" else self.choice(keys)]
        else:
            self.choice([*instance.inner.values()]).source = self.choice([*model.leaves])

    def _edit(self, model: Model, call: Call) -> None:
        """Change a source, for all instances that come from it."""
        source = self.choice([*model.sources.values(), *model.leaves.values()])
        thing = self.choice(source.things)
        kind = self.choice(["repetition", "settings", "check", "reverse"])
        if kind == "repetition":
            thing.repetition = self.choice(self._repetitions())
        elif kind == "settings" and Feature.STATIC in self._features and self._statics:
            thing.settings ^= {self.choice(self._statics)} - {"guard"}
        elif kind == "check" and Feature.CONDITIONS in self._features:
            source.has_check = not source.has_check
        else:
            for other in source.things:
                if thing.name in other.needs:
                    other.needs.remove(thing.name)
                    if not (other.needs or other.follows or other.triggered_by):
                        thing.needs.append(other.name)
                    break
