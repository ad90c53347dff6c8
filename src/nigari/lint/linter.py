"""The linter: evaluates root modules, runs the rules that are wanted, and leaves out what is ignored.

Owns the order of these steps and what a result consists of. Deliberately unknown here: what a rule
looks for, and which directories are root modules.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping

from nigari.config.file_names import has_module
from nigari.config.module_cache import ModuleCache, caching_modules
from nigari.diagnostics import Diagnostics, Range, Severity
from nigari.hcl.templates import StringLiteral
from nigari.lint.callers import modules_with_other_callers
from nigari.lint.ignores import UNUSED, WITHOUT_REASON, Ignore, ignores_in
from nigari.lint.model import EvaluatedRoot, Instance, LintedTree, is_remote
from nigari.lint.rule import OWN, RECOMMENDED, Finding
from nigari.lint.rule_list import ALL, RuleList
from nigari.lint.rules import CORE_RULES, RULES
from nigari.lint.settings import Settings, SettingsFiles
from nigari.lint.shared_files import SharedFiles
from nigari.record import record, replace
from nigari.workspace.configuration.directory import Workspace
from nigari.workspace.configuration.modules import NOT_INSTALLED
from nigari.workspace.context.environments import read_environments
from nigari.workspace.context.options import NO_VARIABLES, GivenVariables
from nigari.workspace.context.working_directory import WorkingDirectory
from nigari.workspace.explain.queries import ValueQueries
from nigari.workspace.session.session import Session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

    from nigari.lint.python_rules import PythonRules

_OWN_GROUPS: Final = (f"{OWN}:all", RECOMMENDED)


@record
class LintResult:
    """Findings, and the source texts to show them with."""

    findings: tuple[Finding, ...]
    sources: Mapping[str, bytes]
    diags: Diagnostics
    """Diagnostics about parts that could not be checked."""
    modules: int = 0


class Linter:
    """Lints root modules together: a module that several of them call is linted once."""

    def __init__(self, where: WorkingDirectory, wanted: RuleList) -> None:
        """`where` is the directory that paths are seen from."""
        self.diags: Diagnostics = Diagnostics()
        self.sources: dict[str, bytes] = {}
        self._where = where
        self._wanted = wanted
        self._groups = {each.id: each.all_groups for each in RULES}
        self._roots: list[EvaluatedRoot] = []
        self._sessions: list[Session] = []
        self._cache = ModuleCache()
        self._settings = SettingsFiles(where, RULES, self.diags)

    def add(self, where: WorkingDirectory, variables: GivenVariables = NO_VARIABLES) -> None:
        """Evaluate a root module, in each of its environments unless one is chosen."""
        places = [where]
        if where.environment is None:
            found = read_environments(where, self.diags)
            self.sources.update(found.sources)
            places = [replace(where, environment=each) for each in found.by_name.values()] or places
        with caching_modules(self._cache):
            for place in places:
                self._add(Session(place, variables))

    def _add(self, session: Session) -> None:
        workspace, selected = session.workspace, session.selected
        run, found = workspace.static(session.inputs, selected)
        self.sources.update(session.sources)
        missing = [each for each in found if each.summary == NOT_INSTALLED]
        problems = Diagnostics(each for each in found if each.summary != NOT_INSTALLED)
        problems.extend(session.diags)
        self.diags.extend(each for each in problems if each.severity is Severity.ERROR)
        if missing:
            self.diags.append(replace(missing[0], severity=Severity.WARNING))
        if run is not None and not problems.has_errors:
            self._sessions.append(session)
            queries = ValueQueries(run, workspace.sources)
            self.add_root(evaluated_root(queries, workspace, session.where))

    def add_root(self, root: EvaluatedRoot) -> None:
        """Add a root module that is evaluated already."""
        self._roots.append(root)

    def run(self, python_rules: PythonRules | None = None) -> LintResult:
        """Run the rules."""
        asked = tuple(self._sessions)
        self._add_unreached()
        tree = LintedTree(self._roots, lambda: modules_with_other_callers(self._roots))
        findings = [*self._found(tree)]
        if python_rules is not None:
            for session in asked:
                findings += python_rules.of_configuration(session, self.diags)
            self._groups.update((each.id, each.all_groups) for each in python_rules.rules)
        shared = SharedFiles(tree.modules, self._where.absolute_root)
        findings = [*shared.once(self._kept(tree, findings))]
        self.sources.update(self._settings.sources)
        self.diags = Diagnostics(dict.fromkeys(self.diags))
        return LintResult(
            tuple(sorted(dict.fromkeys(findings), key=_order)),
            self.sources,
            self.diags,
            len(tree.modules),
        )

    def _add_unreached(self) -> None:
        """Add modules of which no call has an instance with the present values, as root modules: what
        is wrong in them is wrong all the same. Mistakes in them are left to those who use them.
        """
        pending = [*self._sessions]
        reached = {
            root.locate(each.module.directory) for root in self._roots for each in root.frames
        }
        while pending:
            session = pending.pop()
            base = session.where.absolute_root
            for name in _without_instances(self._roots[self._sessions.index(session)]):
                path = os.path.normpath(os.path.join(base, name))
                where = replace(session.where, name=name, environment=None)
                if path in reached or not has_module(where.files, os.path.normpath(name)):
                    continue
                before, known = self.diags, len(self._sessions)
                self.diags = Diagnostics()
                with caching_modules(self._cache):
                    self._add(Session(where))
                self.diags = before
                pending += self._sessions[known:]
                for root in self._roots[known:]:
                    reached.update(root.locate(each.module.directory) for each in root.frames)

    def settings(self, directory: str) -> Settings:
        """The settings of a directory, by its absolute path."""
        return self._settings.of(directory)

    def _found(self, tree: LintedTree) -> Iterator[Finding]:
        """The findings of all rules that run in any module."""
        settings = [self._settings.of(each.path) for each in tree.modules]
        for rule in RULES:
            if any(each.runs(rule.id, rule.all_groups, self._wanted) for each in settings):
                yield from rule.findings(tree)

    def _kept(self, tree: LintedTree, findings: Iterable[Finding]) -> list[Finding]:
        """The findings that are wanted where they are, with the severity that is set there."""
        ignores = _ignores(tree)
        used: set[Ignore] = set()
        kept: list[Finding] = []
        for finding in findings:
            settings = self._settings_at(finding.range)
            if not settings.runs(finding.rule, self._groups[finding.rule], self._wanted):
                continue
            if finding.range is not None:
                around = ignores.get(finding.range.filename, ())
                covering = [each for each in around if each.covers(finding)]
                used.update(covering)
                if covering or settings.excludes(self._directory(finding.range)):
                    continue
            severity = settings.severity(finding.rule)
            kept.append(finding if severity is None else replace(finding, severity=severity))
        for each in (one for found in ignores.values() for one in found):
            problem = self._problem(each, each in used)
            if problem is not None:
                kept.append(problem)
        return kept

    def _problem(self, ignore: Ignore, is_used: bool) -> Finding | None:
        """Return a finding about an ignore comment that is wrong or unused."""
        settings = self._settings_at(ignore.range)
        if not ignore.reason:
            detail = "Add why after the rules: # nigari-ignore: RULE: reason. Until then the comment has no effect."
            found = Finding(WITHOUT_REASON, "Ignored without a reason", detail, ignore.range)
        else:
            ran = [
                rule
                for rule in ignore.rules
                if rule == ALL or settings.runs(rule, self._groups.get(rule, ()), self._wanted)
            ]
            if is_used or len(ran) < len(ignore.rules):
                return None
            detail = "There is nothing to ignore here any more. Remove the comment."
            found = Finding(UNUSED, "Nothing to ignore", detail, ignore.range)
        return found if settings.runs(found.rule, _OWN_GROUPS, self._wanted) else None

    def _settings_at(self, where: Range | None) -> Settings:
        if where is None:
            return self._settings.of(os.path.normpath(self._where.absolute_root))
        return self._settings.of(self._directory(where))

    def _directory(self, where: Range) -> str:
        path = os.path.join(self._where.absolute_root, where.filename)
        return os.path.dirname(os.path.normpath(path))


def _without_instances(root: EvaluatedRoot) -> Iterator[str]:
    """Find the directories that calls without instances lead to, as paths are seen from the root."""
    for frame in root.frames:
        if is_remote(Instance(root, frame)):
            continue
        for call in frame.calls.values():
            source = call.call.source
            if isinstance(source, StringLiteral) and source.text.startswith(("./", "../")):
                if not call.has_failed and not root.queries.module_instances(call):
                    yield os.path.normpath(os.path.join(frame.module.directory, source.text))


def _ignores(tree: LintedTree) -> dict[str, list[Ignore]]:
    return {
        body.source.filename: found
        for module in tree.modules
        for body in module.written.native_files
        if (found := ignores_in(body))
    }


def evaluated_root(
    queries: ValueQueries, workspace: Workspace, where: WorkingDirectory
) -> EvaluatedRoot:
    """A root module whose static phase is done, for rules to look at."""
    base = where.absolute_root

    def locate(path: str) -> str:
        return os.path.normpath(os.path.join(base, path))

    environment = where.environment
    return EvaluatedRoot(
        locate(workspace.directory),
        "" if environment is None else environment.name,
        queries,
        workspace.loader.trees,
        {addr: place.package for addr, place in workspace.modules.places.items()},
        locate,
    )


def core_findings(root: EvaluatedRoot, wanted: RuleList) -> Iterator[Finding]:
    """Yield the findings of OpenTofu's rules in the root module, as `-lint` of other commands does."""
    tree = LintedTree([root])
    files = frozenset(root.queries.run.root.module.files)
    for rule in CORE_RULES:
        if wanted.allows(rule.id, rule.all_groups):
            for found in rule.findings(tree):
                if found.range is not None and found.range.filename in files:
                    yield found


def _order(finding: Finding) -> tuple[str, int, str, str]:
    where = finding.range
    if where is None:
        return ("", 0, finding.rule, finding.detail)
    return (where.filename, where.start.byte, finding.rule, finding.detail)
