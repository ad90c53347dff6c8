"""`language` blocks and `required_version`: requirements on the program version."""

from __future__ import annotations

from collections.abc import Mapping

from nigari.config.core.declared import only_block, schema
from nigari.config.core.literals import is_written_null, written_value
from nigari.cty.types import STRING
from nigari.diagnostics import Diagnostic, Diagnostics, Range, Severity
from nigari.hcl.body import Attribute, Block
from nigari.hcl.expressions import Expression
from nigari.hcl.quoting import quoted
from nigari.hcl.static import expr_as_keyword, expr_list
from nigari.hcl.suggestion import did_you_mean
from nigari.lang.versions import Version, parse_module_constraints, parse_version
from nigari.record import record
from nigari.version import NEXT_LANGUAGE, OPENTOFU_VERSION


@record
class RequiredVersion:
    """A constraint on the program's version, and whether it applies: `required_version` refers to
    OpenTofu's versions only in files named for OpenTofu.
    """

    expr: Expression
    counts: bool


@record
class Language:
    """Requirements in the `language` blocks of a module."""

    versions: tuple[RequiredVersion, ...] = ()
    experiments: Mapping[str, Range] = {}
    """The experiments that are enabled, and where."""


SYMBOL_LIBRARIES = "symbol_libraries"
"""The experiment that allows `symbols` blocks."""
_EXPERIMENTS = frozenset((SYMBOL_LIBRARIES,))
_EDITION = "tofu2024"
_LANGUAGE = schema("edition", "experiments", blocks=("compatible_with",))
_COMPATIBLE = schema("opentofu")
INCOMPATIBLE = "Incompatible module"
"""Summary of the diagnostic that hides all others."""


def counts_as_tofu(filename: str) -> bool:
    """Check for a file named for OpenTofu, rather than for any program that reads the language."""
    return filename.endswith((".tofu", ".tofu.json"))


def decode_language(block: Block, diags: Diagnostics) -> Language:
    """Check a `language` block; its version requirements may need evaluation."""
    content = block.body.content(_LANGUAGE, diags)
    edition = content.attributes.get("edition")
    if edition is not None and expr_as_keyword(edition.expr) != _EDITION:
        _report_edition(edition, diags)
    experiments = _experiments(content.attributes.get("experiments"), diags)
    compatible = only_block(content, "compatible_with", diags)
    versions = () if compatible is None else _compatible_versions(compatible, diags)
    return Language(versions, experiments)


def _experiments(attribute: Attribute | None, diags: Diagnostics) -> dict[str, Range]:
    found: dict[str, Range] = {}
    if attribute is None:
        return found
    for element in expr_list(attribute.expr, diags) or ():
        name = expr_as_keyword(element)
        if name in _EXPERIMENTS:
            found[name] = attribute.range
        else:
            _report_experiment(element, name, diags)
    return found


def _compatible_versions(compatible: Block, diags: Diagnostics) -> tuple[RequiredVersion, ...]:
    arguments, _ = compatible.body.partial_content(_COMPATIBLE, diags)
    wanted = arguments.attributes.get("opentofu")
    if wanted is None:
        return ()
    if is_written_null(wanted.expr):
        _report_ineffective(wanted.expr.range, diags)
        return ()
    value = written_value(wanted.expr, STRING, "opentofu", diags)
    if value is not None:
        errors = diags.error_count
        check_required_version(value.as_string(), wanted.expr.range, diags)
        if diags.error_count == errors and _allows(value.as_string(), "1.11.0"):
            _report_ineffective(wanted.expr.range, diags)
    return (RequiredVersion(wanted.expr, counts=True),)


def decode_required_version(attribute: Attribute, diags: Diagnostics) -> RequiredVersion:
    """Read a `required_version`, and check it if it applies and is literal."""
    counts = counts_as_tofu(attribute.source.filename) and not is_written_null(attribute.expr)
    if counts:
        value = written_value(attribute.expr, STRING, "required_version", diags)
        if value is not None:
            check_required_version(value.as_string(), attribute.expr.range, diags)
    return RequiredVersion(attribute.expr, counts)


def check_required_version(text: str, where: Range, diags: Diagnostics) -> None:
    """Report a constraint that excludes the OpenTofu version whose behaviour this program has, and
    the next one, whose language it knows.
    """
    constraints = parse_module_constraints(text, diags, where)
    if constraints is None:
        return
    if constraints.names_prerelease:
        _report_prerelease(where, diags)
    elif not any(constraints.allows(_version(each)) for each in (OPENTOFU_VERSION, NEXT_LANGUAGE)):
        _report_incompatible(text, where, diags)


def only_incompatible(diags: Diagnostics) -> list[Diagnostic]:
    """Return only the diagnostics about versions if there are any.

    A module for another version may use features that this one does not have.
    """
    all_of_them = list(diags)
    return [each for each in all_of_them if each.summary == INCOMPATIBLE] or all_of_them


def _allows(text: str, version: str) -> bool:
    constraints = parse_module_constraints(text, Diagnostics())
    return constraints is not None and constraints.allows(_version(version))


def _version(text: str) -> Version:
    version = parse_version(text)
    assert version is not None
    return version


def _report_edition(attribute: Attribute, diags: Diagnostics) -> None:
    diags.error(
        "Unsupported language edition",
        f"There is only one edition of the language, which is the default: write {_EDITION}, "
        "without quotes, or leave the argument out.",
        attribute.expr.range,
    )


def _report_experiment(element: Expression, name: str | None, diags: Diagnostics) -> None:
    detail = "The experiments of a module are listed by name, without quotes."
    if name is not None:
        detail = f"There is no experiment named {quoted(name)}.{did_you_mean(name, _EXPERIMENTS)}"
    diags.error("Unknown experiment", f"{detail} There is only {SYMBOL_LIBRARIES}.", element.range)


def _report_prerelease(where: Range, diags: Diagnostics) -> None:
    diags.error(
        "Prerelease in a version constraint",
        "Constraints on the version of the program itself compare releases only: leave out the "
        "part after the dash.",
        where,
    )


def _report_incompatible(text: str, where: Range, diags: Diagnostics) -> None:
    diags.append(
        Diagnostic(
            Severity.ERROR,
            INCOMPATIBLE,
            f'This module requires OpenTofu "{text}". This program behaves like OpenTofu '
            f"{OPENTOFU_VERSION} and knows the language of {NEXT_LANGUAGE}, and the constraint "
            "excludes both. Use another version of the "
            "program, or change the constraint if you know that the module works.",
            where,
        )
    )


def _report_ineffective(where: Range, diags: Diagnostics) -> None:
    diags.warning(
        "Version constraint without effect",
        "Versions before 1.12.0 do not read this block, so a constraint that allows one of them "
        "cannot exclude it. Require at least 1.12.0, or use required_version in a .tofu file.",
        where,
    )
