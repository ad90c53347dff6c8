"""When a statement of the console is complete."""

import pytest

from nigari.cli.console.statements import Statement

CASES = [
    (["1"], [0], "1"),
    (["  1  "], [0], "1"),
    (["[1,", "2]"], [1, 0], "[1,\n2]"),
    (["{a = [(", "1)]", "}"], [3, 1, 0], "{a = [(\n1)]\n}"),
    (["[", "", "# x (", "1]"], [1, 1, 1, 0], "[\n\n# x (\n1]"),
    # interpolations and directives, which may go over several lines inside their quotes
    (['"${', "1", '}"'], [1, 1, 0], '"${\n1\n}"'),
    (['"a ${f("b ${', 'c}")', '}"'], [3, 1, 0], '"a ${f("b ${\nc}")\n}"'),
    (['"%{ if true', '}a%{ endif }"'], [1, 0], '"%{ if true\n}a%{ endif }"'),
    # heredocs keep their spaces, and their last line is ended
    (["<<EOT", "  a {", "EOT"], [1, 1, 0], "<<EOT\n  a {\nEOT\n"),
    (["[<<-A", " b ${[", "1]} x", "  A", "]"], [2, 4, 2, 1, 0], "[<<-A\n b ${[\n1]} x\n  A\n]\n"),
    # comments
    (["/* a", "b */ 1"], [1, 0], "/* a\nb */ 1"),
    (["1 # ("], [0], "1 # ("),
    # a backslash goes on for one line
    (["1 +\\", "2"], [1, 0], "1 +\n2"),
    (['"a\\\\'], [0], '"a\\\\'),
    # what cannot become right is complete at once
    (['"abc'], [0], '"abc'),
    (["1)"], [0], "1)"),
    (["(]"], [0], "(]"),
    (['{ a = "b'], [0], '{ a = "b'),
]


@pytest.mark.parametrize(("lines", "depths", "text"), CASES)
def test_depth_after_each_line(lines: list[str], depths: list[int], text: str) -> None:
    statement = Statement()
    found = []
    for line in lines:
        statement.add(line)
        found.append(statement.depth)
    assert found == depths
    assert statement.text == text


def test_a_long_statement_takes_time_in_proportion_to_its_length() -> None:
    statement = Statement()
    statement.add("[")
    for number in range(20_000):
        statement.add(f"{number},")
    statement.add("]")
    assert statement.depth == 0
