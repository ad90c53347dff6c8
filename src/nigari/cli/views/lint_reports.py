"""Results of lint for people and for programs: text, JSON, SARIF, JUnit, and GitHub annotations.

What a finding is and which there are is decided in `nigari.lint`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from nigari.cli.command import Invocation
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.diagnostics import Diagnostic, JsonValue, Layout, Range, Severity
from nigari.diagnostics.render import no_context, to_json, to_text
from nigari.lint.linter import LintResult
from nigari.lint.rule import Finding
from nigari.version import VERSION
from nigari.workspace.context.shown_sources import ShownSources

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

FORMATS: Final = ("text", "json", "sarif", "junit", "github")
_FORMAT_VERSION: Final = "1.0"
_SARIF: Final = "https://json.schemastore.org/sarif-2.1.0.json"


def show_result(invocation: Invocation, result: LintResult, form: str) -> None:
    """Print a result in one of the formats."""
    if form == "text":
        _show_text(invocation, result)
        return
    terminal = invocation.terminal
    if form == "json":
        terminal.out(_dumped(_json_document(result)))
    elif form == "sarif":
        terminal.out(_dumped(_sarif_document(result)))
    elif form == "junit":
        terminal.stdout.write(_junit_report(result))
    else:
        for each in _everything(result):
            terminal.out(_annotation(each))


def _dumped(document: Mapping[str, JsonValue]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False)


def _everything(result: LintResult) -> list[Finding | Diagnostic]:
    return [*result.diags.in_order(), *result.findings]


# -- people ---------------------------------------------------------------------------------------


def _show_text(invocation: Invocation, result: LintResult) -> None:
    terminal = invocation.terminal
    no_color = invocation.switch("no-color")
    show_diagnostics(terminal, result.diags, result.sources, no_context, no_color=no_color)
    if invocation.switch("compact-warnings"):
        for each in result.findings:
            terminal.out(f"{_place(each)}: {each.severity.value}: {each.diagnostic.summary}")
    else:
        found = [each.diagnostic for each in result.findings]
        layout = Layout.for_stream(terminal.stdout, terminal.environ, no_color)
        terminal.stdout.write(to_text(found, ShownSources(result.sources), layout, no_context))
    count, fixable = len(result.findings), sum(each.fix is not None for each in result.findings)
    if count:
        findings = "1 finding" if count == 1 else f"{count} findings"
        fixes = f", {fixable} of which nigari lint -fix can fix" if fixable else ""
        terminal.out(f"\n{findings}{fixes}.")
    elif not result.diags.has_errors:
        terminal.out("Nothing found.")


def _place(finding: Finding) -> str:
    """Return a finding's location in the form that editors and terminals turn into links."""
    where = finding.range
    if where is None:
        return finding.address or "nigari lint"
    return f"{where.filename}:{where.start.line}:{where.start.column}"


# -- JSON -----------------------------------------------------------------------------------------


def _json_document(result: LintResult) -> dict[str, JsonValue]:
    sources = ShownSources(result.sources)
    findings: list[JsonValue] = []
    for each in result.findings:
        shown = to_json(each.diagnostic, sources, no_context)
        findings.append({"rule": each.rule, "fixable": each.fix is not None, **shown})
    problems: list[JsonValue] = [
        to_json(each, sources, no_context) for each in result.diags.in_order()
    ]
    return {
        "format_version": _FORMAT_VERSION,
        "finding_count": len(findings),
        "findings": findings,
        "diagnostics": problems,
    }


# -- SARIF ----------------------------------------------------------------------------------------


def _sarif_document(result: LintResult) -> dict[str, JsonValue]:
    rules: dict[str, JsonValue] = {}
    results: list[JsonValue] = []
    for each in result.findings:
        rules.setdefault(each.rule, {"id": each.rule, "shortDescription": {"text": each.summary}})
        found: dict[str, JsonValue] = {
            "ruleId": each.rule,
            "level": each.severity.value,
            "message": {"text": each.detail},
        }
        if each.range is not None:
            found["locations"] = [{"physicalLocation": _location(each.range)}]
        elif each.address:
            found["locations"] = [{"logicalLocations": [{"fullyQualifiedName": each.address}]}]
        results.append(found)
    problems: list[JsonValue] = []
    for problem in result.diags.in_order():
        notice: dict[str, JsonValue] = {
            "level": problem.severity.value,
            "message": {"text": f"{problem.summary}: {problem.detail}"},
        }
        if problem.subject is not None:
            notice["locations"] = [{"physicalLocation": _location(problem.subject)}]
        problems.append(notice)
    driver: dict[str, JsonValue] = {
        "name": "nigari",
        "version": VERSION,
        "rules": list(rules.values()),
    }
    run: dict[str, JsonValue] = {
        "tool": {"driver": driver},
        "results": results,
        "invocations": [
            {
                "executionSuccessful": not result.diags.has_errors,
                "toolExecutionNotifications": problems,
            }
        ],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": _SARIF, "version": "2.1.0", "runs": [run]}


def _location(where: Range) -> dict[str, JsonValue]:
    return {
        "artifactLocation": {"uri": where.filename.replace("\\", "/")},
        "region": {
            "startLine": where.start.line,
            "startColumn": where.start.column,
            "endLine": where.end.line,
            "endColumn": where.end.column,
        },
    }


# -- JUnit ----------------------------------------------------------------------------------------


def _junit_report(result: LintResult) -> str:
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    from nigari.hcl.quoting import visible

    errors = [each for each in result.diags.in_order() if each.severity is Severity.ERROR]
    root = Element("testsuites")
    suite = SubElement(
        root,
        "testsuite",
        name="nigari lint",
        tests=str(len(result.findings) + len(errors) or 1),
        failures=str(len(result.findings)),
        errors=str(len(errors)),
    )
    for problem in errors:
        case = SubElement(suite, "testcase", name=problem.summary, classname=_file(problem.subject))
        SubElement(case, "error", message=visible(problem.summary)).text = visible(problem.detail)
    for each in result.findings:
        where = each.address if each.range is None else str(each.range)
        case = SubElement(
            suite, "testcase", name=f"{each.rule} {where}", classname=_file(each.range)
        )
        part = SubElement(case, "failure", message=visible(each.summary), type=each.severity.value)
        part.text = visible(f"{where}\n{each.detail}")
    if not len(suite):
        SubElement(suite, "testcase", name="nothing found", classname="nigari lint")
    indent(root)
    return tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _file(where: Range | None) -> str:
    return "nigari lint" if where is None else where.filename


# -- GitHub ---------------------------------------------------------------------------------------


def _annotation(found: Finding | Diagnostic) -> str:
    """A workflow command, which GitHub shows at the line."""
    diagnostic = found.diagnostic if isinstance(found, Finding) else found
    properties = {"title": diagnostic.summary}
    where = diagnostic.subject
    if where is not None:
        properties = {
            "file": where.filename,
            "line": str(where.start.line),
            "endLine": str(where.end.line),
            **properties,
        }
        if where.start.line == where.end.line:
            properties["col"] = str(where.start.column)
            properties["endColumn"] = str(where.end.column)
    listed = ",".join(f"{name}={_property(text)}" for name, text in properties.items())
    address = f" ({diagnostic.address})" if diagnostic.address else ""
    return f"::{diagnostic.severity.value} {listed}::{_data(diagnostic.detail + address)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
