"""Locations of states that `init` has set up for a directory, so that nothing acts in another one.

A location is a backend with its arguments, and a workspace in it. OpenTofu's file in the data
directory has the one of the last init only; all of them are listed in a file beside it, by digests
and without credentials. Where that file is missing, or OpenTofu has set up another backend since, the
location in OpenTofu's file is the only one, in whatever workspace.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from nigari.backends.backend_address import location_arguments, location_text
from nigari.eval.core.instances import Origin
from nigari.eval.core.scope import nodes_of
from nigari.eval.core.worklist import Node
from nigari.eval.nodes.variable import RootVariable
from nigari.eval.static.backend import BackendArguments
from nigari.hcl.scanner import scan_expression
from nigari.packages.content.whole_file import make_directories, write_whole
from nigari.record import record, replace
from nigari.workspace.states.backend import DEFAULT_BACKEND, GivenArgument, SavedBackend

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final


FILE_NAME: Final = "nigari.backend.json"


@record
class Location:
    """A backend with arguments that were set up."""

    digest: str
    text: str
    """The backend and its arguments, for people."""
    workspaces: tuple[str, ...] = ()
    """The workspaces that were set up in it; empty where that is not known."""

    def has(self, workspace: str) -> bool:
        """Return whether a workspace in it was set up."""
        return not self.workspaces or workspace in self.workspaces


@record
class Locations:
    """The locations of a directory, with what the last init knew of the configuration."""

    all: tuple[Location, ...] = ()
    last: str = ""
    """The digest of the location that OpenTofu's file has; empty where there is no such file."""
    written: str = ""
    """A digest of what the configuration said about the backend."""
    overridden: tuple[str, ...] = ()
    """The arguments whose values are not those of the configuration: they were given to init."""

    def find(self, backend: SavedBackend | None) -> Location | None:
        """The location of a backend, if it was set up; None stands for the usual local file."""
        digest = location_digest(backend)
        return next((each for each in self.all if each.digest == digest), None)

    def workspaces(self) -> list[str]:
        """The names of all workspaces that were set up in some location."""
        return list(dict.fromkeys(name for each in self.all for name in each.workspaces))

    def adding(self, backend: SavedBackend | None, workspace: str) -> Locations:
        """Them with another location, or another workspace of one that is known."""
        known = self.find(backend)
        others = [each for each in self.all if each is not known]
        if known is None:
            place = backend or DEFAULT_BACKEND
            text = location_text(place.type, place.config)
            known = Location(location_digest(backend), text, (workspace,))
        elif not known.has(workspace):
            known = replace(known, workspaces=(*known.workspaces, workspace))
        return replace(self, all=(*others, known))

    def without(self, backend: SavedBackend | None) -> Locations:
        """Them without a location that the states were moved away from."""
        digest = location_digest(backend)
        return replace(self, all=tuple(each for each in self.all if each.digest != digest))

    def without_workspace(self, backend: SavedBackend | None, name: str) -> Locations:
        """Them without a workspace of a location, and without the location if it was the last."""
        known = self.find(backend)
        if known is None or name not in known.workspaces:
            return self
        left = tuple(each for each in known.workspaces if each != name)
        others = tuple(each for each in self.all if each is not known)
        return replace(self, all=(*others, replace(known, workspaces=left)) if left else others)


def location_digest(backend: SavedBackend | None) -> str:
    """Return a digest of a location; None stands for the default local file."""
    place = backend or DEFAULT_BACKEND
    return _digest([place.type, json.dumps(location_arguments(place.config), sort_keys=True)])


def load_locations(data: Path, saved: SavedBackend | None) -> Locations:
    """The locations of a directory in whose OpenTofu file a backend is, or none."""
    last = "" if saved is None else location_digest(saved)
    try:
        found = json.loads((data / FILE_NAME).read_bytes())
        if "locations" not in found:
            return _of_earlier_version(found, saved, last)
        if found["last"] != last:
            return _only(saved, last)
        return Locations(
            tuple(
                Location(
                    str(each["digest"]),
                    str(each["text"]),
                    _texts(each["workspaces"]),
                )
                for each in found["locations"]
            ),
            last,
            str(found["written"]),
            _texts(found["overridden"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return _only(saved, last)


def _texts(found: object) -> tuple[str, ...]:
    if not isinstance(found, list):
        raise TypeError
    return tuple(map(str, found))


def _only(saved: SavedBackend | None, last: str) -> Locations:
    if saved is None:
        return Locations()
    return Locations((Location(last, location_text(saved.type, saved.config)),), last)


def _of_earlier_version(
    found: dict[str, object], saved: SavedBackend | None, last: str
) -> Locations:
    """The location of the only backend that earlier versions of Nigari remember."""
    known = _only(saved, last)
    if saved is None or found["backend"] != _digest([json.dumps(saved.to_data(), sort_keys=True)]):
        return known
    overridden = found["overridden"]
    names = tuple(map(str, overridden)) if isinstance(overridden, list) else ()
    return replace(known, written=str(found["text"]), overridden=names)


def save_locations(data: Path, locations: Locations) -> None:
    """Remember them, if anything has changed. An `OSError` says why that cannot be."""
    path = data / FILE_NAME
    if not locations.all:
        path.unlink(missing_ok=True)
        return
    document = {
        "last": locations.last,
        "written": locations.written,
        "overridden": sorted(locations.overridden),
        "locations": [
            {
                "digest": each.digest,
                "text": each.text,
                "workspaces": list(each.workspaces),
            }
            for each in locations.all
        ],
    }
    text = f"{json.dumps(document, indent=2)}\n".encode()
    if not path.is_file() or path.read_bytes() != text:
        make_directories(data)
        write_whole(path, text)


# -- what a configuration says ----------------------------------------------------------------


def written_digest(arguments: BackendArguments, settings: Mapping[str, GivenArgument]) -> str:
    """Digest the arguments as they are written, with everything they refer to but variables, and
    without their layout. The settings are those of an environment or a fleet that the command line
    of init has overridden: what it said must not outlive another value of theirs.
    """
    from nigari.cty.json import value_to_json

    texts, seen = [arguments.type], set[Node]()
    for setting in sorted(settings):
        value = settings[setting].value.unmark_deep()[0]
        if value.is_wholly_known:
            texts += [setting, value_to_json(value, value.type)]
    pending: list[tuple[str, Origin]] = [
        (name, place.origin) for name, place in sorted(arguments.places.items(), reverse=True)
    ]
    while pending:
        name, place = pending.pop()
        expr = place.compiled.expr
        texts += [name, *scan_expression(expr.source.text[expr.start : expr.end]).texts]
        for reference in place.compiled.references:
            for node in nodes_of(place.frame, reference):
                if isinstance(node, RootVariable) or node in seen:
                    continue
                seen.add(node)
                further = node.origin()
                if further is not None:
                    pending.append((node.label, further))
    return _digest(texts)


def _digest(texts: list[str]) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
