"""Units that were applied from this directory: what has to be known of one that is not declared any
more.

    .nigari/fleet/units.json    where each unit is, and what it needed

Such a unit is an orphan as long as its state has objects. Values of variables are not in the file: a
unit's own journal has those that are not secret. States are known by a digest, since addresses may
have passwords in them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from nigari.backends.backend_address import StateIdentity
from nigari.diagnostics import Diagnostics
from nigari.fleet.units.graph_loader import DATA_VARIABLE, Survey
from nigari.fleet.units.patterns import path_matcher
from nigari.fleet.units.unit import Unit, fleet_directory
from nigari.packages.content.whole_file import write_whole
from nigari.record import record

_FILE: Final = "units.json"
_FORMAT: Final = 1
_TEXTS: Final = ("directory", "workspace", "environment", "data", "state")
_LISTS: Final = ("var_files", "variables", "env", "needs")


@record
class KnownUnit:
    """A unit as it was when it was applied last."""

    name: str
    directory: str
    workspace: str
    """Empty for the selected one of its directory."""
    environment: str
    data: str
    """Its data directory, if that is not the usual one."""
    state: str
    """A digest of where its state is; empty where that was not known."""
    var_files: tuple[str, ...]
    """As paths from the root of the fleet."""
    variables: tuple[str, ...]
    """The names of the variables that `fleet.hcl` gave it."""
    env: tuple[str, ...]
    """The names of the environment variables that it had."""
    needs: tuple[str, ...]


def known_file(root: str) -> str:
    """The path at which a fleet remembers its units."""
    return os.path.join(fleet_directory(root), _FILE)


def read_known(root: str, diags: Diagnostics) -> dict[str, KnownUnit] | None:
    """The units that are remembered; None after reporting that the file cannot be used."""
    path = known_file(root)
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read())
        return {name: _known(name, each) for name, each in data["units"].items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        diags.error(
            "Damaged list of units",
            f"{path}, which lists the units that were applied, cannot be used: {error}. Without it, "
            "units that are not declared any more are not known. Restore it; or remove it, if no "
            "unit has been taken out of the fleet since the last apply.",
        )
        return None


def _known(name: str, data: Mapping[str, object]) -> KnownUnit:
    texts = [data[each] for each in _TEXTS]
    lists = [data[each] for each in _LISTS]
    if not all(isinstance(each, str) for each in (name, *texts)):
        raise ValueError("a text in it is missing")
    found: list[tuple[str, ...]] = []
    for each in lists:
        if not isinstance(each, list) or not all(isinstance(one, str) for one in each):
            raise ValueError("a list in it is missing")
        found.append(tuple(each))
    directory, workspace, environment, place, state = map(str, texts)
    var_files, variables, env, needs = found
    return KnownUnit(
        name=name,
        directory=directory,
        workspace=workspace,
        environment=environment,
        data=place,
        state=state,
        var_files=var_files,
        variables=variables,
        env=env,
        needs=needs,
    )


def remember_units(
    found: Survey,
    known: Mapping[str, KnownUnit],
    names: Collection[str],
    gone: Collection[str] = (),
) -> None:
    """Remember these units as they are now, and forget others whose objects are gone. An `OSError`
    says why that cannot be written.
    """
    kept = {name: each for name, each in known.items() if name not in gone}
    kept.update({name: _as_known(found, name) for name in names})
    if kept == known:
        return
    units = {
        each.name: {
            **{name: getattr(each, name) for name in _TEXTS},
            **{name: list(getattr(each, name)) for name in _LISTS},
        }
        for each in kept.values()
    }
    text = json.dumps({"format": _FORMAT, "units": units}, indent=1)
    write_whole(known_file(found.root), f"{text}\n".encode())


def _as_known(found: Survey, name: str) -> KnownUnit:
    unit, state = found.units[name], found.graph.states.get(name)
    own = dict(unit.environ)
    return KnownUnit(
        name=name,
        directory=unit.directory,
        workspace=unit.workspace or "",
        environment=unit.environment_name,
        data=own.pop(DATA_VARIABLE, ""),
        state="" if state is None else _digest(state),
        var_files=tuple(os.path.relpath(each, found.root) for each in unit.var_files),
        variables=tuple(sorted(found.definition.values.variables(name, {}, Diagnostics()).values)),
        env=tuple(sorted(own)),
        needs=found.graph.needs[name],
    )


def _digest(state: StateIdentity) -> str:
    text = json.dumps([state.backend, state.address, state.workspace])
    return hashlib.sha256(text.encode()).hexdigest()


def undeclared(found: Survey, known: Mapping[str, KnownUnit]) -> list[KnownUnit]:
    """The units that are remembered and that the fleet does not have any more, neither by another
    name nor on purpose.
    """
    states = {_digest(each) for each in found.graph.states.values()}
    excluded = path_matcher(found.definition.exclude)
    return [
        each
        for name, each in known.items()
        if name not in found.units
        and each.state not in states
        and not excluded.fullmatch(each.directory)
    ]


def as_unit(root: str, known: KnownUnit, more_files: Sequence[str] = ()) -> Unit:
    """A unit that was declared once, to be worked with as it was then."""
    return Unit(
        known.name,
        known.directory,
        os.path.normpath(os.path.join(root, known.directory)),
        known.workspace or None,
        (*(os.path.normpath(os.path.join(root, each)) for each in known.var_files), *more_files),
        environ=((DATA_VARIABLE, known.data),) if known.data else (),
        environment_name=known.environment,
        fleet_data=fleet_directory(root),
    )
