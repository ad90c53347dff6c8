"""How a configuration changes from one step to the next."""

from __future__ import annotations

from collections.abc import Callable

from fuzz.story.chances import Chances
from fuzz.story.configuration import ROOT, Block, Configuration, Module

_MOST_BLOCKS = 9
_MOST_STATEMENTS = 4
_FIXED = ("name", "source", "p", "on", "many", "e")
"""Arguments whose values must be of a kind."""


class Mutations:
    """Changes of a configuration, one at a time."""

    def __init__(self, chances: Chances, configuration: Configuration) -> None:
        self._chances = chances
        self._chance = chances.chance
        self.configuration = configuration
        self._kinds: list[tuple[int, Callable[[], None]]] = [
            (12, self._change_value),
            (10, self._change_repetition),
            (8, self._add),
            (8, self._remove),
            (6, self._rename),
            (5, self._change_lifecycle),
            (4, self._move_into_module),
            (3, self._move_out_of_module),
            (3, self._rename_call),
            (3, self._change_dependency),
            (3, self._change_provisioner),
            (5, self._change_variable),
            (3, self._change_parts),
            (3, self._change_output),
            (2, self._change_check),
            (2, self._change_provider),
            (2, self._change_local),
            (1, self._change_source),
            (2, self._change_validation),
        ]

    def change(self) -> None:
        """Change something."""
        weights, kinds = zip(*self._kinds, strict=True)
        self._chance.choices(kinds, weights)[0]()
        self._forget_the_past()

    def forget_imports(self) -> None:
        """Take away import blocks, whose objects are managed by now or never will be."""
        self.configuration.imports.clear()

    def _forget_the_past(self) -> None:
        """Leave few statements about the past, and none about what is declared again."""
        given = self.configuration
        declared = {block.address for block in given.root.blocks}
        given.moves = [each for each in given.moves if each[0] not in declared][-_MOST_STATEMENTS:]
        kept = [each for each in given.removals if each[0] not in declared]
        given.removals = kept[-_MOST_STATEMENTS:]
        for module in given.modules.values():
            own = {block.address for block in module.blocks}
            moves = [each for each in module.moves if each[0] not in own]
            module.moves = moves[-_MOST_STATEMENTS:]

    def _module(self) -> Module:
        return self._chance.choice([self.configuration.root, *self.configuration.modules.values()])

    def _some_block(self, *modes: str) -> tuple[Module, Block] | None:
        module = self._module()
        blocks = [block for block in module.blocks if not modes or block.mode in modes]
        return (module, self._chance.choice(blocks)) if blocks else None

    def _change_value(self) -> None:
        if found := self._some_block():
            module, block = found
            names = [each for each in block.arguments if each not in _FIXED]
            name = self._chance.choice([*names, "force"] if block.type == "world_thing" else names)
            null = name != "key"
            block.arguments[name] = self._chances.value(module, null=null, until=block)

    def _change_repetition(self) -> None:
        found = self._some_block("resource", "module", "data")
        if found is None:
            return
        module, block = found
        before = block.repetition
        block.repetition = self._chances.repetition(module, until=block)
        if block.mode == "module":
            key = block.repetition.key
            block.arguments["p"] = f'"${{var.p}}{block.tag}{key}."'
        elif block.type == "world_thing":
            block.arguments["name"] = self._chances.object_name(block)
        keys = {"count": "[0]", "for_each": '["a"]'}
        old, new = (keys.get(each.kind, "") for each in (before, block.repetition))
        if module.directory == ROOT and block.mode != "data" and self._chances.happens(0.4):
            if old != new:
                self._say_moved(f"{block.address}{old}", f"{block.address}{new}")

    def _say_moved(self, old: str, new: str) -> None:
        self.configuration.moves.append((old, new))

    def _add(self) -> None:
        module = self._module()
        if len(module.blocks) < _MOST_BLOCKS:
            self._chances.add(self.configuration, module)

    def _remove(self) -> None:
        if found := self._some_block():
            module, block = found
            module.blocks.remove(block)
            can_say = module.directory == ROOT and block.mode in ("resource", "module")
            if can_say and self._chances.happens(0.4):
                destroy = self._chance.choice(["true", "false", "false"])
                runs = destroy == "true" and block.mode == "resource" and self._chances.happens(0.5)
                command = "echo removed >> provisioned" if runs else ""
                self.configuration.removals.append((block.address, destroy, command))

    def _rename(self) -> None:
        if found := self._some_block("resource"):
            module, block = found
            old = block.address
            block.name += "n"
            if module.directory != ROOT and self._chances.happens(0.5):
                module.moves.append((old, block.address))
            elif self._chances.happens(0.8):
                for prefix in self._ways_to(module):
                    self._say_moved(f"{prefix}{old}", f"{prefix}{block.address}")

    def _ways_to(self, module: Module) -> list[str]:
        """The calls of a module that the root module makes itself, as prefixes of addresses."""
        if module.directory == ROOT:
            return [""]
        return [
            f"{call.address}."
            for call in self.configuration.root.calls()
            if self.configuration.source(call) is module
        ]

    def _rename_call(self) -> None:
        calls = self.configuration.root.calls()
        if calls:
            call = self._chance.choice(calls)
            old = call.address
            call.name += "n"
            if self._chances.happens(0.8):
                self._say_moved(old, call.address)

    def _move_into_module(self) -> None:
        root = self.configuration.root
        blocks = [
            block for block in root.blocks if block.is_managed and "by[" not in block.provider
        ]
        calls = root.calls()
        if not blocks or not calls:
            return
        block, call = self._chance.choice(blocks), self._chance.choice(calls)
        root.blocks.remove(block)
        module = self.configuration.source(call)
        self._settle(module, block)
        key = {"count": "[0]", "for_each": '["a"]'}.get(call.repetition.kind, "")
        if self._chances.happens(0.8):
            self._say_moved(block.address, f"{call.address}{key}.{block.address}")

    def _move_out_of_module(self) -> None:
        calls = self.configuration.root.calls()
        if not calls:
            return
        call = self._chance.choice(calls)
        module = self.configuration.source(call)
        blocks = [block for block in module.blocks if block.is_managed]
        if not blocks:
            return
        block = self._chance.choice(blocks)
        module.blocks.remove(block)
        self._settle(self.configuration.root, block)
        key = {"count": "[0]", "for_each": '["a"]'}.get(call.repetition.kind, "")
        if self._chances.happens(0.8):
            self._say_moved(f"{call.address}{key}.{block.address}", block.address)

    def _settle(self, module: Module, block: Block) -> None:
        """Put a block into another module, where other values are."""
        block.depends_on, block.triggers, block.provider = [], [], ""
        block.conditions.clear()
        block.parts.clear()
        block.repetition.like = ""
        for name in block.arguments:
            if name not in _FIXED:
                block.arguments[name] = self._chances.value(module)
        module.blocks.append(block)

    def _change_lifecycle(self) -> None:
        if found := self._some_block("resource"):
            self._chances.toggle_lifecycle(*found)

    def _change_dependency(self) -> None:
        if found := self._some_block("resource", "data", "module"):
            module, block = found
            if block.depends_on:
                block.depends_on = []
            else:
                self._chances.depend(module, block)

    def _change_provisioner(self) -> None:
        if found := self._some_block("resource"):
            block = found[1]
            if block.provisioners and self._chances.happens(0.5):
                block.provisioners.clear()
            else:
                block.provisioners.append(self._chances.provisioner(block))

    def _change_variable(self) -> None:
        name = self._chance.choice(["v", "v", "s", "on", "many", "many"])
        given = self.configuration.variables
        if name == "on":
            given[name] = "false" if given[name] == "true" else "true"
        elif name == "many":
            given[name] = self._chances.many()
        else:
            given[name] = f'"{name}{self._chance.randint(1, 3)}"'

    def _change_parts(self) -> None:
        found = self._some_block("resource")
        if found is not None and found[1].type == "world_thing":
            module, block = found
            if block.parts and self._chances.happens(0.3):
                block.parts.pop()
            else:
                block.parts.append(self._chances.part(module, until=block))

    def _change_local(self) -> None:
        module = self._module()
        module.local = self._chance.choice(['"l1"', '"l2"', "var.v", '"${var.p}l"'])

    def _change_output(self) -> None:
        self._chances.set_outputs(self._module())

    def _change_check(self) -> None:
        module = self._module()
        if module.checks and self._chances.happens(0.5):
            module.checks.clear()
        else:
            fact = self._chance.choice(["", "f1", "f2"])
            name = self._chances.tag("k")
            module.checks.append((name, self._chances.value(module, null=False), fact))

    def _change_provider(self) -> None:
        root = self.configuration.root
        blocks = [each for each in root.blocks if each.type.startswith(("world_thing", "m"))]
        if blocks:
            block = self._chance.choice(blocks)
            choices = ["", "world.other", 'world.by["a"]', 'world.by["b"]']
            block.provider = self._chance.choice(choices)

    def _change_validation(self) -> None:
        module = self._module()
        refused = self._chance.choice(['"w1"', '"v2"', '"w3"', '"v1"'])
        module.refused = "" if module.refused else refused
        module.nullable = self._chances.happens(0.7)

    def err(self) -> None:
        """Make a mistake in the root module."""
        self.configuration.mistake = self._chances.mistake()

    def correct(self) -> None:
        """Take the mistake back."""
        self.configuration.mistake = ""

    def _change_source(self) -> None:
        calls = self.configuration.root.calls()
        if calls:
            call = self._chance.choice(calls)
            call.type = "m2" if call.type == "m1" else "m1"
            call.arguments["source"] = f'"./{call.type}"'
