"""A root module with all its values, as it is while files are being edited.

Worked out in one go from a snapshot of the open documents, without waiting for a network or a
provider; what is worked out then never changes. Schemas are those that are known already.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from threading import RLock

from nigari.addrs.provider import Provider
from nigari.diagnostics import Diagnostic, Diagnostics, Severity
from nigari.eval.core.instances import Frame
from nigari.eval.static.run import StaticRun
from nigari.eval.tree.provider_iteration import check_provider_iteration
from nigari.eval.tree.provider_rules import check_aliases
from nigari.eval.validate.run import ValidateRun
from nigari.hcl.expressions import Expression
from nigari.lang.files import DiskFiles, Entry, by_name
from nigari.record import replace
from nigari.workspace.configuration.builtin import BuiltinSchemas, ask_builtin
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.modules import NOT_INSTALLED
from nigari.workspace.configuration.validation_cycles import report_cycles
from nigari.workspace.context.options import NO_VARIABLES
from nigari.workspace.context.variable_values import read_variables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.explain.queries import ValueQueries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from nigari.eval.core.inputs import Inputs
    from nigari.lint.rule import Finding
    from nigari.schema.provider import ProviderSchema

FindSchema = Callable[[Provider], "ProviderSchema | None"]
"""The schema of a provider in a root module, as far as it is known."""


class Evaluation:
    """A root module, evaluated and validated."""

    def __init__(
        self,
        where: WorkingDirectory,
        texts: Mapping[str, bytes],
        find_schema: FindSchema,
    ) -> None:
        """The configuration in a directory, with the given open documents."""
        self.where: WorkingDirectory = where
        self.root: str = os.path.normpath(where.path)
        self.texts: Mapping[str, bytes] = texts
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.queries: ValueQueries | None = None
        self.modules: dict[str, list[Frame]] = {}
        """The module instances by the directories of their files."""
        self.calls: dict[str, dict[str, tuple[str, ...]]] = {}
        """The module of each call, by directory and name."""
        self.versions: dict[str, dict[str, str]] = {}
        """The installed version of each call of a registry module, by directory and name."""
        self.expressions: dict[str, Expression] = {}
        """Requested expressions, by their text."""
        self.providers: frozenset[Provider] = frozenset()
        """The providers that the configuration needs, without those built in."""
        self.findings: Mapping[Diagnostic, Finding] = {}
        """Lint findings, once `lint` has run; not in `diagnostics`."""
        self._schemas = _KnownSchemas(find_schema)
        diags = Diagnostics()
        files = EditedFiles(texts, where.absolute_root)
        self._workspace = Workspace(where, files=files)
        # In an editor, a file of queries is checked like any other.
        self._workspace.loader.query_directory = self._workspace.directory
        inputs = self._inputs(files, diags)
        selected = "default" if where.selects_default else where.selected(diags).name
        run, found = self._workspace.static(inputs, selected)
        diags.extend(found)
        if run is not None:
            self._take(run)
            self._validate(run, diags)
        self.diagnostics = tuple(dict.fromkeys(_as_hint(each) for each in diags.in_order()))

    def _inputs(self, files: EditedFiles, diags: Diagnostics) -> Inputs:
        reader = read_variables(self.where, "default", NO_VARIABLES, diags, files=files)
        self._workspace.sources.update(reader.sources)
        return reader.inputs

    def _take(self, run: StaticRun) -> None:
        self.queries = ValueQueries(run, self._workspace.sources, RLock())
        pending = [run.root]
        found: set[Provider] = set()
        while pending:
            frame = pending.pop()
            directory = self.path(frame.module.directory)
            self.modules.setdefault(directory, []).append(frame)
            calls = self.calls.setdefault(directory, {})
            for name, call in frame.calls.items():
                children = list(self.queries.module_instances(call).values())
                paths = [self.path(each.module.directory) for each in children]
                calls[name] = tuple(dict.fromkeys((*calls.get(name, ()), *paths)))
                for each in children:
                    place = self._workspace.modules.places.get(each.instance.addr)
                    if place is not None and place.version:
                        self.versions.setdefault(directory, {})[name] = place.version
                pending.extend(children)
            for resource in frame.module.resources.values():
                provider = frame.module.provider(resource.provider_name)
                if provider is not None and not provider.is_builtin:
                    found.add(provider)
        self.providers = frozenset(found)

    def _validate(self, run: StaticRun, diags: Diagnostics) -> None:
        """Report what `nigari validate` would, as far as the known schemas go.

        A module that is not installed keeps nothing else from being checked.
        """
        if any(_is_in_the_way(each) for each in diags):
            return
        check_provider_iteration(run.root.instance, diags)
        check_aliases(run.root.instance, diags)
        check = ValidateRun(run, self._schemas)
        check.run(partial(ask_builtin, self.where.environ))
        diags.extend(check.diags)
        report_cycles(run.root.instance, self._schemas, diags)

    def lint(self) -> None:
        """Collect the findings of lint rules, except those in Python: a project that is only opened in
        an editor must not run code.
        """
        if self.queries is None or any(_is_in_the_way(each) for each in self.diagnostics):
            return
        from nigari.lint.linter import Linter, evaluated_root
        from nigari.lint.rule_list import RuleList

        linter = Linter(self.where, RuleList())
        linter.add_root(evaluated_root(self.queries, self._workspace, self.where))
        self.findings = {each.diagnostic: each for each in linter.run().findings}

    def path(self, written: str) -> str:
        """The absolute path of a file or directory as diagnostics name it."""
        return os.path.normpath(os.path.join(self.where.absolute_root, written))

    def source(self, path: str) -> bytes | None:
        """The content of a file that was read, by its absolute path."""
        for name, content in self._workspace.sources.items():
            if self.path(name) == path:
                return content
        return None

    def schema(self, provider: Provider) -> ProviderSchema | None:
        """The schema of a provider, as far as it is known."""
        return self._schemas.of(provider)


class _KnownSchemas:
    """Schemas that are built in, and those that have been found."""

    def __init__(self, find: FindSchema) -> None:
        self._builtin = BuiltinSchemas()
        self._find = find

    def of(self, provider: Provider) -> ProviderSchema | None:
        """The schema of a provider."""
        return self._builtin.of(provider) if provider.is_builtin else self._find(provider)


def _is_in_the_way(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is Severity.ERROR and diagnostic.summary != NOT_INSTALLED


def _as_hint(diagnostic: Diagnostic) -> Diagnostic:
    """A module that is not installed is no mistake in the files."""
    if diagnostic.summary == NOT_INSTALLED:
        return replace(diagnostic, severity=Severity.WARNING)
    return diagnostic


class EditedFiles(DiskFiles):
    """The files below a directory; documents that are open count in place of what is on disk."""

    __slots__ = ("_directories", "_texts")

    def __init__(self, texts: Mapping[str, bytes], root: str) -> None:
        """Open documents by absolute path. Relative paths start at `root`, an absolute path."""
        super().__init__(root)
        self._texts = texts
        self._directories: dict[str, list[str]] = {}
        for path in texts:
            head, name = os.path.split(path)
            self._directories.setdefault(head, []).append(name)

    def read(self, path: str, limit: int | None = None) -> bytes:
        text = self._texts.get(self._key(path))
        if text is None:
            return super().read(path, limit)
        return text if limit is None else text[: limit + 1]

    def entries(self, path: str) -> list[Entry]:
        opened = self._directories.get(self._key(path), ())
        if not opened:
            return super().entries(path)
        try:
            found = super().entries(path)
        except FileNotFoundError:
            found = []
        names = {each.name for each in found}
        added = [Entry(name, False) for name in opened if name not in names]
        return sorted([*found, *added], key=by_name)

    def is_file(self, path: str) -> bool:
        return self._key(path) in self._texts or super().is_file(path)

    def is_directory(self, path: str) -> bool:
        return self._key(path) in self._directories or super().is_directory(path)

    def _key(self, path: str) -> str:
        return os.path.normpath(self.at(path))
