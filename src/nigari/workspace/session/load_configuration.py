"""Loaded configurations: a session that nothing is done with but looking.

Everything that the program reads counts here, too: the session reads it. The modules and what is in
them are in `nigari.workspace.views.module_views`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from threading import RLock

from nigari.arguments import check_text
from nigari.diagnostics import Diagnostic, Diagnostics
from nigari.eval.core.inputs import Inputs, check_undeclared
from nigari.lang.files import CachedFiles
from nigari.workspace.context.shown_sources import ShownSources
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.explain.explainer import Explainer
from nigari.workspace.explain.explanation import Explanation
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.session.failure import SessionError
from nigari.workspace.session.open_session import (
    check_directory,
    chosen_environment,
    given_variables,
    inside,
    working_directory,
)
from nigari.workspace.session.session import Session
from nigari.workspace.views.blocks import BackendView
from nigari.workspace.views.module_views import ModuleView
from nigari.workspace.views.parts import Part


def load(
    path: str | PathLike[str] = ".",
    variables: Mapping[str, object] | None = None,
    var_files: Sequence[str | PathLike[str]] = (),
    *,
    workspace: str | None = None,
    environment: str | None = None,
    environ: Mapping[str, str] | None = None,
    usual: bool = True,
) -> Configuration:
    """The configuration in a directory: see `nigari.load`."""
    if not usual:
        if environment:
            raise ValueError("an environment has its own values, so usual=True is required")
        workspace, environment = workspace or "default", ""
    where = working_directory(path, environ, workspace)
    check_directory(where.root)
    where = inside(where, chosen_environment(where, environment))
    session = Session(where, given_variables(variables, var_files, not usual))
    read = session.workspace.sources
    session.use_files(CachedFiles(where.root))
    session.workspace.sources.update(read)
    return Configuration(session)


class Configuration(Part):
    """A loaded configuration: its module tree and diagnostics.

    Several threads may read it. What has been read of files stays as it was then. Pickled, it takes
    that along, with the values of variables and the environment: nothing in it is encrypted.
    """

    __slots__ = ("_evaluation", "_session", "workspace")

    def __init__(self, session: Session) -> None:
        run = session.static()
        if run is not None:
            check_undeclared(session.inputs, run.root.module.variables, session.diags)
        self._session = session
        self.workspace: str = session.selected
        """The name of the workspace that `terraform.workspace` stands for."""
        sources = session.workspace.sources
        self._evaluation = None if run is None else ValueQueries(run, sources, RLock(), self)

    def _identity(self) -> object:
        return id(self._session)

    def __reduce__(self) -> tuple[object, ...]:
        session, workspace = self._session, self._session.workspace
        where = session.where.in_workspace(self.workspace)
        found = tuple(self.diagnostics)
        return _reopened, (where, session.inputs, workspace.files, dict(workspace.sources), found)

    def __repr__(self) -> str:
        return f"<Configuration of {'nothing' if self._evaluation is None else self.root}>"

    def _repr_html_(self) -> str:
        from html import escape

        from nigari.diagnostics.html import diagnostics_html, table

        rows = []
        for module in self.modules():
            name = escape(module.address or "root module")
            resources = ", ".join(f"<code>{escape(each)}</code>" for each in module.resources)
            rows.append((name, f"<code>{escape(module.directory)}</code>", resources))
        problems = diagnostics_html(self.diagnostics.in_order(), self._shown_sources)
        return table(("module", "directory", "resources"), rows) + problems

    @property
    def path(self) -> str:
        """The directory. All other paths are seen from there."""
        return os.path.normpath(self._session.where.path)

    @property
    def diagnostics(self) -> Diagnostics:
        """Everything that has been found wrong so far; evaluating more may find more."""
        found = self._session.diags
        if self._evaluation is None:
            return Diagnostics(found)
        with self._evaluation.lock:
            return Diagnostics(dict.fromkeys([*found, *self._evaluation.run.diags]))

    @property
    def _shown_sources(self) -> ShownSources:
        return ShownSources(self._session.sources)

    def describe(self) -> str:
        """The diagnostics as text for people, with the lines they are about."""
        from nigari.diagnostics import to_text

        return to_text(self.diagnostics.in_order(), self._shown_sources)

    def raise_for_errors(self) -> None:
        """Raise a `SessionError` where errors have been found so far, or where variables of the
        root module have values that they cannot have.
        """
        if self._evaluation is not None:
            _ = self.root.variables  # which evaluates them
        found = self.diagnostics
        if found.has_errors:
            raise self._failure(found)

    def validate(self) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the configuration, whatever its variables, as
        `nigari validate` finds it: the providers must be installed and are started.
        """
        session = self._session
        if self._evaluation is None:
            return tuple(session.diags.in_order())
        from nigari.workspace.configuration.check_directory import validate

        with self._evaluation.lock:
            found = validate(session.workspace, session.inputs, True, self.workspace)
        return tuple(Diagnostics(dict.fromkeys([*session.diags, *found])).in_order())

    def explain(self, address: str) -> Explanation:
        """Explain the value at an address, when it is known, and its origin, like `nigari explain`. Raise `SessionError` if the address doesn't exist."""
        check_text("an address", address)
        return self._ask(lambda explainer: explainer.address(address))

    def evaluate(self, expression: str, module: str = "") -> Explanation:
        """Evaluate an expression in a module, like `nigari eval`. A `SessionError` where the
        expression or the address of the module is wrong.
        """
        check_text("an expression", expression)
        check_text("the address of a module", module)
        return self._ask(lambda explainer: explainer.expression(expression, module))

    def _ask(self, ask: Callable[[Explainer], Explanation | None]) -> Explanation:
        """Answer a question; what is wrong with the question itself is not kept."""
        evaluation, found = self._read(), Diagnostics()
        run, explainer = evaluation.run, Explainer(evaluation, found, self._session.where)
        with evaluation.lock:
            with run.reporting_to(found):
                explanation = ask(explainer)
            asked = explainer.sources
            run.diags.extend(
                each for each in found if each.subject and each.subject.filename not in asked
            )
        if explanation is None or explanation.is_of_nothing:
            raise SessionError(found.in_order(), {**self._session.sources, **asked})
        return explanation

    def _read(self) -> ValueQueries:
        if self._evaluation is None:
            raise self._failure(self.diagnostics)
        return self._evaluation

    def _failure(self, found: Diagnostics) -> SessionError:
        return SessionError(found.in_order(), dict(self._session.sources))

    @property
    def root(self) -> ModuleView:
        """The root module; a `SessionError` where the configuration cannot be read at all."""
        evaluation = self._read()
        return ModuleView(evaluation, evaluation.run.root)

    @property
    def backend(self) -> BackendView | None:
        """The state's location; None without a block."""
        evaluation = self._read()
        backend = evaluation.run.root.module.backend
        return None if backend is None else BackendView(evaluation, backend)

    def modules(self) -> Iterator[ModuleView]:
        """Every module instance, callers before those they call."""
        pending = [] if self._evaluation is None else [self.root]
        while pending:
            module = pending.pop()
            yield module
            pending.extend(reversed(module.children))


def _reopened(
    where: WorkingDirectory,
    inputs: Inputs,
    files: CachedFiles,
    sources: Mapping[str, bytes],
    found: Iterable[Diagnostic],
) -> Configuration:
    """A configuration that was pickled."""
    session = Session(where)
    session.use_files(files)
    session.inputs = inputs
    session.workspace.sources.update(sources)
    session.diags.extend(found)
    return Configuration(session)
