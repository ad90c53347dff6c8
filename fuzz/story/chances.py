"""What chance makes: new blocks, values, repetitions, and whole configurations to begin with."""

from __future__ import annotations

import random
from typing import Final

from fuzz.story.configuration import (
    ATTRIBUTES,
    EACH,
    EPHEMERAL_OUTPUT,
    LOG,
    ROOT,
    SECOND,
    Block,
    Configuration,
    Module,
    Output,
    Part,
    Reference,
    Repetition,
    Value,
)
from fuzz.story.world import REFUSED

KEYS: Final = ("a", "b", "c")
_VALUES: Final = ('"w1"', '"w2"', '"w3"', '"w1"', "null", "var.v", "local.l", "var.p")
_LISTS: Final = ('["x", "y"]', "var.many", "[]", 'toset([var.v, "z"])')
_MANY: Final = (
    "{}",
    "{ a = {} }",
    '{ a = { value = "w1" }, b = { force = "w2" } }',
    '{ a = { value = "w3" }, b = {}, c = { value = null } }',
)
_SELDOM: Final = ('"${var.s}-s"', 'provider::world::shout("a")', f'"{REFUSED}"')


_MISTAKES: Final = (
    (
        'resource "world_thing" "x1" {\n  name = world_thing.x2.id\n}\n'
        'resource "world_thing" "x2" {\n  name = world_thing.x1.id\n}\n'
    ),
    "locals {\n  x1 = local.x2\n  x2 = local.x1\n}\n",
    "locals {\n  x1 = var.nothing\n}\n",
    'resource "world_thing" "x1" {\n  name    = "x1"\n  nothing = 1\n}\n',
    'resource "world_thing" "x1" {\n}\n',
    'resource "world_thing" "x1" {\n  name  = "x1"\n  value = terraform_data.nothing.id\n}\n',
    'resource "world_thing" "x1" {\n  name = "x1"\n  part {\n    key = ["x"]\n  }\n}\n',
    'locals {\n  x1 = nothing("x")\n}\n',
)
"""Cycles, and what refers to nothing or has the wrong form."""


class Chances:
    """Everything that a story leaves to chance while it writes configurations."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self._number = 0
        self._has_second = False
        self._has_ephemeral = False

    def happens(self, likely: float) -> bool:
        return self.chance.random() < likely

    def configuration(self) -> Configuration:
        """A configuration to begin with."""
        inner = Module("m2")
        outer = Module("m1")
        root = Module(ROOT)
        result = Configuration({ROOT: root, "m1": outer, "m2": inner})
        result.has_second = self._has_second = self.happens(0.3)
        result.has_ephemeral = self._has_ephemeral = self.happens(0.2)
        result.label = self.chance.randrange(1, 100) if self.happens(0.25) else 0
        result.variables = {"v": '"v1"', "s": '"s1"', "on": "true", "many": self.many()}
        for module in (inner, outer, root):
            if self.happens(0.12):
                module.refused = self.chance.choice(['"w3"', '"v3"'])
            module.nullable = not self.happens(0.2)
        for module, most in ((inner, 2), (outer, 3), (root, 5)):
            for _ in range(self.chance.randint(1, most)):
                self.add(result, module)
            self.set_outputs(module)
        for module in (outer, root):
            if self.happens(0.7 if module is root else 0.5):
                module.blocks.append(self.call(result, module))
        if self.happens(0.5):
            self.add(result, root)
        return result

    def add(self, configuration: Configuration, module: Module) -> Block:
        """Add a block of some kind to a module, behind those it may refer to."""
        roll = self.chance.random()
        if roll < 0.68:
            block = self.thing(module)
        elif roll < 0.76:
            block = self.terraform_data(module)
        elif roll < 0.88:
            block = self.fact(module)
        elif roll < 0.92:
            block = self.token(module)
        elif module.directory == "m2":
            block = self.thing(module)
        else:
            block = self.call(configuration, module)
        module.blocks.append(block)
        return block

    def set_outputs(self, module: Module) -> None:
        """Choose outputs; those of called modules keep their names, so that calls stay valid."""
        module.outputs = [
            Output(f"o{number}", self.value(module), self.happens(0.1)) for number in range(2)
        ]
        for output in module.outputs:
            if self.happens(0.06):
                output.condition = self.value(module)
            if self.happens(0.08):
                output.depends_on = self.dependency(module)

    def mistake(self) -> str:
        """Blocks that are wrong, whatever else is configured."""
        return self.chance.choice(_MISTAKES)

    def many(self) -> str:
        """A map of objects, by whose keys blocks are repeated."""
        return self.chance.choice(_MANY)

    # Blocks.

    def tag(self, letter: str) -> str:
        self._number += 1
        return f"{letter}{self._number}"

    def thing(self, module: Module) -> Block:
        tag = self.tag("r")
        block = Block("resource", "world_thing", tag, tag, self.repetition(module))
        block.arguments["name"] = self.object_name(block)
        block.arguments["value"] = self.value(module)
        for name, likely in (("force", 0.25), ("note", 0.1), ("secret", 0.08)):
            if self.happens(likely):
                block.arguments[name] = self.value(module)
        if self.happens(0.08):
            block.arguments["tags"] = "{ t = local.l, u = var.v }"
        if self.happens(0.15):
            block.parts = [self.part(module) for _ in range(self.chance.choice([1, 1, 2]))]
        if (hint := self._ephemeral(module)) and self.happens(0.4):
            block.arguments["hint"] = hint
        self._adorn(module, block)
        return block

    def part(self, module: Module, until: Block | None = None) -> Part:
        """A nested block, mostly a repeated one."""
        if self.happens(0.3):
            return Part(self.value(module, until=until))
        targets = [each for each in _before(module, until) if each.mode != "ephemeral"]
        iterator = "it" if self.happens(0.2) else ""
        if targets and self.happens(0.6):
            return Part("null", self.reference(targets), iterator)
        return Part("null", self.chance.choice(_LISTS), iterator)

    def _ephemeral(self, module: Module) -> Value:
        """Some ephemeral value, if there is one."""
        found: list[Value] = [
            Reference(each.tag, "value", self.chance.randrange(100))
            for each in module.blocks
            if each.mode == "ephemeral"
        ]
        if self._has_ephemeral:
            calls = module.calls()
            found += ["var.e", *(Reference(each.tag, EPHEMERAL_OUTPUT, 0) for each in calls)]
        return self.chance.choice(found) if found else ""

    def terraform_data(self, module: Module) -> Block:
        tag = self.tag("t")
        block = Block("resource", "terraform_data", tag, tag, self.repetition(module))
        block.arguments["input"] = self.value(module)
        if self.happens(0.4):
            block.arguments["triggers_replace"] = self.value(module)
        self._adorn(module, block)
        return block

    def fact(self, module: Module) -> Block:
        tag = self.tag("d")
        block = Block("data", "world_fact", tag, tag, self.repetition(module))
        block.arguments["key"] = self.chance.choice(
            ['"f1"', '"f2"', self.value(module, null=False), self.value(module, null=False)]
        )
        if self.happens(0.25):
            self.depend(module, block)
        if self.happens(0.1):
            block.conditions["postcondition"] = '""'
        return block

    def token(self, module: Module) -> Block:
        tag = self.tag("e")
        repetition = self.repetition(module) if self.happens(0.3) else Repetition()
        key = f'"{tag}{repetition.key}"'
        return Block("ephemeral", "world_token", tag, tag, repetition, arguments={"key": key})

    def call(self, configuration: Configuration, module: Module) -> Block:
        tag = self.tag("c")
        source = self.chance.choice(["m1", "m2"]) if module.directory == ROOT else "m2"
        block = Block("module", source, tag, tag, self.repetition(module))
        way = "./" if module.directory == ROOT else "../"
        block.arguments = {
            "source": f'"{way}{source}"',
            "p": f'"${{var.p}}{tag}{block.repetition.key}."',
            "v": self.value(module),
        }
        for name in ("s", "on", "many"):
            if self.happens(0.2):
                block.arguments[name] = f"var.{name}"
        if (given := self._ephemeral(module)) and self.happens(0.4):
            block.arguments["e"] = given
        if self.happens(0.15):
            self.depend(module, block)
        if module.directory == ROOT:
            block.second = self.chance.choice(["world", "world.other", 'world.by["a"]'])
            if self.happens(0.15):
                block.provider = "world.other"
        return block

    def object_name(self, block: Block) -> str:
        return f'"${{var.p}}{block.tag}{block.repetition.key}"'

    def _adorn(self, module: Module, block: Block) -> None:
        """Give a managed resource what it may have besides arguments."""
        if self.happens(0.15):
            self.depend(module, block)
        if self.happens(0.15):
            self.toggle_lifecycle(module, block)
        if self.happens(0.15):
            block.provisioners.append(self.provisioner(block))
        if block.type == "world_thing" and module.directory == ROOT and self.happens(0.12):
            block.provider = self.chance.choice(["world.other", 'world.by["a"]', 'world.by["b"]'])
        elif block.type == "world_thing" and self._has_second and module.directory != ROOT:
            block.provider = self.chance.choice(["", "", SECOND])

    def toggle_lifecycle(self, module: Module, block: Block) -> None:
        """Set or take away one of the lifecycle settings."""
        changing = "value" if block.type == "world_thing" else "input"
        settings = {
            "create_before_destroy": "true",
            "prevent_destroy": self.chance.choice(["true", 'var.v == "v2"']),
            "destroy": "false",
            "ignore_changes": self.chance.choice([f"[{changing}]", f"[{changing}]", "all"]),
        }
        kinds = [*settings, "create_before_destroy", "ignore_changes", "condition", "trigger"]
        kind = self.chance.choice(kinds)
        if kind in settings:
            if kind in block.lifecycle:
                del block.lifecycle[kind]
            else:
                block.lifecycle[kind] = settings[kind]
        elif kind == "trigger":
            before = [each for each in _before(module, block) if each.mode == "resource"]
            block.triggers = [self.chance.choice(before).tag] if before else []
        elif block.conditions:
            block.conditions.clear()
        elif block.type == "world_thing":
            name = self.chance.choice(["precondition", "postcondition"])
            block.conditions[name] = self.value(module, until=block)

    def depend(self, module: Module, block: Block) -> None:
        block.depends_on = self.dependency(module, block)

    def dependency(self, module: Module, until: Block | None = None) -> list[str]:
        """The tag of something to depend on, if there is anything."""
        before = [each for each in _before(module, until) if each.mode != "ephemeral"]
        return [self.chance.choice(before).tag] if before else []

    def provisioner(self, block: Block) -> str:
        """A provisioner that leaves a trace, or fails, when its object is created or destroyed."""
        name = "${self.name}" if block.type == "world_thing" else "data"
        fails = "; exit 1" if self.happens(0.12) else ""
        lines = []
        what = "create"
        if self.happens(0.5):
            what = "destroy"
            lines.append("    when = destroy\n")
        if fails and self.happens(0.4):
            lines.append("    on_failure = continue\n")
        lines.append(f'    command = "echo {what} {name} >> {LOG}{fails}"\n')
        return "".join(lines)

    # Values.

    def value(self, module: Module, null: bool = True, until: Block | None = None) -> Value:
        """Some value that a block at the end of a module, or before a block, may use."""
        targets = [each for each in _before(module, until) if each.mode != "ephemeral"]
        if targets and self.happens(0.55):
            return self.reference(targets)
        if self.happens(0.06):
            return self.chance.choice(_SELDOM)
        if self.happens(0.08):
            return EACH
        return self.chance.choice([each for each in _VALUES if null or each != "null"])

    def reference(self, targets: list[Block]) -> Reference:
        target = self.chance.choice(targets)
        attributes = ATTRIBUTES.get(target.type, ("o0", "o1"))
        return Reference(target.tag, self.chance.choice(attributes), self.chance.randrange(100))

    def repetition(self, module: Module, until: Block | None = None) -> Repetition:
        roll = self.chance.random()
        before = _before(module, until)
        if roll < 0.5:
            return Repetition()
        if roll < 0.72:
            likes = [each for each in before if each.repetition.kind == "count"]
            like = self.chance.choice(likes).tag if likes and self.happens(0.2) else ""
            counts = ["0", "1", "1", "2", "3", "var.on ? 1 : 0", "length(var.many)"]
            return Repetition("count", self.chance.choice(counts), like)
        if roll < 0.92:
            likes = [
                each
                for each in before
                if each.repetition.kind == "for_each" or each.mode == "module"
            ]
            like = self.chance.choice(likes).tag if likes and self.happens(0.35) else ""
            return Repetition("for_each", self._keys(), like, self.chance.randrange(100))
        choices = ["true", "true", "false", 'var.v == "v1"', "var.on"]
        return Repetition("enabled", self.chance.choice(choices))

    def _keys(self) -> str:
        if self.happens(0.25):
            return self.chance.choice(
                [
                    "var.many",
                    '{ for k, o in var.many : k => o if k != "b" }',
                    "toset(keys(var.many))",
                ]
            )
        keys = self.chance.sample(KEYS, self.chance.choice([0, 1, 2, 2, 3]))
        texts = ", ".join(f'"{key}"' for key in sorted(keys))
        return f"toset([{texts}])"


def _before(module: Module, until: Block | None) -> list[Block]:
    if until is None or until not in module.blocks:
        return module.blocks
    return module.blocks[: module.blocks.index(until)]
