"""Names of workspaces: those of an organization that belong to a configuration, and their names here.

There are three ways: one workspace by its name, all whose names begin with a prefix, and all that
have certain tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from nigari.backends.protocol import DEFAULT_WORKSPACE
from nigari.record import record
from nigari.typed import Protocol

_NO_DEFAULT = (
    f'There is no workspace "{DEFAULT_WORKSPACE}" with this backend. Choose another one with '
    '"nigari workspace select", or create one with "nigari workspace new".'
)


class WorkspaceMapping(Protocol):
    """The rule that finds workspaces."""

    @property
    def only(self) -> str:
        """The name here of the only one; empty if there can be several."""
        ...

    @property
    def query(self) -> Mapping[str, str]:
        """The query that lists them."""
        ...

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of each of them."""
        ...

    def objection(self, workspace: str) -> str:
        """The reason for which there cannot be a workspace of this name; empty if there can."""
        ...

    def hosted(self, workspace: str) -> str:
        """The name that a workspace has in the organization."""
        ...

    def local(self, hosted: str) -> str | None:
        """The name that a workspace of the organization has here; None if it does not belong."""
        ...


@record
class ByName:
    """One workspace."""

    name: str
    is_default: bool
    """True if the workspace is called `default` here. Otherwise it keeps its own name."""
    query: Mapping[str, str] = MappingProxyType({})
    tags: tuple[str, ...] = ()

    @property
    def only(self) -> str:
        return DEFAULT_WORKSPACE if self.is_default else self.name

    def objection(self, workspace: str) -> str:
        if workspace == self.only:
            return ""
        return (
            f'The configuration names one workspace only, "{self.name}". Use "{self.only}", or '
            "let the block workspaces select several."
        )

    def hosted(self, workspace: str) -> str:
        return self.name

    def local(self, hosted: str) -> str | None:
        return self.only if hosted == self.name else None


@record
class ByPrefix:
    """All whose names begin alike; here they have the rest of the name."""

    prefix: str
    only: str = ""
    tags: tuple[str, ...] = ()

    @property
    def query(self) -> Mapping[str, str]:
        return {"search[name]": self.prefix}

    def objection(self, workspace: str) -> str:
        return _NO_DEFAULT if workspace == DEFAULT_WORKSPACE else ""

    def hosted(self, workspace: str) -> str:
        return workspace if workspace.startswith(self.prefix) else f"{self.prefix}{workspace}"

    def local(self, hosted: str) -> str | None:
        return hosted.removeprefix(self.prefix) if hosted.startswith(self.prefix) else None


@record
class ByTags:
    """All that have certain tags."""

    tags: tuple[str, ...]
    only: str = ""

    @property
    def query(self) -> Mapping[str, str]:
        return {"search[tags]": ",".join(self.tags)}

    def objection(self, workspace: str) -> str:
        return _NO_DEFAULT if workspace == DEFAULT_WORKSPACE else ""

    def hosted(self, workspace: str) -> str:
        return workspace

    def local(self, hosted: str) -> str | None:
        return hosted
