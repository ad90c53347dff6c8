"""`nigari lint`: rules over a configuration, over the units of a fleet, or over a plan."""

from __future__ import annotations

import os

from nigari.cli.args import UsageError
from nigari.cli.command import (
    FLAG_LIST,
    FLAG_SWITCH,
    FLAG_TEXT,
    Command,
    Example,
    Flag,
    Invocation,
)
from nigari.cli.state_flags import given_variables, open_session, plain_directory, working_directory
from nigari.cli.variables import VARIABLE_FLAGS
from nigari.cli.views.diagnostics import COMPACT_WARNINGS_FLAG, NO_COLOR_FLAG
from nigari.cli.views.lint_reports import FORMATS, show_result
from nigari.config.file_names import has_module
from nigari.diagnostics import Diagnostics
from nigari.lint.fixing import fixed_texts
from nigari.lint.linter import Linter, LintResult
from nigari.lint.python_rules import PythonRules, python_rules
from nigari.lint.rule_list import RuleList, parse_rule_list
from nigari.record import replace
from nigari.workspace.context.working_directory import WorkingDirectory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_FOUND: Final = 2
"""The exit status if anything was found."""
_MOST_ROUNDS: Final = 20
"""Limit on how often fixes may lead to further fixes."""


def run(invocation: Invocation) -> int:
    """Lint, and show what was found."""
    form = _format(invocation)
    wanted = parse_rule_list(invocation.texts("lint"))
    plan = invocation.text("plan")
    if plan and invocation.switch("fix"):
        raise UsageError("The options -fix and -plan cannot be used together.")
    if plan:
        result = _linted_plan(invocation, plan, wanted)
    else:
        result = _linted(invocation, wanted)
        if invocation.switch("fix"):
            result = _fixed(invocation, wanted, result)
    show_result(invocation, result, form)
    if result.diags.has_errors:
        return 1
    return _FOUND if result.findings else 0


def _format(invocation: Invocation) -> str:
    form = "json" if invocation.switch("json") else invocation.text("format") or "text"
    if form not in FORMATS:
        raise UsageError(f'There is no format "{form}". Use {", ".join(FORMATS)}.')
    return form


def _linted(invocation: Invocation, wanted: RuleList) -> LintResult:
    name = invocation.arguments[0] if invocation.arguments else "."
    base = plain_directory(invocation)
    linter = Linter(base, wanted)
    where = plain_directory(invocation, name)
    is_one = not invocation.switch("recursive")
    if is_one and has_module(where.files, os.path.normpath(name)):
        linter.add(working_directory(invocation, name), given_variables(invocation))
    else:
        _add_units(invocation, linter, where)
    return linter.run(_python_rules(invocation, linter, where))


def _python_rules(invocation: Invocation, linter: Linter, where: WorkingDirectory) -> PythonRules:
    settings = linter.settings(os.path.normpath(os.path.join(where.absolute_root, where.name)))
    return python_rules([*settings.policies, *invocation.texts("rules")], linter.diags)


def _add_units(invocation: Invocation, linter: Linter, where: WorkingDirectory) -> None:
    """Add every unit of the fleet in a directory."""
    from nigari.fleet.units.graph_loader import survey
    from nigari.fleet.units.inspection import unit_variables
    from nigari.workspace.context.environments import in_environment

    if not os.path.isdir(where.path):
        raise UsageError(f"There is no directory {where.name}.")
    environ = invocation.terminal.environ
    found = survey(where.path, environ)
    linter.diags.extend(found.diagnostics)
    linter.sources.update(found.sources)
    if not found.units:
        linter.diags.error(
            "No configuration",
            f"Neither {where.name} nor a directory below it has configuration files.",
        )
    for unit in found.units.values():
        name = os.path.normpath(os.path.join(where.name, unit.directory))
        place = replace(where, environ=unit.environment(environ), name=name)
        if unit.environment_name:
            place, _ = in_environment(place, unit.environment_name, linter.diags)
        linter.add(place, unit_variables(unit, found.known_values(unit.name)))


# -- fixes ----------------------------------------------------------------------------------------


def _fixed(invocation: Invocation, wanted: RuleList, result: LintResult) -> LintResult:
    """Apply fixes until there are none left; what remains is the result."""
    from nigari.cli.commands.fmt import replace_file

    changed: dict[str, None] = {}
    for _ in range(_MOST_ROUNDS):
        texts = {} if result.diags.has_errors else fixed_texts(result.findings, result.sources)
        if not texts:
            break
        for path, content in texts.items():
            try:
                replace_file(path, content)
            except OSError as error:
                result.diags.error("Cannot write file", f"{path}: {error.strerror}.")
                return result
            changed[path] = None
        result = _linted(invocation, wanted)
    if not invocation.switch("json") and invocation.text("format") in ("", "text"):
        for path in changed:
            invocation.terminal.out(f"Fixed {path}")
    return result


# -- plans ----------------------------------------------------------------------------------------


def _linted_plan(invocation: Invocation, path: str, wanted: RuleList) -> LintResult:
    """Return the findings of Python rules about a saved plan."""
    from nigari.lint.saved_plan import saved_plan
    from nigari.workspace.context.asyncio_bridge import run_to_end

    where = plain_directory(invocation)
    linter = Linter(where, wanted)
    rules = _python_rules(invocation, linter, where)
    session = open_session(invocation)
    plan = run_to_end(saved_plan(session, path))
    diags = Diagnostics([*linter.diags, *session.diags])
    settings = linter.settings(os.path.normpath(os.path.join(where.absolute_root, where.name)))
    groups = {each.id: each.all_groups for each in rules.rules}
    found = () if plan is None else rules.of_plan(plan, diags)
    findings = [each for each in found if settings.runs(each.rule, groups[each.rule], wanted)]
    return LintResult(tuple(findings), session.sources, diags)


COMMAND = Command(
    "lint",
    "Finds mistakes in valid configurations: unused declarations, conditions that never change, values "
    "that never settle, modules that are not pinned, and more, over the whole module tree. In a "
    "directory with many root modules, checks all units of the fleet together. The exit status is 2 "
    "if there are findings, and 1 if a check could not run. lint.hcl selects the rules; see the "
    "reference of rules.",
    run,
    flags=(
        Flag(
            "lint",
            FLAG_LIST,
            "The rules and groups to run, with ! in front of those to exclude; overrides lint.hcl; "
            "can be repeated",
            "LIST",
        ),
        Flag("fix", FLAG_SWITCH, "Apply the fixes that change nothing in a plan"),
        Flag(
            "recursive",
            FLAG_SWITCH,
            "Look at all root modules below the directory, even if it is one itself",
        ),
        Flag("rules", FLAG_LIST, "More rules in Python; can be repeated", "FILE|DIR"),
        Flag("plan", FLAG_TEXT, "Run the rules for plans over a saved plan", "FILE"),
        Flag("json", FLAG_SWITCH, "Print the result as a JSON object"),
        Flag("format", FLAG_TEXT, "text, json, sarif, junit or github", "FORMAT"),
        NO_COLOR_FLAG,
        COMPACT_WARNINGS_FLAG,
        *VARIABLE_FLAGS,
    ),
    arguments="[DIR]",
    most_arguments=1,
    examples=(
        Example("nigari lint", "the configuration here, with all modules that it calls"),
        Example("nigari lint -lint='all,!core:unused-local' infra", "other rules than usual"),
        Example("nigari lint -fix", "fixes what can be fixed without a change of the plan"),
        Example("nigari lint -rules=policies -plan=plan.out", "policies for a plan"),
        Example("nigari lint -format=sarif > lint.sarif", "for services that show findings"),
    ),
)
