"""Everything that is known while files are edited: the project, evaluated root modules, schemas.

What is here is replaced as a whole when something newer is known, and never worked out here.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from nigari.addrs.provider import Provider, implied_provider
from nigari.config.file_names import config_files
from nigari.config.merge import merge_files
from nigari.config.module import Module, decode_module
from nigari.diagnostics import Diagnostics
from nigari.hcl.body import Body
from nigari.language.document import Document, Kind, kind_of
from nigari.language.evaluation import Evaluation
from nigari.language.project import Project
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final, TypeVar

    from nigari.config.blocks.variable import Variable
    from nigari.eval.core.instances import Frame
    from nigari.schema.provider import ProviderSchema

    K = TypeVar("K")
    V = TypeVar("V")


@record
class KnownProvider:
    """What is known of a provider in a root module without asking it."""

    locked: str = ""
    """The version in the lock file."""
    schema: ProviderSchema | None = None
    """The schema of another version, if this one is not installed. It has names to offer, and is not
    good enough to validate with.
    """
    version: str = ""
    """The version of that schema."""


_Contents = tuple[tuple[str, object], ...]
"""The files of a module, each with what tells its content from an earlier one."""
_MOST_EVALUATIONS: Final = 8
"""The most evaluated root modules that are cached: each has its whole tree."""


class Workbench:
    """A project with the root modules that have been evaluated."""

    def __init__(self) -> None:
        self.project: Project = Project(())
        self.evaluations: dict[str, Evaluation] = {}
        """The root modules that were evaluated last, by directory; the newest last."""
        self.schemas: dict[str, dict[Provider, ProviderSchema]] = {}
        """The schemas of providers, by root module."""
        self.known_providers: dict[str, dict[Provider, KnownProvider]] = {}
        """Locked versions and schemas of other versions, by root module."""
        self._modules: dict[str, tuple[_Contents, Module | None, list[Document | None]]] = {}
        self._parts: dict[str, tuple[Document, Module]] = {}
        """The declarations of each file by itself, by path."""

    def adopt(self, evaluation: Evaluation) -> None:
        """Take over a root module that was evaluated."""
        self.evaluations.pop(evaluation.root, None)
        self.evaluations[evaluation.root] = evaluation
        self.project.resolve(evaluation.root, evaluation.calls)
        for root in [*self.evaluations][:-_MOST_EVALUATIONS]:
            self._forget(root)

    def prune(self) -> None:
        """Forget evaluated modules that are no root modules any more, since something calls them."""
        for root in [*self.evaluations]:
            if self.project.callers(root):
                self._forget(root)

    def _forget(self, root: str) -> None:
        del self.evaluations[root]
        self.project.resolve(root, None)

    def evaluations_of(self, directory: str) -> Sequence[Evaluation]:
        """The evaluated root modules that a module is part of, the newest first."""
        return [each for each in reversed(self.evaluations.values()) if directory in each.modules]

    def frames(self, directory: str) -> list[tuple[Evaluation, Frame]]:
        """The instances of a module, in all root modules that have been evaluated."""
        return [
            (evaluation, frame)
            for evaluation in self.evaluations_of(directory)
            for frame in evaluation.modules[directory]
        ]

    def module(self, directory: str) -> Module | None:
        """The current declarations of a module's files; None if there are none."""
        paths = [
            each.path
            for each in self.project.files_of(directory)
            if kind_of(each.path) is Kind.CONFIGURATION
        ]
        opened = [self.project.documents.get(each) for each in paths]
        key = tuple(
            (path, self.project.stamp(path) if document is None else id(document))
            for path, document in zip(paths, opened, strict=True)
        )
        known = self._modules.get(directory)
        if known is None or known[0] != key:
            # Of the files on disk, those that have not changed are not parsed again.
            read = {} if known is None else dict(zip(known[0], known[2], strict=True))
            documents = [
                read.get(each) or self.project.document(path)
                for each, path in zip(key, paths, strict=True)
            ]
            found = [each for each in documents if each is not None]
            module = self._declared(directory, found) if found else None
            # Documents are retained so that no other one gets the identity of one of them.
            known = self._modules[directory] = key, module, documents
        return known[1]

    def _declared(self, directory: str, documents: Sequence[Document]) -> Module:
        """Return the declarations of some files together. Each file is decoded once, so an edit of one
        costs no more than that one; where some override others, all of them are.
        """
        if config_files([os.path.basename(each.path) for each in documents])[1]:
            return _decoded(directory, documents)
        parts: list[Module] = []
        for document in documents:
            known = self._parts.get(document.path)
            if known is None or known[0] is not document:
                known = self._parts[document.path] = document, _decoded(directory, [document])
            parts.append(known[1])
        return parts[0] if len(parts) == 1 else _joined(directory, parts)

    def variables(self, directory: str) -> Mapping[str, Variable] | None:
        """The variables that a module declares; None where there are no files."""
        module = self.module(directory)
        return None if module is None else module.variables

    def provider(self, directory: str, name: str) -> Provider | None:
        """The provider that a local name means in a module."""
        for _, frame in self.frames(directory):
            return frame.module.provider(name)
        module = self.module(directory)
        return implied_provider(name) if module is None else module.provider(name)

    def offered(self, directory: str, provider: Provider) -> ProviderSchema | None:
        """The schema of a provider for a module: in the version of its root module, else of another
        one, else the nearest that is cached.
        """
        if provider.is_builtin:
            from nigari.providers.builtin.schema import SCHEMA

            return SCHEMA
        roots = self._roots(directory)
        for root in dict.fromkeys((*roots, *self.schemas)):
            found = self.schemas.get(root, {}).get(provider)
            if found is not None:
                return found
        known = self.known_provider(directory, provider)
        return None if known is None else known.schema

    def known_provider(self, directory: str, provider: Provider) -> KnownProvider | None:
        """The version of a provider that is locked for a module, and the schema that stands in."""
        for root in dict.fromkeys((*self._roots(directory), *self.known_providers)):
            found = self.known_providers.get(root, {}).get(provider)
            if found is not None:
                return found
        return None

    def _roots(self, directory: str) -> Sequence[str]:
        """The root modules of a module, and itself."""
        return (*(each.root for each in self.evaluations_of(directory)), directory)


def _decoded(directory: str, documents: Sequence[Document]) -> Module:
    """The declarations of some files together, from the trees that they have already."""
    by_name = {os.path.basename(each.path): each for each in documents}
    primary, override = config_files([*by_name])
    diags = Diagnostics()
    first, second = ([_body(by_name[name]) for name in names] for names in (primary, override))
    declared = merge_files(first, second, [], diags)
    return decode_module(directory, [by_name[n].path for n in primary + override], declared, diags)


def _joined(directory: str, parts: Sequence[Module]) -> Module:
    """Join files that were decoded one by one; of two declarations with one name the later counts."""
    return Module(
        directory=directory,
        files=tuple(name for each in parts for name in each.files),
        variables=_union([each.variables for each in parts]),
        locals=_union([each.locals for each in parts]),
        outputs=_union([each.outputs for each in parts]),
        calls=_union([each.calls for each in parts]),
        resources=_union([each.resources for each in parts]),
        provider_configs=_union([each.provider_configs for each in parts]),
        required_providers=_union([each.required_providers for each in parts]),
        required_versions=tuple(one for each in parts for one in each.required_versions),
        provider_metas=_union([each.provider_metas for each in parts]),
        backend=next((each.backend for each in parts if each.backend), None),
        encryption=next((each.encryption for each in parts if each.encryption), None),
        checks=_union([each.checks for each in parts]),
        moved=tuple(one for each in parts for one in each.moved),
        removed=tuple(one for each in parts for one in each.removed),
        imports=tuple(one for each in parts for one in each.imports),
        experiments=_union([each.experiments for each in parts]),
        symbols=_union([each.symbols for each in parts]),
        has_open_types=any(each.has_open_types for each in parts),
    )


def _union(parts: Sequence[Mapping[K, V]]) -> dict[K, V]:
    return {key: value for each in parts for key, value in each.items()}


def _body(document: Document) -> Body:
    if document.body is not None:
        return document.body
    from nigari.hcl.json_body import parse_json_body

    return parse_json_body(document.source, Diagnostics())
