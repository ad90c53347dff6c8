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
}

_RESULTS: Final = ("Want", "Expected", "want")


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
