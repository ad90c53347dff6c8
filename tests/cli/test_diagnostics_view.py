"""Diagnostics on the screen."""

import io

import pytest

from nigari.cli.command import Terminal
from nigari.cli.views.diagnostics import show_diagnostics
from nigari.diagnostics import Diagnostics, Pos, Range
from nigari.diagnostics.render import no_context


def at(line: int) -> Range:
    return Range("main.tf", Pos(line, 1, 0), Pos(line, 2, 1))


def shown(diags: Diagnostics, **switches: str) -> tuple[str, str]:
    terminal = Terminal(io.StringIO(), io.StringIO(), io.StringIO(), {})
    terminal.switches.update({name.replace("_", "-"): on for name, on in switches.items()})
    show_diagnostics(terminal, diags, {}, no_context)
    assert isinstance(terminal.stdout, io.StringIO)
    assert isinstance(terminal.stderr, io.StringIO)
    return terminal.stdout.getvalue(), terminal.stderr.getvalue()


@pytest.fixture
def diags() -> Diagnostics:
    diags = Diagnostics()
    for line in (1, 2, 3):
        diags.warning("Odd", "It is odd.", at(line))
        diags.error("Wrong", "It is wrong.", at(line))
    diags.warning("Odd", "Everywhere.")
    return diags


def test_errors_and_warnings_go_their_ways(diags: Diagnostics) -> None:
    out, err = shown(diags)
    assert (out.count("Warning: "), out.count("Error: ")) == (2, 0)
    assert (err.count("Warning: "), err.count("Error: ")) == (0, 3)


def test_similar_warnings_are_told_once(diags: Diagnostics) -> None:
    out, _ = shown(diags)
    assert "main.tf line 1" in out
    assert "line 2" not in out
    assert "2 more locations" in out
    assert "Everywhere." in out


def test_all_of_them_on_demand(diags: Diagnostics) -> None:
    out, _ = shown(diags, consolidate_warnings="false")
    assert out.count("Warning: Odd") == 4
    _, err = shown(diags, consolidate_errors="true")
    assert err.count("Error: Wrong") == 1


def test_compact_warnings_only_without_errors(diags: Diagnostics) -> None:
    assert "Warning: Odd" in shown(diags, compact_warnings="true")[0]
    warnings = Diagnostics(each for each in diags if each.summary == "Odd")
    out, err = shown(warnings, compact_warnings="true")
    assert err == ""
    assert "- Odd\n  on main.tf line 1" in out
    assert "Warning: " not in out


def test_nothing_is_said_about_nothing() -> None:
    assert shown(Diagnostics()) == ("", "")
