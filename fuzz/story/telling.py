"""A story: a random configuration, and step by step what becomes of it, the world and the state.

What a step does may depend on the state that the step before has left, which is the same for both
programs, so that a seed always tells the same story as long as they agree.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from fuzz.story.chances import KEYS, Chances
from fuzz.story.configuration import Block
from fuzz.story.mutations import Mutations
from fuzz.story.world import STORED
from fuzz.story.writing import files
from tests.real.alike import Tree
from tests.real.case_files import Files

PLAN: Final = "p"
_FAILING: Final = ("create", "create", "update", "delete", "half create", "half update", "read")


@dataclass(frozen=True)
class Seen:
    """What there is before a step."""

    state: dict[str, list[dict[str, object]]]
    objects: dict[str, dict[str, object]]

    def addresses(self) -> list[str]:
        """The managed resource instances of the state."""
        return sorted({address for address, _ in self.instances()})

    def unwanted(self) -> frozenset[str]:
        """Those that are forgotten and not destroyed."""
        found = (address for address, each in self.instances() if each.get("skip_destroy"))
        return frozenset(found)

    def outputs(self) -> dict[str, dict[str, Tree]]:
        """The output values of the state, with their types and flags."""
        found: dict[str, dict[str, Tree]] = json.loads(json.dumps(self.state.get("outputs", {})))
        return found

    def objects_of(self) -> dict[str, str]:
        """The instance of each object, by the identifier of the object."""
        found = ((each.get("attributes"), address) for address, each in self.instances())
        return {str(values["id"]): address for values, address in found if isinstance(values, dict)}

    def dependencies(self) -> set[str]:
        """All that something depends on, as addresses of resources."""
        lists = (each.get("dependencies") for _, each in self.instances())
        return {name for each in lists if isinstance(each, list) for name in each}

    def dependents(self, resources: set[str]) -> set[str]:
        """The instances that depend on one of these resources."""
        found = ((address, each.get("dependencies")) for address, each in self.instances())
        return {
            address for address, names in found if isinstance(names, list) and resources & {*names}
        }

    def providers(self, addresses: set[str]) -> set[str]:
        """The provider configurations that some instances have."""
        return {
            str(each.get("provider", resource.get("provider")))
            for address, resource, each in self._stored()
            if address in addresses
        }

    def instances(self) -> Iterator[tuple[str, dict[str, object]]]:
        """The addresses of the managed resource instances, and their objects."""
        return ((address, instance) for address, _, instance in self._stored())

    def _stored(self) -> Iterator[tuple[str, dict[str, object], dict[str, object]]]:
        for resource in self.state.get("resources", ()):
            if resource["mode"] == "managed":
                module = f"{resource['module']}." if "module" in resource else ""
                instances = resource["instances"]
                assert isinstance(instances, list)
                for instance in instances:
                    key = instance.get("index_key")
                    ending = "" if key is None else f"[{json.dumps(key)}]"
                    address = f"{module}{resource['type']}.{resource['name']}{ending}"
                    yield address, resource, instance


@dataclass
class Step:
    """One step: what changes first, then the command lines."""

    files: Files
    commands: list[list[str]]
    objects: dict[str, dict[str, object] | None] = field(default_factory=dict)
    """Objects that change behind the programs' backs; None stands for one that disappears."""
    facts: dict[str, str] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    before: Seen = Seen({}, {})
    """What there was before anything changed."""
    ended: set[str] = field(default_factory=set)
    """The instances that our plan destroys, once it was made."""
    failed: set[str] = field(default_factory=set)
    """The instances that the real program could not change."""
    forgotten: set[str] = field(default_factory=set)
    """The instances that our plan forgets, once it was made."""
    ours: set[str] = field(default_factory=set)
    """What Nigari has planned: actions and instances."""
    planned: set[str] = field(default_factory=set)
    """What the real program has planned: actions and instances."""
    shown: dict[str, Tree] = field(default_factory=dict)
    """`show -json` of the plan that the real program has saved."""
    invalid: frozenset[tuple[str, int]] = frozenset()
    """Files and lines of the errors that `validate` of the real program finds, once it was asked."""

    def __str__(self) -> str:
        lines = [" ".join(command) for command in self.commands]
        lines += [f"object {name}: {value}" for name, value in self.objects.items()]
        lines += [f"fact {name}: {value}" for name, value in self.facts.items()]
        return "\n".join([*lines, *(f"fails: {each}" for each in self.failures)])


class Story:
    """One step after the other, from one seed."""

    def __init__(self, seed: int, steps: int = 4) -> None:
        self._chance = random.Random(seed)
        self._chances = Chances(self._chance)
        self._mutations = Mutations(self._chances, self._chances.configuration())
        self._steps = steps
        self._done = 0

    @property
    def is_over(self) -> bool:
        return self._done > self._steps

    def next(self, seen: Seen) -> Step:
        """What comes next, now that this is so."""
        self._done += 1
        if self._done == 1:
            return Step(self._files(), self._planned([]))
        step = Step({}, [], before=seen)
        if self._done > self._steps:
            step.commands = self._chance.choice(
                [[["destroy", "-auto-approve", "-json"]], self._planned(["-destroy"])]
            )
        else:
            self._turn(step, seen)
        if self._chances.happens(0.15):
            step.failures = self._some_failures(seen)
        # A mistake is mostly made for one step, and stays in a destroy.
        if self._chances.happens(0.05):
            self._mutations.err()
        step.files = self._files()
        self._mutations.correct()
        return step

    def _files(self) -> Files:
        return files(self._mutations.configuration)

    def _turn(self, step: Step, seen: Seen) -> None:
        """Change the configuration, the world, or both, and choose a command."""
        roll = self._chance.random()
        if roll > 0.2:
            self._mutations.forget_imports()
            for _ in range(self._chance.choice([1, 1, 2, 3])):
                self._mutations.change()
        if roll < 0.35:
            self._drift(step, seen)
        if self._chances.happens(0.08):
            self._offer_import(step, seen)
        kinds: list[tuple[int, Callable[[list[str]], list[list[str]]]]] = [
            (60, self._plain),
            (12, self._targeted),
            (6, self._replacing),
            (5, self._refreshing),
            (6, self._state_edit),
            (3, self._tainted),
        ]
        weights, choices = zip(*kinds, strict=True)
        step.commands = self._chance.choices(choices, weights)[0](seen.addresses())

    # What happens to the world.

    def _drift(self, step: Step, seen: Seen) -> None:
        for identifier in sorted(seen.objects):
            if self._chances.happens(0.3):
                if self._chances.happens(0.4):
                    step.objects[identifier] = None
                else:
                    name = self._chance.choice(["value", "value", "note", "result", "force"])
                    changed = dict(seen.objects[identifier])
                    changed[name] = f"drift{self._chance.randint(1, 3)}"
                    step.objects[identifier] = changed
        if self._chances.happens(0.5):
            key = self._chance.choice(["f1", "f2", "w1", "v1"])
            step.facts[key] = self._chance.choice(["w1", "w2", "n"])

    def _offer_import(self, step: Step, seen: Seen) -> None:
        """Put objects into the world, and say that a resource is to take them over."""
        given, free = self._mutations.configuration, self._importable(seen)
        if not free:
            return
        prefix, way, block = self._chance.choice(free)
        address, name = f"{way}{block.address}", f"{prefix}{block.tag}"
        if block.repetition.kind != "for_each":
            self._put(step, name)
            given.imports = [(f"{name}#found", address, "")]
            return
        keys = self._chance.sample(KEYS, self._chance.randint(1, 2))
        for key in keys:
            self._put(step, f"{name}-{key}")
        identifier, repeated = f"{name}-${{each.key}}#found", f"toset({json.dumps(sorted(keys))})"
        given.imports = [(identifier, f"{address}[each.key]", repeated)]

    def _importable(self, seen: Seen) -> list[tuple[str, str, Block]]:
        """Resources that may have no objects yet, each with the beginnings of names and addresses."""
        given = self._mutations.configuration
        found = [("", "", block) for block in given.root.blocks]
        for call in given.root.calls():
            if not call.repetition.kind:
                inside = given.source(call).blocks
                found += [(f"{call.tag}.", f"{call.address}.", block) for block in inside]
        taken = {re.sub(r"\[[^]]*\]$", "", each) for each in seen.addresses()}
        return [
            (prefix, way, block)
            for prefix, way, block in found
            if block.type == "world_thing"
            and block.repetition.kind in ("", "for_each")
            and f"{way}{block.address}" not in taken
        ]

    def _put(self, step: Step, name: str) -> None:
        """Put an object into the world; sometimes not."""
        found: dict[str, object] = dict.fromkeys(STORED)
        found |= {"name": name, "value": "w1", "note": "plain", "result": "w1!", "part": []}
        if self._chances.happens(0.85):
            step.objects[f"{name}#found"] = found

    def _some_failures(self, seen: Seen) -> list[str]:
        names = {str(each["name"]) for each in seen.objects.values()}
        names |= {block.tag for block in self._mutations.configuration.root.blocks}
        chosen = self._chance.sample(sorted(names), min(len(names), self._chance.randint(1, 3)))
        return [f"{self._chance.choice(_FAILING)} {name}" for name in chosen]

    # What is run.

    def _planned(self, flags: list[str]) -> list[list[str]]:
        return [["plan", "-json", f"-out={PLAN}", *flags], ["apply", "-json", PLAN]]

    def _plain(self, _: list[str]) -> list[list[str]]:
        flags = ["-refresh=false"] if self._chances.happens(0.06) else []
        if self._chances.happens(0.05):
            flags.append(f"-var=v={self._chance.choice(['w1', 'w2', 'v3'])}")
        if self._chances.happens(0.05):
            flags.append("-parallelism=1")
        if self._chances.happens(0.15):
            return [["apply", "-auto-approve", "-json", *flags]]
        if self._chances.happens(0.04):
            flags.append("-destroy")
        return self._planned(flags)

    def _some_address(self, addresses: list[str]) -> str:
        blocks = self._mutations.configuration.root.blocks
        declared = [block.address for block in blocks if block.mode != "ephemeral"]
        if addresses and self._chances.happens(0.6):
            address = self._chance.choice(addresses)
            if address.endswith("]") and self._chances.happens(0.3):
                return address[: address.rindex("[")]
            if address.startswith("module.") and self._chances.happens(0.3):
                return ".".join(address.split(".")[:2])
            return address
        return self._chance.choice(declared or ["world_thing.none"])

    def _targeted(self, addresses: list[str]) -> list[list[str]]:
        name = self._chance.choice(["-target", "-target", "-exclude"])
        flags = [f"{name}={self._some_address(addresses)}"]
        if self._chances.happens(0.3):
            flags.append(f"{name}={self._some_address(addresses)}")
        if self._chances.happens(0.2):
            flags.append("-destroy")
        return self._planned(flags)

    def _replacing(self, addresses: list[str]) -> list[list[str]]:
        if not addresses:
            return self._planned([])
        return self._planned([f"-replace={self._chance.choice(addresses)}"])

    def _refreshing(self, _: list[str]) -> list[list[str]]:
        if self._chances.happens(0.4):
            return [["refresh", "-json"]]
        return self._planned(["-refresh-only"])

    def _tainted(self, addresses: list[str]) -> list[list[str]]:
        if not addresses:
            return self._planned([])
        word = self._chance.choice(["taint", "taint", "untaint"])
        return [[word, self._chance.choice(addresses)], *self._planned([])]

    def _state_edit(self, addresses: list[str]) -> list[list[str]]:
        if not addresses:
            return self._planned([])
        address = self._some_address(addresses)
        if self._chances.happens(0.4):
            return [["state", "rm", address], *self._planned([])]
        ending = self._chance.choice(["n", "moved", '["a"]', "[0]", "[1]"])
        goal = f"{address}{ending}" if not address.endswith("]") else address[: address.rindex("[")]
        return [["state", "mv", address, goal], *self._planned([])]
