"""Rows of the conformance tables that do not apply here, each with the reason."""

from typing import Final

from tests.conformance import Row
from tests.conformance.values import is_spelled_out

NOT_APPLICABLE: Final[dict[tuple[str, str, int | None], str]] = {
    (
        "go-cty/cty/type_test.go",
        "TestTypeGoString",
        None,
    ): "how Go source would write a type; ours has its friendly name",
    (
        "go-cty/cty/marks_wrangle_test.go",
        "TestValueWrangleMarksDeep",
        None,
    ): "a function of Go's library with callbacks per mark; ours gives marks with their paths",
    (
        "go-cty/cty/value_ops_test.go",
        "TestValueGoString",
        None,
    ): "how Go source would write a value; ours has a Python repr",
    (
        "hcl/hclsyntax/navigation_test.go",
        "TestNavigationContextString",
        None,
    ): "offsets into a file that the table does not give",
    (
        "hcl/json/navigation_test.go",
        "TestNavigationContextString",
        None,
    ): "offsets into a file that the table does not give",
    (
        "hcl/hclsyntax/scan_string_lit_test.go",
        "TestScanStringLit",
        None,
    ): "how Go's scanner cuts up a string before it resolves escapes; ours does both at once",
    (
        "hcl/hclsyntax/expression_test.go",
        "TestExpressionParseAndValue",
        49,
    ): "a function written in Go that breaks the rules of its own library",
    (
        "hcl/hclsyntax/expression_test.go",
        "TestExpressionParseAndValue",
        50,
    ): "a function written in Go that breaks the rules of its own library",
    (
        "opentofu/internal/lang/funcs/cidr_test.go",
        "TestCidrSubnets",
        1,
    ): "OpenTofu 1.12 extends a prefix by at most 32 bits, later ones by more",
    (
        "opentofu/internal/lang/funcs/collection_test.go",
        "TestSum",
        11,
    ): "numbers of 53 bits, which only a Go program can make; those of the language have 512",
}

_RESULTS: Final = ("Want", "WantValue", "Expected", "IsSensitive", "want")


def reason(row: Row) -> str | None:
    """Give why a row does not apply; none for one that must pass."""
    file, test, n = row["file"], row["test"], row["n"]
    assert isinstance(file, str)
    assert isinstance(test, str)
    assert isinstance(n, int)
    fields = row["fields"]
    assert isinstance(fields, dict)
    if not all(is_spelled_out(part) for name, part in fields.items() if name not in _RESULTS):
        return "the table does not spell out how an argument is refined"
    return NOT_APPLICABLE.get((file, test, n)) or NOT_APPLICABLE.get((file, test, None))


CONFIGURATIONS: Final[dict[str, str]] = {
    "config-diagnostics/import-in-child-module": (
        "import blocks work in called modules, as in Terraform 1.16"
    ),
    "initwd/testdata/invalid-version-constraint-local": (
        "the version of a module in a git repository selects a tag here"
    ),
    "config-diagnostics/nested-provider": (
        "modules may configure providers of their own however they are called"
    ),
    "config-diagnostics/tests-provider-mismatch": "test files are recognised and left alone",
    "config-diagnostics/tests-provider-mismatch-with-module": (
        "test files are recognised and left alone"
    ),
    "testdata/provider_for_each": "a shared for_each is one warning per provider block here",
    "ephemeral-blocks/main.tf": "the real OpenTofu 1.12.6 refuses it, with six errors",
}
"""Configurations, by the end of their path."""

LINES: Final[dict[str, str]] = {
    "invalid-files/provider-reserved.tf": "count is allowed in provider blocks here",
}
"""Configurations that are wrong, and not at the line that is given."""


def configuration_reason(row: Row) -> str | None:
    """Give why a configuration does not apply; none for one that must pass."""
    return _by_path(CONFIGURATIONS, row)


def line_reason(row: Row) -> str | None:
    """Give why a configuration is wrong at another line than is given."""
    return _by_path(LINES, row)


def _by_path(reasons: dict[str, str], row: Row) -> str | None:
    path = str(row["path"])
    return next((why for end, why in reasons.items() if path.endswith(end)), None)


_DEFAULT = "a variable's default takes static expressions here, functions included"

EXPRESSIONS: Final[dict[str, str]] = {
    "dd5639cd26e2": "contains() finds null, as in OpenTofu 1.13",
    "ab70cb540ea9": "the function convert, of OpenTofu 1.13, exists here",
    **dict.fromkeys(["f631d3f5f59e", "249085672466", "1f63da819306", "22f9991eed92"], _DEFAULT),
    "61fc433d56fc": _DEFAULT,
}
"""Expressions, by their id."""

STATIC: Final[dict[str, str]] = {
    "module.foo.bar": "outputs of modules may be used in static places here, where they are static",
}
"""Expressions that OpenTofu refuses in every static place."""
