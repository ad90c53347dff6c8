"""`removed` blocks: what is no longer declared, and whether it is destroyed or only forgotten.

A block counts for all instances of the module that it is in. Where several name the same thing,
the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nigari.addrs.absolute import Abs, AbsResource, AbsResourceInstance
from nigari.addrs.module import ModuleAddr
from nigari.addrs.parse import parse_remove_endpoint
from nigari.config.blocks.provisioner import Provisioner
from nigari.config.blocks.removed import Removed
from nigari.diagnostics import Diagnostics
from nigari.eval.base.instances import Frame
from nigari.eval.nodes.validated_provisioner import report_provisioner
from nigari.eval.static.run import StaticRun
from nigari.record import record
from nigari.schema.provisioners import PROVISIONERS


@record
class RemoveStatement:
    """What one `removed` block says."""

    place: ModuleAddr | AbsResource
    """Without keys."""
    destroys: bool
    provisioners: tuple[Provisioner, ...]
    module: ModuleAddr
    """Where the block is, without keys."""

    def covers(self, address: AbsResourceInstance) -> bool:
        """Whether it is about a resource instance."""
        module = address.module.unkeyed
        if isinstance(self.place, ModuleAddr):
            return module.is_inside(self.place)
        return self.place.module == module and self.place.item == address.item.resource


def remove_statements(static: StaticRun, diags: Diagnostics) -> tuple[RemoveStatement, ...]:
    """Everything that `removed` blocks say."""
    found: list[RemoveStatement] = []
    modules: dict[ModuleAddr, Frame] = {}
    for frame in static.frames():
        modules.setdefault(frame.instance.addr.unkeyed, frame)
    for path, frame in modules.items():
        for removed in frame.module.removed:
            endpoint = parse_remove_endpoint(removed.source.shape, diags)
            if endpoint is not None:
                place = _under(path, endpoint.subject)
                destroys = static.removed[frame, removed].destroys
                found.append(RemoveStatement(place, destroys, removed.provisioners, path))
                _check_gone(modules, place, removed, diags)
            for provisioner in removed.provisioners:
                if provisioner.type not in PROVISIONERS:
                    report_provisioner(provisioner, diags)
    return tuple(found)


def statement_for(
    statements: Iterable[RemoveStatement], address: AbsResourceInstance
) -> RemoveStatement | None:
    """The statement that counts for a resource instance."""
    found: RemoveStatement | None = None
    for statement in statements:
        if statement.covers(address):
            found = statement
    return found


def _under(module: ModuleAddr, subject: ModuleAddr | AbsResource) -> ModuleAddr | AbsResource:
    steps = subject.steps if isinstance(subject, ModuleAddr) else subject.module.steps
    for name, _ in steps:
        module = module.child(name)
    return module if isinstance(subject, ModuleAddr) else Abs(module, subject.item)


def _check_gone(
    modules: Mapping[ModuleAddr, Frame],
    place: ModuleAddr | AbsResource,
    removed: Removed,
    diags: Diagnostics,
) -> None:
    """Report what is said to be removed and is still declared."""
    frame = modules.get(place if isinstance(place, ModuleAddr) else place.module)
    if frame is None or (
        not isinstance(place, ModuleAddr) and place.item not in frame.module.resources
    ):
        return
    diags.error(
        "Removed and still declared",
        f"This block says that {place} is removed, but the configuration still declares it. "
        "Remove either the declaration or this block.",
        removed.range,
    )
