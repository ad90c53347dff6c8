"""Test results as a JUnit report, which most services that run tests understand."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from nigari.cli.views.diagnostics import compared
from nigari.diagnostics import Diagnostic, Severity
from nigari.hcl.quoting import visible
from nigari.testing.outcome import CleanUp, FileOutcome, RunOutcome, Status, SuiteOutcome


def junit_report(outcome: SuiteOutcome) -> bytes:
    """The report: a suite for each file, a case for each run and each failed clean-up."""
    root = Element("testsuites")
    for file in outcome.files:
        _file(SubElement(root, "testsuite"), file)
    indent(root)
    return bytes(tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"


def _file(suite: Element, file: FileOutcome) -> None:
    failed = [each for each in file.cleanups if each.has_failed]
    statuses = [run.status for run in file.runs]
    counts = {
        "tests": len(statuses) + len(failed),
        "failures": statuses.count(Status.FAIL),
        "errors": statuses.count(Status.ERROR) + len(failed),
        "skipped": statuses.count(Status.SKIP) + statuses.count(Status.PENDING),
    }
    suite.attrib = {"name": file.name, "time": _seconds(file.seconds)}
    suite.attrib.update((name, str(count)) for name, count in counts.items())
    for run in file.runs:
        _run(SubElement(suite, "testcase", name=run.name, classname=file.name), run)
    for each in failed:
        name = f"{each.run.name}: clean-up"
        _clean_up(SubElement(suite, "testcase", name=name, classname=file.name), each)


def _run(case: Element, run: RunOutcome) -> None:
    case.set("time", _seconds(run.seconds))
    errors = [each for each in run.diags.in_order() if each.severity is Severity.ERROR]
    if run.status >= Status.FAIL:
        kind = "failure" if run.status is Status.FAIL else "error"
        message = errors[0].summary if errors else "Failed"
        part = SubElement(case, kind, message=message)
        part.text = _texts(errors)
    elif run.status is not Status.PASS:
        SubElement(case, "skipped")
    warnings = [each for each in run.diags.in_order() if each.severity is Severity.WARNING]
    if warnings:
        SubElement(case, "system-out").text = _texts(warnings)


def _clean_up(case: Element, done: CleanUp) -> None:
    part = SubElement(case, "error", message="Not everything could be destroyed")
    left = [f"{each.address} is left behind." for each in done.left]
    part.text = "\n\n".join([_texts(done.diags.in_order()), *left])


def _texts(found: Iterable[Diagnostic]) -> str:
    # XML has no way to write most control characters.
    return visible("\n\n".join(_text(each) for each in found))


def _text(diagnostic: Diagnostic) -> str:
    where = f"{diagnostic.subject}: " if diagnostic.subject is not None else ""
    values = "".join(f"\n  {each.name} {each.text}" for each in diagnostic.values)
    origins = "".join(f"\n  {line}" for line in diagnostic.origins)
    difference = "" if diagnostic.difference is None else compared(diagnostic.difference, False)
    lines = "".join(f"\n  {line}" for line in difference.splitlines())
    return f"{where}{diagnostic.summary}\n{diagnostic.detail}{values}{lines}{origins}"


def _seconds(time: float) -> str:
    return f"{time:.3f}"
