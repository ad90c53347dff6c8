"""Uses: everything that depends on something, over all modules, by what is written.

The other direction of explain: from a variable, a local value, an output, a resource, a module
call, a provider or a file to whatever would feel a change of it. No provider is asked: every
reference in a block counts, whichever argument it is in. Instances of one block are one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from nigari.addrs.module import ROOT_MODULE, ModuleAddr
from nigari.addrs.parse import parse_module
from nigari.addrs.values import SymbolFunction, SymbolsAttr
from nigari.config.blocks.resource import Resource
from nigari.config.core.declared import Dependencies
from nigari.diagnostics import Diagnostics
from nigari.eval.core.module_tree import ModuleInstance
from nigari.eval.static.run import StaticRun
from nigari.hcl.body import Body
from nigari.hcl.native_body import NativeBody
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.references import Reference
from nigari.plan.order.block_references import Block, BlockReferences
from nigari.record import record
from nigari.state.json_text import quoted
from nigari.workspace.explain.file_uses import EXPANSION, Locate, blocks_of_file
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


_EVERYTHING: Final = "*"


@record
class User:
    """Something that depends on what was asked about."""

    address: str
    distance: int
    """The number of steps to it."""
    through: str
    """The object that it uses itself, one step nearer."""


def uses_of(
    evaluation: ValueQueries, address: str, locate: Locate, diags: Diagnostics
) -> list[User] | None:
    """Everything that depends on an address or a file, the nearest first; None after reporting that
    there is no such thing.
    """
    graph = WrittenGraph(evaluation.run)
    users = _users(graph)
    starts = graph.named(address)
    if starts:
        return _beyond(users, dict.fromkeys(starts), address)
    if os.path.exists(locate(address)):
        felt = [each for each in blocks_of_file(evaluation, address, locate) if each in users]
        first = {block: User(block_name(block), 1, address) for block in felt}
        return [*first.values(), *_beyond(users, first, address)]
    hint = did_you_mean(address, map(block_name, users))
    diags.error(
        "Nothing with this address",
        f"Nothing in the configuration is named {quoted(address)}, and no file has that name.{hint} "
        "Give the address of a variable, local value, output, resource, data source, module call or "
        "provider, without the keys of resources, or the path of a file.",
    )
    return None


def _beyond(
    users: Mapping[Block, list[Block]], starts: Mapping[Block, User | None], address: str
) -> list[User]:
    """Everything that uses some blocks, directly or through others, without those themselves. Blocks
    that are no users themselves are called by the address that was asked about.
    """
    found: dict[Block, User] = {}
    pending = [(block, 0 if user is None else user.distance) for block, user in starts.items()]
    # The list grows while it is walked: what uses something has users, too.
    for block, distance in pending:
        for user in users[block]:
            if user not in starts and user not in found:
                is_asked = block in starts and starts[block] is None
                through = address if is_asked else block_name(block)
                found[user] = User(block_name(user), distance + 1, through)
                pending.append((user, distance + 1))
    return list(found.values())


@record
class WrittenBlock:
    """Something that a configuration declares, with what it refers to."""

    address: str
    kind: str
    """`var`, `local`, `output`, `check`, `resource`, `data`, `ephemeral`, `symbols`, `module` or
    `provider`.
    """
    module: str
    """The variant of the module that it is in; nothing for the root."""
    needs: tuple[int, ...]
    """The numbers of what it refers to directly."""


def written_blocks(run: StaticRun) -> list[WrittenBlock]:
    """Everything that is declared, over all modules, and how it depends on each other."""
    users = _users(WrittenGraph(run))
    numbers = {block: number for number, block in enumerate(users)}
    needs: list[list[int]] = [[] for _ in numbers]
    for block, found in users.items():
        for user in found:
            needs[numbers[user]].append(numbers[block])
    return [
        WrittenBlock(block_name(block), _kind(block[1]), str(block[0]), tuple(needs[number]))
        for block, number in numbers.items()
    ]


_SYMBOLS: Final = "symbols."
_KINDS: Final = frozenset(
    ("symbols", "var", "local", "output", "check", "data", "ephemeral", "action")
)


def _kind(name: str) -> str:
    if name == EXPANSION:
        return "module"
    if name.startswith("provider["):
        return "provider"
    first = name.partition(".")[0]
    return first if first in _KINDS else "resource"


class WrittenGraph(BlockReferences):
    """The dependencies of blocks, by all references in their files."""

    def __init__(self, run: StaticRun) -> None:
        super().__init__(run.root.instance, None)
        found: list[Block] = []
        self._outputs: dict[ModuleAddr, list[Block]] = {}
        for path, instance in self.variants.representatives.items():
            found += [(path, name) for name in _declared(instance)]
            self._outputs[path] = [(path, f"output.{name}") for name in instance.module.outputs]
            if path != ROOT_MODULE:
                found.append((path, EXPANSION))
        self.blocks: list[Block] = list(dict.fromkeys([*found, *self.providers]))

    def named(self, address: str) -> list[Block]:
        """The blocks that an address means: without a key, those of all variants of a module."""
        exact = [block for block in self.blocks if block_name(block) == address]
        return exact or [block for block in self.blocks if self._may_be(block, address)]

    def _may_be(self, block: Block, address: str) -> bool:
        """Return whether an address names instances of a block whose module is one of several
        variants.
        """
        path = block[0]
        ending = block_name(block).removeprefix(str(path))
        if path == path.unkeyed or not address.endswith(ending):
            return False
        module = parse_module(address.removesuffix(ending), Diagnostics())
        return module is not None and any(
            module.names == each.names
            and all(
                key in (None, at)
                for (_, key), (_, at) in zip(module.steps, each.steps, strict=True)
            )
            for each in self.variants.members(path)
        )

    def declared(self, need: Block) -> Iterable[Block]:
        """The declarations that a need stands for: a whole module is everything that it outputs."""
        path, name = need
        variants = self.variants.of_call(path) or (path,)
        if name == _EVERYTHING:
            return [each for at in variants for each in self._outputs.get(at, ())]
        return [(at, name) for at in variants]

    def _resource_needs(
        self, instance: ModuleInstance, resource: Resource, depends_on: Dependencies
    ) -> Iterator[Block]:
        yield from super()._resource_needs(instance, resource, depends_on)
        yield from self._of_written(instance, resource.body)

    def referred(
        self, instance: ModuleInstance, references: Iterable[Reference]
    ) -> Iterator[Block]:
        written = list(references)
        yield from super().referred(instance, written)
        for reference in written:
            subject = reference.subject
            if isinstance(subject, SymbolsAttr | SymbolFunction):
                name = subject.name if isinstance(subject, SymbolsAttr) else subject.library
                yield instance.variant, f"{_SYMBOLS}{name}"

    def _find_needs(self, block: Block) -> Iterator[Block]:
        path, name = block
        if name.startswith(_SYMBOLS) and path in self.variants.representatives:
            instance = self.variants.representatives[path]
            call = instance.module.symbols.get(name.removeprefix(_SYMBOLS))
            for expr in () if call is None else (call.source, call.version):
                if expr is not None:
                    yield from self._of_expression(instance, expr)
            return
        yield from super()._find_needs(block)
        found = self.providers.get(block)
        if found is not None and found.config is not None:
            yield from self._of_written(found.instance, found.config.body)

    def _of_written(self, instance: ModuleInstance, body: Body) -> Iterator[Block]:
        for attribute in body.just_attributes(Diagnostics()).values():
            yield from self._of_expression(instance, attribute.expr)
        if isinstance(body, NativeBody):
            for block in body.blocks:
                yield from self._of_written(instance, block.body)


def _declared(instance: ModuleInstance) -> Iterable[str]:
    module = instance.module
    yield from map(str, module.resources)
    for kind, names in (
        ("var", module.variables),
        ("local", module.locals),
        ("output", module.outputs),
        ("check", module.checks),
        ("symbols", module.symbols),
    ):
        yield from (f"{kind}.{name}" for name in names)


def _users(graph: WrittenGraph) -> Mapping[Block, list[Block]]:
    """Return the direct dependants of each block."""
    users: dict[Block, dict[Block, None]] = {block: {} for block in graph.blocks}
    for block in graph.blocks:
        for need in graph.needs(block):
            for each in graph.declared(need):
                if each != block and each in users:
                    users[each][block] = None
    return {block: list(found) for block, found in users.items()}


def block_name(block: Block) -> str:
    """The address of a block; what decides the instances of a module has that of its call."""
    path, name = block
    module = str(path)
    if name == EXPANSION:
        return module
    if name.startswith("output.") and module:
        return f"{module}.{name.removeprefix('output.')}"
    return f"{module}.{name}" if module and not name.startswith("provider[") else name
