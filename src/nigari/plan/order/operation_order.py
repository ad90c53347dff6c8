"""The order of operations: from the changes of a plan to its execution graph.

The rules, if A depends on B:

- B is created or updated before A.
- A is destroyed before any operation on B, if it depended on B according to the state, whatever the
  configuration says now. Exceptions: if they have different providers, and A's must be configured
  with the new values of B, B is created first; if B depended on A when both were stored, B is
  destroyed first.
- An object that is replaced is destroyed before its successor is created. With
  create_before_destroy it is destroyed after it, and after all changes of objects that depend on
  it. The same holds for deposed objects.
- A provider is open from before its first use until after its last one, and so is an ephemeral
  object that is used.
- Conditions of unchanged objects, variables and outputs are checked before anything that depends on
  them is created.
- Data sources of checks are read after everything has been created; objects to destroy may still
  exist.

The order is kept between blocks of module instances, through operations that only stand for "all
of this is done". So the graph grows with blocks and their references, and not with pairs of
instances. Objects in two instances of one module do not depend on each other, unless the arguments
of one come from the other, or one of them has only moved there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set

from nigari.addrs.absolute import Abs, resource_of
from nigari.addrs.module import ModuleAddr
from nigari.addrs.provider import AbsProviderInstance
from nigari.plan.model.change_operations import ENDING, MAKING, REPLACED
from nigari.plan.model.changes import Action, Change, EphemeralInstance, Plan, PlanMode
from nigari.plan.model.check_results import VALUES, value_at
from nigari.plan.model.execution_graph import ExecutionGraph, Operation, OperationKind
from nigari.plan.model.invocations import Invocation
from nigari.plan.order.block_graph import BlockGraph, is_given_by_call, work_out
from nigari.plan.order.block_references import Block
from nigari.plan.order.cycles import cycles
from nigari.plan.order.ephemeral_use import used_ephemeral
from nigari.plan.order.operations_of import Endings, OperationsOf, Placed, ancestor, shared_depth
from nigari.plan.order.stored_dependencies import (
    Moved,
    contrary_holders,
    former_modules,
    former_needs,
    stored_needs,
)
from nigari.running.deferrals import DeferredKind

_MAKING_KINDS = frozenset((OperationKind.CREATE, OperationKind.UPDATE))

_ENDING_KINDS = frozenset((OperationKind.DELETE, OperationKind.FORGET, OperationKind.CLOSE))


def execution_graph(
    plan: Plan, blocks: BlockGraph, moved: Moved, is_renewed: bool
) -> ExecutionGraph:
    """Build the graph of a plan's operations.

    `moved` are the moves since the state was stored; `is_renewed` is true if the lifecycle settings
    in the state are those of the configuration.
    """
    return _Building(plan, blocks, moved, is_renewed).finished()


class _Building:
    def __init__(self, plan: Plan, blocks: BlockGraph, moved: Moved, is_renewed: bool) -> None:
        self._plan = plan
        self._blocks = blocks
        self._moved = moved
        self._is_renewed = is_renewed
        self._operations: list[tuple[OperationKind, str, str]] = []
        self._after: list[dict[int, None]] = []
        self._made = OperationsOf()
        self._ended = OperationsOf()
        self._ended_late = OperationsOf()
        """Endings of objects that stay until their successors and dependents are done."""
        self._settled: dict[Placed, tuple[int, ...]] = {}
        self._stored = stored_needs(plan.refreshed_state, moved, blocks)
        self._holders = contrary_holders(plan.refreshed_state, moved, blocks, self._stored)
        self._former = former_modules(moved, blocks)
        self._open: dict[str, int] = {}
        self._close: dict[str, int] = {}
        self._ephemeral: dict[int, EphemeralInstance] = {}
        """The ephemeral objects that are opened, by the operation that does it."""
        self._late: list[tuple[list[int], list[int]]] = []
        """Destroy operations, and the operations that should precede them."""
        self._calls: dict[tuple[ModuleAddr, ModuleAddr], dict[ModuleAddr, None]] = {}
        """The module instances with operations, by where they are called and their variant."""
        self._across: list[tuple[int, list[int]]] = []
        """Destroy operations, and those of objects of other providers that should precede them."""
        self._declared_ends: list[tuple[int, list[int], Block, Block]] = []
        """Destroy operations, and those before them because the configuration lets the first block
        depend on the second.
        """
        self._has_former_ends = False
        """True if stored dependencies order some destroy operations."""
        self._managers: dict[Block, set[AbsProviderInstance]] = {}

    def finished(self) -> ExecutionGraph:
        changes = [each for each in self._plan.changes if each.action is not Action.NO_OP]
        checked = self._checked()
        for change in (*changes, *checked):
            self._enter(change)
        self._enter_values()
        self._enter_invoked()
        self._order_deposed(changes)
        self._enter_ephemeral([*changes, *checked])
        self._order_making()
        self._order_ending()
        self._order_contrary_endings()
        self._order_providers(changes)
        self._order_across_providers()
        self._order_late_endings()
        self._order_making_after_ending()
        self._order_checks()
        self._order_closing()
        return ExecutionGraph(
            tuple(
                Operation(kind, address, tuple(sorted(after)), deposed)
                for (kind, address, deposed), after in zip(
                    self._operations, self._after, strict=True
                )
            )
        )

    def _checked(self) -> list[Change]:
        """List unchanged objects with conditions, which are checked once their dependencies are done."""
        unchanged = [each for each in self._plan.changes if each.action is Action.NO_OP]
        return [each for each in unchanged if self._blocks.has_conditions(self._block_of(each))]

    def _block_of(self, each: Change | EphemeralInstance | Invocation) -> Block:
        return self._blocks.resource_block(resource_of(each.address))

    def _add(self, kind: OperationKind, address: str, deposed: str = "") -> int:
        self._operations.append((kind, address, deposed))
        self._after.append({})
        return len(self._operations) - 1

    def _put_after(self, number: int, before: Iterable[int]) -> None:
        after = self._after[number]
        for each in before:
            if each != number:
                after[each] = None

    def _enter(self, change: Change) -> None:
        """Add the operations of one change, in the order that they have among themselves."""
        block, module = self._block_of(change), change.address.module
        action, text = change.action, str(change.address)
        self._note_module(module)
        self._managers.setdefault(block, set()).add(change.provider)
        # A replacement is two vertices in OpenTofu as well: one destroys, one creates.
        ending: int | None = None
        is_late = action is Action.CREATE_THEN_DELETE
        if action in ENDING:
            deposed = REPLACED if is_late else change.deposed
            ending = self._add(ENDING[action], text, deposed)
            # CBDEdgeTransformer: the state records create_before_destroy, so that it holds even if
            # the block has gone.
            late = is_late or self._was_created_first(change)
            (self._ended_late if late else self._ended).add(block, module, ending)
        if action in MAKING:
            making = self._add(MAKING[action], text)
            self._made.add(block, module, making)
            if ending is not None:
                first, second = (making, ending) if is_late else (ending, making)
                # DestroyEdgeTransformer: destroy, then create; CBDEdgeTransformer turns the edge
                # around.
                self._put_after(second, (first,))

    def _enter_values(self) -> None:
        """Add checks of the conditions of variables and outputs that were unknown while planning."""
        # A destroy uses prior values, and a refresh-only plan creates nothing.
        if self._plan.mode is not PlanMode.NORMAL:
            return
        waiting = {each.address for each in self._plan.deferred if each.kind is DeferredKind.CHECK}
        for result in self._plan.checks:
            for each in result.objects if result.kind in VALUES else ():
                if each.status == "unknown" and each.address not in waiting:
                    module, name = value_at(each.address)
                    number = self._add(OperationKind.CHECK, each.address)
                    self._made.add(self._blocks.block(module, name), module, number)
                    self._note_module(module)

    def _enter_invoked(self) -> None:
        """Add the actions that the user invokes."""
        for address in dict.fromkeys(each.address for each in self._plan.invoked):
            number = self._add(OperationKind.INVOKE, str(address))
            block = self._blocks.resource_block(resource_of(address))
            self._made.add(block, address.module, number)
            self._note_module(address.module)

    def _order_deposed(self, changes: list[Change]) -> None:
        """Keep deposed objects until their replacements are complete."""
        if not any(each.deposed for each in changes):
            return
        making, deposed = dict[str, int](), list[tuple[int, str]]()
        for number, (kind, address, key) in enumerate(self._operations):
            if kind in _MAKING_KINDS:
                making[address] = number
            elif kind is OperationKind.DELETE and key not in ("", REPLACED):
                deposed.append((number, address))
        for number, address in deposed:
            if address in making:
                # They stay until their replacement is complete.
                self._late.append(([number], [making[address]]))

    def _note_module(self, module: ModuleAddr) -> None:
        while module.parent is not None:
            called = module.parent, self._blocks.variants.of(module)
            known = self._calls.setdefault(called, {})
            if module in known:
                return
            known[module] = None
            module = module.parent

    def _enter_ephemeral(self, changes: list[Change]) -> None:
        """Add operations that open the ephemeral objects in use."""
        for each, block in used_ephemeral(self._plan, self._blocks, changes):
            text = str(each.address)
            opening = self._open[text] = self._add(OperationKind.OPEN, text)
            self._made.add(block, each.address.module, opening)
            self._note_module(each.address.module)
            self._ephemeral[opening] = each

    def _was_created_first(self, change: Change) -> bool:
        if change.deposed:
            return change.action is Action.DELETE
        state = self._plan.refreshed_state.instance(change.address)
        stored = None if state is None else state.current
        return (
            change.action is Action.DELETE and stored is not None and stored.create_before_destroy
        )

    # -- making -------------------------------------------------------------------------------

    def _order_making(self) -> None:
        for block in self._made:
            for module in self._made.modules(block, block[0].depth):
                before, numbers = self._before((module, block)), self._made.of(block, module)
                # One operation in between instead of an edge for each pair.
                if len(before) > 1 and len(numbers) > 1:
                    before = (self._joined(f"before {_name((module, block[1]))}", before),)
                for number in numbers:
                    self._put_after(number, before)

    def _before(self, placed: Placed) -> tuple[int, ...]:
        """Return the operations that must precede all operations of a block."""
        found: dict[int, None] = {}
        for need in self._needed(placed):
            for number in work_out(need, self._settled, self._needed, self._settled_by):
                found[number] = None
        return tuple(found)

    def _needed(self, placed: Placed) -> Iterator[Placed]:
        """Yield the dependencies of a block in a module instance: in that instance, its callers and
        its calls. One node represents all that have no operations.
        """
        module, block = placed
        for need in self._blocks.needs(block):
            path = need[0]
            is_given = is_given_by_call(block, need)
            at = ancestor(module, path.depth - 1 if is_given else path.depth)
            if is_given:
                for child in self._calls.get((at, path)) or (at.child(path.name, path.key),):
                    yield child, need
            else:
                yield at, need

    def _settled_by(self, placed: Placed) -> tuple[int, ...]:
        """Return the operations after which a block has its final value; none if it already has."""
        module, block = placed
        made = self._made.of(block, module)
        if not made:
            found: dict[int, None] = {}
            for need in self._needed(placed):
                for number in self._settled.get(need, ()):
                    found[number] = None
            made = list(found)
        if len(made) < 2:
            return tuple(made)
        return (self._joined(_name((module, block[1])), made),)

    def _joined(self, name: str, numbers: Iterable[int]) -> int:
        number = self._add(OperationKind.SETTLE, name)
        self._put_after(number, numbers)
        return number

    # -- ending -------------------------------------------------------------------------------

    def _order_ending(self) -> None:
        for block in dict.fromkeys((*self._ended, *self._ended_late, *self._made)):
            own = Endings(self._ended.inside(block), self._ended_late.inside(block))
            for need in self._needs_of(block):
                ends = Endings(self._ended.inside(need), self._ended_late.inside(need))
                if need != block and (ends.early or ends.late):
                    self._end_before(block, own, need, ends)

    def _shared_depth(self, path: ModuleAddr, need: Block) -> int:
        """Return the depth of the module instances within which a variant's blocks depend on each
        other: as deep as both are in the same instance, except for instances that may be called
        with each other.
        """
        depth = shared_depth(path, need[0])
        if not depth:
            return 0
        at = ancestor(path, depth)
        while at.parent is not None:
            if need in self._blocks.called_with(at):
                depth = at.depth - 1
            at = at.parent
        return depth

    def _stored_depth(self, block: Block, need: Block) -> int:
        """Return the depth of the module instances within which objects of a block depended on
        others: as deep as both were in the same instance when they were stored, and are now.
        """
        depth = self._shared_depth(block[0], need)
        if block in self._former or need in self._former:
            for path in self._former.get(block, (block[0],)):
                for other in self._former.get(need, (need[0],)):
                    depth = min(depth, shared_depth(path, other))
        return depth

    def _ended_inside(self, module: ModuleAddr, need: Block) -> list[int]:
        """Return the destroy operations of a dependency of something in a module instance."""
        path = self._blocks.variants.of(module)
        return self._ended.of(need, ancestor(module, self._shared_depth(path, need)))

    def _end_before(self, block: Block, own: Endings, need: Block, needed: Endings) -> None:
        """Destroy the objects of one block before those of another, in each module instance that they
        share.
        """
        depth = self._stored_depth(block, need)
        is_across = self._managers.get(block) != self._managers[need]
        is_declared = need in self._declared_needs(block)
        is_stored = need in self._needed_to_the_end(block)
        self._has_former_ends = self._has_former_ends or not is_declared
        for module in needed.modules(depth):
            is_needed = is_stored and self._is_needed_in(module, block, need)
            ends, before = needed.of(module), own.of(module) if is_needed else []
            if len(ends) > 1 and len(before) > 1:
                before = [self._joined(f"end of {_name(block)}", before)]
            for number in ends:
                self._put_after(number, before)
                if is_across:
                    self._across.append((number, before))
                if is_declared:
                    self._declared_ends.append((number, before, block, need))
            late = needed.late.get(module)
            if late and (made := self._made.of(block, module)):
                self._late.append((late, made))

    def _is_needed_in(self, module: ModuleAddr, block: Block, need: Block) -> bool:
        """Return whether a block depends on another in a module instance, unless the state says so
        for all instances.
        """
        holders = self._holders.get((block, need))
        return holders is None or any(ancestor(each, module.depth) == module for each in holders)

    def _needs_of(self, block: Block) -> Set[Block]:
        """The resource blocks that a block needed when it was stored, or needs now."""
        stored, declared = self._stored.get(block), self._declared_needs(block)
        return declared | stored if stored else declared

    def _needed_to_the_end(self, block: Block) -> Set[Block]:
        """The resource blocks that objects need which end. The state says so; where it was not
        brought up to date it may lack what the configuration says.
        """
        return self._stored.get(block, frozenset()) if self._is_renewed else self._needs_of(block)

    def _declared_needs(self, block: Block) -> Set[Block]:
        """The resource blocks that the configuration says a block needs."""
        if not self._blocks.is_resource(block):
            return frozenset()
        return self._blocks.resource_blocks_before(block)

    def _order_contrary_endings(self) -> None:
        """Give up an order among endings that only the configuration asks for where objects needed
        each other the other way round when they were stored.
        """
        # What is declared makes no circle by itself.
        if not self._has_former_ends:
            return
        circle = cycles(self._followers())
        contrary = [
            (number, each, block, need)
            for number, before, block, need in self._declared_ends
            for each in before
            if circle[each] == circle[number]
        ]
        state = self._plan.previous_state
        former = former_needs(state, self._moved, self._blocks) if contrary else {}
        for number, each, block, need in contrary:
            if need not in former.get(block, ()):
                self._after[number].pop(each, None)

    def _order_across_providers(self) -> None:
        """Give up an order among endings that makes a circle through a provider's configuration."""
        if not self._across:
            return
        circle = cycles(self._followers())
        for number, before in self._across:
            for each in before:
                if circle[each] == circle[number]:
                    self._after[number].pop(each, None)

    def _order_late_endings(self) -> None:
        """Keep what was replaced until what depends on it is done, wherever that is possible.

        It is not where that must itself wait for the old object to be gone, because something
        else that both need is destroyed before it is created again.
        """
        followers = self._followers()
        after_any = _reached(followers, self._ended.all() + self._ended_late.all())
        for late, made in self._late:
            if any(number in after_any for number in made):
                after = _reached(followers, late)
                made = [number for number in made if number not in after]
            for number in late:
                self._put_after(number, made)
                for each in made:
                    followers[each].append(number)

    def _followers(self) -> list[list[int]]:
        followers: list[list[int]] = [[] for _ in self._operations]
        for number, after in enumerate(self._after):
            for each in after:
                followers[each].append(number)
        return followers

    def _order_making_after_ending(self) -> None:
        """Let objects go before what needs or needed them, and what they needed, is made or changed,
        wherever that is possible.

        It is not where the object that goes must itself wait for something to be made.
        """
        if not self._made:
            return
        waiting = _reached(self._followers(), self._made.all())
        for block in self._made:
            for needed in self._needs_of(block):
                if needed in self._ended:
                    depth = self._stored_depth(block, needed)
                    modules = self._ended.modules(needed, depth)
                    where = [each for each in modules if self._is_needed_in(each, block, needed)]
                    self._make_after_end(block, needed, where, waiting)
        for block in self._ended:
            for needed in self._needed_to_the_end(block):
                if needed != block and needed in self._made:
                    depth = self._stored_depth(block, needed)
                    modules = self._ended.modules(block, depth)
                    where = [each for each in modules if self._is_needed_in(each, block, needed)]
                    self._make_after_end(needed, block, where, waiting)

    def _make_after_end(
        self, changed: Block, ended: Block, modules: Iterable[ModuleAddr], waiting: set[int]
    ) -> None:
        """Change what is of one block after the end of what is of another, in module instances."""
        for module in modules:
            gone = [each for each in self._ended.of(ended, module) if each not in waiting]
            numbers = [
                each
                for each in self._made.of(changed, module)
                if self._operations[each][0] is not OperationKind.CHECK
            ]
            if len(gone) > 1 and len(numbers) > 1:
                gone = [self._joined(f"end of {_name(ended)}", gone)]
            for number in numbers:
                self._put_after(number, gone)

    # -- providers ----------------------------------------------------------------------------

    def _order_providers(self, changes: list[Change]) -> None:
        by_object = {(str(each.address), each.deposed): [each.provider] for each in changes}
        for opened in self._ephemeral.values():
            by_object[str(opened.address), ""] = [opened.provider]
        for action in self._plan.invocations:
            # Actions run as a part of the operation that triggers them.
            subject = action.address if action.trigger is None else action.caller
            by_object.setdefault((str(subject), ""), []).append(action.provider)
        for number, (kind, address, deposed) in enumerate(list(self._operations)):
            if kind in (OperationKind.SETTLE, OperationKind.FORGET, OperationKind.CHECK):
                continue
            for provider in by_object[address, "" if deposed == REPLACED else deposed]:
                text = str(provider)
                if text not in self._open:
                    self._open_provider(provider)
                self._put_after(number, (self._open[text],))
                self._put_after(self._close[text], (number,))

    def _open_provider(self, provider: AbsProviderInstance) -> None:
        text = str(provider)
        opening = self._open[text] = self._add(OperationKind.OPEN, text)
        closing = self._close[text] = self._add(OperationKind.CLOSE, text)
        self._put_after(closing, (opening,))
        block = self._provider_of(provider)
        self._put_after(opening, self._before((provider.module, block)))
        for needed in self._blocks.resource_blocks_before(block):
            if needed not in self._made:
                for number in self._ended_inside(provider.module, needed):
                    self._put_after(number, (closing,))

    def _provider_of(self, provider: AbsProviderInstance) -> Block:
        return self._blocks.provider_block(Abs(provider.module, provider.item.config))

    # -- what comes last ----------------------------------------------------------------------

    def _order_checks(self) -> None:
        """Read the data sources of checks when all else has been made."""
        checks = [block for block in self._made if self._blocks.is_in_check(block)]
        if not checks:
            return
        reading = {number for block in checks for number in self._made.of(block)}
        after = _reached(self._followers(), list(reading))
        others = [
            number
            for number, (kind, _, _) in enumerate(self._operations)
            if kind in _MAKING_KINDS and number not in after
        ]
        if others:
            done = self._joined("all that is made", others)
            for number in reading:
                self._put_after(number, (done,))

    def _order_closing(self) -> None:
        """Close each ephemeral object after its last use, and its provider after that."""
        for opening, each in self._ephemeral.items():
            text = str(each.address)
            self._close[text] = closing = self._add(OperationKind.CLOSE, text)
            self._put_after(closing, (opening,))
            self._put_after(self._close[str(each.provider)], (closing,))
        followers = self._followers()
        for opening, each in self._ephemeral.items():
            closing = self._close[str(each.address)]
            for user in self._users(opening, followers):
                kind, address, _ = self._operations[user]
                last = self._close[address] if kind is OperationKind.OPEN else user
                self._put_after(closing, (last,))
        if self._plan.mode is PlanMode.DESTROY:
            self._order_ending_after_closing()

    def _order_ending_after_closing(self) -> None:
        """Let what an ephemeral object was opened with go only when it is closed."""
        for each in self._ephemeral.values():
            for needed in self._blocks.resource_blocks_before(self._block_of(each)):
                for number in self._ended.of(needed) + self._ended_late.of(needed):
                    self._put_after(number, (self._close[str(each.address)],))

    def _users(self, opening: int, followers: list[list[int]]) -> set[int]:
        """The operations that use what an operation has opened."""
        found: set[int] = set()
        pending = list(followers[opening])
        while pending:
            number = pending.pop()
            if number in found:
                continue
            kind = self._operations[number][0]
            if kind is OperationKind.SETTLE:
                pending.extend(followers[number])
            if kind not in _ENDING_KINDS:
                found.add(number)
        return found


def _reached(followers: list[list[int]], start: list[int]) -> set[int]:
    """These operations and all that come after them."""
    pending = list(start)
    found = set(start)
    while pending:
        for number in followers[pending.pop()]:
            if number not in found:
                found.add(number)
                pending.append(number)
    return found


def _name(block: Block) -> str:
    path, name = block
    return f"{path}.{name}" if path.text else name
