"""Rules that users write in Python: functions over a configuration or over a plan.

    from nigari.lint import Violation, configuration_rule

    @configuration_rule("acme:bucket-encryption", "Bucket without encryption")
    def encrypted(configuration):
        for module in configuration.modules():
            for resource in module.resources.values():
                if resource.type == "aws_s3_bucket" and "kms_key_id" not in resource.arguments:
                    yield Violation("Add kms_key_id.", resource.range)

They are found in files that `lint.hcl` names, and as entry points of the group `nigari.lint`. A rule
that fails is an error which names it. What the functions are given is `nigari.load`'s configuration
and `nigari.read_plan`'s plan.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from nigari.diagnostics import Diagnostics, Range, Severity
from nigari.hcl.quoting import quoted
from nigari.lint.rule import Finding
from nigari.lint.rule_list import is_identifier
from nigari.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Final

    from nigari.workspace.session.load_configuration import Configuration
    from nigari.workspace.session.plan_result import Plan
    from nigari.workspace.session.session import Session

ENTRY_POINTS: Final = "nigari.lint"


@record
class Violation:
    """A violation that a rule reports."""

    detail: str
    """The problem, the reason, and what to do."""
    range: Range | None = None
    """The location, for rules over configurations."""
    address: str = ""
    """The object that it is about, for rules over plans."""


class PythonRule:
    """The common part of rules over configurations and over plans."""

    __slots__ = ("id", "severity", "summary")

    def __init__(self, id: str, summary: str, severity: str) -> None:
        if not is_identifier(id) or ":" not in id:
            raise ValueError(f"{id!r} is not the identifier of a rule, such as acme:tags")
        self.id: str = id
        self.summary: str = summary
        self.severity: Severity = Severity(severity)

    @property
    def all_groups(self) -> tuple[str, ...]:
        """Every group that stands for the rule in a list."""
        return (f"{self.id.partition(':')[0]}:all",)

    def finding(self, violation: Violation) -> Finding:
        """A violation with what the rule says of itself."""
        return Finding(
            self.id,
            self.summary,
            violation.detail,
            violation.range,
            severity=self.severity,
            address=violation.address,
        )

    def __repr__(self) -> str:
        return f"<rule {self.id}>"


class ConfigurationRule(PythonRule):
    """A rule over a configuration."""

    __slots__ = ("check",)

    def __init__(
        self,
        id: str,
        summary: str,
        severity: str,
        check: Callable[[Configuration], Iterable[Violation]],
    ) -> None:
        super().__init__(id, summary, severity)
        self.check: Callable[[Configuration], Iterable[Violation]] = check

    def __call__(self, configuration: Configuration) -> tuple[Violation, ...]:
        """Everything that the rule finds."""
        return tuple(self.check(configuration))


class PlanRule(PythonRule):
    """A rule over a plan."""

    __slots__ = ("check",)

    def __init__(
        self, id: str, summary: str, severity: str, check: Callable[[Plan], Iterable[Violation]]
    ) -> None:
        super().__init__(id, summary, severity)
        self.check: Callable[[Plan], Iterable[Violation]] = check

    def __call__(self, plan: Plan) -> tuple[Violation, ...]:
        """Everything that the rule finds."""
        return tuple(self.check(plan))


def configuration_rule(
    id: str, summary: str, severity: str = "warning"
) -> Callable[[Callable[[Configuration], Iterable[Violation]]], ConfigurationRule]:
    """Make a rule of a function that is given a configuration, as `nigari.load` returns it."""

    def make(check: Callable[[Configuration], Iterable[Violation]]) -> ConfigurationRule:
        return ConfigurationRule(id, summary, severity, check)

    return make


def plan_rule(
    id: str, summary: str, severity: str = "error"
) -> Callable[[Callable[[Plan], Iterable[Violation]]], PlanRule]:
    """Make a rule of a function that is given a plan, as `nigari.read_plan` returns it."""

    def make(check: Callable[[Plan], Iterable[Violation]]) -> PlanRule:
        return PlanRule(id, summary, severity, check)

    return make


class PythonRules:
    """The rules in Python that were found."""

    def __init__(self, rules: Iterable[PythonRule]) -> None:
        self.rules: tuple[PythonRule, ...] = tuple(dict.fromkeys(rules))

    def of_configuration(self, session: Session, diags: Diagnostics) -> Iterator[Finding]:
        """Yield the rules' findings in a session's configuration."""
        rules = [each for each in self.rules if isinstance(each, ConfigurationRule)]
        if rules:
            from nigari.workspace.session.load_configuration import Configuration

            configuration = Configuration(session)
            for rule in rules:
                yield from _found(rule, partial(rule, configuration), diags)

    def of_plan(self, plan: Plan, diags: Diagnostics) -> Iterator[Finding]:
        """Yield the rules' findings in a plan."""
        for rule in self.rules:
            if isinstance(rule, PlanRule):
                yield from _found(rule, partial(rule, plan), diags)


def _found(
    rule: PythonRule, check: Callable[[], tuple[Violation, ...]], diags: Diagnostics
) -> list[Finding]:
    try:
        return [rule.finding(each) for each in check()]
    except Exception as error:  # noqa: BLE001 - a rule that fails must not hide what others find
        diags.error(
            "Rule failed",
            f"The rule {rule.id} raised {type(error).__name__}{_place(error)}, so what it would find "
            "is not known. Mend the rule, or leave it out.",
        )
        return []


def _place(error: BaseException) -> str:
    """Return the location where an exception was raised.

    Its text may quote values, so it is not shown.
    """
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    if traceback is None:
        return ""
    return f" in {traceback.tb_frame.f_code.co_filename} line {traceback.tb_lineno}"


# -- finding rules --------------------------------------------------------------------------------


def python_rules(paths: Iterable[str], diags: Diagnostics) -> PythonRules:
    """The rules in files and directories, and those of installed packages."""
    found = [*_installed(diags)]
    for path in dict.fromkeys(paths):
        for file in _files(path, diags):
            found += _rules_of(_loaded(file, diags))
    return PythonRules(found)


def _installed(diags: Diagnostics) -> Iterator[PythonRule]:
    if not any(map(_may_have_rules, sys.path)):
        return
    from importlib.metadata import entry_points

    for entry in entry_points(group=ENTRY_POINTS):
        try:
            loaded = entry.load()
        except Exception as error:  # noqa: BLE001 - a package that is broken must not hide others
            diags.error(
                "Rules cannot be loaded",
                f"The entry point {quoted(entry.name)} of the group {ENTRY_POINTS} raised "
                f"{type(error).__name__}{_place(error)}.",
            )
            continue
        yield from [loaded] if isinstance(loaded, PythonRule) else _rules_of(loaded)


def _may_have_rules(place: str) -> bool:
    """Return whether a package that is installed in a place may have rules, from the texts that say so:
    to import what reads them properly takes longer than to lint a small module.
    """
    if not os.path.isdir(place or "."):
        return os.path.exists(place)
    with os.scandir(place or ".") as entries:
        packages = [
            each.path for each in entries if each.name.endswith((".dist-info", ".egg-info"))
        ]
    return any(_names_group(os.path.join(each, "entry_points.txt")) for each in packages)


def _names_group(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return ENTRY_POINTS.encode() in file.read()
    except OSError:
        return False


def _files(path: str, diags: Diagnostics) -> list[str]:
    try:
        if not os.path.isdir(path):
            os.stat(path)
            return [path]
        return [
            os.path.join(path, each)
            for each in sorted(os.listdir(path))
            if each.endswith(".py") and not each.startswith(("_", "test_", "conftest"))
        ]
    except OSError as error:
        diags.error("Rules cannot be loaded", f"{path} cannot be read: {error.strerror}.")
        return []


def _loaded(path: str, diags: Diagnostics) -> ModuleType | None:
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"_nigari_rules_{abs(hash(os.path.abspath(path)))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        diags.error("Rules cannot be loaded", f"{path} is not a Python file.")
        return None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # noqa: BLE001 - a file that is broken must not hide others
        del sys.modules[name]
        diags.error(
            "Rules cannot be loaded",
            f"{path} raised {type(error).__name__}{_place(error)} when it was imported.",
        )
        return None
    return module


def _rules_of(module: ModuleType | None) -> list[PythonRule]:
    found = [] if module is None else vars(module).values()
    return [each for each in found if isinstance(each, PythonRule)]
