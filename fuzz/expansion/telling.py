"""A story of a model: step by step what becomes of it, as two texts with commands that fit them."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

from fuzz.expansion.chances import Chances
from fuzz.expansion.model import Origin, Outside, compact, literal
from fuzz.expansion.writing import ENVIRONMENT, compact_files, late_facts, literal_files
from fuzz.story.telling import PLAN, Seen, Step

_FAILING: Final = ("create", "create", "update", "delete", "half create", "half update", "read")
_AGAIN: Final = ["plan", "-json", f"-out={PLAN}"]


@dataclass(frozen=True)
class Pair:
    """A step of both texts; each has as many commands as the other."""

    literal: Step
    compact: Step
    declared: frozenset[str]
    """The literal addresses of the module instances there are."""


class Story:
    """One step after the other, from one seed."""

    def __init__(self, seed: int, steps: int = 4) -> None:
        self._chance = random.Random(seed)
        self._chances = Chances(self._chance)
        self._model = self._chances.model()
        self._steps = steps
        self._done = 0
        self._released: list[tuple[str, str]] = []
        """Addresses whose objects the last step has taken out of the state, with their identifiers."""

    @property
    def is_over(self) -> bool:
        return self._done > self._steps

    @property
    def is_beyond(self) -> bool:
        """Whether the real program cannot tell it, not even written out."""
        return self._model.has_rounds

    def next(self, seen: Seen) -> Pair:
        """What comes next, now that the literal side has this."""
        self._done += 1
        commands = self._planned()
        if self._done > self._steps:
            commands = self._chance.choice(
                [[["destroy", "-auto-approve", "-json"]], self._planned("-destroy")]
            )
        elif self._done > 1:
            self._model.renames.clear()
            self._model.imports.clear()
            for _ in range(self._chance.choice([0, 1, 1, 2, 3])):
                self._chances.change(self._model)
            self._take_back()
            commands = self._chosen(seen)
        fails = self._model.outside is not Outside.PART and self._chances.happens(0.15)
        return self._pair(seen, commands, self._some_failures(seen) if fails else [])

    def _take_back(self) -> None:
        """Import what the last step has released, if it still is declared."""
        found = [each for each in self._released if self._model.declares(each[0])]
        if found and self._chances.happens(0.6):
            self._model.imports += found
        self._released = []

    def _changed(self, seen: Seen) -> dict[str, dict[str, object] | None]:
        """An object that disappears or changes outside."""
        if not seen.objects or self._chances.happens(0.85):
            return {}
        name = self._chance.choice(sorted(seen.objects))
        return {name: self._chance.choice([None, {**seen.objects[name], "value": "drift"}])}

    def _pair(self, seen: Seen, commands: list[list[str]], failures: list[str]) -> Pair:
        if self._model.has_rounds:
            commands = [*map(_in_rounds, commands)]
        if failures:
            commands = [*commands, *self._planned()] if self._done <= self._steps else commands
        written = [self._written_out(command, seen) for command in commands]
        if self._model.origin is Origin.ENVIRONMENT:
            commands = [[f"-env={ENVIRONMENT}", *command] for command in commands]
        rest = self._changed(seen), late_facts(self._model), failures, seen
        return Pair(
            Step(literal_files(self._model), written, *rest),
            Step(compact_files(self._model), commands, *rest),
            frozenset(map(literal, self._model.instances())),
        )

    def _written_out(self, command: list[str], seen: Seen) -> list[str]:
        """A command line for the literal side, on which a call is several."""
        found = []
        for word in command:
            name, _, goal = word.partition("=")
            calls = [each for each in self._model.calls if goal == f"module.{each.name}"]
            instances = [literal(each) for call in calls for each in call.addresses()]
            instances += [
                each.split(".world_thing")[0].split(".module.c")[0]
                for each in seen.addresses()
                if calls and each.startswith(f"{goal}_")
            ]
            found += [f"{name}={each}" for each in sorted({*instances})] or [literal(word)]
        return found

    # What is run.

    def _planned(self, *flags: str) -> list[list[str]]:
        return [["plan", "-json", f"-out={PLAN}", *flags], ["apply", "-json", PLAN]]

    def _chosen(self, seen: Seen) -> list[list[str]]:
        roll = self._chance.random()
        if roll < 0.25 and self._model.outside is not Outside.PART:
            may_exclude = self._model.outside is Outside.WHOLE or self._model.is_flat
            name = self._chance.choice(["-target", "-exclude"]) if may_exclude else "-target"
            flags = [f"{name}={each}" for each in self._singled_out(2 if roll < 0.07 else 1)]
            if roll > 0.22:
                flags.append("-destroy")
            return self._planned(*flags)
        if roll < 0.3 and seen.addresses():
            replaced = compact(self._chance.choice(seen.addresses()))
            return [*self._planned(f"-replace={replaced}"), _AGAIN]
        if roll < 0.35:
            return [["apply", "-auto-approve", "-json"], _AGAIN]
        if roll < 0.4:
            return [*self._planned("-refresh-only"), _AGAIN]
        if roll < 0.43 and seen.addresses():
            return self._release(seen)
        if roll < 0.46:
            return [*self._planned("-refresh=false"), _AGAIN]
        return [*self._planned(), _AGAIN]

    def _release(self, seen: Seen) -> list[list[str]]:
        """Take an object out of the state."""
        chosen = self._chance.choice(seen.addresses())
        identifiers = [name for name, address in seen.objects_of().items() if address == chosen]
        self._released = [(compact(chosen), each) for each in identifiers]
        return [["state", "rm", compact(chosen)], _AGAIN]

    def _singled_out(self, number: int) -> list[str]:
        """What is singled out: nothing below an instance, since what it needs there is a block.

        A call takes along all instances of another, even those that are gone, so both are named.
        """
        calls = self._model.calls
        if self._model.outside is Outside.APART:
            found = [each for call in calls for each in call.addresses()]
            return [self._chance.choice(found) for _ in range(number)]
        chosen = calls if any(each.after for each in calls) else [self._chance.choice(calls)]
        return [f"module.{each.name}" for each in chosen]

    def _some_failures(self, seen: Seen) -> list[str]:
        # A state does not say on which instance of a call something depends that is outside of it.
        names = {str(each["name"]) for each in seen.objects.values()} - {"after"}
        if not names or self._chances.happens(0.3):
            instances = [each for call in self._model.calls for each in call.instances.values()]
            names = {f"{each.settings['tag']}-{name}" for each in instances for name in "xyz"}
        chosen = self._chance.sample(sorted(names), min(len(names), self._chance.randint(1, 2)))
        return [f"{self._chance.choice(_FAILING)} {name}" for name in chosen]


def _in_rounds(command: list[str]) -> list[str]:
    """A command line with what leaves for later what is not known yet."""
    is_planning = command[0] == "plan" or (command[0] == "apply" and PLAN not in command)
    return [*command, "-allow-deferral"] if is_planning else command
