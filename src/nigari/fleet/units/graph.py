"""The graph of a fleet: which unit needs which, found by evaluation.

A unit that reads the state that another one writes needs that one. So does a unit whose variables
are given another's outputs, and one that says so. What is wrong with all that is named with where
it is written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import Enum

from nigari.backends.backend_address import StateIdentity
from nigari.diagnostics import Cause, Diagnostic, Diagnostics, Range, Severity
from nigari.fleet.units.inspection import Inspection
from nigari.fleet.units.unit import Unit, path_from_root
from nigari.hcl.suggestion import listed
from nigari.record import record, replace


class EdgeReason(Enum):
    """The reason of a dependency between units."""

    REMOTE_STATE = "remote state"
    OUTPUTS = "outputs"
    DEPENDS_ON = "depends_on"


@record
class Edge:
    """A unit needs another one."""

    unit: str
    needs: str
    reason: EdgeReason
    address: str
    """The dependant: the address of a data source, or the argument of `fleet.hcl`."""
    range: Range | None


@record
class ForeignState:
    """A state that a unit reads and that no unit writes, or whose unit is not known."""

    unit: str
    address: str
    range: Range | None
    state: str
    """The state as it is described; empty where that cannot be worked out."""
    why: str = ""


@record
class SharedState:
    """A state that several units would write."""

    state: StateIdentity
    units: tuple[str, ...]
    range: Range | None
    """The range of the declaration of one of the units, if any is declared."""

    def diagnostic(self, severity: Severity) -> Diagnostic:
        """Explain what would happen to the state."""
        names = listed(self.units)
        what_to_do = (
            "Give them different workspaces, or let an argument of the backend depend on a variable "
            "that differs"
        )
        if severity is Severity.ERROR:
            what_to_do += "; or leave all but one of them out, for example with -except"
        return Diagnostic(
            severity,
            "Two units with the same state",
            f"{names} would write the same state, in the {self.state}: each would destroy what "
            f"another has created. {what_to_do}.",
            self.range,
        )


@record
class Graph:
    """Units and what they need."""

    units: Mapping[str, Unit]
    edges: tuple[Edge, ...]
    foreign: tuple[ForeignState, ...]
    cycles: tuple[tuple[str, ...], ...]
    states: Mapping[str, StateIdentity]
    """The state that each unit writes, where that is known."""
    needs: Mapping[str, tuple[str, ...]]
    """The units that each unit needs directly."""
    needed_by: Mapping[str, tuple[str, ...]]
    edges_of: Mapping[str, tuple[Edge, ...]]
    """The edges of each unit that needs any."""
    shared: tuple[SharedState, ...] = ()
    """The states that more than one unit would write."""

    def conflicts(self, names: Iterable[str]) -> list[Diagnostic]:
        """The reason for which these units cannot be planned or applied together: some would write
        one state.
        """
        chosen = set(names)
        met = (replace(each, units=_among(each.units, chosen)) for each in self.shared)
        return [each.diagnostic(Severity.ERROR) for each in met if len(each.units) > 1]

    def warnings(self, names: Iterable[str]) -> list[Diagnostic]:
        """Warn about states that one of these units shares with another one."""
        chosen = set(names)
        return [
            each.diagnostic(Severity.WARNING)
            for each in self.shared
            if not chosen.isdisjoint(each.units)
        ]

    def layers(self) -> list[list[str]]:
        """The units in groups, each after everything that it needs; those in cycles are left out."""
        waiting = {name: len(found) for name, found in self.needs.items()}
        layer = [name for name, count in waiting.items() if count == 0]
        found: list[list[str]] = []
        while layer:
            found.append(layer)
            following: list[str] = []
            for name in layer:
                for user in self.needed_by[name]:
                    waiting[user] -= 1
                    if waiting[user] == 0:
                        following.append(user)
            layer = following
        return found

    def closure(self, names: Iterable[str], is_upward: bool) -> set[str]:
        """These units with all that they need, or, downward, with all that needs them."""
        following = self.needs if is_upward else self.needed_by
        found = set(names)
        pending = list(found)
        while pending:
            for each in following[pending.pop()]:
                if each not in found:
                    found.add(each)
                    pending.append(each)
        return found

    def reads(self, name: str) -> list[str]:
        """The units whose states a unit reads."""
        edges = self.edges_of.get(name, ())
        return list(
            dict.fromkeys(each.needs for each in edges if each.reason is EdgeReason.REMOTE_STATE)
        )


def build_graph(
    units: Sequence[Unit],
    inspections: Mapping[str, Inspection],
    declared: Mapping[str, Mapping[str, tuple[str, Range]]],
    diags: Diagnostics,
) -> Graph:
    """The graph of units, with what `fleet.hcl` says of their needs; what is wrong is reported."""
    writers = _writers(units, inspections)
    edges: list[Edge] = []
    foreign: list[ForeignState] = []
    for unit in units:
        for name, (why, place) in declared.get(unit.name, {}).items():
            reason = EdgeReason(why)
            what = f"outputs of {name}" if reason is EdgeReason.OUTPUTS else why
            edges.append(Edge(unit.name, name, reason, what, place))
        for read in inspections[unit.name].reads:
            place = replace(read.range, filename=path_from_root(read.range.filename, unit))
            found = [] if read.identity is None else writers.get(read.identity, [])
            if not found:
                state = "" if read.identity is None else str(read.identity)
                foreign.append(ForeignState(unit.name, read.address, place, state, read.why))
            elif unit not in found:
                writer = found[0].name
                edges.append(Edge(unit.name, writer, EdgeReason.REMOTE_STATE, read.address, place))
    needs: dict[str, dict[str, None]] = {unit.name: {} for unit in units}
    needed_by: dict[str, dict[str, None]] = {unit.name: {} for unit in units}
    edges_of: dict[str, list[Edge]] = {}
    for edge in edges:
        needs[edge.unit][edge.needs] = None
        needed_by[edge.needs][edge.unit] = None
        edges_of.setdefault(edge.unit, []).append(edge)
    cycles = _cycles({name: tuple(found) for name, found in needs.items()})
    for cycle in cycles:
        _report_cycle(cycle, edges, diags)
    states = {name: found.state for name, found in inspections.items() if found.state is not None}
    return Graph(
        units={unit.name: unit for unit in units},
        edges=tuple(edges),
        foreign=tuple(foreign),
        cycles=tuple(cycles),
        states=states,
        needs={name: tuple(found) for name, found in needs.items()},
        needed_by={name: tuple(found) for name, found in needed_by.items()},
        edges_of={name: tuple(found) for name, found in edges_of.items()},
        shared=tuple(_shared(state, found) for state, found in writers.items() if len(found) > 1),
    )


def _writers(
    units: Sequence[Unit], inspections: Mapping[str, Inspection]
) -> dict[StateIdentity, list[Unit]]:
    """The units that would write each state that is known."""
    found: dict[StateIdentity, list[Unit]] = {}
    for unit in units:
        state = inspections[unit.name].state
        if state is not None:
            found.setdefault(state, []).append(unit)
    return found


def _shared(state: StateIdentity, units: Sequence[Unit]) -> SharedState:
    place = next((each.range for each in reversed(units) if each.range is not None), None)
    return SharedState(state, tuple(each.name for each in units), place)


def _among(names: Sequence[str], chosen: Collection[str]) -> tuple[str, ...]:
    return tuple(each for each in names if each in chosen)


def _cycles(needs: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """One way around for each group of units that need each other."""
    waiting = {name: len(found) for name, found in needs.items()}
    users: dict[str, list[str]] = {name: [] for name in needs}
    for name, found in needs.items():
        for each in found:
            users[each].append(name)
    done = [name for name, count in waiting.items() if count == 0]
    for name in done:
        for user in users[name]:
            waiting[user] -= 1
            if waiting[user] == 0:
                done.append(user)
    left = set(needs).difference(done)
    found_cycles: list[tuple[str, ...]] = []
    seen: set[str] = set()
    for start in needs:
        # Whatever is left needs something that is left, so that every way leads into a cycle.
        way: list[str] = []
        position: dict[str, int] = {}
        name = start
        while name in left and name not in seen and name not in position:
            position[name] = len(way)
            way.append(name)
            name = next(each for each in needs[name] if each in left)
        if name in position:
            found_cycles.append(tuple(way[position[name] :]))
        seen.update(way)
    return found_cycles


def _report_cycle(cycle: Sequence[str], edges: Sequence[Edge], diags: Diagnostics) -> None:
    pairs = set(zip(cycle, (*cycle[1:], cycle[0]), strict=True))
    found = {(edge.unit, edge.needs): edge for edge in reversed(edges)}
    places = [found[pair] for pair in pairs if pair in found]
    places.sort(key=lambda edge: cycle.index(edge.unit))
    diags.error(
        "Units depend on each other",
        f"There is no order for these units: {' → '.join([*cycle, cycle[0]])}. Remove one of the "
        "dependencies.",
        places[0].range if places else None,
        causes=tuple(
            Cause(f"{each.unit} needs {each.needs}: {each.address}", each.range) for each in places
        ),
    )
